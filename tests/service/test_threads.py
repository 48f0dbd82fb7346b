"""Threads beside the event loop."""

from __future__ import annotations

import asyncio
import threading

import pytest

from askwise import Batch, Campaign
from askwise.core.errors import Conflict
from askwise.service.threads import LoopCrew, Threads, written
from askwise.store import open_store


def test_what_a_thread_returns_or_raises_comes_back() -> None:
    threads = Threads("test", 2)

    def fail() -> None:
        raise KeyError("nothing")

    async def use() -> None:
        assert await threads.run(divmod, 7, 2) == (3, 1)
        with pytest.raises(KeyError):
            await threads.run(fail)

    asyncio.run(use())


def test_there_are_no_more_than_the_most_and_the_rest_waits_for_its_turn() -> None:
    threads, lock = Threads("test", 2), threading.Lock()
    now, most = 0, 0
    both = threading.Barrier(2)

    def work(number: int) -> int:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        both.wait(10)  # so that two are at work at a time
        with lock:
            now -= 1
        return number

    async def use() -> list[int]:
        return await asyncio.gather(*[threads.run(work, number) for number in range(8)])

    assert asyncio.run(use()) == list(range(8))
    assert most == 2


def test_writes_are_awaited_in_the_loop_and_refused_each_for_itself() -> None:
    store = open_store("memory")
    fields = {"workers": [{"id": "ann", "price": 1}], "tasks": ["t", "u"], "options": ["a", "b"]}
    Campaign.create(store=store, name="cats", policy="random-pairs", seed=1, **fields)  # type: ignore[arg-type]
    campaign = Campaign.open(
        store, "cats", crew=LoopCrew(Threads("writer", 1), Threads("committer", 1))
    )

    async def use() -> None:
        first, second = await asyncio.gather(
            written(campaign, campaign.asking()), written(campaign, campaign.asking())
        )
        assert isinstance(first, Batch)
        assert isinstance(second, Batch)
        assert first[0].task != second[0].task
        declined = [written(campaign, campaign.declining(first[0].id)) for _ in range(2)]
        found = await asyncio.gather(*declined, return_exceptions=True)
        assert [type(each) for each in found] == [type(None), Conflict]

    asyncio.run(use())


def test_a_loop_that_has_ended_is_not_told() -> None:
    threads, go, done = Threads("test", 1), threading.Event(), threading.Event()

    async def leave() -> None:
        waiting = asyncio.ensure_future(threads.run(go.wait))
        await asyncio.sleep(0)
        waiting.cancel()

    asyncio.run(leave())
    go.set()
    threads.start(done.set)
    assert done.wait(10)
