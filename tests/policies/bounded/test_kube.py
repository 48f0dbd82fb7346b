"""Bounded KUBE and its simplified form on three workers, by hand (003, section 6.2)."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from askwise import Campaign, Done, Worker
from askwise.core.choices import Batch
from askwise.core.events import Kind
from askwise.core.money import from_micro, to_micro
from askwise.kernels.knapsack import bounded_greedy, exact_into
from askwise.policies.bounded.kube import MAX_STATES

BOTH = ("bounded-kube", "simplified-bounded-kube")


def after_first_tries(
    policy: object, workers: list[Worker], budget: int, answers: list[float], **more: Any
) -> Campaign:
    campaign = Campaign.create(
        **{"workers": workers, "outcome": "utility", "budget": budget, "policy": policy, **more}
    )
    for worker, value in zip(workers, answers, strict=True):
        batch = campaign.ask()
        assert isinstance(batch, Batch)
        assert batch[0].worker == worker.id
        assert batch[0].propensity == 1.0
        campaign.tell(batch[0].id, value)
    return campaign


def next_propensities(policy: object, *arguments: Any, **more: Any) -> dict[str, float | None]:
    """Who is asked after the first tries under which propensity, over many seeds."""
    found: dict[str, float | None] = {}
    for seed in range(40):
        batch = after_first_tries(policy, *arguments, seed=seed, **more).ask()
        assert isinstance(batch, Batch)
        found[batch[0].worker] = batch[0].propensity
    return found


THREE = [Worker("a", 1, limit=3), Worker("b", 2, limit=10), Worker("c", 4, limit=10)]


@pytest.mark.parametrize("policy", BOTH)
def test_the_next_worker_is_drawn_in_proportion_to_their_count_in_the_plan(policy: str) -> None:
    # First tries cost 7 of 20. The fourth pull: sqrt(2 ln 4 / 1) = 1.665 on top of each mean.
    # Bounds: a 2.415 (density 2.415), b 2.165 (1.083), c 2.665 (.666). Two more of a (2), then
    # 11 / 2 = 5 of b: a with 2/7, b with 5/7. No other plan is worth as much: seven units are
    # the most that 13 buy, and a, whose two are taken, is worth more than b.
    found = next_propensities(policy, THREE, 20, [0.75, 0.5, 1.0])
    assert found == {"a": 2 / 7, "b": 5 / 7}


def test_exact_and_greedy_plans_differ_where_they_should() -> None:
    # 8 of 17 are spent on first tries. The third pull: sqrt(2 ln 3) = 1.4823. Bounds: a 1.4823
    # at 3 (density .4941), b 2.4823 at 5 (.4965). Greedy takes one b and one a for 8 of 9,
    # worth 3.9646; three of a cost 9 and are worth 4.4469.
    two = [Worker("a", 3), Worker("b", 5)]
    assert next_propensities("simplified-bounded-kube", two, 17, [0.0, 1.0]) == {"a": 0.5, "b": 0.5}
    assert next_propensities("bounded-kube", two, 17, [0.0, 1.0]) == {"a": 1.0}


@pytest.mark.parametrize("policy", BOTH)
def test_the_bonus_shrinks_with_the_answers_of_a_worker(policy: str) -> None:
    # a has answered three times (.5 each), b once (.5), both at price 1; this is pull 5:
    # 2 ln 5 = 3.2189. a .5 + sqrt(3.2189 / 3) = 1.536, b .5 + 1.794 = 2.294. With 6 left and a
    # limit of 5 for b (4 more): 4 of b, 2 of a.
    campaign = Campaign.create(
        workers=[Worker("a", 1, limit=9)], outcome="utility", budget=10, policy=policy, seed=3
    )
    for _ in range(3):
        batch = campaign.ask()
        assert isinstance(batch, Batch)
        campaign.tell(batch[0].id, 0.5)
    campaign.add(workers=[Worker("b", 1, limit=5)])
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    assert batch[0].worker == "b"
    campaign.tell(batch[0].id, 0.5)
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    assert batch[0].propensity == {"a": 2 / 6, "b": 4 / 6}[batch[0].worker]
    scores = {each.worker: each for each in campaign.explain(batch[0].id).candidates}
    assert scores["a"].index == pytest.approx(0.5 + math.sqrt(2 * math.log(5) / 3))
    assert scores["b"].index == pytest.approx(0.5 + math.sqrt(2 * math.log(5)))


@pytest.mark.parametrize("policy", BOTH)
def test_without_bonus_the_means_decide(policy: str) -> None:
    # Densities .75, .25, .25 of 13: two of a, then b and c tie in density; b is first: 5 of b
    # worth 2.5. Exactly: 2 a + 5 b for 12 are worth 4; 1 a + 4 b + 1 c for 13 are 3.75.
    found = next_propensities({"name": policy, "bonus": 0}, THREE, 20, [0.75, 0.5, 1.0])
    assert found == {"a": 2 / 7, "b": 5 / 7}


@pytest.mark.parametrize("policy", BOTH)
def test_a_raw_bonus_is_in_the_unit_of_the_utility(policy: str) -> None:
    # In a range of 0 to 10 the answers 10 and 0 are 1 and 0. Both cost 1, this is pull 3,
    # 1.4823 scaled down to .14823: a 1.148, b .148. Two left under a's limit, of 4 in all.
    two = [Worker("a", 1, limit=3), Worker("b", 1, limit=9)]
    outcome = {"kind": "utility", "low": 0, "high": 10}
    raw = {"name": policy, "raw_bonus": True}
    campaign = after_first_tries(raw, two, 6, [10.0, 0.0], outcome=outcome, seed=1)
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    details = {each.worker: each.details for each in campaign.explain(batch[0].id).candidates}
    assert details["a"]["upper_bound"] == pytest.approx(10 + math.sqrt(2 * math.log(3)))
    assert details["b"]["upper_bound"] == pytest.approx(math.sqrt(2 * math.log(3)))
    assert batch[0].propensity == 0.5


@pytest.mark.parametrize("policy", BOTH)
def test_workers_who_can_not_be_paid_or_are_not_there_are_left_out(policy: str) -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 30), Worker("b", 2), Worker("c", 1)],
        outcome="utility",
        budget=20,
        policy=policy,
        seed=1,
    )
    campaign.leave("c")
    while isinstance(batch := campaign.ask(), Batch):
        assert batch[0].worker == "b"
        campaign.tell(batch[0].id, 0.5)
    assert batch == Done("budget")
    assert campaign.status().spent == 20


@pytest.mark.parametrize("policy", BOTH)
def test_while_first_tries_are_out_nobody_is_tried_twice(policy: str) -> None:
    campaign = Campaign.create(workers=THREE, outcome="utility", budget=20, policy=policy, seed=1)
    batch = campaign.ask(limit=9)
    assert isinstance(batch, Batch)
    assert [each.worker for each in batch] == ["a", "b", "c"]
    assert campaign.ask().to_json() == {"status": "wait", "what": "answers"}


@pytest.mark.parametrize("policy", BOTH)
def test_work_that_earned_nothing_so_far_does_not_end_the_campaign_in_a_wait(policy: str) -> None:
    campaign = after_first_tries({"name": policy, "bonus": 0}, THREE, 20, [0.0, 0.0, 0.0])
    choice = campaign.ask()
    assert isinstance(choice, Batch | Done), f"all are there and nothing is out, but: {choice}"


# Fifty workers at prices of six decimals who may answer five times each, and utilities that are
# affine in the price: every plan is nearly as good as any other, which is hard for exact solvers.
RANDOM = random.Random(1)
HARD = [
    Worker(f"w{at}", Decimal(RANDOM.randrange(500_000, 2_000_000)) / 10**6, limit=5)
    for at in range(50)
]


def test_a_plan_that_takes_too_long_is_the_best_one_found(caplog: pytest.LogCaptureFixture) -> None:
    values = [0.1 + 0.3 * float(worker.price) for worker in HARD]
    budget = 3 * from_micro(sum(worker.micro for worker in HARD))
    campaign = after_first_tries({"name": "bounded-kube", "bonus": 0}, HARD, budget, values)
    assert "exact plan takes more than 262,144 states" in caplog.text
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    decided = next(each for each in reversed(campaign.log()) if each.kind == Kind.DECIDED)
    assert decided.note == "draw from the best plan found"
    # The plan is worth no less than the greedy one and within the money.
    prices = np.array([worker.micro for worker in HARD])
    worth, limits = np.array(values), np.full(len(HARD), 4)
    money = to_micro(budget, "budget") - int(prices.sum())
    counts = np.zeros(len(HARD), np.int64)
    assert exact_into(worth, prices, limits, money, MAX_STATES, counts) == 1
    greedy = bounded_greedy(values, prices, limits, money)
    assert counts @ worth >= greedy @ worth
    assert counts @ prices <= money
    assert batch[0].propensity == counts[int(batch[0].worker[1:])] / counts.sum()


@pytest.mark.parametrize(
    "workers", [HARD[:11], [Worker(f"w{at}", Decimal(100 + at) / 100, limit=5) for at in range(50)]]
)
def test_few_workers_and_prices_in_cents_need_no_caution(
    workers: list[Worker], caplog: pytest.LogCaptureFixture
) -> None:
    Campaign.create(workers=workers, outcome="utility", budget=99, policy="bounded-kube")
    assert caplog.text == ""
