"""What a campaign is about: tasks, workers, the outcome space, the budget. Validated once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from askwise.core.certify import CertifyTerms, read_terms
from askwise.core.errors import InvalidProblem, nearest
from askwise.core.fields import check_flag, check_id, check_real, check_unique
from askwise.core.money import Amount, from_micro, to_micro
from askwise.core.problem.lists import listed
from askwise.core.problem.task import Task, as_task, check_named
from askwise.core.problem.worker import Worker, as_worker


@dataclass(frozen=True)
class Problem:
    """A campaign's problem as created; what joins later is in the log.

    Parameters
    ----------
    workers : sequence of Worker
        Who may be asked.
    tasks : sequence of Task, optional
        What they are asked about; without tasks, a utility campaign simply buys units of work.
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
