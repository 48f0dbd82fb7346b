"""What is handed out carries what its worker is shown."""

from __future__ import annotations

from typing import Any

import pytest

from askwise import Batch, Campaign, Task, Worker
from askwise.core.choices import Assignment
from askwise.core.errors import InvalidProblem
from askwise.store import MemoryStore

PAYLOADS: dict[str, Any] = {"t1": {"text": "A cat?"}, "t2": None, "t3": "A dog?"}


def make(store: MemoryStore) -> Campaign:
    campaign = Campaign.create(
        store=store,
        name="cats",
        workers=[Worker("ann", "0.10")],
        tasks=[Task("t1", payload=PAYLOADS["t1"]), Task("t2")],
        options=["yes", "no"],
        policy="random-pairs",
        seed=1,
    )
    campaign.add(tasks=[Task("t3", payload=PAYLOADS["t3"])])
    return campaign


def payloads(assignments: Any) -> dict[str, Any]:
    return {each.task: each.payload for each in assignments}


@pytest.mark.parametrize("key", [None, "once"])
def test_an_ask_and_the_lists_carry_the_payloads_of_their_tasks(key: str | None) -> None:
    campaign = make(MemoryStore())
    batch = campaign.ask(3, key=key)
    assert isinstance(batch, Batch)
    assert payloads(batch) == payloads(campaign.assignments()) == PAYLOADS
    for each in batch:
        assert campaign.assignment(each.id).assignment.payload == PAYLOADS[str(each.task)]


def test_a_retry_carries_them_too_in_this_process_and_in_another() -> None:
    store = MemoryStore()
    campaign = make(store)
    first = campaign.ask(3, key="once")
    for again in (campaign, Campaign.open(store, "cats")):
        batch = again.ask(3, key="once")
        assert batch == first
        assert payloads(batch) == PAYLOADS


def test_the_store_keeps_a_payload_once() -> None:
    store = MemoryStore()
    make(store).ask(3, key="once")
    with store.write("cats") as transaction:
        reply = transaction.reply("once")
    assert reply is not None
    assert "A cat?" not in reply.body


def test_units_of_work_have_none() -> None:
    campaign = Campaign.create(
        workers=[Worker("ann", 1)], outcome="utility", budget=3, policy="random"
    )
    batch = campaign.ask(key="once")
    assert isinstance(batch, Batch)
    assert batch == campaign.ask(key="once")
    assert batch[0].payload is campaign.assignments()[0].payload is None


def test_a_payload_changes_neither_equality_nor_hash_nor_json() -> None:
    batch = make(MemoryStore()).ask(3)
    assert isinstance(batch, Batch)
    for each in batch:
        bare = Assignment.from_json(each.to_json())
        assert bare.payload is None
        assert (bare, hash(bare), bare.to_json()) == (each, hash(each), each.to_json())


def test_all_that_a_worker_has_out_is_released_in_one_write() -> None:
    store = MemoryStore()
    campaign = make(store)
    campaign.add(workers=[Worker("bob", "0.10")])
    campaign.ask(3, ["ann"])
    campaign.ask(1, ["bob"])
    before = store.position("cats")
    campaign.release("ann")
    assert [each.worker for each in campaign.assignments()] == ["bob"]
    released = campaign.log(before)
    assert [event.kind.name for event in released] == ["EXPIRED"] * 3
    assert len({event.time for event in released}) == 1
    campaign.release("ann")
    assert store.position("cats") == before + 3


def test_a_payload_that_contains_itself_is_refused_when_created_and_when_added() -> None:
    endless: dict[str, Any] = {}
    endless["inner"] = endless
    given: dict[str, Any] = {"workers": [Worker("ann", 1)], "options": ["yes", "no"], "budget": 3}
    with pytest.raises(InvalidProblem, match="must be plain JSON values"):
        Campaign.create(tasks=[Task("t", payload=endless)], **given)
    campaign = Campaign.create(tasks=["t"], **given)
    with pytest.raises(InvalidProblem, match="contains itself, or is nested too deep"):
        campaign.add(tasks=[Task("u", payload=endless)])
    assert campaign.status().tasks == 1
