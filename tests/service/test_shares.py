"""Threads are shared among campaigns."""

from __future__ import annotations

import asyncio
import random

import pytest

from askwise.service.shares import Shares


def run(steps):
    return asyncio.run(steps())


async def settle() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


def test_a_campaign_holds_as_many_places_as_are_free() -> None:
    async def steps() -> None:
        shares = Shares(16)
        held = {}
        for name in ("a", "b", "c", "d"):
            asking = [asyncio.create_task(shares.take(name)) for _ in range(20)]
            await settle()
            held[name] = sum(each.done() for each in asking)
        # Half of all, then half of what the others have left.
        assert held == {"a": 8, "b": 4, "c": 2, "d": 1}
        assert shares.free == 1

    run(steps)


def test_places_that_are_given_back_go_to_those_who_wait_in_their_order() -> None:
    async def steps() -> None:
        shares = Shares(4)
        order: list[int] = []

        async def ask(number: int) -> None:
            await shares.take("a")
            order.append(number)

        asking = [asyncio.create_task(ask(number)) for number in range(5)]
        await settle()
        assert order == [0, 1]
        for _ in range(3):
            shares.give_back("a")
            await settle()
        assert order == [0, 1, 2, 3, 4]
        await asyncio.gather(*asking)

    run(steps)


def test_whoever_gives_up_waiting_holds_nothing() -> None:
    async def steps() -> None:
        shares = Shares(2)
        await shares.take("a")
        waiting = [asyncio.create_task(shares.take("a")) for _ in range(2)]
        await settle()
        waiting[0].cancel()
        await settle()
        shares.give_back("a")  # granted to the other, which is cancelled before it notices
        waiting[1].cancel()
        await settle()
        assert all(each.cancelled() for each in waiting)
        assert shares.free == 2
        await shares.take("b")

    run(steps)


@pytest.mark.parametrize("seed", range(5))
def test_everybody_is_served_and_nothing_is_lost(seed: int) -> None:
    async def steps() -> None:
        chance = random.Random(seed)
        shares = Shares(6)
        served: list[str] = []

        async def ask(name: str) -> None:
            await shares.take(name)
            assert shares.free >= 0
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
            served.append(name)
            shares.give_back(name)

        names = [chance.choice("abcdefgh") for _ in range(200)]
        await asyncio.wait_for(asyncio.gather(*(ask(name) for name in names)), 30)
        assert sorted(served) == sorted(names)
        assert shares.free == 6

    run(steps)
