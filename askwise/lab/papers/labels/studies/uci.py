"""Paper 002, Figs. 2 and 3: simulated workers on three tables, with contexts by k-means."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter, nearest
from askwise.figures import Row
from askwise.lab.experiment import experiments
from askwise.lab.papers.labels.studies.common import (
    DIALS,
    FIGURES,
    LabelsCell,
    LabelsExperiment,
    curve_of,
    reached_at,
    series_in,
    standard_error,
)
from askwise.lab.papers.labels.studies.tables import SIMULATED, SOURCES, absent, at_hand, table
from askwise.lab.replaying.bench import Bench, contender
from askwise.lab.worlds.labellers import MODELS, check_models, label_tasks

PAPER_MODELS = ("spammer-hammer", "one-coin", "malicious")
ADVERSARIAL = ("spammer-hammer", "malicious")

OVERALL = "mean of all cases"
CLUSTERS = "cluster majority"

KNOWN_AT = (5.0, 10.0, 15.0)

KNOWN: dict[str, tuple[float, float, float]] = {
    "bbta(explore=0)": (0.791, 0.906, 0.944),
    "bbta": (0.810, 0.928, 0.956),
    "bbta(explore=5)": (0.818, 0.957, 0.979),
    "bbta(explore=10)": (0.773, 0.958, 0.986),
    "optkg": (0.785, 0.873, 0.911),
    "optkg-multi": (0.880, 0.950, 0.963),
    "crowdsense": (0.788, 0.866, 0.894),
    "iethresh": (0.716, 0.768, 0.814),
    "random-pairs": (0.722, 0.798, 0.845),
}
"""Means of the nine cases at 5, 10 and 15 answers per task by an independent implementation (30
repetitions): the paper's figures can't be read."""

KNOWN_ERROR = 0.004
"""Its standard error: up to .02 in a case, so about .012 / 3 in a mean of nine. Here it is the
same with as many replications."""


def case(name: str, model: str) -> str:
    """Name of a panel."""
    return f"{name}, {model}"


@dataclass(frozen=True)
class TablesExperiment(LabelsExperiment):
    """Policies on the tables of section 5.1 with simulated workers.

    Parameters
    ----------
    tables : names
        Out of ionosphere, breast and pima; without them every one at hand.
    models : names
        Worker models, out of spammer-hammer, one-coin, malicious, confused, drifting, lazy and
        colluding.
    data : folder
        Holds ``uci/NAME.csv`` with a header and the label in the last column. Without it breast
        comes from scikit-learn, if that is installed, and the others from OpenML.
    """

    tables: tuple[str, ...] = ()
    models: tuple[str, ...] = PAPER_MODELS
    data: str = ""

    reps: ClassVar[int] = 30
    overall: ClassVar[str] = OVERALL

    def __post_init__(self) -> None:
        super().__post_init__()
        check_models(self.models, "models")
        for name in self.tables:
            if name not in SOURCES:
                raise InvalidParameter(
                    f"tables has {name!r}: no such table, {nearest(name, SOURCES)}", field="tables"
                )
        for field in ("tables", "models"):
            values = getattr(self, field)
            for name in values:
                if values.count(name) > 1:
                    raise InvalidParameter(f"{field} names {name!r} twice", field=field)

    def used(self) -> list[str]:
        """The tables to run on: those named that are at hand."""
        found = at_hand(self.data)
        if not self.tables:
            return found
        kept = [name for name in self.tables if name in found]
        if not kept:
            raise InvalidParameter(
                f"tables {', '.join(self.tables)}: none of them is at hand, give the folder that "
                "holds uci/NAME.csv as data",
                field="data",
            )
        return kept

    def cells(self) -> list[LabelsCell]:
        """A cell a budget over all panels; one more for those that spend what they like."""
        panels = tuple(case(name, model) for name in self.used() for model in self.models)
        found = [LabelsCell("", budget, panels, (budget,)) for budget in self.budgets]
        if any(contender(label).policy.name in DIALS for label in self.policies):
            found.append(LabelsCell("", 0.0, panels, (0.0,), dials=True))
        return found

    def number(self, panel: str, replication: int) -> int:
        """Cases have places of their own, so that leaving one out changes no other."""
        name, _, model = panel.partition(", ")
        place = [*SOURCES, SIMULATED].index(name) * len(MODELS) + list(MODELS).index(model)
        return replication * (len(SOURCES) + 1) * len(MODELS) + place

    def bench(self, panel: str, seed: int, number: int) -> Bench:
        """New workers in each replication."""
        name, _, model = panel.partition(", ")
        tasks = table(self.data, name)
        return Bench(
            label_tasks(model, tasks.truth, tasks.contexts, 2, tasks.workers, seed, number)
        )

    def rows(self, cell: LabelsCell, samples: Array, seed: int) -> list[Row]:
        """Also what the contexts alone tell of the truth."""
        found = super().rows(cell, samples, seed)
        if cell.dials:
            return found
        n = len(samples)
        shares = [table(self.data, panel.partition(", ")[0]).by_cluster() for panel in cell.panels]
        pairs = list(zip(cell.panels, shares, strict=True))
        if len(pairs) > 1:
            pairs.append((OVERALL, float(np.mean(shares))))
        for panel, share in pairs:
            found.append(Row(panel, CLUSTERS, cell.x, "accuracy", share, share, share, n))
        return found + self.known_rows(cell)

    def drawn_as_reference(self, row: Row) -> bool:
        """What the contexts alone tell."""
        return row.series == CLUSTERS

    def known_rows(self, cell: LabelsCell) -> list[Row]:
        """What an independent implementation has at this budget, where all nine cases are run."""
        if len(cell.panels) != 9 or tuple(self.models) != PAPER_MODELS or cell.x not in KNOWN_AT:
            return []
        found, half = [], 1.96 * KNOWN_ERROR
        for label in self.policies:
            series = contender(label).series
            if series in KNOWN:
                mean = KNOWN[series][KNOWN_AT.index(cell.x)]
                ends = mean - half, mean + half
                found.append(Row(OVERALL, series, cell.x, "independent_accuracy", mean, *ends, 0))
        return found

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """What was not at hand, and what was read into the paper."""
        panels = list(dict.fromkeys(row.panel for row in rows if ", " in row.panel))
        names = list(dict.fromkeys(panel.partition(", ")[0] for panel in panels))
        said = [] if self.tables else absent(names)
        shares = {
            row.panel.partition(", ")[0]: row.mean
            for row in rows
            if row.series == CLUSTERS and ", " in row.panel
        }
        known = ", ".join(f"{name} {share:.2f}" for name, share in shares.items())
        said.append(
            "The paper does not say how a worker's good context is chosen; here it is drawn "
            "evenly for each worker alone, so contexts differ in how many are good at them. The "
            "malicious workers' bad context is drawn evenly from the others."
        )
        said.append(
            "Contexts are k-means clusters of the standardised features (the best of 50 starts). "
            f"They tell much of the class by themselves: {known} by the majority of each cluster. "
            "A policy that learns how frequent a class is in each context (hem) gains from that; "
            "that is not the workers' merit."
        )
        return said


@experiments.register("labels-uci")
@dataclass(frozen=True)
class LabelsUci(TablesExperiment):
    """Fig. 2: accuracy against budget in nine cases, three tables with three worker models."""

    policies: tuple[str, ...] = (
        "bbta",
        "bbta(explore=0)",
        "optkg",
        "optkg-multi",
        "crowdsense",
        "iethresh",
        "random-pairs",
        "random-pairs with one-coin by context",
        "bbta with one-coin by context",
        "hem",
    )

    title: ClassVar[str] = "Simulated workers on three tables (002, Fig. 2)"
    reproduces: ClassVar[str] = "002, Fig. 2"
    summary: ClassVar[str] = (
        "Each worker is good at one kind of tasks: a hammer there and a spammer elsewhere, right "
        "nine times in ten there and six times elsewhere, or malicious somewhere as well. You "
        "don't know who is good at what. Which task should go to whom, so that most answers are "
        "right for the money?\n\n"
        "CrowdSense and IEThresh decide themselves how much they spend: they are run over a grid "
        "of their thresholds and stand at what they spent (points far beyond the largest budget "
        "are not shown). In the panel with the means they are interpolated at the budgets."
    )
    figures = FIGURES

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """Which of the paper's claims hold, from the rows themselves."""
        said = super().differences(rows)
        said += against_known(rows)
        said += claims(rows)
        said += savings(rows)
        said += at_a_third(rows)
        return said


@experiments.register("labels-exploration")
@dataclass(frozen=True)
class LabelsExploration(TablesExperiment):
    """Fig. 3: how many tasks of each context everyone is asked about before BBTA adapts."""

    policies: tuple[str, ...] = ("bbta(explore=0)", "bbta", "bbta(explore=5)", "bbta(explore=10)")

    reps: ClassVar[int] = 40
    title: ClassVar[str] = "The length of exploration in BBTA (002, Fig. 3)"
    reproduces: ClassVar[str] = "002, Fig. 3"
    summary: ClassVar[str] = (
        "BBTA first puts some tasks of each context to everyone, to see who agrees with the "
        "majority. That costs answers at once and pays later. How many tasks should it be?"
    )
    figures = FIGURES

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """Which length is best and worst at each budget."""
        said = super().differences(rows) + against_known(rows)
        panels = [row.panel for row in rows if ", " in row.panel and row.series != CLUSTERS]
        cases = list(dict.fromkeys(panels))
        for budget in (x for x in KNOWN_AT if x in self.budgets):
            ranked = [_ranked(rows, panel, budget) for panel in cases]
            worst = [_at_an_end(order, "bbta(explore=0)", last=True) for order in ranked]
            best = [_at_an_end(order, "bbta(explore=10)", last=False) for order in ranked]
            said.append(
                f"At {budget:g} answers per task no exploration is the worst, with intervals apart "
                f"from all others, in {worst.count(True)} of {len(cases)} cases, surely not in "
                f"{worst.count(False)} (the paper: in all nine), and 10 tasks are the best in "
                f"{best.count(True)}, surely not in {best.count(False)}; the rest is too close to "
                "tell."
            )
        return said


def _at_an_end(order: Sequence[Row], series: str, *, last: bool) -> bool | None:
    """Whether a series is surely the worst (the best); None if it is too close to tell."""
    mine = next((row for row in order if row.series == series), None)
    others = [row for row in order if row is not mine]
    if mine is None or not others:
        return None

    def ahead(one: Row, other: Row) -> bool:
        return one.ci_high < other.ci_low if last else one.ci_low > other.ci_high

    if all(ahead(mine, other) for other in others):
        return True
    return False if any(ahead(other, mine) for other in others) else None


def _ranked(rows: Sequence[Row], panel: str, x: float) -> list[Row]:
    found = [
        row
        for row in rows
        if (row.panel, row.x, row.metric) == (panel, x, "accuracy") and row.series != CLUSTERS
    ]
    return sorted(found, key=lambda row: -row.mean)


def against_known(rows: Sequence[Row]) -> list[str]:
    """Say where the means differ from those of the independent implementation."""
    within, off = 0, []
    cases = {row.panel for row in rows if ", " in row.panel}
    if len(cases) != 9 or not all(
        case(name, model) in cases for name in SOURCES for model in PAPER_MODELS
    ):
        return []
    for series, means in KNOWN.items():
        mine = curve_of(rows, OVERALL, series)
        for x, mean in zip(KNOWN_AT, means, strict=True):
            if x not in mine:
                continue
            apart = (mine[x].mean - mean) / np.hypot(standard_error(mine[x]), KNOWN_ERROR)
            if abs(apart) <= 3:
                within += 1
            else:
                off.append(f"{series} at {x:g}: {mine[x].mean:.3f} against {mean:.3f}")
    if not within and not off:
        return []
    said = (
        "The paper's figures can't be read to the digit. An independent implementation's means of "
        f"the nine cases (independent_accuracy): {within} of {within + len(off)} agree with these "
        "within three standard errors of the difference"
    )
    return [f"{said}; the others: {'; '.join(off)}." if off else f"{said}."]


def claims(rows: Sequence[Row]) -> list[str]:
    """The paper's claims at the largest budget, case by case."""
    said = []
    cases = list(dict.fromkeys(row.panel for row in rows if ", " in row.panel))
    rivals = ("optkg", "crowdsense", "iethresh", "random-pairs", "optkg-multi")
    hard = [panel for panel in cases if panel.partition(", ")[2] in ADVERSARIAL]
    for rival in rivals:
        compared = [
            (panel, ours, theirs)
            for panel in hard
            if (ours := _at_end(rows, panel, "bbta")) is not None
            and (theirs := _at_end(rows, panel, rival)) is not None
        ]
        if compared:
            won = sum(ours.low > theirs.high for _, ours, theirs in compared)
            lost = sum(ours.high < theirs.low for _, ours, theirs in compared)
            said.append(f"{rival} in {won} of {len(compared)}, behind in {lost}")
    if not said:
        return []
    return [
        "The paper finds BBTA ahead of all others with spammer-hammer and malicious workers. At "
        f"the largest budget it is ahead, with intervals apart, of {'; of '.join(said)}; the rest "
        "is too close to tell."
    ]


class _End(NamedTuple):
    """A 95% interval."""

    low: float
    high: float


def _at_end(rows: Sequence[Row], panel: str, series: str) -> _End | None:
    """Accuracy of a series at the largest budget of the panel that it has a point at or near."""
    curve = curve_of(rows, panel, series)
    last = max(
        (row.x for row in rows if row.panel == panel and row.series == CLUSTERS), default=None
    )
    if not curve or last is None:
        return None
    xs = sorted(curve)
    low, high = (
        float(np.interp(last, xs, [getattr(curve[x], end) for x in xs]))
        for end in ("ci_low", "ci_high")
    )
    return _End(low, high)


def savings(rows: Sequence[Row]) -> list[str]:
    """How many answers per task hem needs for what BBTA reaches at the largest budget."""
    needed = {}
    for panel in dict.fromkeys(row.panel for row in rows if ", " in row.panel):
        if {"hem", "bbta"} <= set(series_in(rows, panel)):
            theirs = curve_of(rows, panel, "bbta")
            last = max(theirs)
            at = reached_at(curve_of(rows, panel, "hem"), theirs[last].mean)
            needed[panel] = (at, last)
    if not needed:
        return []
    listed = ", ".join(
        f"{panel} {at:.1f}" if at is not None else f"{panel} never"
        for panel, (at, _) in needed.items()
    )
    last = max(each for _, each in needed.values())
    return [
        f"Answers per task with which hem reaches what bbta has at {last:g} (between the budgets "
        f"that were run): {listed}."
    ]


def at_a_third(rows: Sequence[Row]) -> list[str]:
    """How hem with a third of BBTA's answers compares with it, case by case and on average."""
    apart: dict[str, tuple[float, float]] = {}
    ends: set[tuple[float, float]] = set()
    for panel in dict.fromkeys(row.panel for row in rows if row.panel):
        mine, theirs = (curve_of(rows, panel, series) for series in ("hem", "bbta"))
        last = max(theirs, default=0.0)
        if last / 3 in mine and last in theirs:
            ours, other = mine[last / 3], theirs[last]
            error = float(np.hypot(standard_error(ours), standard_error(other)))
            apart[panel] = ours.mean - other.mean, error
            ends.add((last / 3, last))
    cases = {panel: each for panel, each in apart.items() if panel != OVERALL}
    if not cases:
        return []
    ((few, many),) = ends
    listed = ", ".join(
        f"{panel} {lead:+.3f} ({error:.3f})" for panel, (lead, error) in apart.items()
    )
    ahead = sum(lead >= 0 for lead, _ in cases.values())
    behind = sum(lead < -2 * error for lead, error in cases.values())
    return [
        f"Accuracy of hem with {few:g} answers per task less that of bbta with {many:g}, and the "
        f"standard error: {listed}. It is at least as good in {ahead} of {len(cases)} cases, and "
        f"behind by more than two standard errors in {behind}."
    ]
