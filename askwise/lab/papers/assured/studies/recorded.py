"""Whether what is called assured is right as often as promised: recorded answers (beyond 000)."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter
from askwise.figures import Row
from askwise.lab.experiment import Cell, Experiment, Figure, experiments
from askwise.lab.papers.assured.studies.common import sets_of
from askwise.lab.papers.labels.studies.sets import (
    STAND_IN,
    LabelSet,
    check_sets,
    chosen_sets,
    told,
)
from askwise.lab.results import mean_row, rate_row, ratio_row
from askwise.lab.simulate import Outcome, simulate
from askwise.lab.worlds import Recording
from askwise.policies import Policy
from askwise.policies.assured.base import BoundingPolicy
from askwise.policies.assured.ccb import CcbNs
from askwise.policies.assured.ccb_fixed import CcbFixed
from askwise.policies.assured.common import ALARMS

KNOWN, TOLD, WATCHED = "qualities known", "all truths told", "audited"
SERIES = (KNOWN, TOLD, WATCHED)

(WRONG, CLAIMED, ASSURED, WRONG_TEAM, CLAIMED_TEAM, ASSURED_TEAM,
 TASKS, ANSWERS, ALARM) = range(9)  # fmt: skip
FIGURES_OF_A_RUN = 9

CAMPAIGN, TARGET = "a campaign", "alpha"

ABLE = 0.55
"""Who is right less often is not asked: the paper takes everybody to be better than a coin."""

FEWEST_WORKERS, MOST_WORKERS = 3, 10
FEWEST_TASKS = 100
"""That everybody of a team has answered."""

DRAWS = 20
"""Teams that are drawn, until one is large enough."""

FEWEST = 20
"""Campaigns that assure anything, for an error among what they assure."""

RANGE = 0.3
"""The range xi, in alphas: as .03 is of .1."""

STAND_IN_TASKS, STAND_IN_WORKERS = 1000, 8


@dataclass(frozen=True)
class Answered:
    """Who answered what: a row for each task; -1 where nobody did."""

    labels: Array
    truth: Array
    options: int

    def team(self, rng: np.random.Generator) -> Array:
        """Able workers drawn one by one, as long as enough tasks have answers of them all."""
        answered = self.labels >= 0
        count = answered.sum(axis=0)
        right = (self.labels == self.truth[:, None]).sum(axis=0)
        able = (count >= FEWEST_TASKS) & (right > ABLE * count)
        team: list[int] = []
        for _ in range(DRAWS):
            team, shared = [], np.ones(len(self.truth), np.bool_)
            for worker in rng.permutation(np.flatnonzero(able)).tolist():
                both = shared & answered[:, worker]
                if both.sum() >= FEWEST_TASKS and len(team) < MOST_WORKERS:
                    team, shared = [*team, worker], both
            if len(team) >= FEWEST_WORKERS:
                break
        return np.array(sorted(team), np.int64)

    def of(self, team: Array) -> tuple[Array, Array]:
        """The answers of a team to the tasks that all of it answered, and what is true of these."""
        labels = self.labels[:, team]
        shared = (labels >= 0).all(axis=1)
        return labels[shared], self.truth[shared]


@lru_cache(maxsize=4)
def stand_in() -> LabelSet:
    """Workers as the paper assumes them, for where no data is at hand."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=STAND_IN_TASKS)
    right = rng.random((STAND_IN_TASKS, STAND_IN_WORKERS)) < rng.uniform(
        0.7, 0.95, STAND_IN_WORKERS
    )
    recording = Recording.complete(np.where(right, truth[:, None], 1 - truth[:, None]), truth, 2)
    names = tuple(f"w{at}" for at in range(STAND_IN_WORKERS))
    return LabelSet(STAND_IN, recording, names, STAND_IN_TASKS)


@lru_cache(maxsize=4)
def _tables(data: str, sets: tuple[str, ...]) -> dict[str, Answered]:
    """Those sets that have a team, by name."""
    found = {}
    for each in _label_sets(data, sets):
        if each.recording is None:
            continue
        made = table_of(each.recording)
        if len(made.team(np.random.default_rng(0))) >= FEWEST_WORKERS:
            found[each.name] = made
    if not found:
        raise InvalidParameter(
            f"data is {data!r}: in no set {FEWEST_WORKERS} workers who are right more often than "
            f"{ABLE:g} have answered the same {FEWEST_TASKS} tasks with gold",
            field="data",
        )
    return found


def _label_sets(data: str, sets: tuple[str, ...]) -> list[LabelSet]:
    """Sets of a folder or the simulated one; of their tasks those whose truth is known."""
    found = chosen_sets(data, sets, 0) if data else [stand_in()]
    return [
        each if each.recording is None else replace(each, recording=with_gold(each.recording))
        for each in found
    ]


def with_gold(recording: Recording) -> Recording:
    """The tasks whose truth is known, and their answers."""
    known = recording.truth >= 0
    kept, place = known[recording.task], np.cumsum(known) - 1
    return Recording(
        place[recording.task[kept]],
        recording.worker[kept],
        recording.label[kept],
        int(known.sum()),
        recording.workers,
        recording.options,
        recording.truth[known],
    )


def table_of(recording: Recording) -> Answered:
    """Recorded answers as a table."""
    labels = np.full((recording.tasks, recording.workers), -1, np.int64)
    labels[recording.task, recording.worker] = recording.label
    return Answered(labels, np.asarray(recording.truth, np.int64), recording.options)


@experiments.register("assured-recorded")
@dataclass(frozen=True)
class AssuredRecorded(Experiment):
    """Run policies that assure an accuracy on recorded answers, and judge them by gold.

    Parameters
    ----------
    data : folder
        Holds ``NAME/labels.csv`` and ``NAME/gold.csv`` for each set; without it workers simulated
        as the paper assumes them stand in.
    sets : names
        Which sets of the folder; every one by default.
    alphas : numbers
        Errors allowed.
    audits : number
        The share of the tasks that is audited.
    """

    data: str = ""
    sets: tuple[str, ...] = ()
    alphas: tuple[float, ...] = (0.05, 0.1, 0.2)
    audits: float = 0.3

    reps: ClassVar[int] = 40
    chunk: ClassVar[int] = 10
    ours: ClassVar[tuple[str, ...]] = (WATCHED,)
    title: ClassVar[str] = "Assured accuracy on recorded answers (beyond 000)"
    reproduces: ClassVar[str] = "beyond 000"
    summary: ClassVar[str] = (
        "An answer is called assured if its set errs seldom enough by the qualities of its "
        "workers, who are taken to err independently. Do people, and programs? A team of up to ten "
        "who have all answered the same tasks is drawn from each set. Half of the tasks show how "
        "good they are, as an earlier campaign would; the other half is the campaign. How often "
        "are answers wrong that it calls assured at its end, and how often does it say so?"
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "error",
            "alpha",
            "wrong of what is assured",
            "How often answers are wrong that are called assured; dashed: alpha.",
        ),
        Figure(
            "error_of_several",
            "alpha",
            "wrong of what several assure",
            "The same of answers that two workers or more gave.",
        ),
        Figure("assured", "alpha", "tasks assured", "The share of tasks that are called assured."),
    )

    def __post_init__(self) -> None:
        check_sets(self.data, self.sets)
        for alpha in self.alphas:
            if not 0.0 < alpha < 0.5:
                raise InvalidParameter(
                    f"alphas has {alpha}: give numbers between 0 and 0.5", field="alphas"
                )
        if not 0.0 < self.audits <= 1.0:
            raise InvalidParameter(
                f"audits is {self.audits}: give a share above 0, up to 1", field="audits"
            )

    def cells(self) -> list[Cell]:
        """One a set and target, and one for the notes."""
        panels = _tables(self.data, self.sets)
        return [*(Cell(panel, alpha) for panel in panels for alpha in self.alphas), Cell("", 0.0)]

    def sample(self, cell: Cell, seed: int, replication: int) -> Array:
        """Of each series: what is assured, also by sets of several; tasks, answers, alarms."""
        found = np.full((len(SERIES), FIGURES_OF_A_RUN), np.nan)
        if not cell.panel:
            return found.ravel()
        table = _tables(self.data, self.sets)[cell.panel]
        rng = np.random.default_rng([seed, replication])
        team = table.team(rng)
        if len(team) < FEWEST_WORKERS:
            return found.ravel()
        labels, truth = table.of(team)
        order = rng.permutation(len(truth))
        before, now = np.split(order, [len(order) // 2])
        prices = tuple(rng.uniform(1.0, 2.0, len(team)).round(3).tolist())
        campaign = Recording.complete(labels[now], truth[now], table.options)
        problem = replace(campaign, prices=prices).problem(None)
        right = (labels[before] == truth[before, None]).sum(axis=0).tolist()
        records = [
            (worker.id, k, len(before)) for worker, k in zip(problem.workers, right, strict=True)
        ]
        qualities = (labels[now] == truth[now, None]).mean(axis=0)
        policies = self._policies(cell.x, qualities, records)
        for at, series in enumerate(SERIES):
            outcome = simulate(
                policies[series],
                problem,
                campaign.answering(),
                seed=seed,
                replication=replication,
            )
            found[at] = worth_of(outcome, campaign.truth, policies[series])
        return found.ravel()

    def _policies(
        self, alpha: float, qualities: Array, records: list[tuple[str, int, int]]
    ) -> dict[str, BoundingPolicy]:
        """One that knows how often everybody is right in this campaign; two that have to learn."""
        shared: dict[str, Any] = {"alpha": alpha, "xi": RANGE * alpha, "earlier": records}
        return {
            KNOWN: CcbFixed(alpha=alpha, qualities=tuple(qualities.tolist())),
            TOLD: CcbNs(**shared),
            WATCHED: CcbNs(**shared, truth="audited", audits=self.audits),
        }

    def rows(self, cell: Cell, samples: Array, seed: int) -> list[Row]:
        """Errors of all campaigns together, shares of the rest; what the sets are."""
        if not cell.panel:
            given = _label_sets(self.data, self.sets)
            return [row for each in given for row in each.notes()]
        blocks = samples.reshape(len(samples), len(SERIES), FIGURES_OF_A_RUN)
        blocks = blocks[~np.isnan(blocks).any(axis=(1, 2))]
        found = []
        for at, series in enumerate(SERIES if len(blocks) else ()):
            place: dict[str, Any] = {"series": series, "x": cell.x, "panel": cell.panel}
            mine = blocks[:, at]
            sure, tasks = mine[:, ASSURED], mine[:, TASKS]
            found.append(rate_row(sure / tasks, metric="assured", **place))
            found.append(mean_row(mine[:, ANSWERS] / tasks, metric="answers", **place))
            if series == WATCHED:
                found.append(rate_row(mine[:, ALARM], metric="alarm", **place))
            for first, suffix in ((WRONG, ""), (WRONG_TEAM, "_of_several")):
                wrong, claimed, sure = mine[:, first : first + 3].T
                if (sure > 0).sum() >= min(FEWEST, len(sure)):
                    for metric, values in (("error", wrong), ("claimed", claimed)):
                        place["metric"] = metric + suffix
                        found.append(ratio_row(values, sure, seed=seed, **place))
        if len(blocks):
            sizes, alpha = blocks[:, 0, TASKS], cell.x
            place = {"series": CAMPAIGN, "x": alpha, "panel": cell.panel}
            found.append(mean_row(sizes, metric="tasks", **place))
            found += [
                Row(cell.panel, TARGET, alpha, metric, alpha, alpha, alpha, len(blocks))
                for metric in ("error", "error_of_several")
            ]
        return found

    def drawn_as_reference(self, row: Row) -> bool:
        """The target is."""
        return row.series == TARGET

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """Where the promise fails, and which sets say nothing of it."""
        panels = {row.panel for row in rows if row.panel}
        said = self._sets(rows, panels)
        for series in SERIES:
            for alpha in self.alphas:
                said += self._promise(rows, series, alpha, len(panels))
        said.append(
            "Intervals are over teams, prices and which half of the tasks is the campaign: the "
            "recorded answers are always the same."
        )
        return said

    def _sets(self, rows: Sequence[Row], panels: Set[str]) -> list[str]:
        """What was used of which sets."""
        known = told(rows)
        if STAND_IN in known:
            return [
                "No recorded answers were at hand: workers simulated as the paper assumes them "
                "stand in. Give a folder with --set data=FOLDER."
            ]
        said = []
        part = [
            f"{name} ({counts['tasks']:,.0f} of {counts['tasks_in_all']:,.0f})"
            for name, counts in known.items()
            if name in panels and counts["tasks"] < counts["tasks_in_all"]
        ]
        if part:
            said.append(f"Only tasks with gold are used: {', '.join(part)}.")
        if without := [name for name in known if name not in panels]:
            said.append(
                f"Left out, because no {FEWEST_WORKERS} workers who are right more often than "
                f"{ABLE:g} have answered the same {FEWEST_TASKS} tasks with options and gold: "
                f"{', '.join(without)}."
            )
        return said

    def _promise(self, rows: Sequence[Row], series: str, alpha: float, sets: int) -> list[str]:
        """Where more is wrong than allowed, and where the watch has noticed."""
        at = {
            (row.panel, row.metric): row for row in rows if row.series == series and row.x == alpha
        }
        errors = [row for (_, metric), row in at.items() if metric == "error"]
        over = [f"{row.panel} ({row.mean:.3f})" for row in errors if row.ci_low > alpha]
        several = [row for (_, metric), row in at.items() if metric == "error_of_several"]
        more = [
            f"{row.panel} ({row.mean:.3f}, claimed {claimed.mean:.3f})"
            for row in several
            if row.ci_low > (claimed := at[row.panel, "claimed_of_several"]).ci_high
        ]
        alarms = [
            f"{panel} ({row.mean:.1%})"
            for (panel, metric), row in at.items()
            if metric == "alarm" and row.mean > 0
        ]
        found = []
        if errors:
            found.append(
                f"{series}, alpha {alpha:g}: something is assured on {len(errors)} of {sets} sets; "
                f"surely more of it is wrong than allowed on {', '.join(over) or 'none'}."
            )
        if several:
            found.append(
                f"{series}, alpha {alpha:g}: answers of two workers or more are assured on "
                f"{len(several)} of {sets} sets; surely more of them are wrong than claimed on "
                f"{', '.join(more) or 'none'}."
            )
        if alarms:
            found.append(
                f"{series}, alpha {alpha:g}: campaigns with an alarm: {', '.join(alarms)}."
            )
        return found


def worth_of(outcome: Outcome, truth: Array, policy: Policy) -> list[float]:
    """What a campaign that was run to its end assured, claimed of it and got wrong."""
    assert isinstance(policy, BoundingPolicy)
    ledger, count = outcome.ledger, len(truth)
    votes, each = ledger.book.votes[:count], np.arange(count)
    leads = votes == votes.max(axis=1, keepdims=True)
    # A tie is broken by lot.
    wrong = 1.0 - leads[each, truth] / leads.sum(axis=1)
    sets, own = sets_of(outcome)
    # What is assured depends on who was asked: one task per set will do.
    first = [int(np.argmax(own == at)) for at in range(len(sets))]
    said = policy.assurances(ledger.problem, outcome.state, ledger, first)
    sure = np.array([one.outcome == "assured" for one in said])[own]
    claimed = np.array([one.error for one in said])[own]
    several = sure & (np.array([len(members) for members in sets])[own] > 1)
    return [
        *(float(sum_of[sure].sum()) for sum_of in (wrong, claimed, sure)),
        *(float(sum_of[several].sum()) for sum_of in (wrong, claimed, several)),
        float(count),
        float(outcome.answers),
        float(outcome.state.watch[ALARMS] > 0),
    ]
