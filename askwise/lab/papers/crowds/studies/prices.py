"""Beyond paper 004, whose experiments have equal prices: crowds at unequal prices and at none."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from askwise.core.errors import InvalidParameter, nearest
from askwise.figures import Row
from askwise.lab.experiment import Figure, experiments
from askwise.lab.papers.crowds.studies.common import (
    DIALS,
    FIGURES,
    EqualErrorExperiment,
    SurveyCell,
    contender,
)
from askwise.policies.crowds.common import FREE_PRICE

MARKETS: dict[str, tuple[tuple[float, ...], tuple[int, ...]]] = {
    "good crowd cheap": ((0.8, 0.6), (1, 3)),
    "good crowd expensive": ((0.8, 0.6), (3, 1)),
    "good crowd expensive, coin cheap": ((0.9, 0.5), (3, 1)),
    "better costs more": ((0.85, 0.75, 0.65), (4, 2, 1)),
    "coin free": ((0.8, 0.5), (1, 0)),
    "weak crowd free": ((0.8, 0.6), (1, 0)),
    "good crowd free": ((0.8, 0.6), (0, 1)),
    "coin free, two paid": ((0.8, 0.65, 0.5), (2, 1, 0)),
}
"""Of each crowd the probability of the right one of two options, and the price."""

COUNTED = ", answers counted"
"""Ends the name of a panel in which an answer that costs nothing is counted at ``free_price``."""

PANELS = (*MARKETS, *(name + COUNTED for name, (_, prices) in MARKETS.items() if 0 in prices))

RECOMMENDED = "virt-ucb(try_after=4.0) with posterior"
"""What ``auto`` picks for crowds and two options."""

SAME_RULE = "rand-rr with posterior"
"""Drawing by price with the rule of what is recommended."""

ADAPTIVE = ("virt-ucb", "virt-ucb with posterior", RECOMMENDED)
"""What is held against drawing by price: the paper's policy alone, with the rule that plans choose,
and what is recommended."""


@experiments.register("survey-prices")
@dataclass(frozen=True)
class SurveyPrices(EqualErrorExperiment):
    """What each way of choosing crowds costs at equal error where prices differ, or are zero.

    Parameters
    ----------
    panels : names
        Markets: how good the crowds are, and what they cost. With ``, answers counted`` after it,
        an answer that costs nothing is counted at the price that policies rank it at.
    """

    panels: tuple[str, ...] = PANELS
    contenders: tuple[str, ...] = (
        "rand-rr",
        "virt-ucb",
        "virt-thompson",
        "virt-thompson(reward=accuracy)",
        "rand-rr with posterior",
        "virt-ucb with posterior",
        RECOMMENDED,
    )
    errors: tuple[float, ...] = (0.01, 0.02, 0.03, 0.05)
    horizon: int = 2_000
    reps: ClassVar[int] = 5_000
    ours: ClassVar[tuple[str, ...]] = (RECOMMENDED,)
    title: ClassVar[str] = "Choosing crowds at unequal prices, at equal error"
    reproduces: ClassVar[str] = "beyond 004"
    summary: ClassVar[str] = (
        "Two options, crowds at unequal prices: the good crowd is the cheap or the costly one, a "
        "coin or the good crowd is free. What does a question cost at an error of 1 to 5%, "
        "relative to drawing crowds by one over their price? A free crowd is ranked, and drawn, "
        "at a quarter of the cheapest price. Cost is money, in which free answers do not appear; "
        "in the panels with counted answers each of them costs that quarter."
    )
    figures: ClassVar[tuple[Figure, ...]] = FIGURES

    def __post_init__(self) -> None:
        super().__post_init__()
        for panel in self.panels:
            if panel not in PANELS:
                raise InvalidParameter(
                    f"panels has {panel!r}: {nearest(panel, PANELS)}", field="panels"
                )

    def cells(self) -> list[SurveyCell]:
        """One cell a market."""
        found = []
        for panel in self.panels:
            chances, prices = MARKETS[panel.removesuffix(COUNTED)]
            # Of the cheapest price, which is 1 where a crowd is free.
            free_at = FREE_PRICE if panel.endswith(COUNTED) else 0.0
            responses = tuple((p, 1.0 - p) for p in chances)
            found.append(SurveyCell(panel, 0.0, responses, prices, free_at))
        return found

    def dial(self, cell: SurveyCell, label: str) -> tuple[float, ...]:
        """Leave out what is far from the errors of interest."""
        low, high = (0.8, 3.4) if contender(label).dial == "quality" else (0.0004, 0.2)
        return tuple(value for value in DIALS[contender(label).dial] if low <= value <= high)

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """Whether adaptive choice is anywhere more expensive than drawing by price."""
        found = []
        for series in ADAPTIVE:
            ratios = [row for row in rows if (row.metric, row.series) == ("cost_ratio", series)]
            if ratios:
                dearer = [
                    f"{row.panel} at {row.x:.0%} ({row.mean:.2f} times)"
                    for row in ratios
                    if row.ci_low > 1
                ]
                found.append(
                    f"{series} costs {_middle(ratios):.2f} times what {self.reference} does, on "
                    f"the geometric mean of {len(ratios)} comparisons; more, beyond the 95% "
                    f"interval: {'; '.join(dearer) or 'nowhere'}."
                )
        found.append(
            "virt-ucb asks every crowd once before it compares them, as in the paper. Where the "
            "good crowd is also the cheap one and few answers are enough, the first answer of the "
            "expensive crowd is a large part of the cost; drawing by price often goes without it. "
            "With try_after=4 a crowd is asked once the question has cost four times what its "
            "answer costs more than the cheapest's. That saves most where the good crowd is the "
            "cheap or the free one, and takes longer to find one that is expensive."
        )
        found.append(
            "virt-ucb ranks a free crowd at a quarter of the cheapest price, so it looks for the "
            "least money and patience together: where a free crowd is weak, it pays for few "
            "answers instead of waiting for many free ones, and drawing by price, which asks the "
            "free crowd four times in five, spends a little less. In the panels with answers "
            "counted, patience has that price. A smaller free_price saves money on a free crowd "
            "that knows something, and loses some on one that guesses."
        )
        found.append(
            "Costs are relative to drawing by price under the composite rule, the paper's. Drawing "
            "by price gains from posterior, too: see its own series, which is what virt-ucb with "
            "posterior has to be held against to tell the policy's part from the rule's."
        )
        return [*found, *_by_the_same_rule(rows)]


def _by_the_same_rule(rows: Sequence[Row]) -> list[str]:
    """What is recommended against drawing by price with its rule, where both were measured."""
    mine, theirs = (
        {
            (row.panel, row.x): row
            for row in rows
            if (row.metric, row.series) == ("cost_ratio", series)
        }
        for series in (RECOMMENDED, SAME_RULE)
    )
    both = [place for place in mine if place in theirs]
    if not both:
        return []
    more = [place for place in both if mine[place].mean > theirs[place].mean]
    apart = [place for place in more if mine[place].ci_low > theirs[place].ci_high]
    return [
        f"Under the same rule {RECOMMENDED} costs "
        f"{_middle([mine[each] for each in both]):.2f} and {SAME_RULE} "
        f"{_middle([theirs[each] for each in both]):.2f} of that, on the geometric mean of the "
        f"{len(both)} comparisons that both have. The former costs more in {len(more)} of them, in "
        f"{len(apart)} with intervals apart."
    ]


def _middle(rows: Sequence[Row]) -> float:
    return math.exp(sum(math.log(row.mean) for row in rows) / len(rows))
