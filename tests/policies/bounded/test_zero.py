"""What a utility counts from: ranges that begin above or below zero."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest

from askwise import Campaign, Done, Worker
from askwise.campaign.spec import Spec, make_spec
from askwise.core.choices import Batch
from askwise.core.errors import InvalidProblem
from askwise.core.problem import make_problem
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger

FROM_1_TO_5 = {"kind": "utility", "low": 1, "high": 5}
BELOW_TOO = {"kind": "utility", "low": -1, "high": 1}

LEARNING: dict[str, Any] = {
    "gittins-knapsack": "gittins-knapsack",
    "knowledge-gradient": "knowledge-gradient",
    "thompson-knapsack": "thompson-knapsack",
    "kube": {"name": "simplified-bounded-kube", "bonus": 0.1},
    "exact kube": {"name": "bounded-kube", "bonus": 0.1},
    "epsilon-first": "bounded-epsilon-first",
    "races": {"name": "bounded-epsilon-first", "exploration": "hoeffding-races", "by": "density"},
    "budget-limited": "budget-limited-epsilon-first",
    "trialsourcing": "trialsourcing",
}


def run(campaign: Campaign, worth: dict[str, float]) -> tuple[Done, Counter[str]]:
    """Answer what each worker is worth, to the end: why it ended, and who was asked how often."""
    asked: Counter[str] = Counter()
    while isinstance(batch := campaign.ask(limit=20), Batch):
        for each in batch:
            campaign.tell(each.id, worth[each.worker])
            asked[each.worker] += 1
    assert isinstance(batch, Done)
    return batch, asked


@pytest.mark.parametrize("policy", LEARNING.values(), ids=LEARNING)
def test_density_counts_from_zero_and_not_from_the_low_end(policy: Any) -> None:
    # 2 for $1 is worth more than 5 for $3: 600 is the most, 300 units of a. Counted from 1 it is
    # 1 for $1 against 4 for $3, and 504 was all that came of it.
    campaign = Campaign.create(
        workers=[Worker("a", 1), Worker("b", 3)],
        outcome=FROM_1_TO_5,
        budget=300,
        policy=policy,
        seed=1,
    )
    assert run(campaign, {"a": 2.0, "b": 5.0})[0] == Done("budget")
    status = campaign.status()
    assert status.utility is not None
    assert status.utility > 570


@pytest.mark.parametrize("policy", LEARNING.values(), ids=LEARNING)
def test_nothing_is_spent_on_the_worthless_beyond_what_learning_takes(policy: Any) -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1), Worker("b", 1)],
        outcome=BELOW_TOO,
        budget=1000,
        policy=policy,
        seed=1,
    )
    assert run(campaign, {"a": -0.5, "b": -0.5})[0] == Done("worthless")
    status = campaign.status()
    assert (status.state, status.why) == ("done", "worthless")
    # Uniform exploration spends its share, whatever it finds; the others stop much earlier.
    assert status.spent <= 150


@pytest.mark.parametrize(
    ("policy", "outcome", "below", "above"),
    [
        ("gittins-knapsack", {**FROM_1_TO_5, "zero": 3}, 1.0, 4.0),
        ("knowledge-gradient", {**BELOW_TOO, "zero": 0.2}, -0.8, 0.6),
    ],
)
def test_a_stated_zero_inside_the_range_is_what_workers_have_to_be_worth(
    policy: str, outcome: dict[str, Any], below: float, above: float
) -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1)], outcome=outcome, budget=40, policy=policy, seed=1
    )
    assert run(campaign, {"a": below})[0] == Done("worthless")
    campaign.add(workers=[Worker("b", 1)])
    why, asked = run(campaign, {"a": below, "b": above})
    assert (why, asked["a"]) == (Done("budget"), 0)


@pytest.mark.parametrize("policy", ["gittins-knapsack", "knowledge-gradient", "thompson-knapsack"])
def test_a_bad_first_answer_does_not_make_a_worker_worthless(policy: str) -> None:
    # -1, then +1, then +1 with probability .8 and else -1: worth +.6 on average.
    for seed in range(20):
        dice = random.Random(seed)
        told = [1.0, -1.0]
        campaign = Campaign.create(
            workers=[Worker("a", 1)], outcome=BELOW_TOO, budget=200, policy=policy, seed=seed
        )
        while isinstance(batch := campaign.ask(limit=20), Batch):
            for each in batch:
                right = dice.random() < 0.8
                campaign.tell(each.id, told.pop() if told else (1.0 if right else -1.0))
        assert batch == Done("budget"), seed


def test_those_worth_something_are_asked_and_the_others_left() -> None:
    for policy in ("gittins-knapsack", "knowledge-gradient", "thompson-knapsack"):
        campaign = Campaign.create(
            workers=[Worker("good", 3), Worker("bad", 1)],
            outcome=BELOW_TOO,
            budget=300,
            policy=policy,
            seed=1,
        )
        # The last dollar or two would only buy the bad one.
        _, asked = run(campaign, {"good": 0.3, "bad": -0.6})
        assert asked["good"] > 90, policy
        assert asked["bad"] < 30, policy


def test_another_worker_opens_a_worthless_campaign_again() -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1)], outcome=BELOW_TOO, budget=50, policy="gittins-knapsack", seed=1
    )
    worth = {"a": -0.5, "b": 0.8}
    assert run(campaign, worth)[0] == Done("worthless")
    campaign.add(workers=[Worker("b", 1)])
    why, asked = run(campaign, worth)
    assert (why, asked["b"] > 20) == (Done("budget"), True)


def test_those_who_are_away_may_be_worth_something() -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1), Worker("b", 1)],
        outcome=BELOW_TOO,
        budget=50,
        policy="gittins-knapsack",
        seed=1,
    )
    while isinstance(batch := campaign.ask(workers=["a"]), Batch):
        campaign.tell(batch[0].id, -0.9)
    assert batch.to_json() == {"status": "wait", "what": "workers"}


def test_a_zero_above_the_low_end_is_kept_and_read_back() -> None:
    spec = make_spec(
        {"workers": [Worker("a", 1)], "outcome": {**FROM_1_TO_5, "zero": 3}, "budget": 9}
    )
    assert spec.problem.zero == 3.0
    assert Spec.from_json(spec.to_json()).problem == spec.problem
    # On the scale of the range: (3 - 1) / (5 - 1).
    assert Ledger(spec.problem).book.scale[c.ZERO] == 0.5


def test_a_stored_campaign_that_never_said_counts_from_its_low_end() -> None:
    raw = json.loads(make_spec({"workers": [Worker("a", 1)], "outcome": FROM_1_TO_5}).to_json())
    del raw["outcome"]["zero"]
    problem = Spec.from_json(json.dumps(raw)).problem
    assert problem.zero == 1.0
    assert Ledger(problem).book.scale[c.ZERO] == 0.0


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ({"low": -5, "high": -1}, "zero of outcome is 0: with a range of -5 to -1 no answer could"),
        ({"low": 0, "high": 1, "zero": 1}, "give a zero below 1, such as 0"),
        ({"low": 0, "high": 1, "zero": "none"}, "zero of outcome"),
        ({"low": 0, "high": 1, "zero": -1e13}, "at most 1e12 below 1"),
        ({"low": 0, "high": 1, "nought": 0}, "'zero': 0"),
    ],
)
def test_a_zero_that_leaves_nothing_to_gain_is_refused(outcome: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidProblem, match=said):
        make_problem(workers=[Worker("a", 1)], outcome=outcome, budget=5)
