"""The end of a campaign: told once, again if it went on, and looked for seldom."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from askwise.campaign.state import CampaignState
from askwise.store import MemoryStore, Store
from tests.clock import Clock
from tests.service.webhooks.bench import Bench, buy, labels, units
from tests.service.webhooks.told import URL, look, messages, told


def test_the_end_is_told_once_and_again_if_it_went_on(store: Store, clock: Clock) -> None:
    campaign, bench = units(store, budget=3), Bench(store, clock)
    hook = bench.make(URL, "campaign.done", campaign="units")
    buy(campaign, 2)
    last = campaign.ask()[0]  # type: ignore[index]
    look(bench, clock)
    assert told(bench, hook.id) == []
    campaign.tell(last.id, 1.0)
    for _ in range(3):
        look(bench, clock)
    first_end = store.position("units")
    assert told(bench, hook.id) == [("campaign.done", first_end)]
    assert messages(bench, hook.id)[0]["data"] == {
        "why": "budget", "answers": 3, "spent": "3", "budget": "3",
    }  # fmt: skip
    # All between two looks: nobody has seen it open, and yet it went on.
    campaign.top_up(2)
    buy(campaign, 2)
    look(bench, clock)
    assert told(bench, hook.id)[1:] == [("campaign.done", store.position("units"))]


def test_another_reason_is_told_too(clock: Clock) -> None:
    store = MemoryStore()
    campaign, bench = units(store, budget=1), Bench(store, clock)
    hook = bench.make(URL, "campaign.done", campaign="units")
    buy(campaign, 1)
    look(bench, clock)
    campaign.stop()
    look(bench, clock)
    look(bench, clock)
    assert [each["data"]["why"] for each in messages(bench, hook.id)] == ["budget", "stopped"]


def test_a_stop_is_told_once_nothing_is_out(clock: Clock) -> None:
    store = MemoryStore()
    campaign, bench = units(store), Bench(store, clock)
    hook = bench.make(URL, "campaign.done", campaign="units")
    out = campaign.ask()[0]  # type: ignore[index]
    campaign.stop()
    look(bench, clock)
    assert told(bench, hook.id) == []
    campaign.tell(out.id, 1.0)
    look(bench, clock)
    assert [each["data"]["why"] for each in messages(bench, hook.id)] == ["stopped"]


def test_closed_tasks_end_a_campaign_and_a_new_one_lets_it_go_on(clock: Clock) -> None:
    store = MemoryStore()
    campaign, bench = labels(store), Bench(store, clock)
    hook = bench.make(URL, "campaign.done", campaign="labels")
    buy(campaign, 4, "yes")
    look(bench, clock)
    campaign.add(tasks=["three"])
    look(bench, clock)
    buy(campaign, 2, "no")
    look(bench, clock)
    assert [each["data"]["why"] for each in messages(bench, hook.id)] == ["tasks", "tasks"]


def test_the_policy_is_not_asked_at_every_look(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    campaign, bench = units(store, budget=50), Bench(store, clock)
    hook = bench.make(URL, "campaign.done", campaign="units")
    asked = []
    plain = CampaignState.choose

    def counted(self: CampaignState, available: Any) -> Any:
        asked.append(clock.now)
        clock.pass_by(0.5)  # a policy that takes its time
        return plain(self, available)

    for _ in range(40):
        with monkeypatch.context() as patch:
            patch.setattr(CampaignState, "choose", counted)
            bench.watcher.look()
        buy(campaign, 1)
        clock.pass_by(0.5)
    # A look each half second; one that took half a second is followed by ten without.
    assert 2 <= len(asked) <= 4
    assert all(later - sooner >= 10 for sooner, later in itertools.pairwise(asked))
    buy(campaign, 10)
    clock.pass_by(20)
    bench.watcher.look()
    assert told(bench, hook.id) == [("campaign.done", store.position("units"))]
