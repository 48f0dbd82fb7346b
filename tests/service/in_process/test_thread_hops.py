"""A worker's token waits for a thread only where the state in memory does not say enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from askwise.campaign import Campaign
from askwise.service.app import make_app
from askwise.service.settings import Settings
from askwise.service.threads import Threads
from askwise.store import MemoryStore
from tests.service.work.visiting import Bench

AUCTION = {
    "policy": {"name": "ccb-s", "solver": "exact"},
    "mechanism": {"name": "self-resampling", "c_max": 5},
    "budget": None,
}


class Shop:
    """A service in this process that notes what threads are asked to do."""

    def __init__(self) -> None:
        store = MemoryStore()
        app = make_app(Settings(store="memory"), store)
        self.bench = Bench(app)
        self.client = TestClient(app)
        self.hops: list[str] = []

    def post(self, worker: str, path: str, body: Any = None) -> Any:
        self.settle()
        self.hops.clear()
        headers = {"Authorization": f"Bearer {self.bench.token(worker)}"}
        return self.client.post(path, json=body, headers=headers)

    def settle(self) -> None:
        """Wait for the thread that replied last: it may not have let go of the campaign yet."""
        with self.bench.service.campaigns.get(self.bench.name)._writer.lock._lock:
            pass

    def ask(self, worker: str) -> Any:
        reply = self.post(worker, f"/campaigns/{self.bench.name}/ask", {})
        assert reply.status_code == 200, reply.text
        return reply.json()


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    made = Shop()
    run = Threads.run

    async def noted(self: Threads, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        made.hops.append(work.__qualname__)
        return await run(self, work, *args, **kwargs)

    monkeypatch.setattr(Threads, "run", noted)
    yield made
    made.bench.app.state.overviews.close()


def about_the_campaign(hops: list[str]) -> list[str]:
    return [each for each in hops if "look" in each or "campaign_of" in each]


def test_a_worker_asks_answers_and_declines_without_a_thread_of_their_own(shop: Shop) -> None:
    shop.bench.campaign().status()
    for verb, body in (("answer", {"value": "yes"}), ("decline", None)):
        (given,) = shop.ask("ann")["assignments"]
        assert about_the_campaign(shop.hops) == []
        reply = shop.post("ann", f"/assignments/{given['id']}/{verb}", body)
        assert reply.status_code == 200, reply.text
        assert about_the_campaign(shop.hops) == []


def test_what_the_state_in_memory_does_not_know_is_looked_up_in_a_thread(shop: Shop) -> None:
    campaign = shop.bench.campaign()
    campaign.status()
    elsewhere = Campaign.open(campaign.store, campaign.name)
    given = elsewhere.ask(workers=["ann"])[0]
    reply = shop.post("ann", f"/assignments/{given.id}/answer", {"value": "yes"})
    assert reply.status_code == 200, reply.text
    assert len(about_the_campaign(shop.hops)) == 1


@pytest.mark.parametrize("number", [2, 99])
def test_what_is_not_theirs_or_is_not_there_is_refused_alike(shop: Shop, number: int) -> None:
    shop.bench.campaign().status()
    assert shop.ask("ann")["assignments"][0]["id"] == "cats:2"
    reply = shop.post("bob", f"/assignments/cats:{number}/answer", {"value": "yes"})
    assert (reply.status_code, reply.json()["error"]["reason"]) == (403, "not_yours")


def test_while_a_campaign_is_in_use_a_thread_waits_for_it(shop: Shop) -> None:
    campaign = shop.bench.campaign()
    (given,) = shop.ask("ann")["assignments"]
    shop.settle()
    assert campaign.holder(given["id"]) == "ann"
    taken = shop.bench.service.campaigns.get("cats")._writer.lock._lock
    assert taken.acquire()
    try:
        assert campaign.holder(given["id"]) is None
    finally:
        taken.release()


def test_bids_are_looked_for_in_a_thread_until_the_first_decision(shop: Shop) -> None:
    campaign = shop.bench.campaign(**AUCTION)
    campaign.status()
    assert campaign.bidding is None
    campaign.bid("ann", 2)
    assert shop.ask("ann") == {"status": "wait", "what": "workers"}
    assert len(about_the_campaign(shop.hops)) == 1
    campaign.ask()
    assert campaign.bidding is False
    shop.ask("ann")
    assert about_the_campaign(shop.hops) == []
