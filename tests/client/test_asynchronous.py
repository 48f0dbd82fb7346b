"""The asynchronous client: the same verbs, retries and keys, awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from askwise import Done
from askwise.client import AsyncService, Service, Unreachable, aconnect
from askwise.client.transport import AsyncTransport
from askwise.core.errors import Conflict, InvalidAnswer, InvalidProblem
from tests.client.twins import CATS, without_times
from tests.service.local import Local


def awaited(local: Local, use: Callable[[AsyncService], Awaitable[Any]]) -> Any:
    async def go() -> Any:
        async with aconnect(local.address, local.key) as service:
            return await use(service)

    return asyncio.run(go())


def test_a_whole_campaign_gives_the_same_log_as_the_client_that_waits(
    service: Service, local: Local
) -> None:
    here = service.create(**CATS)
    while batch := here.ask(2):
        for each in batch:
            here.tell(each.id, "yes")

    async def use(service: AsyncService) -> str:
        campaign = await service.create(**CATS)
        assert (await campaign.spec())["options"] == ["yes", "no"]
        assert await campaign.content() is None
        while batch := await campaign.ask(2):
            await asyncio.gather(*(campaign.tell(each.id, "yes") for each in batch))
        assert isinstance(batch, Done)
        assert await campaign.answers() == here.answers()
        assert campaign.name in await service.names()
        assert "AsyncRemoteCampaign" in repr(campaign)
        return campaign.name

    there = service.open(awaited(local, use))
    assert [event["kind"] for event in without_times(there.log())] == [
        event["kind"] for event in without_times(here.log())
    ]


def test_many_verbs_are_under_way_at_a_time(local: Local) -> None:
    async def use(service: AsyncService) -> list[int]:
        campaigns = await asyncio.gather(*(service.create(**CATS) for _ in range(5)))
        return [(await each.status()).answers for each in campaigns]

    assert awaited(local, use) == [0] * 5


class Flaky(httpx.AsyncHTTPTransport):
    """A network that loses the first reply, and then refuses a connection."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[str | None] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.keys.append(request.headers.get("Idempotency-Key"))
        if len(self.keys) == 2:
            raise httpx.ConnectError("connection refused")
        reply = await super().handle_async_request(request)
        if len(self.keys) == 1:
            await reply.aread()
            raise httpx.ReadError("connection reset")
        return reply


def test_a_write_that_gets_lost_is_sent_again_with_its_key_and_happens_once(
    service: Service, local: Local
) -> None:
    name, network, waits = service.create(**CATS).name, Flaky(), list[float]()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def go() -> None:
        transport = AsyncTransport(
            local.address, local.key, timeout=30, retries=4, transport=network, sleep=sleep,
            draw=lambda: 1.0,
        )  # fmt: skip
        async with AsyncService(transport) as shaky:
            await shaky._campaign(name).top_up(1)

    asyncio.run(go())
    assert len(set(network.keys)) == 1
    assert len(network.keys) == 3
    assert waits == [0.2, 0.4]
    assert [event.kind.name for event in service.open(name).log()] == ["TOPPED_UP"]


def test_errors_are_the_same_and_come_when_awaited(local: Local) -> None:
    async def use(service: AsyncService) -> None:
        campaign = await service.create(**CATS)
        asked = (await campaign.ask())[0]
        with pytest.raises(InvalidAnswer, match="finite"):
            await campaign.tell(asked.id, float("nan"))
        with pytest.raises(InvalidProblem, match="limit is 0"):
            await campaign.ask(0)
        await campaign.stop()
        with pytest.raises(Conflict):
            await campaign.pause()
        with pytest.raises(TypeError, match="await ask"):
            async for _ in campaign:
                pass

    awaited(local, use)


def test_a_service_that_is_not_there_is_unreachable() -> None:
    async def go() -> None:
        async with aconnect("http://127.0.0.1:9", "key", retries=0) as service:
            await service.alive()

    with pytest.raises(Unreachable):
        asyncio.run(go())
