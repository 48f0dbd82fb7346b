"""What a campaign is about: tasks, workers, the outcome space, the budget. Validated once."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from askwise.core.certify import CertifyTerms, read_terms
from askwise.core.errors import InvalidProblem, nearest
from askwise.core.fields import (
    as_name,
    check_flag,
    check_id,
    check_real,
    check_unique,
    check_whole,
    fields_of,
    is_name,
)
from askwise.core.frames import frame_rows, is_frame
from askwise.core.json_types import MONEY_SCHEMA, Id, JsonLimits, Positive, Quantity
from askwise.core.money import Amount, from_micro, to_micro

UNLIMITED = 2**40
"""Stands for "no limit" on the number of answers a worker may give."""

WorkerKind = Literal["person", "model", "crowd"]
"""What a worker may be."""

KINDS: tuple[WorkerKind, ...] = get_args(WorkerKind)

_COLUMNS = {"tasks": ("id",), "workers": ("id", "price"), "people": ("id", "price")}
"""What data frames need to have."""


@dataclass(frozen=True, slots=True)
class Worker:
    """Somebody (a person, a crowd, a program) who answers at a price.

    Parameters
    ----------
    id : str
        Unique name.
    price : str, int, Decimal or float
        What one of their answers costs; the most it may cost where its cost is told.
    limit : int, optional
        The most answers they can give in this campaign; a call that fails counts as one.
    rating : float, optional
        What you believe their mean utility to be, in the campaign's range. Used by Bayesian
        policies as a prior.
    rating_weight : float, optional
        How many answers that rating is worth (1 if a rating is given without a weight).
    trusted : bool
        Whether their answer is the truth: an expert, often an expensive one. Policies that know
        about experts decide when one is worth the price; to others it is one more worker.
    kind : "person", "model" or "crowd", optional
        A person or a model is asked about a task at most once, whatever the policy: the same
        answer again would be no news. A crowd (every answer is another member's) may be asked
        again where the campaign lets pairs repeat. Not given: a crowd where pairs may repeat, a
        person elsewhere.
    family : str, optional
        A name shared by workers that err together: prompts of one model, models of one maker,
        annotators of one vendor.
    source : str, optional
        What answers for them, by name and digest, such as "chat:0123456789abcdef": another model,
        prompt or parameter is another source.

    Examples
    --------
    >>> Worker("ann", "0.05", limit=20).price
    Decimal('0.05')
    """

    id: Id
    price: Annotated[Amount, MONEY_SCHEMA]
    limit: Positive | None = None
    rating: float | None = None
    rating_weight: Quantity | None = None
    trusted: bool = False
    kind: WorkerKind | None = None
    family: Id | None = None
    source: Id | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", check_id(self.id, "worker id"))
        check_flag(self.trusted, f"trusted of worker {self.id!r}")
        if self.kind is not None and self.kind not in KINDS:
            raise InvalidProblem(
                f"kind of worker {self.id!r} is {self.kind!r}: give 'person', 'model' or 'crowd', "
                "or leave it out",
                field="kind",
            )
        for field, text in (("family", self.family), ("source", self.source)):
            if text is not None and not (is_name(text) and text.strip()):
                raise InvalidProblem(
                    f"{field} of worker {self.id!r} is {text!r}: give a printable string of 1 to "
                    "200 characters that is not blank, or leave it out",
                    field=field,
                )
        name = f"price of worker {self.id!r}"
        object.__setattr__(self, "price", from_micro(to_micro(self.price, name)))
        if self.limit is not None:
            check_whole(self.limit, f"limit of worker {self.id!r}", at_least=1, at_most=UNLIMITED)
        if self.rating is not None:
            rating = check_real(self.rating, f"rating of worker {self.id!r}")
            object.__setattr__(self, "rating", rating)
            if self.rating_weight is None:
                object.__setattr__(self, "rating_weight", 1.0)
        elif self.rating_weight is not None:
            raise InvalidProblem(
                f"rating_weight of worker {self.id!r} is given without a rating",
                field="rating_weight",
            )
        if self.rating_weight is not None:
            name = f"rating_weight of worker {self.id!r}"
            weight = check_real(self.rating_weight, name)
            if weight < 0:
                raise InvalidProblem(f"{name} is {weight!r}: give 0 or more", field="rating_weight")
            object.__setattr__(self, "rating_weight", weight)

    @property
    def micro(self) -> int:
        """Price in micro-units."""
        return to_micro(self.price, "price")

    def to_json(self) -> dict[str, Any]:
        """As JSON, money as a string, what is not set left out."""
        raw = {
            "id": self.id,
            "price": str(self.price),
            "limit": self.limit,
            "rating": self.rating,
            "rating_weight": self.rating_weight,
            "trusted": self.trusted or None,
            "kind": self.kind,
            "family": self.family,
            "source": self.source,
        }
        return {key: value for key, value in raw.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to be judged.

    Parameters
    ----------
    id : str
        Unique name.
    context : str, optional
        What kind of task it is, for policies that learn who is good at what.
    payload : JSON value, optional
        What the worker is shown. askwise passes it on and never looks inside.
    workers : sequence of str, optional
        The only workers who may be asked about it; anyone if not given.
    """

    id: Id
    context: str | None = None
    payload: Any = None
    workers: Annotated[tuple[str, ...] | None, JsonLimits(minItems=1)] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", check_id(self.id, "task id"))
        if self.context is not None and not isinstance(self.context, str):
            raise InvalidProblem(
                f"context of task {self.id!r} is {self.context!r}: give a string", field="context"
            )
        if self.workers is not None:
            names = listed(self.workers, f"workers of task {self.id!r}")
            if not names:
                raise InvalidProblem(
                    f"workers of task {self.id!r} is empty: name those who may be asked, or leave "
                    "it out",
                    field="workers",
                )
            names = [check_id(name, f"worker of task {self.id!r}") for name in names]
            check_unique(names, f"worker of task {self.id!r}:")
            object.__setattr__(self, "workers", tuple(names))

    def to_json(self) -> dict[str, Any]:
        """As JSON, what is not set left out."""
        raw = {
            "id": self.id,
            "context": self.context,
            "payload": self.payload,
            "workers": None if self.workers is None else list(self.workers),
        }
        return {key: value for key, value in raw.items() if value is not None}


@dataclass(frozen=True)
class Problem:
    """A campaign's problem as created; what joins later is in the log.

    Parameters
    ----------
    workers : sequence of Worker
        Who may be asked.
    tasks : sequence of Task, optional
        What they are asked about; without, a utility campaign simply buys units of work.
    options : sequence of str, optional
        The possible answers. Exactly one of ``options`` and ``utility``.
    utility : (float, float), optional
        The range of a real-valued answer.
    zero : float, optional
        The utility of no answer at all: what an answer is worth counts from here.
    budget : micro-units, optional
        The hard cap on what is spent; None is no cap.
    repeat : bool, optional
        Whether a worker may be asked the same task again; persons and models never are.
    certify : CertifyTerms, optional
        What is to be certified, and who audits.
    """

    workers: tuple[Worker, ...]
    tasks: tuple[Task, ...] = ()
    options: tuple[str, ...] = ()
    utility: tuple[float, float] | None = None
    budget: int | None = None
    repeat: bool = False
    certify: CertifyTerms | None = None
    zero: float = 0.0

    def __post_init__(self) -> None:
        if bool(self.options) == (self.utility is not None):
            raise InvalidProblem(
                "give exactly one of options (a list of names) and outcome='utility'",
                field="options",
            )
        if self.options:
            if len(self.options) < 2:
                raise InvalidProblem(
                    f"options is {list(self.options)!r}: a question needs at least two",
                    field="options",
                )
            names = tuple(check_id(option, "option") for option in self.options)
            check_unique(names, "option")
            object.__setattr__(self, "options", names)
            if not self.tasks:
                raise InvalidProblem(
                    "tasks is empty: a campaign with options needs at least one task",
                    field="tasks",
                )
        if self.utility is not None:
            low, high = self.utility
            check_real(low, "low end of outcome")
            check_real(high, "high end of outcome")
            if not low < high or not 1e-12 <= high - low <= 1e12:
                raise InvalidProblem(
                    f"range is {low} to {high}: the lower end must be below the upper, by "
                    "1e-12 to 1e12",
                    field="range",
                )
            check_real(self.zero, "zero of outcome")
            if not self.zero < high or high - self.zero > 1e12:
                raise InvalidProblem(
                    f"zero of outcome is {self.zero:g}: with a range of {low:g} to {high:g} no "
                    f"answer could be worth more than none; give a zero below {high:g}, such as "
                    f"{low:g}"
                    if not self.zero < high
                    else f"zero of outcome is {self.zero:g}: give one at most 1e12 below {high:g}",
                    field="zero",
                )
        check_unique([worker.id for worker in self.workers], "worker")
        check_unique([task.id for task in self.tasks], "task")
        known = {worker.id for worker in self.workers}
        for task in self.tasks:
            check_named(task, known)
        for worker in self.workers:
            self.check_rating(worker)
        if self.budget is not None and self.workers:
            cheapest = min(worker.micro for worker in self.workers)
            if self.budget < cheapest:
                raise InvalidProblem(
                    f"budget is {from_micro(self.budget)}: it buys nothing, the cheapest worker "
                    f"costs {from_micro(cheapest)}",
                    field="budget",
                )
        if self.certify is not None:
            self._check_certify(self.certify)

    def _check_certify(self, terms: CertifyTerms) -> None:
        """Refuse terms that nobody could keep: no labels, no auditors, no money for them."""
        if not self.options:
            raise InvalidProblem(
                "certify is given in a utility campaign, which has no labels: give options, or "
                "leave certify out",
                field="certify",
            )
        known = {worker.id: worker for worker in self.workers}
        for name in terms.by:
            if name not in known:
                raise InvalidProblem(
                    f"certify.by names {name!r}, who is not in the campaign: "
                    f"{nearest(name, known)}",
                    field="certify.by",
                )
            self.check_auditor(known[name])
        others = [worker.micro for worker in self.workers if worker.id not in terms.by]
        if not others:
            raise InvalidProblem(
                "certify.by names every worker: nobody is left to give the labels that they audit",
                field="certify.by",
            )
        if self.budget is None:
            if terms.audits is None:
                raise InvalidProblem(
                    "certify.audits is missing: without a budget, say how many audits there may be",
                    field="certify.audits",
                )
            return
        kept = terms.kept_back(self.budget)
        cheapest = min(known[name].micro for name in terms.by)
        if kept // terms.blocks < cheapest:
            raise InvalidProblem(
                f"certify.share is {terms.share}: it keeps {from_micro(kept)} of the budget back, "
                f"and one audit{' in each block' if terms.blocks > 1 else ''} costs "
                f"{from_micro(cheapest)}; raise the share or the budget",
                field="certify.share",
            )
        if self.budget - kept < min(others):
            raise InvalidProblem(
                f"certify.share is {terms.share}: it leaves {from_micro(self.budget - kept)} for "
                f"labels, and the cheapest costs {from_micro(min(others))}; lower the share or "
                "raise the budget",
                field="certify.share",
            )

    def audits(self, worker: str) -> bool:
        """Whether a worker is kept for audits."""
        return self.certify is not None and worker in self.certify.by

    def check_auditor(self, worker: Worker) -> None:
        """Refuse somebody who is to audit and is not trusted."""
        if self.audits(worker.id) and not worker.trusted:
            raise InvalidProblem(
                f"certify.by names {worker.id!r}, who is not trusted: give them trusted=True if "
                "their answer is the truth, or name somebody else",
                field="certify.by",
            )

    @property
    def taskless(self) -> bool:
        """Whether units of work are bought rather than answers about named tasks."""
        return not self.tasks

    @property
    def range(self) -> tuple[float, float]:
        """Range of a utility; (0, 1) for a campaign with options."""
        return self.utility if self.utility is not None else (0.0, 1.0)

    def asks_once(self, worker: Worker) -> bool:
        """Whether a worker is asked at most once about a task.

        So are all where pairs may not repeat, and elsewhere those who are a person or a model. A
        unit of work, in a campaign without tasks, is another one each time.
        """
        return not self.repeat or (not self.taskless and worker.kind in ("person", "model"))

    def check_rating(self, worker: Worker) -> None:
        """Refuse a prior rating outside the campaign's range."""
        low, high = self.range
        if worker.rating is not None and not low <= worker.rating <= high:
            raise InvalidProblem(
                f"rating of worker {worker.id!r} is {worker.rating}: "
                f"the campaign's range is {low} to {high}",
                field="rating",
            )

    def to_json(self) -> dict[str, Any]:
        """As JSON, money as a string."""
        raw: dict[str, Any] = {"workers": [worker.to_json() for worker in self.workers]}
        if self.tasks:
            raw["tasks"] = [task.to_json() for task in self.tasks]
        if self.options:
            raw["options"] = list(self.options)
        if self.utility is not None:
            low, high = self.utility
            raw["outcome"] = {"kind": "utility", "low": low, "high": high, "zero": self.zero}
        raw["budget"] = None if self.budget is None else str(from_micro(self.budget))
        raw["repeat"] = self.repeat
        if self.certify is not None:
            raw["certify"] = self.certify.to_json()
        return raw


def make_problem(
    *,
    workers: Iterable[Worker | Mapping[str, Any]],
    tasks: Iterable[Task | Mapping[str, Any] | str] | None = None,
    options: Sequence[str] | None = None,
    outcome: str | Mapping[str, Any] | None = None,
    budget: Amount | None = None,
    repeat: bool | None = None,
    certify: CertifyTerms | Mapping[str, Any] | None = None,
) -> Problem:
    """Build a Problem from what users write: mappings, names, money in any accepted form."""
    made_tasks = tuple(as_task(task) for task in listed(tasks, "tasks"))
    names = tuple(listed(options, "options"))
    utility, zero = _read_outcome(outcome)
    if not names and utility is None:
        raise InvalidProblem(
            "give exactly one of options (a list of names) and outcome='utility'", field="outcome"
        )
    if repeat is None:
        repeat = utility is not None and not made_tasks
    check_flag(repeat, "repeat")
    if not repeat and not made_tasks:
        raise InvalidProblem(
            "repeat is False without tasks: a worker could be asked only once; give tasks",
            field="repeat",
        )
    return Problem(
        workers=tuple(as_worker(worker) for worker in listed(workers, "workers")),
        tasks=made_tasks,
        options=names,
        utility=utility,
        budget=None if budget is None else to_micro(budget, "budget"),
        repeat=repeat,
        certify=read_terms(certify),
        zero=zero,
    )


def check_named(task: Task, known: Container[str]) -> None:
    """Refuse a task that only workers who are not in the campaign may be asked about."""
    for name in task.workers or ():
        if name not in known:
            raise InvalidProblem(
                f"task {task.id!r} names worker {name!r}, who is not in the campaign: add them",
                field="workers",
            )


def listed(value: Any, field: str) -> list[Any]:
    """Take a list (or another iterable, but no text and no single thing); None is empty.

    Of a data frame of tasks or workers, its rows.
    """
    if value is None:
        return []
    if is_frame(value):
        if field not in _COLUMNS:
            raise InvalidProblem(f"{field} is a data frame: give a list", field=field)
        return frame_rows(value, field, _COLUMNS[field])
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidProblem(f"{field} is {value!r}: give a list", field=field)
    return list(value)


def _read_outcome(
    outcome: str | Mapping[str, Any] | None,
) -> tuple[tuple[float, float] | None, float]:
    """The range of a utility, None where there are options, and its zero."""
    if outcome is None:
        return None, 0.0
    if not isinstance(outcome, str | Mapping):
        raise InvalidProblem(f"outcome is {outcome!r}: give 'utility'", field="outcome")
    raw: dict[str, Any] = {"kind": outcome} if isinstance(outcome, str) else dict(outcome)
    kind, low, high = raw.pop("kind", "utility"), raw.pop("low", 0.0), raw.pop("high", 1.0)
    zero = raw.pop("zero", 0.0)
    if kind != "utility" or raw:
        raise InvalidProblem(
            f"outcome is {outcome!r}: give 'utility' or {{'kind': 'utility', 'low': 0, 'high': 1, "
            "'zero': 0}",
            field="outcome",
        )
    ends = check_real(low, "low end of outcome"), check_real(high, "high end of outcome")
    return ends, check_real(zero, "zero of outcome")


def as_worker(raw: Worker | Mapping[str, Any]) -> Worker:
    """Take a Worker or a mapping of its fields."""
    if isinstance(raw, Worker):
        return raw
    return Worker(**fields_of(raw, Worker, "worker", ("price",)))


def as_task(raw: Task | Mapping[str, Any] | str) -> Task:
    """Take a Task, a mapping of its fields or just an id."""
    if isinstance(as_name(raw), str):
        return Task(raw)  # type: ignore[arg-type]
    return raw if isinstance(raw, Task) else Task(**fields_of(raw, Task, "task", ()))
