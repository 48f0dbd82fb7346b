"""Requests that get lost are sent again, and happen once."""

from __future__ import annotations

from decimal import Decimal

import httpx
import pytest

from askwise import Batch
from askwise.client import RemoteCampaign, Service, Unreachable, connect
from askwise.client.transport import LONGEST_WAIT, Transport
from askwise.core.errors import (
    Conflict,
    StoreError,
)
from tests.client.twins import CATS
from tests.service.local import Local


class Flaky(httpx.HTTPTransport):
    """A network that fails as told: before a request is sent, after, or with a reply of its own."""

    def __init__(self, *troubles: str) -> None:
        super().__init__()
        self.troubles = list(troubles)
        self.sent: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        trouble = self.troubles.pop(0) if self.troubles else ""
        if trouble == "refused":
            raise httpx.ConnectError("connection refused")
        if trouble.isdecimal():
            return httpx.Response(int(trouble), headers={"Retry-After": "3"}, json={})
        reply = super().handle_request(request)
        if trouble == "lost":
            reply.read()
            raise httpx.ReadError("connection reset")
        if trouble == "slow":
            reply.read()
            raise httpx.ReadTimeout("timed out")
        return reply


def flaky(local: Local, *troubles: str, retries: int = 4) -> tuple[Service, Flaky, list[float]]:
    network, waits = Flaky(*troubles), []
    transport = Transport(
        local.address, local.key, timeout=30, retries=retries, transport=network,
        sleep=waits.append, draw=lambda: 1.0,
    )  # fmt: skip
    return Service(transport), network, waits


def test_a_write_that_gets_lost_is_sent_again_and_happens_once(
    service: Service, local: Local
) -> None:
    name = service.create(**CATS).name
    shaky, network, waits = flaky(local, "refused", "lost", "slow")
    with shaky:
        campaign = RemoteCampaign(shaky._transport, name)
        batch = campaign.ask()
        assert isinstance(batch, Batch)
        assert len(network.sent) == 4
        assert len({request.headers["Idempotency-Key"] for request in network.sent}) == 1
        assert waits == [0.2, 0.4, 0.8]
        network.troubles = ["lost"]
        campaign.tell(batch[0].id, "yes")
        network.troubles = ["lost", "lost"]
        campaign.top_up(1)
    status = service.open(name).status()
    assert (status.answers, status.decisions, status.budget) == (1, 1, Decimal("3.5"))


def test_a_creation_that_gets_lost_makes_one_campaign(service: Service, local: Local) -> None:
    before = set(service.names())
    shaky, _, _ = flaky(local, "lost", "lost")
    with shaky:
        campaign = shaky.create(**CATS)
    assert set(service.names()) - before == {campaign.name}


def test_a_key_and_an_invitation_that_get_lost_are_made_once(
    service: Service, local: Local
) -> None:
    campaign = service.create(**CATS)
    shaky, network, _ = flaky(local, "lost")
    with shaky:
        made = shaky.new_key("viewer", "lost once")
        listed = service.keys()
        assert [key.label for key in listed].count("lost once") == 1
        network.troubles = ["lost"]
        invited = RemoteCampaign(shaky._transport, campaign.name).invite("ann")
    assert [token.id for token in campaign.tokens()] == [invited.id]
    with connect(local.address, made.secret) as viewer:
        assert viewer.me().id == made.id


def test_the_service_says_how_long_to_wait(local: Local) -> None:
    shaky, network, waits = flaky(local, "429", "503")
    with shaky:
        assert shaky.me().role == "owner"
    assert waits == [3.0, 3.0]
    assert len(network.sent) == 3


def test_waits_grow_to_a_bound_and_end(local: Local) -> None:
    shaky, network, waits = flaky(local, *["refused"] * 9, retries=8)
    with shaky, pytest.raises(Unreachable) as caught:
        shaky.me()
    assert len(network.sent) == 9
    assert waits == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, LONGEST_WAIT, LONGEST_WAIT]
    assert isinstance(caught.value, StoreError)
    assert "\n" not in str(caught.value)
    assert local.address in str(caught.value)
    assert local.key not in str(caught.value)


def test_what_the_campaign_refuses_is_not_sent_again(service: Service, local: Local) -> None:
    name = service.create(**CATS).name
    shaky, network, waits = flaky(local)
    with shaky, pytest.raises(Conflict):
        RemoteCampaign(shaky._transport, name).resume()
    assert (len(network.sent), waits) == (1, [])


def test_a_key_of_the_callers_is_kept_whatever_is_in_it(service: Service) -> None:
    campaign = service.create(**CATS)
    for key in ("plain", "two words", "ключ", "x" * 200, "a\r\nb", "\ud800"):
        assert campaign.ask(key=key) == campaign.ask(key=key)
    assert campaign.status().decisions == 6
    with pytest.raises(Conflict):
        campaign.ask(2, key="plain")
