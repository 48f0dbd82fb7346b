"""What is ordered: items, the question, who answers, the money and the promise. Checked at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from askwise.core.certify import CertifyTerms, read_terms
from askwise.core.checks import between, whole
from askwise.core.content import Content
from askwise.core.errors import InvalidParameter, InvalidProblem, nearest
from askwise.core.money import Amount, to_micro
from askwise.core.problem import Task, Worker, as_worker
from askwise.data.tables import read_workers
from askwise.labelling.items import Items, read_items
from askwise.sources import Question, Source
from askwise.sources.cache import ReplyCache
from askwise.sources.judges import Judge, make_judge, read_judges

PILOT = 30
"""Items that are put to every judge first, if not said otherwise."""


@dataclass(frozen=True, eq=False)
class LabelOrder:
    """Everything that labelling needs to know, before anything is spent.

    Made by :func:`make_order`.

    Attributes
    ----------
    items : Items
        What is labelled.
    content : Content
        What is asked.
    tasks : tuple of Task
        The items as tasks.
    judges : tuple of Judge
        The models and programs that are called.
    people : tuple of Worker
        Those who answer in their own time, and those who audit.
    sources : mapping of a worker's id to a Source
        Who answers for whom; people who answer on a page have none.
    workers : tuple of Worker
        Judges and people, each at their price.
    budget : amount or None
        The most that is spent.
    target_error : float or None
        The share of labels that may be wrong.
    certify : CertifyTerms or None
        What is to be certified, and by whom.
    policy : str or mapping
        Who is asked next.
    pilot : int or None
        Items that are put to every judge first; None if nothing was said of it.
    seed : int or None
        Of all draws.
    """

    items: Items
    content: Content
    tasks: tuple[Task, ...]
    judges: tuple[Judge, ...]
    people: tuple[Worker, ...]
    sources: Mapping[str, Source]
    workers: tuple[Worker, ...]
    budget: Amount | None = None
    target_error: float | None = None
    certify: CertifyTerms | None = None
    policy: str | Mapping[str, Any] = "auto"
    pilot: int | None = None
    seed: int | None = None

    def questions(self) -> list[Question]:
        """The question about each item."""
        return [Question(self.content, task.id, task.payload) for task in self.tasks]

    def on_page(self) -> list[str]:
        """The people whom nobody calls: they answer on their page."""
        return [each.id for each in self.people if each.id not in self.sources]

    def campaign_fields(self) -> dict[str, Any]:
        """What :meth:`askwise.Campaign.create` takes."""
        policy = self.policy
        if policy == "auto" and self.target_error is not None:
            policy = {"name": "auto", "target": self.target_error}
        fields: dict[str, Any] = {
            "workers": self.workers,
            "tasks": self.tasks,
            "content": self.content,
            "budget": self.budget,
            "policy": policy,
            "certify": self.certify,
            "seed": self.seed,
        }
        judges = [each.id for each in self.judges]
        wanted = PILOT if self.pilot is None else self.pilot
        if wanted and len(judges) > 1:
            fields["pilot"] = {"tasks": min(wanted, len(self.tasks)), "workers": judges}
        return fields


def make_order(
    items: Any,
    *,
    question: str | None = None,
    options: str | Iterable[Any] | None = None,
    content: Content | Mapping[str, Any] | None = None,
    title: str = "",
    instructions: str = "",
    text: str | Sequence[str] | None = None,
    pair: Sequence[str] | None = None,
    id: str | None = None,
    truth: str | None = None,
    judges: str | os.PathLike[str] | Iterable[Judge | Mapping[str, Any]] | None = None,
    people: str | os.PathLike[str] | Iterable[Worker | Mapping[str, Any]] | None = None,
    sources: Mapping[str, Source] | None = None,
    budget: Amount | None = None,
    target_error: float | None = None,
    certify: float | CertifyTerms | Mapping[str, Any] | None = None,
    by: str | Iterable[str] | None = None,
    escalate: bool = False,
    policy: str | Mapping[str, Any] = "auto",
    pilot: int | None = None,
    seed: int | None = None,
    cache: ReplyCache | None = None,
) -> LabelOrder:
    """Read and check an order; see :func:`askwise.label` for the parameters."""
    if target_error is not None:
        between(target_error, "target_error", 0.0, 1.0)
    asked = _content(question, options, content, title, instructions)
    if pair is not None:
        text = _pair_columns(pair, text)
    read = read_items(items, text=text, id=id, truth=truth, options=asked.names())
    if not asked.fields and len(read.shown) > 1:
        asked = _with_fields(asked, read.shown, pair)
    tasks = tuple(read.tasks(asked))
    called = _judges(judges, cache)
    persons = _people(people)
    terms = _terms(certify, by, escalate, target_error, persons)
    if terms is not None:
        persons = [replace(each, trusted=True) if each.id in terms.by else each for each in persons]
    answering = {each.id: each.source for each in called}
    answering |= _extra_sources(sources or {}, [each.id for each in persons])
    questions = [Question(asked, task.id, task.payload) for task in tasks]
    workers = [*(judge.worker(questions) for judge in called), *persons]
    _check_workers(workers, terms)
    if budget is not None:
        to_micro(budget, "budget")
    if pilot is not None:
        whole(pilot, "pilot", least=0)
    return LabelOrder(
        items=read,
        content=asked,
        tasks=tasks,
        judges=tuple(called),
        people=tuple(persons),
        sources=answering,
        workers=tuple(workers),
        budget=budget,
        target_error=target_error,
        certify=terms,
        policy=policy,
        pilot=pilot,
        seed=seed,
    )


def _content(
    question: str | None,
    options: str | Iterable[Any] | None,
    content: Content | Mapping[str, Any] | None,
    title: str,
    instructions: str,
) -> Content:
    if content is None:
        if not question or not str(question).strip():
            raise InvalidProblem(
                "question is missing: say what is asked about each item", field="question"
            )
        if not options:
            raise InvalidProblem(
                "options is missing: name the possible labels, as 'spam,ham'", field="options"
            )
        if isinstance(options, str):
            options = [each.strip() for each in options.split(",") if each.strip()]
        return Content(question, list(options), title=title, instructions=instructions)
    said = {"question": question, "options": options, "title": title, "instructions": instructions}
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


def _judges(
    judges: str | os.PathLike[str] | Iterable[Judge | Mapping[str, Any]] | None,
    cache: ReplyCache | None,
) -> list[Judge]:
    if judges is None:
        return []
    if isinstance(judges, str | os.PathLike):
        return read_judges(judges, cache)
    found = []
    for each in judges:
        if isinstance(each, Mapping):
            each = make_judge(each, cache)
        elif not isinstance(each, Judge):
            raise InvalidParameter(
                f"judges has {each!r}: give a judges.toml, or for each judge its fields or a "
                "Judge(id, source)",
                field="judges",
            )
        each.source.check()
        found.append(each)
    return found


def _people(
    people: str | os.PathLike[str] | Iterable[Worker | Mapping[str, Any]] | None,
) -> list[Worker]:
    if people is None:
        return []
    if isinstance(people, str | os.PathLike):
        found = read_workers(people)
    else:
        found = [as_worker(each) for each in people]
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


def _extra_sources(given: Mapping[str, Source], people: Sequence[str]) -> dict[str, Source]:
    for name, source in given.items():
        if name not in people:
            raise InvalidParameter(
                f"sources names {name!r}: {nearest(name, people)}", field="sources"
            )
        source.check()
    return dict(given)


def _check_workers(workers: Sequence[Worker], terms: CertifyTerms | None) -> None:
    labelling = [each for each in workers if terms is None or each.id not in terms.by]
    if not labelling:
        raise InvalidProblem(
            "nobody labels: give judges (a judges.toml), or people who do not audit", field="judges"
        )
    seen: set[str] = set()
    for each in workers:
        if each.id in seen:
            raise InvalidProblem(
                f"{each.id!r} names two of the judges and people: give each their own id",
                field="id",
            )
        seen.add(each.id)
