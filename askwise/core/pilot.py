"""What a campaign tries out before its policy decides anything: the terms of its pilot."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from askwise.core.checks import whole
from askwise.core.errors import InvalidParameter, InvalidProblem, nearest
from askwise.core.fields import as_name, refuse_unknown
from askwise.core.problem import Problem, Worker

PILOT = "pilot"
"""The note of the draw of a pilot's tasks, and of the decisions that follow it."""

PilotCut = Literal["budget", "tasks"]
"""What makes a pilot smaller than was asked for."""

FEWEST_TASKS = 5
"""A pilot of fewer tasks shows nothing."""

MOST_TASKS = 1_000

PILOT_PART = 3
"""A pilot may cost one part in this many of the budget, at the prices of its workers."""


@dataclass(frozen=True, slots=True)
class PilotTerms:
    """How many tasks a pilot puts to which workers.

    Parameters
    ----------
    tasks : int
        How many tasks are drawn; fewer if they would cost more than a third of the budget.
    workers : tuple of str
        Who is asked about each of them.

    Examples
    --------
    >>> PilotTerms(tasks=30, workers=("gpt", "mini")).to_json()
    {'tasks': 30, 'workers': ['gpt', 'mini']}
    """

    tasks: int
    workers: tuple[str, ...]

    def __post_init__(self) -> None:
        try:
            whole(self.tasks, "pilot.tasks", least=FEWEST_TASKS, most=MOST_TASKS)
        except InvalidParameter as wrong:
            raise InvalidProblem(str(wrong), field=wrong.field) from None
        object.__setattr__(self, "workers", tuple(map(as_name, self.workers)))
        named = all(isinstance(each, str) for each in self.workers)
        if not self.workers or not named or len(set(self.workers)) < len(self.workers):
            raise InvalidProblem(
                f"pilot.workers is {list(self.workers)!r}: name at least one worker, each once",
                field="pilot.workers",
            )

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {"tasks": self.tasks, "workers": list(self.workers)}


def read_pilot(
    raw: PilotTerms | Mapping[str, Any] | int | None, workers: Sequence[Worker]
) -> PilotTerms | None:
    """Take terms, a mapping of their fields, or a number of tasks for all models to answer."""
    if raw is None or isinstance(raw, PilotTerms):
        return raw
    fields = raw if isinstance(raw, Mapping) else {"tasks": raw}
    refuse_unknown(fields, ("tasks", "workers"), "pilot", under="pilot")
    if fields.get("tasks") is None:
        raise InvalidProblem("pilot.tasks is missing: say how many tasks", field="pilot.tasks")
    who = fields.get("workers")
    if who is None:
        who = [worker.id for worker in workers if worker.kind == "model"]
        if not who:
            raise InvalidProblem(
                "pilot.workers is missing, and no worker has kind 'model': name the workers of "
                "the pilot, or give models their kind",
                field="pilot.workers",
            )
    names = (who,) if isinstance(who, str) or not isinstance(who, Iterable) else tuple(who)
    return PilotTerms(fields["tasks"], names)


def check_pilot(terms: PilotTerms, problem: Problem) -> None:
    """Refuse a pilot that the campaign's tasks, workers or money do not allow."""
    if not problem.options:
        raise InvalidProblem(
            "pilot is given in a utility campaign: a pilot compares answers that are options; "
            "leave pilot out",
            field="pilot",
        )
    ids = {worker.id: worker for worker in problem.workers}
    for name in terms.workers:
        if name not in ids:
            raise InvalidProblem(
                f"pilot.workers names {name!r}, who is not in the campaign: {nearest(name, ids)}",
                field="pilot.workers",
            )
        if not problem.asks_once(ids[name]):
            raise InvalidProblem(
                f"pilot.workers names {name!r}, a crowd that is asked about a task again and "
                "again: name persons or models",
                field="pilot.workers",
            )
        if problem.audits(name):
            raise InvalidProblem(
                f"pilot.workers names {name!r}, who audits (certify.by): name others",
                field="pilot.workers",
            )
    if len(problem.tasks) < FEWEST_TASKS:
        raise InvalidProblem(
            f"pilot.tasks is {terms.tasks}, and the campaign has {len(problem.tasks)} tasks: a "
            f"pilot needs {FEWEST_TASKS}; give more tasks, or leave pilot out",
            field="pilot.tasks",
        )
    if problem.budget is None:
        return
    kept = 0 if problem.certify is None else problem.certify.kept_back(problem.budget)
    price = sum(ids[name].micro for name in terms.workers)
    if affordable_tasks(problem.budget - kept, price) < FEWEST_TASKS:
        raise InvalidProblem(
            f"pilot.workers: {FEWEST_TASKS} tasks, the fewest of a pilot, put to "
            f"{len(terms.workers)} workers may cost more than a third of the budget at their "
            "prices; raise the budget, name fewer or cheaper workers, or leave pilot out",
            field="pilot.workers",
        )


def affordable_tasks(budget: int, price: int) -> int:
    """How many tasks, each of so high a price, cost no more than a pilot may."""
    return MOST_TASKS if price == 0 else budget // (PILOT_PART * price)
