"""Looking into the logs: seldom, beside others, after restores and past what fails."""

from __future__ import annotations

import json
from typing import Any

import pytest

from askwise import Campaign
from askwise.campaign.state import CampaignState
from askwise.core.events import Kind
from askwise.service.webhooks import outbox
from askwise.service.webhooks.records import CURSOR, HOOK, WAITING
from askwise.store import Change, MemoryStore, Store
from tests.clock import Clock
from tests.service.webhooks.bench import Bench, buy, units
from tests.service.webhooks.told import URL, look, messages, seqs, told


def test_a_quiet_log_is_not_looked_into(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    campaign, bench = units(store), Bench(store, clock)
    bench.make(URL)
    buy(campaign, 2)
    look(bench, clock)
    monkeypatch.setattr(store, "read", None)
    monkeypatch.setattr(CampaignState, "choose", None)
    look(bench, clock)


def test_two_who_look_make_nothing_twice(store: Store, clock: Clock) -> None:
    campaign = units(store)
    first, second = Bench(store, clock), Bench(store, clock)
    hook = first.make(URL)
    for bench in (first, second, second, first, first, second, first, second):
        buy(campaign, 1)
        look(bench, clock)
    look(first, clock)
    look(second, clock)
    answers = seqs(campaign, Kind.ANSWER)
    expected = [("answer.settled", seq) for seq in answers]
    expected.insert(8, ("budget.used", answers[7]))
    assert told(first, hook.id) == expected


def test_who_is_late_with_what_another_made_makes_nothing(clock: Clock) -> None:
    """Both read the same; the second to write finds the cursor moved."""
    store = MemoryStore()
    campaign = units(store)
    first, second = Bench(store, clock), Bench(store, clock)
    hook = first.make(URL, "answer.settled")
    buy(campaign, 3)
    plain = store.change

    def overtaken(changes: Any) -> bool:
        store.change = plain  # type: ignore[method-assign]
        assert second.watcher.look() == 3
        return plain(changes)

    store.change = overtaken  # type: ignore[method-assign]
    assert first.watcher.look() == 0
    assert told(first, hook.id) == [("answer.settled", n) for n in seqs(campaign, Kind.ANSWER)]


def test_ids_follow_the_log_though_a_clock_is_behind(clock: Clock) -> None:
    store = MemoryStore()
    campaign = units(store)
    ahead, behind = Bench(store, Clock(clock.now + 30)), Bench(store, clock)
    hook = ahead.make(URL, "answer.settled", campaign="units")
    for bench in (ahead, behind, ahead, behind):
        buy(campaign, 1)
        bench.watcher.look()
    assert [seq for _, seq in told(ahead, hook.id)] == seqs(campaign, Kind.ANSWER)


def test_while_nothing_is_told_the_cursor_is_seldom_written(clock: Clock) -> None:
    store = MemoryStore()
    campaign = units(store, budget=1000)
    bench = Bench(store, clock)
    hook = bench.make(URL, "task.closed", campaign="units")
    written = set()
    for _ in range(200):
        buy(campaign, 1)
        bench.watcher.look()
        (record,) = store.records(CURSOR, f"{hook.id}/")
        written.add(record.body)
    position = store.position("units")
    assert len(written) == 1 + position // outbox.LAZY
    assert position - json.loads(record.body)["seq"] < outbox.LAZY


def test_a_log_restored_to_an_earlier_point_is_told_from_there(clock: Clock) -> None:
    store, restored = MemoryStore(), MemoryStore()
    campaign, bench = units(store), Bench(store, clock)
    hook = bench.make(URL, "answer.settled", campaign="units")
    buy(campaign, 2)
    restored.create("units", store.spec("units"), 0.0)
    with restored.write("units") as transaction:
        transaction.append(store.read("units"), 0)
    buy(campaign, 2)
    look(bench, clock)
    for kind in (HOOK, CURSOR):
        for record in store.records(kind):
            restored.change([Change(kind, record.id, None, record.body)])
    after = Bench(restored, clock)
    look(after, clock)
    again = Campaign.open(restored, "units")
    for _ in range(4):
        buy(again, 1)
        look(after, clock)
    assert [seq for _, seq in told(after, hook.id)] == seqs(again, Kind.ANSWER)[2:]


def test_who_can_not_be_told_is_not_told_more_than_fits(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "MOST_WAITING", 5)
    monkeypatch.setattr(outbox, "CHUNK", 4)
    store = MemoryStore()
    campaign, bench = units(store, budget=100), Bench(store, clock)
    hook = bench.make(URL, "answer.settled", campaign="units")
    buy(campaign, 20)
    look(bench, clock)
    assert 5 <= bench.hooks.waiting(hook.id) < 9
    seen: list[int] = []
    while waiting := store.records(WAITING, f"{hook.id}/"):
        # As if all were delivered: what the log still holds is made next.
        for record in waiting:
            seen.append(json.loads(json.loads(record.body)["body"])["seq"])
            store.change([Change(WAITING, record.id, record.body, None)])
        look(bench, clock)
    assert seen == seqs(campaign, Kind.ANSWER)


def test_a_campaign_that_fails_does_not_keep_others_from_being_told(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    bad, good, bench = units(store, "bad"), units(store, "good"), Bench(store, clock)
    hook = bench.make(URL, "campaign.done", "answer.settled")
    buy(bad, 1)
    buy(good, 1)
    plain = CampaignState.choose
    broken: list[CampaignState] = []
    with bench.campaigns.get("bad").reading() as state:
        broken.append(state)

    def choose(self: CampaignState, available: Any) -> Any:
        if self in broken:
            raise ZeroDivisionError("a policy's mistake")
        return plain(self, available)

    monkeypatch.setattr(CampaignState, "choose", choose)
    look(bench, clock)
    buy(good, 1)
    look(bench, clock)
    assert sorted(each["campaign"] for each in messages(bench, hook.id)) == [
        "bad", "good", "good",
    ]  # fmt: skip
