"""A campaign of a table of items: what is asked, by whom it is answered, what may be spent."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from askwise.core.certify import CertifyTerms, read_terms
from askwise.core.checks import between
from askwise.core.content import Content
from askwise.core.errors import InvalidParameter, InvalidProblem, nearest
from askwise.core.money import Amount, to_micro
from askwise.core.problem import Task, Worker, as_worker, listed
from askwise.core.screening import ScreeningTerms, read_screening
from askwise.data.items import Items, made_ids, read_items
from askwise.data.tables import parsed_rows, placed, read_workers, separator_of, worker_of_text

PILOT = 30
"""Items that are put to every judge first, if not said otherwise."""

TRUTH = "truth"
"""The column of a table of gold questions that holds their truths, if no other is named."""

PEOPLE = "people"
"""What messages call a table of people that has no file of its own."""


@dataclass(frozen=True, eq=False)
class ItemsOrder:
    """A campaign of a table of items, before anybody but people is known to answer.

    Made by :func:`read_order`.

    Attributes
    ----------
    items : Items
        What is labelled.
    content : Content
        What is asked.
    tasks : tuple of Task
        The items as tasks.
    people : tuple of Worker
        Those who answer in their own time, and those who audit.
    budget : amount or None
        The most that is spent.
    target_error : float or None
        The share of labels that may be wrong.
    certify : CertifyTerms or None
        What is to be certified, and by whom.
    policy : str or mapping
        Who is asked next.
    seed : int or None
        Of all draws.
    screening : ScreeningTerms or None
        How workers are kept good, by gold questions.
    truths : mapping of an id to an option
        What is known beforehand, of items and of tasks that are there for gold questions alone.
    """

    items: Items
    content: Content
    tasks: tuple[Task, ...]
    people: tuple[Worker, ...]
    budget: Amount | None = None
    target_error: float | None = None
    certify: CertifyTerms | None = None
    policy: str | Mapping[str, Any] = "auto"
    seed: int | None = None
    screening: ScreeningTerms | None = None
    truths: Mapping[str, str] = field(default_factory=dict)

    def fields_with(
        self, judges: Sequence[Any], named: Sequence[str], pilot: int | None = None
    ) -> dict[str, Any]:
        """What :meth:`askwise.Campaign.create` takes.

        Parameters
        ----------
        judges : sequence of Worker or mapping
            The models and programs that answer beside the people.
        named : sequence of str
            Their ids.
        pilot : int, optional
            How many items are put to every judge first.
        """
        policy = self.policy
        if policy == "auto" and self.target_error is not None:
            policy = {"name": "auto", "target": self.target_error}
        fields: dict[str, Any] = {
            "workers": (*judges, *self.people),
            "tasks": self.tasks,
            "content": self.content,
            "budget": self.budget,
            "policy": policy,
            "certify": self.certify,
            "seed": self.seed,
            "screening": self.screening,
        }
        wanted = PILOT if pilot is None else pilot
        if wanted and len(named) > 1:
            fields["pilot"] = {"tasks": min(wanted, len(self.tasks)), "workers": list(named)}
        return fields

    def check_workers(self, judges: Sequence[str]) -> None:
        """Refuse an order that nobody labels, or in which two have one name."""
        audits = () if self.certify is None else self.certify.by
        names = [*judges, *(each.id for each in self.people)]
        if all(name in audits for name in names):
            raise InvalidProblem(
                "no one is left to label: give judges (a judges.toml), or people who do not audit",
                field="judges",
            )
        for at, name in enumerate(names):
            if name in names[:at]:
                raise InvalidProblem(
                    f"{name!r} names two of the judges and people: give each their own id",
                    field="id",
                )


def read_order(
    items: Any,
    *,
    question: str | None = None,
    options: str | Iterable[Any] | None = None,
    content: Content | Mapping[str, Any] | None = None,
    title: str = "",
    instructions: str = "",
    currency: str = "",
    text: str | Sequence[str] | None = None,
    pair: Sequence[str] | None = None,
    id: str | None = None,
    truth: str | None = None,
    kind: str | None = None,
    people: str | os.PathLike[str] | Iterable[Worker | Mapping[str, Any]] | None = None,
    budget: Amount | None = None,
    target_error: float | None = None,
    certify: float | CertifyTerms | Mapping[str, Any] | None = None,
    by: str | Iterable[str] | None = None,
    escalate: bool = False,
    policy: str | Mapping[str, Any] = "auto",
    seed: int | None = None,
    screening: ScreeningTerms | Mapping[str, Any] | bool | None = None,
    gold: Any = None,
) -> ItemsOrder:
    """Read and check an order; see :func:`askwise.label` for the parameters.

    ``screening`` is that of :meth:`askwise.Campaign.create`. ``gold`` are further items, with the
    same columns, that are there for gold questions alone: the truth of each is known.

    Raises
    ------
    InvalidProblem, InvalidParameter
        Something is missing or does not fit; ``field`` names it.
    """
    if target_error is not None:
        between(target_error, "target_error", 0.0, 1.0)
    asked = _content(question, options, content, title, instructions, currency)
    if pair is not None:
        text = _pair_columns(pair, text)
    read = read_items(items, text=text, id=id, truth=truth, kind=kind, options=asked.names())
    if not asked.fields and len(read.shown) > 1:
        asked = _with_fields(asked, read.shown, pair)
    tasks = tuple(read.tasks(asked))
    persons = _people(people)
    terms = _terms(certify, by, escalate, target_error, persons)
    if terms is not None:
        persons = [replace(each, trusted=True) if each.id in terms.by else each for each in persons]
    if budget is not None:
        to_micro(budget, "budget")
    truths = dict(read.truths)
    if gold is not None:
        known = _read_gold(gold, read, text, id, truth, kind, asked)
        tasks, truths = (*tasks, *known.tasks(asked)), {**truths, **known.truths}
    screened = _screening(screening, gold is not None, truths)
    return ItemsOrder(
        read,
        asked,
        tasks,
        tuple(persons),
        budget,
        target_error,
        terms,
        policy,
        seed,
        screened,
        truths,
    )


def _read_gold(
    gold: Any,
    items: Items,
    text: str | Sequence[str] | None,
    id: str | None,
    truth: str | None,
    kind: str | None,
    content: Content,
) -> Items:
    """Read items whose truth is known, each under an id that no other item has."""
    shown = items.shown if text is None else text
    found = read_items(
        gold, text=shown, id=id, truth=truth or TRUTH, kind=kind, options=content.names()
    )
    if found.ids == made_ids(len(found)):
        # Numbered on, as if they were more of the same.
        ids = made_ids(len(items) + len(found))[len(items) :]
        named = dict(zip(found.ids, ids, strict=True))
        truths = {named[each]: option for each, option in found.truths.items()}
        kinds = {named[each]: context for each, context in found.kinds.items()}
        found = replace(found, ids=ids, truths=truths, kinds=kinds)
    for each in found.ids:
        if each not in found.truths:
            raise InvalidProblem(
                f"{found.source}: {each!r} has no truth in column {truth or TRUTH!r}: a gold "
                "question needs one",
                field="gold",
            )
    for each in set(found.ids) & set(items.ids):
        raise InvalidProblem(
            f"{found.source}: {each!r} is also an item of {items.source}: give it a different id",
            field="gold",
        )
    return found


def _screening(
    screening: ScreeningTerms | Mapping[str, Any] | bool | None,
    has_gold: bool,
    truths: Mapping[str, str],
) -> ScreeningTerms | None:
    """The terms of screening, if there are enough gold questions for them."""
    terms = read_screening(True if screening is None and has_gold else screening)
    if terms is not None and len(truths) < max(1, terms.qualify):
        raise InvalidProblem(
            f"{len(truths)} truths are known, and screening needs {max(1, terms.qualify)}: give "
            "more gold questions (a table --gold, or a column --truth), or a smaller qualification",
            field="screening.qualify",
        )
    return terms


def people_of_text(text: str, price: str = "", limit: str = "") -> list[Worker]:
    """Read people from names, or from a table with a header that has an ``id`` or a ``name``.

    Names are one per line, or separated by commas or semicolons. Those without a price or limit of
    their own get the one that is given.

    Examples
    --------
    >>> [(each.id, each.price) for each in people_of_text("ann, ben", price="0.05")]
    [('ann', Decimal('0.05')), ('ben', Decimal('0.05'))]
    >>> people_of_text("name,price\\nann,0.10")[0].price
    Decimal('0.1')
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return []
    separator = separator_of(text)
    head = [cell.strip().lower() for cell in lines[0].split(separator)]
    rows: list[tuple[int, dict[str, str]]]
    if "id" in head or "name" in head:
        names = ["id" if cell == "name" and "id" not in head else cell for cell in head]
        rows_ = parsed_rows(Path(PEOPLE), text.splitlines(True), names, separator=separator)
        next(rows_)
        rows = [(line, dict(zip(names, cells, strict=True))) for line, cells in rows_]
    else:
        named = (
            (at, name.strip())
            for at, line in enumerate(lines, 1)
            for name in re.split("[,;\t]", line)
        )
        rows = [(at, {"id": name}) for at, name in named if name]
    found: dict[str, Worker] = {}
    for line, fields in rows:
        own = {name: cell for name, cell in fields.items() if cell.strip()}
        said = {"price": price, "limit": limit, "kind": "person", **own}
        with placed(f"{PEOPLE}, line {line}"):
            if not said["price"].strip():
                raise InvalidProblem(
                    f"{own.get('id', '')!r} has no price: give the price of an answer",
                    field="price",
                )
            made = worker_of_text(said)
            if made.id in found:
                raise InvalidProblem(f"{made.id!r} is named twice: name each once", field=PEOPLE)
        found[made.id] = made
    return list(found.values())


def options_of_text(text: str) -> list[dict[str, str]]:
    """Read options, one per line; what follows a colon says when to choose it.

    Examples
    --------
    >>> options_of_text("spam: It wants money or clicks\\nfine")
    [{'name': 'spam', 'meaning': 'It wants money or clicks'}, {'name': 'fine', 'meaning': ''}]
    """
    lines = [line.partition(":") for line in text.splitlines() if line.strip()]
    return [{"name": name.strip(), "meaning": meaning.strip()} for name, _, meaning in lines]


def _content(
    question: str | None,
    options: str | Iterable[Any] | None,
    content: Content | Mapping[str, Any] | None,
    title: str,
    instructions: str,
    currency: str,
) -> Content:
    if content is None:
        if not question or not str(question).strip():
            raise InvalidProblem(
                "question is missing: say what is asked about each item", field="question"
            )
        if not options:
            raise InvalidProblem(
                "options is missing: name the possible labels, such as 'spam,ham'", field="options"
            )
        if isinstance(options, str):
            named = [each.strip() for each in options.split(",") if each.strip()]
            if len(named) == 1:
                raise InvalidProblem(
                    f"options is {options!r}: name two or more, separated by commas, such as "
                    "yes,no",
                    field="options",
                )
            options = named
        return Content(
            question, list(options), title=title, instructions=instructions, currency=currency
        )
    said = {"question": question, "options": options, "title": title}
    said |= {"instructions": instructions, "currency": currency}
    for name, value in said.items():
        if value:
            raise InvalidProblem(
                f"{name} is given beside content, which has its own: give one of the two",
                field=name,
            )
    made = content if isinstance(content, Content) else Content.from_json(content)
    if not made.options:
        raise InvalidProblem(
            "content has a range: labels need options; for numbers create a campaign",
            field="options",
        )
    return made


def _pair_columns(pair: Sequence[str], text: object) -> list[str]:
    if isinstance(pair, str) or len(pair) != 2 or pair[0] == pair[1]:
        raise InvalidProblem(
            f"pair is {pair!r}: name the two columns that are compared", field="pair"
        )
    beside = [text] if isinstance(text, str) else list(text or ())  # type: ignore[call-overload]
    return [*beside, *pair]


def _with_fields(content: Content, shown: Sequence[str], pair: Sequence[str] | None) -> Content:
    """The content with a field for each column; options name the sides of a pair in order."""
    single = [name for name in shown if pair is None or name not in pair]
    fields: list[dict[str, Any]] = [
        {"name": name, "label": name, "show": "long_text"} for name in single
    ]
    options = [option.to_json() for option in content.options]
    if pair is not None:
        fields.append({"name": pair[0], "show": "pair", "second": pair[1]})
        if not any("side" in option for option in options):
            options[0]["side"], options[1]["side"] = "first", "second"
    return Content.from_json({**content.to_json(), "fields": fields, "options": options})


def _people(
    people: str | os.PathLike[str] | Iterable[Worker | Mapping[str, Any]] | None,
) -> list[Worker]:
    if people is None:
        return []
    if isinstance(people, str | os.PathLike):
        found = read_workers(people)
    else:
        found = [as_worker(each) for each in listed(people, "people")]
    return [replace(each, kind=each.kind or "person") for each in found]


def _terms(
    certify: float | CertifyTerms | Mapping[str, Any] | None,
    by: str | Iterable[str] | None,
    escalate: bool,
    target_error: float | None,
    people: Sequence[Worker],
) -> CertifyTerms | None:
    if certify is None:
        for name, value in (("by", by), ("escalate", escalate)):
            if value:
                raise InvalidParameter(
                    f"{name} is given without certify: give the certificate's confidence, as 0.9",
                    field=name,
                )
        return None
    terms = certify if isinstance(certify, CertifyTerms) else None
    if terms is None:
        fields: dict[str, Any] = {"confidence": certify}
        if isinstance(certify, Mapping):
            fields = dict(certify)
        if target_error is not None:
            fields.setdefault("error", target_error)
        if by is not None:
            fields.setdefault("by", by)
        if escalate:
            fields.setdefault("escalate", True)
        if "error" not in fields:
            raise InvalidParameter(
                "target_error (--target-error) is missing: say what share of the labels may be "
                "wrong",
                field="target_error",
            )
        if "by" not in fields:
            raise InvalidParameter("by (--by) is missing: name the people who audit", field="by")
        terms = read_terms(fields)
    assert terms is not None
    names = [each.id for each in people]
    for name in terms.by:
        if name not in names:
            raise InvalidProblem(
                f"by names {name!r}, who is not among the people: {nearest(name, names)}",
                field="by",
            )
    return terms
