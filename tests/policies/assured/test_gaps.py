"""A set that is not proved to be the cheapest is told, and how far from it it may be."""

import numpy as np
import pytest

from askwise.policies.assured.base import target_of
from askwise.policies.assured.sets import base as sets
from askwise.policies.assured.sets import solve_cheapest
from tests.policies.assured.campaigns import campaign_of

# Three sizes of sets compete, so that the lower bound alone proves nothing.
RNG = np.random.default_rng(5)
QUALITIES = tuple(RNG.uniform(0.55, 0.8, 30).round(3).tolist())
PRICES = RNG.integers(1_000, 2_000, 30).tolist()


@pytest.fixture
def no_search(monkeypatch):
    """Searches for sets that are given up before they begin."""
    target_of.cache_clear()
    monkeypatch.setattr(sets, "MAX_WORK", 0)
    yield
    target_of.cache_clear()


def settled(solver, **more):
    policy = {"name": "ccb-fixed", "qualities": QUALITIES, "solver": solver, **more}
    made = campaign_of(policy, workers=len(PRICES), prices=PRICES)
    # The set is known once a first task was put to it.
    made.ask(limit=1)
    return made


def told(campaign):
    """The gap in the explanation of each member of the set."""
    explained = campaign.explain(campaign.ask(limit=99)[-1].id)
    chosen = {row[1] for row in explained.rows}
    scores = {each.worker: each.details for each in explained.candidates}
    assert all(("gap" in scores[worker]) == (worker in chosen) for worker in scores)
    [gap] = {scores[worker]["gap"] for worker in chosen}
    return gap


def test_a_set_that_the_search_proved_has_no_gap():
    campaign = settled("auto")
    assert campaign.status().set_gap == 0.0
    assert campaign.status().set_statement is None
    assert told(campaign) == 0.0


@pytest.mark.parametrize("solver", ["auto", "greedy", "classes"])
def test_a_set_that_is_not_proved_says_how_much_less_the_cheapest_may_cost(solver, no_search):
    campaign = settled(solver)
    status = campaign.status()
    assert 0.0 < status.set_gap < 0.2
    assert f"{status.set_gap:.1%} less" in status.set_statement
    assert told(campaign) == status.set_gap
    asked = next(event for event in campaign.log() if event.rows).rows
    paid = sum(PRICES[int(row.worker[1:])] for row in asked)
    best = solve_cheapest(PRICES, QUALITIES, 0.1, "majority", "exact").cost
    assert best >= paid * (1.0 - status.set_gap) - 1e-9


def test_the_greedy_set_of_the_linear_form_is_told_too():
    # A demand of ln(1 / .4) / .5 = 1.83, of which a worker covers .1 to .6: GA fills it to the next
    # whole worker, the bound to a part of one.
    campaign = settled("auto", alpha=0.4, error="hoeffding-linear(epsilon=0.5)")
    assert 0.0 < campaign.status().set_gap <= 0.5
    assert told(campaign) == campaign.status().set_gap


def test_before_a_set_stands_there_is_no_gap():
    campaign = campaign_of({"name": "ccb-ns"})
    assert campaign.status().set_gap is None
    campaign.ask(limit=99)
    assert campaign.status().set_gap is None


def test_plain_functions_are_solved_exactly_or_nothing_is_known():
    for solver, gap in (("auto", 0.0), ("greedy", None)):
        policy = {"name": "ccb-fixed", "qualities": (0.9, 0.8, 0.8, 0.7), "solver": solver}
        made = campaign_of({**policy, "error": "plurality(options=2)"})
        made.ask(limit=9)
        assert made.status().set_gap == gap
