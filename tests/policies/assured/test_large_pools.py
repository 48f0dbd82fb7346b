"""Pools so large that the cheapest set can't be proved: told before anybody is paid."""

import math

import numpy as np
import pytest

from askwise import Campaign
from askwise.core.errors import TooLarge
from askwise.lab.papers.assured.studies.bids import auction, campaign
from askwise.lab.papers.assured.studies.common import Terms
from askwise.lab.papers.assured.studies.payments import AssuredPayments
from askwise.lab.worlds.assured import HIGHEST_COST, paper_pool
from askwise.ledger.ledger import Ledger
from askwise.policies import policies
from askwise.policies.assured import foreseeing
from askwise.policies.assured.sets import solve_cheapest
from tests.policies.assured.campaigns import campaign_of

FIXED = {"name": "ccb-fixed", "rounds": 40, "bounds": "paper", "mu": 0.01}


@pytest.fixture
def short(monkeypatch):
    """Searches that are given up soon."""
    monkeypatch.setattr(foreseeing, "_SHARE", 1 << 10)
    foreseeing.is_found.cache_clear()
    yield
    foreseeing.is_found.cache_clear()


def test_an_exact_search_that_would_not_end_is_refused_before_anybody_is_paid(short):
    with pytest.raises(TooLarge, match="'classes'") as caught:
        campaign_of({**FIXED, "solver": "exact"}, workers=1100)
    assert caught.value.field == "solver"


@pytest.mark.slow
def test_the_papers_number_of_workers_is_too_many_for_an_exact_search():
    # With the work that a decision may really take.
    with pytest.raises(TooLarge, match="can't find the cheapest set among these workers exactly"):
        campaign_of({**FIXED, "solver": "exact"}, workers=1100)


def test_a_campaign_that_is_there_already_opens(short, tmp_path, monkeypatch):
    store = f"sqlite:///{tmp_path / 'kept.db'}"
    with monkeypatch.context() as patch:
        patch.setattr("askwise.policies.assured.base.is_found", lambda *_: True)
        campaign_of({**FIXED, "solver": "exact"}, workers=1100, store=store)
    assert Campaign.open(store, "assured").status().open_tasks == 3


def test_few_workers_are_never_refused(short):
    for name in ("ccb-ns", "ccb-s", "ccb-fixed", "cucb"):
        policies.make({"name": name, "solver": "exact"}).check_size(2, 20)


def test_known_qualities_are_foreseen_as_they_are(short, monkeypatch):
    monkeypatch.setattr(foreseeing, "_SHARE", 1 << 22)
    hard = np.linspace(0.52, 0.7, 60).tolist()
    policy = policies.make({"name": "ccb-fixed", "solver": "exact", "qualities": hard})
    with pytest.raises(TooLarge):
        policy.check_size(2, 60)
    easy = [0.99] * 60
    policies.make({"name": "ccb-fixed", "solver": "exact", "qualities": easy}).check_size(2, 60)


def test_the_set_by_classes_is_explained_with_its_gap():
    qualities = (0.9, 0.85, 0.8, 0.75)
    made = campaign_of({"name": "ccb-fixed", "qualities": qualities, "solver": "classes"})
    made.ask(limit=1)
    batch = made.ask(limit=1)
    told = made.explain(batch[0].id)
    gaps = {score.worker: score.details.get("gap") for score in told.candidates}
    chosen = {each.worker for each in batch}
    assert all((gaps[worker] is not None) == (worker in chosen) for worker in gaps)
    assert all(0.0 <= gaps[worker] < 1.0 for worker in chosen)


def test_payments_are_studied_with_sets_that_are_always_found():
    study = AssuredPayments()
    for label in study.fixed:
        _, policy = auction(f"fixed-exploration with {label}", study.terms, HIGHEST_COST)
        assert policy.solver in ("greedy", "classes")


@pytest.mark.slow
def test_workers_of_the_paper_are_paid_after_exploration_by_the_exact_error():
    pool = paper_pool(np.random.default_rng([0, 0]), 1100)
    terms = Terms(0.1, 0.05, 1e-4)
    label = "fixed-exploration with ccb-fixed(error=majority,mu=0.01,rounds=40,solver=classes)"
    mechanism, policy = auction(label, terms, HIGHEST_COST)
    world = pool.answering(0, 0, 200)
    answers, paid = campaign(mechanism, policy, Ledger(pool.problem(200)), {}, world, 0, 0, 0)
    assert (answers >= 40).all()
    assert 5 < (answers == 200).sum() < 120
    assert (paid >= answers * pool.costs / 1e6 - 1e-9).all()


@pytest.mark.compiled
@pytest.mark.slow
def test_sets_by_classes_are_near_the_cheapest_on_draws_that_classes_were_not_chosen_by():
    gaps = []
    for draw in range(10):
        rng = np.random.default_rng([20261118, 100 + draw])
        pool = paper_pool(rng)
        for rounds in (85, 200, 400):
            radius = math.sqrt(math.log(2 * 1100 / 0.01) / (2 * rounds))
            lower = np.maximum(0.5, rng.binomial(rounds, pool.qualities) / rounds - radius)
            found = solve_cheapest(pool.costs, lower, 0.1, "majority", "classes")
            assert found.feasible
            gaps.append(found.gap)
    # 240 others have .7% in the mean, with a standard deviation of .7%, and 4.8% at most.
    assert np.mean(gaps) < 0.007 + 4 * 0.007 / math.sqrt(30)
    assert max(gaps) < 0.1
