"""Paper 001, Figs. 1 and 2: labelling with B-KUBE and epsilon-first policies."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter
from askwise.core.money import MICRO
from askwise.core.registry import from_label, label_of
from askwise.figures import Row
from askwise.lab.experiment import Cell, Experiment, Figure, experiments
from askwise.lab.results import mean_row, rate_row
from askwise.lab.simulate import Outcome, simulate
from askwise.lab.worlds.limited import labellers
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.policies import Policy, policies
from askwise.stopping import StoppingRule, stopping

ERROR, DONE, SPENT = range(3)

WORKERS = 20
LIMIT = 0.6
"""The most answers of a worker, as a share of the number of tasks."""

SETS = {"A": 0, "B": 5}
"""Spammers in each set of workers."""

RIVAL = "label-bounded-epsilon-first"
"""Who is given as many tasks as B-KUBE labelled."""

RIVALS = (RIVAL, "label-trialsourcing", "label-epsilon-first")


def b_kube(quality: float, bonus: float = 1.0) -> str:
    """Label of B-KUBE with rule (1) of 004 at a C_qty."""
    policy = "b-kube" if bonus == 1.0 else f"b-kube(bonus={bonus:g})"
    return f"{policy} with gap(quality={quality:g},smooth=False)"


@cache
def contender(label: str) -> tuple[Policy, StoppingRule | None]:
    """Read ``policy`` or ``policy with rule``."""
    policy, _, rule = label.partition(" with ")
    made = stopping.make(from_label(rule.strip())) if rule else None
    return policies.make(from_label(policy)), made


def series_of(label: str) -> str:
    """How a contender is called in tables and figures."""
    policy, rule = contender(label)
    return label_of(policy) if rule is None else f"{label_of(policy)} with {label_of(rule)}"


def wrong_and_done(outcome: Outcome, right: Array) -> tuple[float, float]:
    """Share of wrong labels among the tasks with an answer, and how many these are.

    A task counts as soon as somebody labelled it, closed or not; its label is the vote, and a tie
    of the vote is wrong by half: what breaking it at random comes to on average.
    """
    count = outcome.ledger.total(c.TASKS)
    book = outcome.ledger.book
    votes, right = book.votes[:count], right[:count]
    done = book.tasks[:count, c.TASK_ANSWERED] > 0
    ours = votes[np.arange(count), right]
    others = votes.sum(axis=1) - ours
    wrong = np.where(ours < others, 1.0, np.where(ours == others, 0.5, 0.0))
    return float(wrong[done].mean()), float(done.sum())


@dataclass(frozen=True)
class LabelCell(Cell):
    """A set of workers, this many tasks, and a budget in whole units."""

    spammers: int
    tasks: int
    budget: int


@experiments.register("limited-labels")
@dataclass(frozen=True)
class LimitedLabels(Experiment):
    """Figs. 1 and 2: error and tasks labelled, by budget.

    Parameters
    ----------
    contenders : labels
        ``policy`` or ``policy with rule``.
    sets : "A" or "B"
        All workers better than chance, or five of twenty spammers.
    tasks, budgets : whole numbers
        Of each campaign.
    """

    contenders: tuple[str, ...] = (
        *(b_kube(quality) for quality in (0.8, 1.0, 1.25, 1.5, 2.0)),
        *(b_kube(quality, 0.25) for quality in (1.0, 1.5)),
        *RIVALS,
    )
    sets: tuple[str, ...] = tuple(SETS)
    tasks: tuple[int, ...] = (50, 100)
    budgets: tuple[int, ...] = (100, 200, 300)
    reps: ClassVar[int] = 2000
    chunk: ClassVar[int] = 10
    title: ClassVar[str] = "Error and tasks labelled, by budget (001, Figs. 1 and 2)"
    reproduces: ClassVar[str] = "001, Figs. 1 and 2"
    summary: ClassVar[str] = (
        "Twenty workers of unknown accuracy and price label tasks with two labels, each at most "
        "six tenths of the number of tasks; in set B five of them answer at random. How many "
        "tasks does a budget label, and how many labels are wrong? B-KUBE moves on to the next "
        "task when rule (1) of 004 is satisfied, at several values of its C_qty."
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure("error", "budget", "share of wrong labels", "Classification error by budget."),
        Figure("tasks_done", "budget", "tasks labelled", "Tasks with at least one label."),
        Figure(
            "rival_error",
            "budget",
            "share of wrong labels",
            f"Error of {RIVAL} when it is given no more tasks than each of the others labelled.",
        ),
    )

    def __post_init__(self) -> None:
        for label in self.contenders:
            contender(label)
        for name in self.sets:
            if name not in SETS:
                raise InvalidParameter(f"sets has {name!r}: give A, B or both", field="sets")
        for field in ("tasks", "budgets"):
            for value in getattr(self, field):
                # Six tenths of two tasks is one: below, nobody may label anything.
                least = 2 if field == "tasks" else 1
                if value < least:
                    raise InvalidParameter(
                        f"{field} has {value}: give {least} or more", field=field
                    )

    def cells(self) -> list[LabelCell]:
        """One cell per set of workers, number of tasks and budget."""
        return [
            LabelCell(f"set {name}, {tasks} tasks", budget, SETS[name], tasks, budget)
            for name in self.sets
            for tasks in self.tasks
            for budget in self.budgets
        ]

    def _matched(self) -> list[str]:
        """Contenders whose rule decides how many tasks are labelled."""
        return [label for label in self.contenders if contender(label)[1] is not None]

    def sample(self, cell: LabelCell, seed: int, replication: int) -> Array:
        """Error, tasks labelled and spending of each contender; then the matched rival's errors."""
        crowd = labellers(np.random.default_rng([seed, replication]), WORKERS, cell.spammers)
        limit, budget = int(LIMIT * cell.tasks), cell.budget * MICRO
        world = crowd.answering(seed, replication, cell.tasks)
        ledgers: dict[int, Ledger] = {}

        def labelled(label: str, tasks: int) -> tuple[float, float, float]:
            if tasks not in ledgers:
                ledgers[tasks] = Ledger(crowd.problem(tasks, limit, budget))
            policy, rule = contender(label)
            fresh = ledgers[tasks]
            outcome = simulate(
                policy, fresh.problem, world, rule=rule, seed=seed, replication=replication,
                ledger=fresh,
            )  # fmt: skip
            return (*wrong_and_done(outcome, world.right), outcome.spent)

        found = {label: labelled(label, cell.tasks) for label in self.contenders}
        matched = [labelled(RIVAL, int(found[label][DONE]))[ERROR] for label in self._matched()]
        return np.array([*np.array(list(found.values())).ravel(), *matched])

    def rows(self, cell: LabelCell, samples: Array, seed: int) -> list[Row]:
        """Means of every series."""
        found = []
        for at, label in enumerate(self.contenders):
            place: dict[str, Any] = {"series": series_of(label), "x": cell.x, "panel": cell.panel}
            found.append(rate_row(samples[:, 3 * at + ERROR], metric="error", **place))
            for offset, metric in ((DONE, "tasks_done"), (SPENT, "spent")):
                found.append(mean_row(samples[:, 3 * at + offset], metric=metric, **place))
        for at, label in enumerate(self._matched(), 3 * len(self.contenders)):
            place = {"series": series_of(label), "x": cell.x, "panel": cell.panel}
            found.append(rate_row(samples[:, at], metric="rival_error", **place))
        return found

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """What comes out otherwise, counted in the rows; and what the paper leaves open."""
        found = []
        for label in self._matched():
            found += _counted(rows, series_of(label), label)
        found += _smaller_bonus(rows)
        return [*found, *_READINGS]


def _rows_of(rows: Sequence[Row], series: str, metric: str) -> dict[tuple[str, float], Row]:
    chosen = [row for row in rows if (row.series, row.metric) == (series, metric)]
    return {(row.panel, row.x): row for row in chosen}


def _below(one: Row, other: Row) -> bool:
    """Whether one mean is surely the smaller: the intervals are apart."""
    return one.ci_high < other.ci_low


def _compared(pairs: Sequence[tuple[Row, Row]]) -> str:
    """In how many pairs the first is surely smaller, surely larger, too close to the second."""
    less = sum(_below(one, other) for one, other in pairs)
    more = sum(_below(other, one) for one, other in pairs)
    return (
        f"less in {less} of {len(pairs)} cells, more in {more}; too close to tell in "
        f"{len(pairs) - less - more}"
    )


def _counted(rows: Sequence[Row], series: str, label: str) -> list[str]:
    """How often B-KUBE is better on both measures, and at equal numbers of tasks."""
    if contender(label) not in (contender(b_kube(1.0)), contender(b_kube(1.5))):
        return []
    error, done = _rows_of(rows, series, "error"), _rows_of(rows, series, "tasks_done")
    rivals = [
        (_rows_of(rows, series_of(rival), "error"), _rows_of(rows, series_of(rival), "tasks_done"))
        for rival in RIVALS
    ]
    ahead = behind = 0
    for cell in error:
        against = [
            (errors[cell], dones[cell]) for errors, dones in rivals if {cell} <= errors.keys()
        ]
        ahead += all(
            _below(error[cell], wrong) and not _below(done[cell], number)
            for wrong, number in against
        )
        behind += any(
            _below(wrong, error[cell]) or _below(done[cell], number) for wrong, number in against
        )
    matched = _rows_of(rows, series, "rival_error")
    return [
        f'The paper: B-KUBE "outperforms all the three benchmarks for both the performance '
        f'measures simultaneously". {series}: surely so in {ahead} of {len(error)} cells, surely '
        f"not in {behind}. Where {RIVAL} is given only as many tasks as B-KUBE labelled in the "
        "same replication, B-KUBE errs, with intervals apart, "
        f"{_compared([(error[cell], matched[cell]) for cell in error])}."
    ]


def _smaller_bonus(rows: Sequence[Row]) -> list[str]:
    """How often a confidence term of a quarter errs less."""
    pairs, ratios = [], []
    for quality in (1.0, 1.5):
        whole = _rows_of(rows, series_of(b_kube(quality)), "error")
        quarter = _rows_of(rows, series_of(b_kube(quality, 0.25)), "error")
        for cell in whole.keys() & quarter.keys():
            pairs.append((quarter[cell], whole[cell]))
            ratios.append(quarter[cell].mean / whole[cell].mean if whole[cell].mean else 1.0)
    if not pairs:
        return []
    return [
        "Scaling the confidence term by .25 makes the error, with intervals apart, "
        f"{_compared(pairs)}. It comes to {np.mean(ratios):.2f} times on average."
    ]


_READINGS = [
    "C_qty of the rule that moves on to the next task is not given: a grid is shown. The rule is "
    "004's (1) on the task's whole vote, as written, without rounding at random; with C_qty below "
    "1 a single answer then closes a task.",
    "A task counts as performed from its first label on, so B-KUBE's unfinished last task counts "
    "too, with the vote there is. Ties are broken at random (counted as half an error).",
    "The order in a round of exploration is not given and matters, as each answer is judged by "
    "the vote up to it, itself included, and the first of a task always agrees with itself. "
    "Rounds go from the cheapest up, as the passes of 003 do.",
    "The paper's figures can't be read to the digit, so there are no reference points.",
]
