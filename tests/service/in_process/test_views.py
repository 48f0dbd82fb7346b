"""Views of campaigns: as new as they say, computed once, and gone with their campaign."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from askwise.campaign import Campaign
from askwise.service import open_campaigns as hub_module
from askwise.service.open_campaigns import OpenCampaigns
from askwise.store import MemoryStore, open_store
from tests.service.in_process.faults import SPEC, OwnerClient, at_once, broken


def test_a_view_never_carries_a_position_that_it_has_not_seen() -> None:
    store = MemoryStore()
    campaigns = OpenCampaigns(store, 60.0)
    campaign = Campaign.create(store=store, name="cats", **SPEC)
    ending = threading.Event()

    def write() -> None:
        while not ending.is_set():
            campaign.pause()
            campaign.resume()

    def poll(_: int) -> list[tuple[int, int]]:
        views = [campaigns.view("cats", "status", Campaign.status) for _ in range(50)]
        return [(label, status.seq) for label, status in views]

    writer = threading.Thread(target=write)
    writer.start()
    try:
        polled = at_once(6, poll)
    finally:
        ending.set()
        writer.join()
    for seen in polled:
        assert all(label <= seq for label, seq in seen)
        labels = [label for label, _ in seen]
        assert labels == sorted(labels)


def test_pollers_of_one_position_share_one_computation() -> None:
    store = MemoryStore()
    campaigns = OpenCampaigns(store, 60.0)
    Campaign.create(store=store, name="cats", **SPEC)
    calls: list[int] = []

    def slow(campaign: Campaign) -> int:
        calls.append(1)
        time.sleep(0.05)
        return campaign.status().seq

    assert at_once(16, lambda _: campaigns.view("cats", "slow", slow)) == [(0, 0)] * 16
    assert len(calls) == 1


def test_a_poll_gets_no_304_after_a_change_of_another_process(
    client: OwnerClient, cats: str
) -> None:
    client.create(cats)
    elsewhere = Campaign.open(client.store, cats)
    for part in ("", "/answers", "/payments", "/log", "/assignments"):
        path = f"/campaigns/{cats}{part}"
        first = client.call("GET", path)
        tag = {"If-None-Match": first.headers["etag"]}
        assert client.call("GET", path, **tag).status_code == 304
        elsewhere.pause()
        second = client.call("GET", path, **tag)
        assert second.status_code == 200
        assert second.headers["etag"] != first.headers["etag"]
        elsewhere.resume()
    assert client.call("GET", f"/campaigns/{cats}").json()["seq"] == 10


def test_what_is_kept_of_campaigns_goes_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "MOST_OPEN", 3)
    store = MemoryStore()
    campaigns = OpenCampaigns(store, 60.0)
    for number in range(10):
        Campaign.create(store=store, name=f"c{number}", **SPEC)
        for key in range(200):
            campaigns.view(f"c{number}", key, Campaign.status)
    held = list(campaigns._open.values())
    assert len(held) == 3
    assert all(len(each.views) <= hub_module.MOST_VIEWS + 1 for each in held)


def test_a_campaign_that_is_driven_out_while_it_is_used_stays_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(hub_module, "MOST_OPEN", 1)
    store = open_store(f"sqlite:///{tmp_path}/a.sqlite")
    campaigns = OpenCampaigns(store, 60.0)
    for name in ("a", "b"):
        Campaign.create(store=store, name=name, **SPEC)
    asked = at_once(8, lambda at: campaigns.get("ab"[at % 2]).ask(key=str(at // 2 % 2)))
    assert len({choice[0].id for choice in asked}) == 4
    for name in "ab":
        assert campaigns.get(name).status() == Campaign.open(store, name).status()
        assert campaigns.get(name).status().pending == 2
    campaigns.close()
    store.close()


def test_a_campaign_that_can_t_be_opened_hides_no_others(client: OwnerClient) -> None:
    broken(client.store, "0")
    listed = client.call("GET", "/campaigns").json()
    assert "0-fine" in [each["name"] for each in listed["items"]]
    assert listed["unreadable"] == ["0"]
    page = client.call("GET", "/campaigns?limit=1").json()
    assert (page["items"], page["next"]) == ([], "0")
    # It is no fault of the caller's.
    reply = client.call("GET", "/campaigns/0")
    assert reply.status_code == 500
    assert "gone-plugin" in reply.json()["error"]["message"]
    assert client.call("GET", "/campaigns/dogs").status_code == 404
    client.post("/login", data={"key": client.secret})
    board = client.get("/dashboard")
    assert board.status_code == 200
    assert "0-fine" in board.text
    assert "can’t be opened" in board.text
