"""A store that hangs, and a write that outlasts the service."""

from __future__ import annotations

import threading

import pytest

from askwise.campaign import Campaign
from askwise.service.api.routes import health
from askwise.service.open_campaigns import OpenCampaigns
from askwise.store import MemoryStore
from tests.service.in_process.faults import SPEC, FaultyStore, OwnerClient


def test_probes_are_answered_while_the_store_hangs(
    client: OwnerClient, store: FaultyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.get("/readyz").status_code == 200
    monkeypatch.setattr(health, "PATIENCE", 0.05)
    goes_on = store.hangs = threading.Event()
    for _ in range(6):
        reply = client.get("/readyz")
        assert (reply.status_code, reply.headers["retry-after"]) == (503, "1")
        assert client.get("/healthz").status_code == 200
    store.hangs = None
    goes_on.set()
    monkeypatch.undo()
    assert client.get("/readyz").status_code == 200


def test_a_write_that_outlasts_the_service_is_still_acknowledged() -> None:
    store = MemoryStore()
    campaigns = OpenCampaigns(store, 60.0)
    Campaign.create(store=store, name="cats", **SPEC)
    campaign = campaigns.get("cats")
    campaigns.close()
    for _ in range(600):
        campaign.pause()
        campaign.resume()
    assert campaign.status().seq == 1200
