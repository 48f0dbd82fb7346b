"""Why somebody was asked: recomputed from the log."""

from __future__ import annotations

import random
from typing import Any
from unittest import mock

import pytest

from askwise import Campaign, Worker
from askwise.campaign import cached
from askwise.core.choices import Batch
from askwise.core.errors import UnknownName
from askwise.core.events import Kind
from askwise.policies import policies
from askwise.store import MemoryStore


def make(**changes: Any) -> Campaign:
    raw: dict[str, Any] = {
        "workers": [Worker("a", 2, limit=20), Worker("b", 3), Worker("c", 1, limit=4)],
        "outcome": "utility",
        "budget": 60,
        "policy": "simplified-bounded-kube",
        "seed": 1,
        "name": "cats",
    }
    return Campaign.create(**{**raw, **changes})


BUYING = [name for name in policies.names() if "utility" in policies.get(name).outcomes]


@pytest.mark.parametrize("policy", BUYING)
@pytest.mark.parametrize("first", [1024, 4], ids=["from the start", "from snapshots"])
def test_every_assignment_of_a_mixed_campaign_is_reproduced(policy: str, first: int) -> None:
    chance = random.Random(3)
    store = MemoryStore()
    with mock.patch.object(cached, "FIRST_SNAPSHOT", first):
        campaign = make(policy=policy, store=store)
        for turn in range(25):
            offered = chance.choice([None, None, ["a", "c"], ["b"]])
            batch = campaign.ask(chance.randrange(1, 4), offered)
            if isinstance(batch, Batch):
                for each in batch:
                    what = chance.random()
                    if what < 0.7:
                        campaign.tell(each.id, chance.random())
                    elif what < 0.85:
                        campaign.expire(each.id)
            if turn == 8:
                campaign.add(workers=[Worker("d", 2, limit=5)])
            if turn == 12:
                campaign.leave("a")
            if turn == 15:
                campaign.top_up(10)
            if turn == 18:
                campaign.add(workers=[Worker("a", 1, limit=30)])
        again = Campaign.open(store, "cats")
        asked = [event for event in campaign.log() if event.kind == Kind.ASKED]
        assert asked
        for event in asked:
            explanation = again.explain(f"cats:{event.seq}")
            assert explanation.reproduced, explanation
            assert explanation.worker == event.worker
            assert explanation.decision == event.decision


def test_an_explanation_says_what_the_policy_saw() -> None:
    campaign = make()
    for value in (0.5, 0.25, 1.0):
        campaign.tell(campaign.ask()[0].id, value)  # type: ignore[index]
    batch = campaign.ask(workers=["a", "b"])
    assert isinstance(batch, Batch)
    why = campaign.explain(batch[0].id)
    assert (why.assignment, why.worker, why.price) == (batch[0].id, batch[0].worker, batch[0].price)
    assert why.policy == "simplified-bounded-kube"
    assert why.purpose == "draw from the plan"
    assert "upper confidence bounds" in why.rule
    # 60 less the first tries, 2 + 3 + 1.
    assert why.budget_left == 54
    assert why.propensity == batch[0].propensity
    assert why.rows == ((None, batch[0].worker, 1, batch[0].propensity),)
    assert {each.worker: each.available for each in why.candidates} == {
        "a": True,
        "b": True,
        "c": False,
    }
    # Best first, by what the policy ranks by.
    indices = [each.index or 0.0 for each in why.candidates]
    assert indices == sorted(indices, reverse=True)
    rooms = {each.worker: each.room for each in why.candidates}
    assert rooms == {"a": 19, "b": 18, "c": 3}
    assert why.candidates[0].details["price"] is not None


def test_an_explanation_does_not_change_with_what_came_later() -> None:
    campaign = make()
    first = campaign.ask()
    assert isinstance(first, Batch)
    before = campaign.explain(first[0].id)
    campaign.tell(first[0].id, 1.0)
    campaign.leave("b")
    campaign.top_up(5)
    campaign.ask(5)
    assert campaign.explain(first[0].id) == before


def test_the_second_unit_of_a_decision_is_explained_by_it() -> None:
    campaign = make(policy="uniform")
    batch = campaign.ask(3)
    assert isinstance(batch, Batch)
    whys = [campaign.explain(each.id) for each in batch]
    assert {why.decision for why in whys} == {0}
    assert {why.budget_left for why in whys} == {60}
    assert [why.worker for why in whys] == ["a", "b", "c"]


def test_without_a_budget_there_is_none_left_to_tell_of() -> None:
    campaign = make(budget=None, policy="uniform")
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    assert campaign.explain(batch[0].id).budget_left is None


@pytest.mark.parametrize("wrong", ["cats:1", "cats:99", "cats:0", "dogs:2", "cats", "", "cats:x"])
def test_what_is_no_assignment_can_not_be_explained(wrong: str) -> None:
    campaign = make()
    campaign.ask()
    with pytest.raises(UnknownName, match="assignment") as caught:
        campaign.explain(wrong)
    assert caught.value.field == "assignment"
