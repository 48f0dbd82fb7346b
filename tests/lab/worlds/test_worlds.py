"""The lab's worlds: distributions as described, answers as pure functions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from askwise.core.errors import InvalidParameter
from askwise.core.money import MICRO
from askwise.lab.worlds import (
    answer,
    correlation_market,
    drifting_market,
    freelancer_market,
    market_from_table,
    read_table,
)
from askwise.lab.worlds.base import row_at
from askwise.lab.worlds.freelancers import mixture
from tests.paths import DATA


def rng(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_the_freelancer_market_keeps_to_its_ranges() -> None:
    counts = []
    for seed in range(60):
        market = freelancer_market(rng(seed), cap=30)
        prices = market.prices / MICRO
        counts.append(len(prices))
        assert np.all(prices == np.round(prices))
        assert prices.min() >= 3
        assert prices.max() <= 30
        assert market.limits.min() >= 1
        assert market.limits.max() <= 5000
        assert np.all((market.means >= 0.05) & (market.means <= 0.95))
        assert market.world.sizes.min() >= 5
    assert min(counts) >= 2
    assert max(counts) <= 100


def test_the_alternative_market_has_no_price_below_five() -> None:
    prices = np.concatenate(
        [freelancer_market(rng(seed), cap=50, floor=5).prices for seed in range(20)]
    )
    assert prices.min() == 5 * MICRO


def test_an_answer_depends_on_seed_worker_and_count_alone() -> None:
    market = freelancer_market(rng(1), cap=30)
    one, two = market.answering(5, 3), market.answering(5, 3)
    other = market.answering(5, 4)
    values = [answer(one, 0, k, 0.0) for k in range(20)]
    # Asking others in between, or asking in another order, changes nothing.
    assert [answer(two, 0, k, 0.9) for k in reversed(range(20))] == values[::-1]
    assert [answer(other, 0, k, 0.0) for k in range(20)] != values


def test_answers_have_the_mean_that_the_optimum_is_told() -> None:
    market = freelancer_market(rng(2), cap=30, candidates=3)
    world = market.answering(1, 0)
    for worker in range(3):
        values = np.array([answer(world, worker, k, 0.0) for k in range(4000)])
        assert values.min() >= 0.0
        assert values.max() <= 1.0
        # The standard error is at most .5 / sqrt(4000) = .008; four of them.
        assert abs(values.mean() - market.means[worker]) < 0.032


@pytest.mark.parametrize("variance", [0.0, 0.5, 1.0, 5.0])
def test_the_mixture_of_footnote_15_has_mean_one_and_the_variance_asked_for(
    variance: float,
) -> None:
    drawn = mixture(rng(3), variance, 400_000)
    assert drawn.min() >= 0.0
    assert drawn.mean() == pytest.approx(1.0, abs=5 * np.sqrt(max(variance, 1e-9) / 400_000))
    assert drawn.var() == pytest.approx(variance, rel=0.05, abs=1e-12)


def test_the_correlation_worlds_answers_stay_in_its_range_with_the_right_mean() -> None:
    market = correlation_market(rng(4), cap=30, variance=1.0, noise=10.0)
    world = market.answering(1, 0)
    best = int(np.argmax(market.means))
    values = np.array([answer(world, best, k, 0.0) for k in range(40_000)])
    assert values.max() <= market.high
    spread = market.means[best] * np.sqrt(10.0 / 40_000)
    assert abs(values.mean() - market.means[best]) < 4 * spread


def test_a_drifting_worker_changes_when_that_share_of_the_budget_is_spent() -> None:
    market = drifting_market(rng(5), cap=50, changes=3)
    world = market.world
    moments = world.changes[1]
    assert [int(row_at(world, 1, moment)) - 4 for moment in moments] == [1, 2, 3]
    assert row_at(world, 1, moments[0] - 1e-9) == 4
    assert len(world.means) == 4 * len(market.prices)
    assert np.all(market.means == world.means[::4])


def write_table(path: Path, text: str) -> str:
    file = path / "rates.csv"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_a_table_of_freelancers_is_read_once_a_worker(tmp_path: Path) -> None:
    file = write_table(
        tmp_path, "id,rate,stars,n\na,20,5.0,3\na,20,5.0,3\nb,7.50,0,0\nc,0,4,1\nd,90,3,2\n"
    )
    table = read_table(file, rate="rate", rating="stars", reviews="n", worker="id")
    assert table.rates.tolist() == [20.0, 7.5, 90.0]
    # One star is 0, five are 1; no rating yet is none.
    assert table.ratings[0] == 1.0
    assert np.isnan(table.ratings[1])
    assert table.ratings[2] == 0.5
    market = market_from_table(rng(1), table, cap=50, candidates=40)
    assert set(market.prices.tolist()) == {20 * MICRO, 7_500_000}
    rated = market.means[market.prices == 20 * MICRO]
    # Three perfect ratings and two padded ones: at least .9 * .6 + .05.
    assert rated.min() >= 0.59


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("id,rate\n1,2\n", {"rate": "rates", "rating": "rate"}, "rates"),
        ("rate,stars\nx,2\n", {"rate": "rate", "rating": "stars"}, "line 2"),
        ("rate,stars\n0,2\n", {"rate": "rate", "rating": "stars"}, "above 0"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_with_the_reason(
    tmp_path: Path, text: str, columns: dict[str, str], message: str
) -> None:
    with pytest.raises(InvalidParameter, match=message):
        read_table(write_table(tmp_path, text), **columns)


def test_a_missing_table_is_named() -> None:
    with pytest.raises(InvalidParameter, match="no such file"):
        read_table("/nowhere.csv", rate="a", rating="b")


FREELANCERS = DATA / "freelancers"


@pytest.mark.skipif(not FREELANCERS.is_dir(), reason="the freelancer tables are not at hand")
def test_the_real_tables_make_markets() -> None:
    table = read_table(
        str(FREELANCERS / "freelancer_com.csv"),
        rate="hourly_rate_usd",
        rating="rating",
        reviews="reviews",
        worker="worker",
    )
    assert len(table.rates) > 3000
    market = market_from_table(rng(1), table, cap=50)
    assert market.prices.max() <= 50 * MICRO
