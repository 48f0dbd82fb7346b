"""The study of unequal prices: its markets, and what it says of them."""

from __future__ import annotations

import numpy as np
import pytest

from askwise.core.errors import InvalidParameter
from askwise.figures import Row
from askwise.lab import with_settings
from askwise.lab.papers.crowds.studies.common import cost_and_errors
from askwise.lab.papers.crowds.studies.prices import MARKETS, RECOMMENDED, SAME_RULE, SurveyPrices
from askwise.lab.worlds import Survey
from askwise.policies import policies
from askwise.stopping import stopping


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
    assert [cell.panel for cell in cells][: len(MARKETS)] == list(MARKETS)
    best = {cell.prices[0] - min(cell.prices[1:]) for cell in cells}
    assert min(best) < 0 < max(best)
    free = [cell for cell in cells if 0 in cell.prices]
    assert [cell.free_at for cell in free] == [0.0] * 4 + [0.25] * 4
    assert all(len(cell.prices) == len(cell.responses) for cell in cells)


def test_an_unknown_market_is_refused_by_name() -> None:
    with pytest.raises(InvalidParameter, match="panels has 'coin fee': did you mean 'coin free'"):
        with_settings("survey-prices", {"panels": "coin fee"})


def test_a_free_answer_is_counted_at_its_price_beside_the_money() -> None:
    # Five answers each, drawn by price: the money is the paid ones', and 5 - money are free.
    survey = Survey(np.array([[(0.8, 0.2), (0.5, 0.5)]]), (1, 0))
    world = survey.answering(seed=3, first=0, questions=40)
    policy, rule = policies.make("rand-rr"), stopping.make({"name": "fixed", "n": 5})
    money, wrong, _ = cost_and_errors(survey, world, policy, rule, 3, 0)
    counted, still_wrong, _ = cost_and_errors(survey, world, policy, rule, 3, 0, free_at=0.25)
    assert 0 < money.mean() < 5
    assert counted.tolist() == (money + 0.25 * (5 - money)).tolist()
    assert wrong.tolist() == still_wrong.tolist()


def test_what_is_recommended_is_held_against_drawing_by_price_with_its_rule() -> None:
    rows = [
        # Intervals apart, one costs more and one less; then a mean that is higher by luck.
        ratio("coin free", RECOMMENDED, 0.9, 0.85),
        ratio("coin free", SAME_RULE, 0.6, 0.5),
        ratio("good crowd cheap", RECOMMENDED, 0.2, 0.1),
        ratio("good crowd cheap", SAME_RULE, 0.9, 0.8),
        ratio("better costs more", RECOMMENDED, 0.6, 0.5),
        ratio("better costs more", SAME_RULE, 0.5, 0.4),
        # Only one of them was measured here.
        ratio("good crowd free", SAME_RULE, 0.1, 0.05),
    ]
    # The cube roots of .9 * .2 * .6 = .108 and of .6 * .9 * .5 = .27 are .476 and .646.
    assert SurveyPrices().differences(rows)[-1] == (
        f"Under the same rule {RECOMMENDED} costs 0.48 and {SAME_RULE} 0.65 of that, on the "
        "geometric mean of the 3 comparisons that both have. The former costs more in 2 of them, "
        "in 1 with intervals apart."
    )
    assert "Under the same rule" not in SurveyPrices().differences(rows[-1:])[-1]
