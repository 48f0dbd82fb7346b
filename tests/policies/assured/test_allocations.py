"""What mechanisms rely on: what an allocation is proved for, critical bids, fixed exploration."""

from __future__ import annotations

import math

import numpy as np
import pytest

from askwise import Worker
from askwise.core.allocation import Allocation, TakesBids
from askwise.core.choices import Wait
from askwise.core.draws import Draw
from askwise.core.problem import make_problem
from askwise.ledger.ledger import Ledger
from askwise.policies import policies
from tests.policies.assured.campaigns import SURE, campaign_of, who


def test_each_policy_says_for_what_its_allocation_is_proved():
    def allocation(name, **more):
        return policies.make({"name": name, **more}).allocation()

    linear = {"error": "hoeffding-linear"}
    exact = {"solver": "exact"}
    assert allocation("ccb-s", **exact) == Allocation("adaptive", True, "exact", True)
    assert not allocation("ccb-s").monotone
    assert allocation("ccb-s", **linear) == Allocation("adaptive", True, "greedy", False)
    assert allocation("ccb-s", solver="exact", **linear).monotone
    assert allocation("ccb-s", miss=10.0) is None
    assert allocation("ccb-se") == Allocation("adaptive", False, "greedy", False)
    assert allocation("ccb-fixed", **exact) == Allocation("fixed", True, "exact", True)
    assert not allocation("ccb-fixed").monotone
    assert allocation("ccb-fixed", **linear) == Allocation("fixed", True, "greedy", True)
    assert not allocation("ccb-fixed", solver="greedy").monotone
    assert allocation("ccb-fixed", **SURE, **exact) == Allocation("none", True, "exact", True)
    for name in ("ccb-ns", "cucb", "epsilon-t-greedy"):
        assert not issubclass(policies.get(name), TakesBids)


@pytest.mark.parametrize(
    "how",
    [{"error": "majority", "solver": "exact"}, {"error": "hoeffding-linear(epsilon=0.5)"}],
)
def test_a_critical_bid_is_the_highest_at_which_a_member_stays_in_the_set(how):
    prices = [1.3, 0.9, 1.1, 0.8]
    policy = policies.make({"name": "ccb-fixed", "alpha": 0.3, **how, **SURE})

    def chosen(bids):
        problem = make_problem(
            workers=[Worker(f"w{at}", f"{bid:.6f}") for at, bid in enumerate(bids)],
            tasks=["a"],
            options=["no", "yes"],
        )
        ledger = Ledger(problem)
        state = policy.start(problem, ledger)
        out = policy.choose(problem, state, ledger, Draw(0, 0, 0), np.ones(4, np.int8))
        members = out.rows[: out.head[0], 1].tolist()
        return members, policy.critical_bids(problem, state, ledger, members)

    members, critical = chosen(prices)
    for member, bid in zip(members, critical, strict=True):
        just_below, just_above = list(prices), list(prices)
        just_below[member], just_above[member] = bid / 1e6 - 2e-6, bid / 1e6 + 2e-6
        if math.isinf(bid):
            just_below[member] = 1e6
            assert member in chosen(just_below)[0]
            continue
        assert member in chosen(just_below)[0]
        assert member not in chosen(just_above)[0]


def test_bids_have_no_bearing_on_what_a_fixed_exploration_learns():
    for prices in ([1, 2, 3, 4], [4, 3, 2, 1]):
        campaign = campaign_of({"name": "ccb-fixed", "rounds": 2, "ahead": 2}, prices=prices)
        assert who(campaign.ask(8)) == [(f"t{t}", f"w{w}") for t in range(2) for w in range(4)]
        assert campaign.ask() == Wait("answers")
