"""Paper 004, Fig. 1: how far the most frequent answer leads, in recorded answers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter, nearest
from askwise.figures import Row
from askwise.lab.experiment import Cell, Experiment, Figure, experiments
from askwise.lab.papers.crowds.studies.tallies import (
    COLUMNS,
    Steps,
    Tally,
    gap_left_out,
    gap_of,
    if_uniform,
    is_scale,
    read_tallies,
)
from askwise.lab.results import CONFIDENCE

GRID = np.arange(21) / 20

SIMULATED = "simulated uniform gaps"
TASKS, JUDGES = 128, 50
"""Of the simulated workload: those of the paper's Fig. 1a, and the fewest judges it had."""

EMPIRICAL, UNIFORM, SEEN = "empirical", "uniform", "uniform, as many answers"

CORRECTION = (
    "A few answers make the leader seem further ahead than it is. On answers left out (one at a "
    "time, with the leader and the second picked by the others) it is the other way round: with "
    "two options the true mean gap is expected between the two. The distribution is not corrected, "
    "as taking the noise of ten answers out of it is ill-posed; the noise is put into the uniform "
    "distribution instead."
)


@dataclass(frozen=True)
class GapCell(Cell):
    """A data set: which tallies its tasks have, and how often.

    Attributes
    ----------
    name : str
        The set's name.
    tallies, weights : tuples
        The distribution of tallies over tasks; none for a set that is skipped.
    tasks : int
        Tasks with enough answers: as many are drawn for a replication.
    in_all, labels : int
        All tasks, and distinct labels.
    numeric : bool
        Whether the labels are numbers on a scale.
    """

    name: str
    tallies: tuple[Tally, ...]
    weights: tuple[int, ...]
    tasks: int
    in_all: int = 0
    labels: int = 2
    numeric: bool = False


@experiments.register("survey-gaps")
@dataclass(frozen=True)
class Gaps(Experiment):
    """Fig. 1: the distribution of empirical gaps over the tasks of a data set.

    A replication draws as many tasks as there are, with replacement. Of a worker who answered a
    task twice the first answer counts.

    Parameters
    ----------
    data : folder
        Holds ``NAME/labels.csv`` for each set, with the columns task, worker and label; without
        it there is only a simulated workload.
    sets : names
        Which sets; without them every one whose labels are options and half of whose tasks have
        enough answers.
    least : int
        The fewest answers a task must have to be counted.
    """

    data: str = ""
    sets: tuple[str, ...] = ()
    least: int = 10

    reps: ClassVar[int] = 1000
    chunk: ClassVar[int] = 250
    title: ClassVar[str] = "Gaps in recorded answers (004, Fig. 1)"
    reproduces: ClassVar[str] = "004, Fig. 1"
    summary: ClassVar[str] = (
        "The gap of a task is the share of its most frequent answer less that of the second. "
        "Small gaps need many answers. The paper finds the gaps in several batches of tasks "
        "nearly uniform between 0 and 1 and concludes that a prior on the gap would not help. "
        "Is that so elsewhere?\n\n"
        "Few answers can show few gaps only: ten answers with two options 0, 0.2, ..., 1. So there "
        "are two lines to compare with, the uniform distribution and what uniform gaps would show "
        "in as many answers as each task has. The latter is exact for two options: every number of "
        "votes for one of them is then equally likely. In the tables of means and distances, which "
        "have a line for each set, the columns are answers per task."
    )
    axes: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("mean_gap", "mean_gap_left_out", "mean_gap_if_uniform", "ks_uniform",
         "ks_as_many_answers"),
        "answers per task",
    )  # fmt: skip
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "cdf",
            "gap",
            "share of tasks with at most this gap",
            "Distribution of the empirical gap over the tasks of each set, with 95% intervals; "
            "dashed the uniform distribution, dotted what uniform gaps would show in as many "
            "answers.",
        ),
    )

    def __post_init__(self) -> None:
        if self.least < 1:
            raise InvalidParameter(
                f"least is {self.least}: give a whole number from 1", field="least"
            )
        if self.sets and not self.data:
            raise InvalidParameter(
                "sets names sets of the folder data: give data as well", field="data"
            )
        for name in self.sets:
            if self.sets.count(name) > 1:
                raise InvalidParameter(f"sets names {name!r} twice", field="sets")

    def cells(self) -> list[GapCell]:
        """The simulated workload, then a cell per set, also for those skipped."""
        if not self.data:
            return [_simulated()]
        found = [self._cell(name, read_tallies(file)) for name, file in self._files().items()]
        if not any(cell.tallies for cell in found):
            reasons = "; ".join(
                _skipped(
                    cell.name,
                    cell.tasks,
                    cell.in_all,
                    self.least,
                    cell.labels if cell.numeric else 0,
                )
                for cell in found
            )
            raise InvalidParameter(
                f"no set in data can be used: {reasons}", field="sets" if self.sets else "data"
            )
        return [_simulated(), *found]

    def _files(self) -> dict[str, Path]:
        folder = Path(self.data)
        if not folder.is_dir():
            raise InvalidParameter(f"data is {self.data!r}: there is no such folder", field="data")
        known = {file.parent.name: file for file in sorted(folder.glob("*/labels.csv"))}
        if not known:
            raise InvalidParameter(
                f"data is {self.data!r}: the folder holds no set, which is a folder with a file "
                "labels.csv",
                field="data",
            )
        for name in self.sets:
            if name not in known:
                raise InvalidParameter(
                    f"sets has {name!r}: no such set in data, {nearest(name, known)}", field="sets"
                )
        return {name: known[name] for name in self.sets or known}

    def _cell(self, name: str, tasks: Mapping[str, Counter[str]]) -> GapCell:
        labels = {label for tally in tasks.values() for label in tally}
        answers = [tally.total() for tally in tasks.values()]
        enough = Counter(
            tuple(sorted(tally.values(), reverse=True))
            for tally in tasks.values()
            if tally.total() >= self.least
        )
        count = enough.total()
        numeric = is_scale(labels)
        # Where hardly any task has enough answers those that do are hardly like the others.
        fewest = 1 if self.sets else len(tasks) / 2
        panel, kept = "", {}
        if not numeric and count >= fewest:
            kept = dict(sorted(enough.items()))
            asked = sorted({sum(tally) for tally in kept})
            span = f"{asked[0]}" if len(asked) == 1 else f"{asked[0]} to {asked[-1]}"
            panel = f"{name} ({count:,} tasks, {span} answers)"
            answers = [sum(tally) for tally, times in kept.items() for _ in range(times)]
        return GapCell(
            panel,
            float(median(answers)),
            name,
            tallies=tuple(kept),
            weights=tuple(kept.values()),
            tasks=count,
            in_all=len(tasks),
            labels=len(labels),
            numeric=numeric,
        )

    def samples(self, cell: GapCell, seed: int, first: int, last: int) -> Array:
        """What resampled tasks show: the distribution, two means, how far off it is."""
        if not cell.tallies:
            return np.zeros((last - first, 0))
        gaps = _Gaps(cell)
        return np.array(
            [
                gaps.measured(gaps.draw(np.random.default_rng([seed, each])))
                for each in range(first, last)
            ]
        )

    def rows(self, cell: GapCell, samples: Array, seed: int) -> list[Row]:
        """The distribution of the set itself; intervals from resampled tasks."""
        n = len(samples)

        def of_set(metric: str, mean: float, low: float, high: float) -> Row:
            return Row("", cell.name, cell.x, metric, mean, min(low, mean), max(high, mean), n)

        found = []
        if cell.name != SIMULATED:
            numbers = "distinct_numbers" if cell.numeric else "options"
            counts = (("tasks", cell.tasks), ("tasks_in_all", cell.in_all), (numbers, cell.labels))
            found += [of_set(metric, count, count, count) for metric, count in counts]
        if not cell.tallies:
            return found
        gaps = _Gaps(cell)
        mean = gaps.measured(gaps.weights)
        lows, highs = np.quantile(samples, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
        for at, metric in enumerate(("mean_gap", "mean_gap_left_out"), start=len(GRID)):
            found.append(of_set(metric, mean[at], lows[at], highs[at]))
        seen = gaps.seen.mean()
        found.append(of_set("mean_gap_if_uniform", seen, seen, seen))
        # Triangle inequality: the distance of what the tasks stand for is within this of theirs.
        off = float(np.quantile(samples[:, -1], CONFIDENCE))
        for metric, distance in (
            ("ks_uniform", gaps.shown.from_uniform()),
            ("ks_as_many_answers", gaps.shown.distance(gaps.seen)),
        ):
            found.append(
                of_set(metric, distance, max(0.0, distance - off), min(1.0, distance + off))
            )
        curves = (
            (EMPIRICAL, mean, lows, highs),
            (UNIFORM, GRID, GRID, GRID),
            (SEEN, *(gaps.seen.at(GRID),) * 3),
        )
        for series, means, low, high in curves:
            for at, x in enumerate(GRID):
                ends = min(low[at], means[at]), max(high[at], means[at])
                found.append(Row(cell.panel, series, x, "cdf", means[at], *ends, n))
        return found

    def drawn_as_reference(self, row: Row) -> bool:
        """What gaps would be like if they were uniform."""
        return row.series in (UNIFORM, SEEN)

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """How far from uniform each set is, and which were skipped, from the rows alone."""
        by_set: dict[str, dict[str, Row]] = {}
        for row in rows:
            if not row.panel:
                by_set.setdefault(row.series, {})[row.metric] = row
        simulated = by_set.pop(SIMULATED, None)
        finite = []
        # It has no rows if it failed.
        if simulated:
            finite.append(
                f"Gaps that are uniform and seen in {JUDGES} answers with two options (simulated) "
                f"stay within {simulated['ks_as_many_answers'].ci_high:.2f} of their own "
                f"distribution in 95% of the workloads of {TASKS} tasks: what chance does."
            )
        if not by_set:
            return [
                "No recorded answers were at hand: only the simulated workload is shown. Give a "
                "folder of them with --set data=FOLDER; it holds NAME/labels.csv for each set, "
                f"with the columns {', '.join(COLUMNS)}.",
                *finite,
            ]
        used = {name: found for name, found in by_set.items() if "mean_gap" in found}
        said = []
        if used:
            said = [_verdict(used), *(_of_set(name, found) for name, found in used.items())]
            said.append(CORRECTION)
        many = [name for name, found in used.items() if found["options"].mean > 2]
        if many:
            said.append(
                f"What uniform gaps would show is worked out for two options; {', '.join(many)} "
                f"{'has' if len(many) == 1 else 'have'} more, for which a gap alone does not say "
                "how the answers fall."
            )
        said.append(
            " ".join(
                [
                    "The paper's batches, about 3000 tasks with at least 50 answers each, are not "
                    "to be had; these sets are others.",
                    *finite,
                ]
            )
        )
        skipped = [
            _skipped(
                name,
                found["tasks"].mean,
                found["tasks_in_all"].mean,
                self.least,
                found["distinct_numbers"].mean if "distinct_numbers" in found else 0,
            )
            for name, found in by_set.items()
            if name not in used
        ]
        return [*said, f"Skipped: {'; '.join(skipped)}."] if skipped else said


def _verdict(used: Mapping[str, Mapping[str, Row]]) -> str:
    """How many sets are as the paper says, and which is the nearest and the furthest."""
    apart = {name: found["ks_as_many_answers"] for name, found in used.items()}
    near = [name for name, row in apart.items() if row.ci_low == 0]
    said = "The paper finds the gaps of every batch very close to uniform. Here "
    if len(near) == len(used):
        said += "no set differs from that by more than chance."
    elif near:
        said += (
            f"{len(near)} of {len(used)} sets can't be told from that ({', '.join(near)}); the "
            "others differ by more than chance."
        )
    else:
        said += "every set differs from that by more than chance."
    ordered = sorted(apart, key=lambda name: apart[name].mean)
    ends = [f"{name} ({apart[name].mean:.2f})" for name in (ordered[0], ordered[-1])]
    return said + (f" The nearest is {ends[0]}, the furthest {ends[1]}." if len(used) > 1 else "")


def _of_set(name: str, found: Mapping[str, Row]) -> str:
    """How the gaps of a set compare with uniform ones."""
    gap, uniform = found["mean_gap"], found["mean_gap_if_uniform"].mean
    tasks, in_all = found["tasks"].mean, found["tasks_in_all"].mean
    some = f" of {in_all:,.0f}" if tasks < in_all else ""
    size = "about as large"
    if not gap.ci_low <= uniform <= gap.ci_high:
        size = ("smaller" if gap.mean < uniform else "larger") + " on average"
    return (
        f"{name} ({tasks:,.0f}{some} tasks, {gap.x:g} answers): mean gap {_shown(gap)}, "
        f"{found['mean_gap_left_out'].mean:.3f} on answers left out; uniform gaps would show "
        f"{uniform:.3f}, so these are {size}. Kolmogorov-Smirnov distance to what uniform gaps "
        f"would show {_shown(found['ks_as_many_answers'])}, to the uniform distribution itself "
        f"{_shown(found['ks_uniform'])}."
    )


def _shown(row: Row) -> str:
    return f"{row.mean:.3f} [{row.ci_low:.3f}, {row.ci_high:.3f}]"


def _skipped(name: str, tasks: float, in_all: float, least: int, numbers: float) -> str:
    if numbers:
        return (
            f"{name} (its labels are {numbers:g} distinct numbers, a scale; were they classes, "
            "words would say so)"
        )
    return f"{name} ({tasks:,.0f} of {in_all:,.0f} tasks have {least} answers or more)"


class _Gaps:
    """Gaps of a cell's tallies, and what is measured of any number of tasks with them."""

    def __init__(self, cell: GapCell) -> None:
        self.weights = np.array(cell.weights, np.float64)
        self.tasks = cell.tasks
        self.gaps = np.array([gap_of(tally) for tally in cell.tallies])
        self.left_out = np.array([gap_left_out(tally) for tally in cell.tallies])
        self.shown = Steps.of(self.gaps, self.weights)
        self.seen = if_uniform([sum(tally) for tally in cell.tallies], self.weights)

    def draw(self, rng: np.random.Generator) -> Array:
        """How often each tally is among resampled tasks."""
        return rng.multinomial(self.tasks, self.weights / self.weights.sum())

    def measured(self, weights: Array) -> Array:
        """The distribution along the grid, the two means, the distance to what it was."""
        steps = Steps.of(self.gaps, weights)
        means = np.array([self.gaps, self.left_out]) @ weights / weights.sum()
        return np.array([*steps.at(GRID), *means, steps.distance(self.shown)])


def _simulated() -> GapCell:
    """Two options, uniform gaps: every number of votes for the first is equally likely."""
    votes = range(JUDGES // 2, JUDGES + 1)
    tallies = tuple((most, JUDGES - most) if most < JUDGES else (most,) for most in votes)
    weights = tuple(1 if 2 * most == JUDGES else 2 for most in votes)
    panel = f"{SIMULATED} ({TASKS} tasks, {JUDGES} answers)"
    return GapCell(panel, JUDGES, SIMULATED, tallies, weights, TASKS, TASKS)
