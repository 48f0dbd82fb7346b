"""Paper 003: Table 1, Figs. 2 and 3 (budgets), Figs. 4 and 5 (numbers of candidates)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from askwise.core.arrays import Array
from askwise.core.money import MICRO
from askwise.figures import ReferenceRow, Row
from askwise.lab.experiment import Figure, experiments
from askwise.lab.papers.bounded.studies.common import (
    CAPS,
    CONFIDENCE,
    OURS,
    PAPER_POLICIES,
    BoundedCell,
    BoundedExperiment,
    share_figure,
)
from askwise.lab.papers.bounded.theory import theorem_1
from askwise.lab.results import mean_row
from askwise.lab.worlds import Market

TABLE_1: dict[str, tuple[tuple[float, float], ...]] = {
    "bounded-epsilon-first": ((59.88, 0.35), (707.14, 3.49), (3833.8, 18.61), (11065, 54.07)),
    "budget-limited-epsilon-first(epsilon=0.05)": (
        (36.61, 0.25), (360.41, 1.55), (1873, 7.8), (4062.8, 16.14),
    ),
    "budget-limited-epsilon-first": ((48.62, 0.27), (382.72, 1.56), (1910.8, 7.81), (4347, 16.09)),
    "budget-limited-epsilon-first(epsilon=0.15)": (
        (44.03, 0.26), (374.15, 1.55), (1951.7, 7.82), (4206.1, 16.11),
    ),
    "trialsourcing": ((53.29, 0.28), (362.80, 1.61), (1804.6, 7.86), (3864.5, 16.38)),
    "random": ((26.34, 0.2), (186.63, 0.36), (991.2, 6.97), (2345.6, 16.44)),
    "uniform": ((24.91, 0.08), (135.23, 0.55), (723.11, 4.25), (2167.1, 13.79)),
    "bounded-kube": ((46.9, 0.33), (397.14, 3.06), (2721.04, 18.19)),
    "simplified-bounded-kube": ((28.24, 0.31), (277.42, 3.25), (2176.46, 20.36), (6307.07, 49.88)),
    "optimum": ((98.09, 0.53), (946.66, 2.1), (4917.1, 20.17), (14102, 58.77)),
}  # fmt: skip
"""Total utility and half-width of its 95% interval, as printed, by budget."""


@experiments.register("bounded-table1")
@dataclass(frozen=True)
class Table1(BoundedExperiment):
    """Table 1: total utility of every policy at four budgets.

    Parameters
    ----------
    budgets : whole units
        Those of the paper come with its caps on prices, others with the next larger one's.
    """

    budgets: tuple[int, ...] = tuple(CAPS)
    policies: tuple[str, ...] = (
        "bounded-epsilon-first",
        "budget-limited-epsilon-first(epsilon=0.05)",
        "budget-limited-epsilon-first",
        "budget-limited-epsilon-first(epsilon=0.15)",
        "trialsourcing",
        "random",
        "uniform",
        "bounded-kube",
        "simplified-bounded-kube",
        "bounded-epsilon-first(by=density,exploration=successive-rejects)",
        "bounded-epsilon-first(by=density,exploration=hoeffding-races)",
        *OURS,
    )
    reps: ClassVar[int] = 1000
    ratio_of_means: ClassVar[bool] = True
    title: ClassVar[str] = "Utility at four budgets (003, Table 1)"
    reproduces: ClassVar[str] = "003, Table 1"
    summary: ClassVar[str] = (
        "How much of the utility that full information could buy does each policy reach, at "
        "small, moderate, large and extremely large budgets? Shares are ratios of means over "
        "the sampled markets, with bootstrap intervals."
    )
    figures: ClassVar[tuple[Figure, ...]] = share_figure(
        "budget", "Share of the optimum by budget; hollow markers are the paper's.", kind="bars"
    )

    def cells(self) -> list[BoundedCell]:
        """One cell a budget."""
        return [
            BoundedCell("", budget, budget=budget, cap=cap_for(budget)) for budget in self.budgets
        ]

    def paper_rows(self) -> Sequence[ReferenceRow]:
        """Table 1 as printed, and the shares that follow from it."""
        found = []
        for series, cells in TABLE_1.items():
            for budget, (utility, half), (best, _) in zip(
                CAPS, cells, TABLE_1["optimum"], strict=False
            ):
                if budget not in self.budgets:
                    continue
                found.append(ReferenceRow.at(series, budget, "utility", utility, half_width=half))
                found.append(
                    ReferenceRow.at(series, budget, "share_of_optimum", round(utility / best, 3))
                )
        return found

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """Compare the order of policies with the paper's, from the rows themselves."""
        share = {(row.series, row.x): row for row in rows if row.metric == "share_of_optimum"}
        found = super().differences(rows)
        found.append(
            "Table 1 prints utilities; the paper's shares of the optimum follow from them."
        )
        found.append(
            "No setting of the market reproduces the paper's levels: with prices from 5 up its "
            "optimum at B = 500 (98.09) is above the arithmetical maximum, 100 hours at a mean "
            "utility of at most .95."
        )
        headline = "budget-limited-epsilon-first(epsilon=0.05)"
        beaten = [
            f"{budget:,} ({theirs.mean:.3f} against {ours.mean:.3f})"
            for budget in self.budgets
            if (ours := share.get(("bounded-epsilon-first", budget)))
            and (theirs := share.get((headline, budget)))
            and theirs.ci_low > ours.ci_high
        ]
        if beaten:
            found.append(
                "The paper's headline, that bounded epsilon-first earns more than the budget-"
                f"limited one, fails in this market at B = {'; '.join(beaten)}: {headline} is "
                "ahead there with intervals apart. Limits hardly bind at small budgets: one worker "
                "can take all of the money, and .15 of it is more than exploration is "
                "worth (see bounded-epsilon)."
            )
        for rival in ("bounded-kube", "simplified-bounded-kube"):
            ahead = [
                f"{budget:,} ({theirs.mean:.3f} against {ours.mean:.3f})"
                for budget, printed in zip(CAPS, TABLE_1[rival], strict=False)
                if (ours := share.get(("bounded-epsilon-first", budget)))
                and (theirs := share.get((rival, budget)))
                and theirs.ci_low > ours.ci_high
                and printed < TABLE_1["bounded-epsilon-first"][list(CAPS).index(budget)]
            ]
            if ahead:
                found.append(
                    f"{rival} earns a larger share of the optimum than bounded epsilon-first, with "
                    f"intervals apart, at B = {'; '.join(ahead)}; in the paper it is behind there. "
                    "Qualities may differ more in this market than in oDesk's."
                )
        exact, greedy = (
            [share.get((name, budget)) for budget in self.budgets]
            for name in ("bounded-kube", "simplified-bounded-kube")
        )
        gaps = [
            abs(one.mean - other.mean)
            for one, other in zip(exact, greedy, strict=True)
            if one is not None and other is not None
        ]
        if gaps:
            found.append(
                "The paper's exact and simplified KUBE differ by up to 66%; here the two plans "
                f"differ by at most {max(gaps):.3f} of the optimum, as a greedy plan of many small "
                "units must be near an exact one."
            )
        return found


def cap_for(budget: int) -> int:
    """The paper's cap on prices for a budget: that of the next budget it has."""
    return next((cap for known, cap in CAPS.items() if budget <= known), max(CAPS.values()))


@dataclass(frozen=True)
class _BudgetCurve(BoundedExperiment):
    """Shares along a range of budgets with Theorem 1's bound as a line."""

    cap: ClassVar[int] = 0
    figures: ClassVar[tuple[Figure, ...]] = share_figure(
        "budget", "Mean share of the optimum; the dashed line is what Theorem 1 guarantees."
    )
    budgets: tuple[int, ...] = ()

    def cells(self) -> list[BoundedCell]:
        """One cell a budget, the same markets for all."""
        return [BoundedCell("", budget, budget=budget, cap=self.cap) for budget in self.budgets]

    def extra(self, cell: BoundedCell, market: Market) -> Sequence[float]:
        """The regret that Theorem 1 allows."""
        prices = market.prices / MICRO
        return (theorem_1(0.15, float(cell.budget), prices, market.means, CONFIDENCE),)

    def extra_rows(self, cell: BoundedCell, extra: Array, best: Array) -> list[Row]:
        """The share of the optimum that Theorem 1 leaves."""
        left = (best - extra[:, 0]) / best
        series = "theorem-1(epsilon=0.15)"
        return [mean_row(left, series=series, x=cell.x, metric="share_of_optimum")]

    def drawn_as_reference(self, row: Row) -> bool:
        """Bounds are dashed."""
        return row.series.startswith("theorem")

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """What became of the bound."""
        bounds = [row.mean for row in rows if row.series.startswith("theorem")]
        found = super().differences(rows)
        if not bounds:
            return found
        found.append(
            f"Theorem 1's bound leaves a share between {min(bounds):,.1f} and {max(bounds):,.1f} "
            f"of the optimum on average (beta = {CONFIDENCE})."
        )
        if max(bounds) < 0:
            found.append(
                "So it exceeds the optimum itself at every budget here and guarantees nothing yet. "
                "The paper draws it within its figures; with the constants of Eq. (10) it is not "
                "there in this market."
            )
        return found


@experiments.register("bounded-small-budgets")
@dataclass(frozen=True)
class SmallBudgets(_BudgetCurve):
    """Fig. 2: jobs below 1000, workers at 30 at most."""

    budgets: tuple[int, ...] = (50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
    cap: ClassVar[int] = 30
    reps: ClassVar[int] = 600
    title: ClassVar[str] = "Small budgets (003, Fig. 2)"
    reproduces: ClassVar[str] = "003, Fig. 2"
    summary: ClassVar[str] = (
        "Most jobs have a budget below 1000. Which policy makes the most of it, and from which "
        "budget on does exploring pay?"
    )


@experiments.register("bounded-large-budgets")
@dataclass(frozen=True)
class LargeBudgets(_BudgetCurve):
    """Fig. 3: jobs from 5000 to 20,000, workers at 50 at most."""

    budgets: tuple[int, ...] = (5000, 7500, 10000, 12500, 15000, 17500, 20000)
    cap: ClassVar[int] = 50
    reps: ClassVar[int] = 300
    title: ClassVar[str] = "Large budgets (003, Fig. 3)"
    reproduces: ClassVar[str] = "003, Fig. 3"
    summary: ClassVar[str] = (
        "Long projects: the budget is large enough for workers to reach their limits. Who "
        "divides it well?"
    )


@experiments.register("bounded-candidates")
@dataclass(frozen=True)
class Candidates(BoundedExperiment):
    """Figs. 4 and 5: from 5 to 1000 candidates at two budgets.

    Parameters
    ----------
    budgets : whole units
        One pair of panels each.
    few, many : whole numbers
        Numbers of candidates in the two panels.
    """

    budgets: tuple[int, ...] = (5000, 30000)
    few: tuple[int, ...] = (5, 10, 20, 40, 60, 80, 100)
    many: tuple[int, ...] = (100, 250, 500, 750, 1000)
    policies: tuple[str, ...] = (
        *(name for name in PAPER_POLICIES if name != "bounded-kube"),
        "simplified-bounded-kube",
        *OURS,
    )
    reps: ClassVar[int] = 100
    title: ClassVar[str] = "Numbers of candidates (003, Figs. 4 and 5)"
    reproduces: ClassVar[str] = "003, Figs. 4 and 5"
    summary: ClassVar[str] = (
        "The more candidates, the better the best of them, and the more it costs to find them. "
        "Workers charge at most 100."
    )
    figures: ClassVar[tuple[Figure, ...]] = share_figure(
        "candidates", "Mean share of the optimum as the number of candidates grows."
    )

    def cells(self) -> list[BoundedCell]:
        """A panel for few and one for many candidates at each budget."""
        return [
            BoundedCell(f"B = {budget:,}, {size}", count, budget, cap=100, candidates=count)
            for budget in self.budgets
            for size, counts in (("few", self.few), ("many", self.many))
            for count in counts
        ]

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """KUBE is shown although the paper left it out."""
        return [
            *super().differences(rows),
            "The paper leaves KUBE out of these figures for its running time. It is shown here in "
            "its simplified form: trying everyone once and then bounding everyone's quality "
            "from above uses up the budget when there are many.",
        ]
