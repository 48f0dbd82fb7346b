"""The sweeper of leases: where it looks, what it gets past, whom it races."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any

import pytest

from askwise.campaign import Campaign
from askwise.core.choices import Batch
from askwise.core.errors import Conflict, StoreError
from askwise.core.events import Event
from askwise.service.open_campaigns import OpenCampaigns
from askwise.store import MemoryStore
from tests.service.in_process.faults import SPEC, at_once, broken


class Counting(MemoryStore):
    """Counts which logs are read."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: list[str] = []
        self.looked_up: list[list[str]] = []

    def positions(self, names: Iterable[str]) -> dict[str, int]:
        self.looked_up.append(list(names))
        return super().positions(self.looked_up[-1])

    def read(self, name: str, after: int = 0, upto: int | None = None) -> list[Event]:
        self.reads.append(name)
        return super().read(name, after, upto)


def test_the_sweeper_looks_up_at_once_where_all_logs_end() -> None:
    now = [1000.0]
    store = Counting()
    for name in ("a", "b", "c"):
        lease = None if name == "c" else 600.0
        Campaign.create(store=store, name=name, **SPEC, lease=lease)
    campaigns = OpenCampaigns(store, 5.0, lambda: now[0])
    campaigns.sweep()
    now[0] += 700
    store.looked_up.clear()
    assert campaigns.sweep() == 0
    assert store.looked_up == [["a", "b"]]


def test_the_sweeper_looks_only_where_something_may_be_due() -> None:
    now = [1000.0]
    store = Counting()
    made = {
        name: Campaign.create(store=store, name=name, clock=lambda: now[0], **SPEC, lease=lease)
        for name, lease in (("none", None), ("idle", 600.0), ("used", 600.0))
    }
    campaigns = OpenCampaigns(store, 5.0, lambda: now[0])
    opened = Campaign.open

    def on_our_clock(store: Any, name: str, **rest: Any) -> Campaign:
        return opened(store, name, clock=lambda: now[0], **rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Campaign, "open", on_our_clock)
        assert campaigns.sweep() == 0
        assert set(store.reads) == {"idle", "used"}
        now[0] += 100
        made["used"].ask()
        store.reads.clear()
        for _ in range(100):
            now[0] += 4.9
            assert campaigns.sweep() == 0
        assert store.reads == []
        # Until what was asked in between is due: a lease after it, not after the first look.
        now[0] = 1699.0
        assert campaigns.sweep() == 0
        now[0] = 1701.0
        assert campaigns.sweep() == 1
        assert made["used"].status().pending == 0
        assert set(store.reads) <= {"used"}
        # Nothing is held open for it.
        assert list(campaigns._open) == []
        # A clock that is set back does not put it off.
        now[0] = 900.0
        made["used"].ask()
        now[0] = 1550.0
        assert campaigns.sweep() == 1


def test_the_sweeper_gets_past_a_campaign_that_can_t_be_opened() -> None:
    now = [1000.0]
    store = MemoryStore()
    broken(store, "a")
    store.create("b", "{}", 0.0)
    spec = json.loads(store.spec("a"))
    store.create("c", json.dumps({**spec, "lease": 5}), 0.0)
    late = Campaign.create(store=store, name="d", clock=lambda: now[0], **SPEC, lease=5)
    late.ask()
    campaigns = OpenCampaigns(store, 5.0)
    assert campaigns.sweep() == 1
    assert campaigns.sweep() == 0
    assert late.status().pending == 0
    # They are left alone for a while, rather than complained about every few seconds.
    assert {name for name, known in campaigns._leases.items() if known.rests(time.time())} >= {
        "b",
        "c",
    }


def test_a_store_that_is_down_is_noticed_once_a_sweep() -> None:
    class Down(MemoryStore):
        down = False
        asked = 0

        def read(self, name: str, after: int = 0, upto: int | None = None) -> list[Event]:
            self.look()
            return super().read(name, after, upto)

        def position(self, name: str) -> int:
            self.look()
            return super().position(name)

        def look(self) -> None:
            self.asked += self.down
            if self.down:
                raise StoreError("the server is gone")

    store = Down()
    for number in range(50):
        Campaign.create(store=store, name=f"c{number}", **SPEC, lease=5)
    campaigns = OpenCampaigns(store, 5.0)
    store.down = True
    with pytest.raises(StoreError):
        campaigns.sweep()
    assert store.asked == 2
    store.down = False
    assert campaigns.sweep() == 0


def test_answers_and_the_sweeper_race_and_each_question_ends_once() -> None:
    store = MemoryStore()
    fields = {**SPEC, "tasks": [f"t{at}" for at in range(100)]}
    Campaign.create(store=store, name="cats", **{**fields, "budget": "500"}, lease=0.01)
    campaigns = OpenCampaigns(store, 5.0)
    batch = campaigns.get("cats").ask(100)
    assert isinstance(batch, Batch)
    time.sleep(0.012)

    def work(at: int) -> int:
        if at == 0:
            return sum(campaigns.sweep() for _ in range(20))
        done = 0
        for assignment in tuple(batch)[at - 1 :: 4]:
            try:
                campaigns.get("cats").tell(assignment.id, "yes")
                done += 1
            except Conflict:
                pass
        return done

    at_once(5, work)
    status = campaigns.get("cats").status()
    kinds = [event.kind.name for event in store.read("cats")]
    assert kinds.count("ANSWER") == status.answers
    assert kinds.count("ASKED") == 100
    assert (status.pending, int(status.reserved)) == (0, 0)
