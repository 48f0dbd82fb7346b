"""Writes that nobody waits for in a thread: queued, committed by a crew, and told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from askwise import Batch, Campaign, Wait
from askwise.campaign.requests import Crew, PreparedWrite, Request
from askwise.core.errors import Conflict, InvalidAnswer
from askwise.store import MemoryStore


class Threads(Crew):
    """Starts a thread each time, and notes who was told together."""

    def __init__(self) -> None:
        self.told: list[list[Request]] = []
        self.started = 0

    def start(self, work: Callable[[], None]) -> None:
        self.started += 1
        threading.Thread(target=work, daemon=True).start()

    def wake(self, requests: Sequence[Request]) -> None:
        self.told.append(list(requests))
        for request in requests:
            request.waiter.set()


@pytest.fixture
def store() -> MemoryStore:
    made = MemoryStore()
    Campaign.create(
        name="cats",
        store=made,
        workers=[{"id": "ann", "price": 1}, {"id": "bob", "price": 1}],
        tasks=["t", "u", "v"],
        options=["yes", "no"],
        policy="random-pairs",
        seed=1,
    )
    return made


def opened(store: MemoryStore) -> tuple[Campaign, Threads]:
    crew = Threads()
    return Campaign.open(store, "cats", crew=crew), crew


def outcome(campaign: Campaign, crew: Threads, write: PreparedWrite[Any]) -> Any:
    """What comes of a write that is submitted."""
    done = threading.Event()
    campaign.submit(write, done)
    assert done.wait(10)
    (request,) = [each for group in crew.told for each in group if each.waiter is done]
    return request.result()


def test_a_submitted_write_comes_to_what_the_verb_does(store: MemoryStore) -> None:
    campaign, crew = opened(store)
    batch = outcome(campaign, crew, campaign.asking())
    assert isinstance(batch, Batch)
    assert campaign.assignments() == list(batch)
    assert outcome(campaign, crew, campaign.telling(batch[0].id, "yes")) is None
    assert campaign.status().answers == 1


def test_what_is_refused_is_told_to_who_submitted_it(store: MemoryStore) -> None:
    campaign, crew = opened(store)
    batch = campaign.ask()
    assert outcome(campaign, crew, campaign.declining(batch[0].id)) is None
    with pytest.raises(Conflict, match="declined already"):
        outcome(campaign, crew, campaign.declining(batch[0].id))
    with pytest.raises(InvalidAnswer):
        campaign.telling(batch[0].id, "a\0b")


def test_a_retry_with_its_key_gets_the_first_result(store: MemoryStore) -> None:
    campaign, crew = opened(store)
    first = outcome(campaign, crew, campaign.asking(key="k"))
    assert outcome(campaign, crew, campaign.asking(key="k")) == first
    assert len(campaign.assignments()) == 1


def test_those_who_wait_together_are_committed_and_told_together(store: MemoryStore) -> None:
    campaign, crew = opened(store)
    waiters = [threading.Event() for _ in range(3)]
    with campaign.reading():
        # The crew's thread waits for the reader, and the writes for the crew.
        for waiter in waiters:
            campaign.submit(campaign.asking(), waiter)
    assert all(waiter.wait(10) for waiter in waiters)
    assert crew.started == 1
    assert [len(group) for group in crew.told] == [3]


def test_a_thread_that_waits_itself_shares_the_queue(store: MemoryStore) -> None:
    campaign, _ = opened(store)
    done, found = threading.Event(), []
    with campaign.reading():
        campaign.submit(campaign.asking(), done)
        other = threading.Thread(target=lambda: found.append(campaign.ask()))
        other.start()
    other.join(10)
    assert done.wait(10)
    assert isinstance(found[0], Batch)
    assert len(campaign.assignments()) == 2


def test_nothing_is_refused_or_granted_on_a_state_that_others_have_changed(
    store: MemoryStore,
) -> None:
    mine, crew = opened(store)
    batch = outcome(mine, crew, mine.asking())
    other = Campaign.open(store, "cats")
    other.tell(batch[0].id, "yes")
    with pytest.raises(InvalidAnswer, match="answered already"):
        outcome(mine, crew, mine.telling(batch[0].id, "no"))
    other.pause()
    assert outcome(mine, crew, mine.asking()) == Wait("resume")
    other.resume()
    assert isinstance(outcome(mine, crew, mine.asking()), Batch)
    assert [event.seq for event in mine.log()] == list(range(1, len(mine.log()) + 1))
