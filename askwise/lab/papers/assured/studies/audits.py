"""What audits notice where some tasks are hard, and what they cost (beyond 000)."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter
from askwise.core.money import MICRO
from askwise.figures import ReferenceRow, Row
from askwise.lab.experiment import Cell, Experiment, Figure, experiments
from askwise.lab.papers.assured.studies.common import Terms, sets_of
from askwise.lab.papers.assured.studies.costs import at_least_two
from askwise.lab.results import mean_row, rate_row, ratio_row
from askwise.lab.simulate import Outcome, simulate
from askwise.lab.worlds.assured import AssuredWorld, WorkerPool
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.policies.assured.ccb import CcbNs
from askwise.policies.assured.common import ALARMS, SINCE

TOLD, UNWATCHED, WATCHED = "all truths", "audited, no watch", "audited"
SERIES = (TOLD, UNWATCHED, WATCHED)

NEVER = 1e-300
"""A level at which the watch has nothing to say."""

WRONG, ASSURED, TASK_COST, TRUTHS, ALARM, NOTICED = range(6)

EASY = "no task is hard"

FEWEST = 20
"""Campaigns that assure anything, for an error among what they assure."""

FEWEST_NOTICED = 5
"""Campaigns that raised an alarm, for a mean of when."""


@dataclass(frozen=True)
class AuditCell(Cell):
    """A share of tasks that are audited, and how often everybody is right about a hard task."""

    on_hard: float | None


@cache
def _policy(series: str, audits: float, terms: Terms, alarm: float) -> CcbNs:
    """The policy of a series."""
    shared: dict[str, Any] = dataclasses.asdict(terms)
    if series == TOLD:
        return CcbNs(**shared)
    level = NEVER if series == UNWATCHED else alarm
    return CcbNs(**shared, truth="audited", audits=audits, alarm=level)


@experiments.register("assured-audited")
@dataclass(frozen=True)
class AssuredAudited(Experiment):
    """Compare ccb-ns that is told all truths with audits of a share of the tasks.

    Parameters
    ----------
    audits : numbers
        Shares of the tasks that are audited; 1 is all of them.
    hard : number
        The share of tasks that are hard.
    on_hard : numbers
        How often everybody is right about a hard task; beside a world without any.
    workers, tasks : whole numbers
        Of each campaign; prices are 1 to 2, qualities .75 to .95.
    alpha, xi, mu, alarm : numbers
        As in ccb-ns.
    """

    audits: tuple[float, ...] = (0.1, 0.3)
    hard: float = 0.2
    on_hard: tuple[float, ...] = (0.6, 0.5, 0.4)
    workers: int = 20
    tasks: int = 4_000
    alpha: float = 0.1
    xi: float = 0.03
    mu: float = 0.05
    alarm: float = 0.05
    reps: ClassVar[int] = 100
    chunk: ClassVar[int] = 5
    ours: ClassVar[tuple[str, ...]] = (WATCHED,)
    title: ClassVar[str] = "Assured accuracy with costly truth (beyond 000)"
    reproduces: ClassVar[str] = "beyond 000"
    summary: ClassVar[str] = (
        "The paper assumes that every task's truth comes to light, and workers who are equally "
        "good at all of them. Here truths are told of tasks that chance chose, and a fifth of the "
        "tasks is hard: everybody is right about them with the same small probability. How often "
        "are answers wrong that the campaign calls assured at its end, with and without the watch; "
        "how soon does it notice; how often is there an alarm where no task is hard; and what do "
        "answers and truths cost?"
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "error",
            "share of tasks audited",
            "wrong of what is assured",
            "How often answers are wrong that are assured at the end; dashed: alpha.",
        ),
        Figure(
            "assured",
            "share of tasks audited",
            "tasks assured",
            "The share of tasks that are assured at the end.",
        ),
        Figure(
            "alarm",
            "share of tasks audited",
            "campaigns with an alarm",
            "The share of campaigns with an alarm.",
        ),
    )

    def __post_init__(self) -> None:
        for share in self.audits:
            if not 0.0 < share <= 1.0:
                raise InvalidParameter(
                    f"audits has {share}: give shares above 0, up to 1", field="audits"
                )
        for quality in (self.hard, *self.on_hard):
            if not 0.0 <= quality <= 1.0:
                field = "hard" if quality == self.hard else "on_hard"
                raise InvalidParameter(
                    f"{field} has {quality}: give numbers from 0 to 1", field=field
                )
        for name in ("workers", "tasks"):
            at_least_two(name, getattr(self, name))
        _policy(WATCHED, self.audits[0], self._terms, self.alarm)

    @property
    def _terms(self) -> Terms:
        return Terms(self.alpha, self.xi, self.mu)

    def cells(self) -> list[AuditCell]:
        """One a world and share of tasks."""
        return [
            AuditCell(panel_of(quality), share, quality)
            for quality in (None, *self.on_hard)
            for share in self.audits
        ]

    def sample(self, cell: AuditCell, seed: int, replication: int) -> Array:
        """Of each series: wrong and all that is assured at the end, costs, truths, the alarm."""
        rng = np.random.default_rng([seed, replication])
        costs = np.rint(rng.uniform(1.0, 2.0, self.workers) * MICRO).astype(np.int64)
        pool = WorkerPool(costs, rng.uniform(0.75, 0.95, self.workers))
        share, quality = (0.0, 0.5) if cell.on_hard is None else (self.hard, cell.on_hard)
        world = pool.answering(seed, replication, self.tasks, share, quality)
        problem = pool.problem(self.tasks)
        fresh = Ledger(problem)
        found = np.empty((len(SERIES), NOTICED + 1))
        for at, series in enumerate(SERIES):
            policy = _policy(series, cell.x, self._terms, self.alarm)
            outcome = simulate(
                policy, problem, world, seed=seed, replication=replication, ledger=fresh
            )
            found[at] = worth_of(outcome, world, policy)
        return found.ravel()

    def rows(self, cell: AuditCell, samples: Array, seed: int) -> list[Row]:
        """Errors of all campaigns together, means of the rest."""
        blocks = samples.reshape(len(samples), len(SERIES), NOTICED + 1)
        found = []
        for at, series in enumerate(SERIES):
            place: dict[str, Any] = {"series": series, "x": cell.x, "panel": cell.panel}
            mine = blocks[:, at]
            sure = mine[:, ASSURED]
            if (sure > 0).sum() >= min(FEWEST, len(sure)):
                found.append(ratio_row(mine[:, WRONG], sure, metric="error", seed=seed, **place))
            found.append(rate_row(sure / self.tasks, metric="assured", **place))
            for metric, values in (("cost", mine[:, TASK_COST]), ("truths", mine[:, TRUTHS])):
                found.append(mean_row(values, metric=metric, **place))
            found.append(rate_row(mine[:, ALARM], metric="alarm", **place))
            noticed = mine[mine[:, ALARM] > 0, NOTICED]
            if len(noticed) >= min(FEWEST_NOTICED, len(mine)):
                found.append(mean_row(noticed, metric="noticed", **place))
        return found

    def paper_rows(self) -> Sequence[ReferenceRow]:
        """What was to be kept."""
        return [
            ReferenceRow.at(
                *("alpha", cell.x, "error", self.alpha),
                panel=cell.panel,
                style="line",
                source="the target",
            )
            for cell in self.cells()
        ]

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """What the watch notices, and what it takes."""
        at = {(row.panel, row.x, row.series, row.metric): row for row in rows}
        found = []
        for cell in self.cells():
            words = []
            told = at.get((cell.panel, cell.x, WATCHED, "alarm"))
            if told is not None:
                words.append(f"an alarm in {told.mean:.1%}")
            noticed = at.get((cell.panel, cell.x, WATCHED, "noticed"))
            if noticed is not None:
                words.append(f"after {noticed.mean:,.0f} tasks on average")
            for series in (UNWATCHED, WATCHED):
                error = at.get((cell.panel, cell.x, series, "error"))
                share = at.get((cell.panel, cell.x, series, "assured"))
                if share is not None:
                    wrong = "nothing" if error is None else f"{error.mean:.3f} wrong"
                    words.append(f"{wrong} of {share.mean:.1%} assured ({series})")
            truths = at.get((cell.panel, cell.x, WATCHED, "truths"))
            if truths is not None:
                words.append(f"{truths.mean:,.0f} truths")
            # A cell that failed has no rows: the report still has to say what the others found.
            if words:
                found.append(f"{cell.panel}, {cell.x:.0%} audited: {'; '.join(words)}.")
        return found


def panel_of(on_hard: float | None) -> str:
    """What a world is called."""
    return EASY if on_hard is None else f"hard ones are right with {on_hard:g}"


def worth_of(outcome: Outcome, world: AssuredWorld, policy: CcbNs) -> list[float]:
    """What a campaign that was run to its end assured and paid, and when it raised an alarm."""
    ledger, state = outcome.ledger, outcome.state
    count = ledger.total(c.TASKS)
    votes, truths, each = ledger.book.votes[:count], world.truths[:count], np.arange(count)
    lead = votes[each, truths] - votes[each, 1 - truths]
    # A tie is broken by a coin.
    wrong = np.where(lead < 0, 1.0, np.where(lead == 0, 0.5, 0.0))
    sets, own = sets_of(outcome)
    # What is assured depends on who was asked: one task per set will do.
    first = [int(np.argmax(own == at)) for at in range(len(sets))]
    said = policy.assurances(ledger.problem, state, ledger, first)
    sure = np.array([one.outcome == "assured" for one in said])[own]
    return [
        float(wrong[sure].sum()),
        float(sure.sum()),
        outcome.spent / count,
        float((ledger.book.tasks[:count, c.TRUTH] >= 0).sum()),
        float(state.watch[ALARMS] > 0),
        float(state.watch[SINCE]),
    ]
