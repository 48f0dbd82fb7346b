"""The study of unequal prices: its markets, and what it says of them."""

from __future__ import annotations

import pytest

from askwise.core.errors import InvalidParameter
from askwise.figures import Row
from askwise.lab import with_settings
from askwise.lab.papers.crowds.studies.prices import MARKETS, SurveyPrices


def ratio(panel: str, series: str, mean: float, low: float) -> Row:
    return Row(panel, series, 0.02, "cost_ratio", mean, low, mean + 0.1, 500)


def test_it_says_where_choosing_costs_more_than_drawing_by_price() -> None:
    rows = [
        ratio("coin free", "virt-ucb", 0.5, 0.4),
        # Above 1, and not beyond its interval.
        ratio("good crowd cheap", "virt-ucb", 1.25, 0.95),
        ratio("weak crowd free", "virt-ucb", 1.6, 1.2),
        ratio("coin free", "virt-ucb with posterior", 0.8, 0.7),
    ]
    told = SurveyPrices().differences(rows)
    # The cube root of .5 * 1.25 * 1.6 is 1.
    assert told[0] == (
        "virt-ucb costs 1.00 times what rand-rr does, on the geometric mean of 3 comparisons; "
        "more, beyond the 95% interval: weak crowd free at 2% (1.60 times)."
    )
    assert told[1].endswith("beyond the 95% interval: nowhere.")


def test_its_markets_have_the_good_crowd_cheap_dear_and_free() -> None:
    cells = SurveyPrices().cells()
    assert [cell.panel for cell in cells] == list(MARKETS)
    best = {cell.prices[0] - min(cell.prices[1:]) for cell in cells}
    assert min(best) < 0 < max(best)
    assert sum(0 in cell.prices for cell in cells) == 4
    assert all(len(cell.prices) == len(cell.responses) for cell in cells)


def test_an_unknown_market_is_refused_by_name() -> None:
    with pytest.raises(InvalidParameter, match="panels has 'coin fee': did you mean 'coin free'"):
        with_settings("survey-prices", {"panels": "coin fee"})
