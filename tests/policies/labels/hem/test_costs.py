"""What calls cost, failures included, is what hem believes that a worker costs."""

from __future__ import annotations

from collections import Counter

import pytest

from askwise import Batch, Campaign, Worker
from askwise.core.events import Kind
from askwise.ledger.queries import likely_cost

PRICE = "0.01"


def played(costs: dict[str, str | None], failing: str = "", budget: str = "0.9") -> Counter[str]:
    """How often each of three equally good models is asked, by what its calls cost."""
    campaign = Campaign.create(
        workers=[Worker(name, PRICE, kind="model") for name in costs],
        tasks=[f"t{at}" for at in range(60)],
        options=["no", "yes"],
        budget=budget,
        policy="hem",
        seed=3,
    )
    asked: Counter[str] = Counter()
    while isinstance(batch := campaign.ask(), Batch):
        for each in batch:
            asked[each.worker] += 1
            if each.worker == failing and asked[each.worker] % 4:
                campaign.fail(each.id, "unreadable", cost=PRICE)
                continue
            right = "yes" if int(each.task[1:]) % 3 else "no"
            campaign.tell(each.id, right, cost=costs[each.worker])
    return asked


def test_of_equals_the_one_whose_calls_cost_least_is_asked_most() -> None:
    asked = played({"a": PRICE, "b": "0.001", "c": PRICE}, budget="0.4")
    assert asked["b"] == 60
    assert asked["b"] > asked["a"]
    assert asked["b"] > asked["c"]


def test_one_whose_calls_mostly_fail_is_asked_least() -> None:
    asked = played({"a": PRICE, "b": PRICE, "c": PRICE}, failing="b")
    assert asked["b"] < asked["a"]
    assert asked["b"] < asked["c"]


def test_costs_that_are_the_price_change_nothing() -> None:
    said = played(dict.fromkeys("abc", PRICE))
    assert said == played(dict.fromkeys("abc"))


def test_the_likely_cost_of_an_answer_counts_failures_and_begins_at_the_price() -> None:
    campaign = Campaign.create(
        workers=[Worker("a", "0.0001", kind="model")],
        tasks=[f"t{at}" for at in range(9)],
        options=["no", "yes"],
        policy="random-pairs",
    )

    def cost() -> float:
        with campaign.reading() as state:
            return float(likely_cost(state.ledger.book, 0))

    assert cost() == 100.0
    batch = campaign.ask(limit=4)
    for each in list(batch)[:3]:
        campaign.tell(each.id, "yes", cost="0.00001")
    campaign.fail(list(batch)[3].id, "refused", cost="0.00002")
    # Two answers at 100, three at 10, and 20 for the failure: 250 for five.
    assert cost() == pytest.approx(50.0)
    assert sum(event.kind == Kind.FAILED for event in campaign.log()) == 1
