"""What one worker may hold: so many questions, for so long, and not after they are gone."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from askwise.campaign import Campaign
from askwise.campaign.holding import Holding
from askwise.core.errors import InvalidParameter
from askwise.service.app import make_app
from askwise.service.open_campaigns import OpenCampaigns
from askwise.service.settings import Settings
from askwise.store import MemoryStore

SPEC: dict[str, Any] = {
    "workers": [{"id": "ann", "price": "0.1"}, {"id": "bob", "price": "0.1"}],
    "tasks": [f"t{at}" for at in range(10)],
    "options": ["yes", "no"],
    "budget": "10",
    "policy": "random-pairs",
    "seed": 1,
}


class Caller:
    """Ann with a token, and the owner."""

    def __init__(self, client: TestClient, name: str) -> None:
        self.client = client
        self.name = name
        self.service = client.app.state.service  # type: ignore[attr-defined]
        identities = self.service.identities
        self.owner, _ = identities.issue("owner", "the owner")
        self.ann, self.token = identities.issue("worker", "ann", campaign=name, worker="ann")

    def call(self, secret: str, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {secret}"}
        return self.client.request(method, path, json=body, headers=headers).json()

    def ask(self, **body: Any) -> Any:
        return self.call(self.ann, "POST", f"/campaigns/{self.name}/ask", body)

    @property
    def out(self) -> int:
        campaign: Campaign = self.service.campaigns.get(self.name)
        return len(campaign.assignments("ann"))


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(make_app(Settings(store="memory"))) as made:
        yield made


@pytest.fixture
def caller(client: TestClient, request: pytest.FixtureRequest) -> Caller:
    name = f"c-{zlib.crc32(request.node.name.encode())}"
    store = client.app.state.service.campaigns.store  # type: ignore[attr-defined]
    Campaign.create(store=store, name=name, **SPEC)
    return Caller(client, name)


def test_a_worker_s_token_holds_three_questions_at_the_most(caller: Caller) -> None:
    first = caller.ask(limit=1000)
    assert len(first["assignments"]) == caller.out == 3
    assert caller.ask() == {"status": "wait", "what": "answers"}
    answered = first["assignments"][0]["id"]
    caller.call(caller.ann, "POST", f"/assignments/{answered}/answer", {"value": "yes"})
    assert len(caller.ask(limit=2)["assignments"]) == 1
    assert caller.out == 3


def test_a_key_may_hand_out_more_to_one_worker(caller: Caller) -> None:
    body = {"limit": 5, "workers": ["ann"]}
    path = f"/campaigns/{caller.name}/ask"
    assert len(caller.call(caller.owner, "POST", path, body)["assignments"]) == 5


def test_what_a_worker_takes_has_a_lease_though_the_campaign_has_none(caller: Caller) -> None:
    (taken,) = caller.ask()["assignments"]
    campaign = caller.service.campaigns.get(caller.name)
    (event,) = [each for each in campaign.log() if each.kind.name == "ASKED"]
    assert taken["expires"] == event.expires == event.time + 3600
    # A requester answers for their own programs.
    path = f"/campaigns/{caller.name}/ask"
    (handed,) = caller.call(caller.owner, "POST", path, {})["assignments"]
    assert handed["expires"] is None


def test_to_revoke_a_token_releases_what_its_worker_has_out(caller: Caller) -> None:
    caller.ask(limit=2)
    path = f"/campaigns/{caller.name}/tokens/{caller.token.id}"
    assert caller.call(caller.owner, "DELETE", path)["revoked"] is not None
    assert caller.out == 0


def test_to_leave_releases_what_is_out_and_late_answers_are_taken(caller: Caller) -> None:
    first, _ = caller.ask(limit=2)["assignments"]
    caller.call(caller.ann, "POST", f"/campaigns/{caller.name}/leave", {})
    assert caller.out == 0
    late = caller.call(caller.ann, "POST", f"/assignments/{first['id']}/answer", {"value": "yes"})
    assert late["state"] == "answered"


def test_the_sweeper_releases_what_is_overdue_in_an_open_campaign_without_a_lease(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [1000.0]
    opened = Campaign.open

    def on_our_clock(store: Any, name: str, **rest: Any) -> Campaign:
        return opened(store, name, clock=lambda: now[0], **rest)

    monkeypatch.setattr(Campaign, "open", on_our_clock)
    store = MemoryStore()
    Campaign.create(store=store, name="cats", **SPEC)
    campaigns = OpenCampaigns(store, 5.0, lambda: now[0], lease=60.0)
    assert campaigns.sweep() == 0
    campaigns.get("cats").ask_for_self("ann", Holding(3, 60.0))
    now[0] += 59.0
    assert campaigns.sweep() == 0
    now[0] += 2.0
    assert campaigns.sweep() == 1
    assert campaigns.get("cats").assignments("ann") == []


def test_a_campaign_s_own_lease_comes_first() -> None:
    campaign = Campaign.create(**SPEC, lease=5.0, clock=lambda: 1000.0)
    (taken,) = campaign.ask_for_self("ann", Holding(1, 60.0))
    assert taken.expires == 1005.0


@pytest.mark.parametrize(("most", "lease", "field"), [(0, None, "most_out"), (3, -1.0, "lease")])
def test_limits_that_are_none_are_refused(most: int, lease: float | None, field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Holding(most, lease)
    assert caught.value.field == field
