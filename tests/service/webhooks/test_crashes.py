"""Crashes, stores that fail and hooks that end while something is sent: nothing lost or left."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from askwise.core.errors import StoreError
from askwise.core.events import Kind
from askwise.service.webhooks import sending
from askwise.service.webhooks.posting import Network, PostResult
from askwise.service.webhooks.records import CURSOR, HOOK, LANE, SETTLED, WAITING
from askwise.service.webhooks.sending import LEASE
from askwise.store import Change, MemoryStore, open_store
from tests.clock import Clock
from tests.service.webhooks.bench import Bench, Got, Receiver, buy, units
from tests.service.webhooks.told import states


class Crash(BaseException):
    """The process ends here."""


def test_what_was_made_before_a_crash_is_sent_after_it(
    receiver: Receiver, clock: Clock, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/campaigns.sqlite"
    store = open_store(url)
    campaign, bench = units(store), Bench(store, clock)
    bench.make(receiver.url, "answer.settled")
    buy(campaign, 3)
    bench.watcher.look()
    store.close()
    after = Bench(open_store(url), clock)
    after.work()
    after.work()
    assert len(receiver.got) == 3


def test_what_was_sent_but_not_noted_is_sent_again_under_its_id(
    receiver: Receiver, clock: Clock
) -> None:
    store = MemoryStore()
    campaign = units(store)
    network = Network(private=True)
    post = network.post

    def sent_and_dead(url: str, body: bytes, headers: dict[str, str]) -> PostResult:
        post(url, body, headers)
        raise Crash

    network.post = sent_and_dead  # type: ignore[method-assign]
    dying, other = Bench(store, clock, network), Bench(store, clock)
    hook = dying.make(receiver.url, "answer.settled")
    buy(campaign, 1)
    with pytest.raises(Crash):
        dying.work()
    # The lane is the dead one's for a while: nothing shows that it is dead.
    clock.pass_by(LEASE - 1)
    other.work()
    assert len(receiver.got) == 1
    clock.pass_by(1)
    other.work()
    assert len(receiver.got) == 2
    assert len({got.message["id"] for got in receiver.got}) == 1
    assert states(other, hook.id) == ["delivered"]


class Fragile(MemoryStore):
    """Ends the process at a change of records: before it is done, or right after."""

    def __init__(self) -> None:
        super().__init__()
        self.crash_at = -1
        self.done_first = False

    def change(self, changes: Sequence[Change]) -> bool:
        self.crash_at -= 1
        if self.crash_at == 0 and not self.done_first:
            raise Crash
        done = super().change(changes)
        if self.crash_at == 0:
            raise Crash
        return done


def test_a_crash_at_any_change_loses_and_doubles_nothing(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("askwise.service.webhooks.outbox.CHUNK", 4)
    monkeypatch.setattr(sending, "TOGETHER", 3)
    points, crashes = 1, 0
    while True:
        for done_first in (False, True):
            store = Fragile()
            campaign = units(store, budget=5)
            got: list[dict[str, Any]] = []
            network = Network(private=True)
            network.post = lambda url, body, headers, got=got: (  # type: ignore
                got.append(json.loads(body)) or PostResult(400 if len(got) in (2, 5) else 200, "")
            )
            bench = Bench(store, clock, network)
            hook = bench.make("http://127.0.0.1:9/")
            store.crash_at, store.done_first = points, done_first
            crashed = False
            for turn in range(8):
                if turn < 3:
                    buy(campaign, (1, 3, 1)[turn])
                clock.pass_by(LEASE)
                try:
                    bench.work()
                except Crash:
                    crashed = True
                    bench = Bench(store, clock, network)
            crashes += crashed
            answers = [event.seq for event in campaign.log() if event.kind == Kind.ANSWER]
            expected = {("answer.settled", seq) for seq in answers}
            expected |= {("budget.used", answers[3]), ("campaign.done", answers[4])}
            made = bench.hooks.deliveries(hook.id)
            assert {(each.event, each.payload["seq"]) for each in made} == expected
            assert len(made) == 7
            assert {each.state for each in made} == {"delivered"}
            assert {each["id"] for each in got} == {each.id for each in made}
        if not crashed:
            break
        points += 1
    assert crashes > 15


def test_a_store_that_fails_for_a_moment_delays_and_loses_nothing(
    receiver: Receiver, clock: Clock
) -> None:
    store = MemoryStore()
    campaign, bench = units(store), Bench(store, clock)
    hook = bench.make(receiver.url, "answer.settled")
    buy(campaign, 2)
    bench.watcher.look()
    plain = store.change
    calls = []

    def busy(changes: Sequence[Change]) -> bool:
        calls.append(changes)
        if len(calls) == 2:
            raise StoreError("busy")
        return plain(changes)

    store.change = busy  # type: ignore[method-assign]
    with pytest.raises(StoreError):
        bench.send()
    clock.pass_by(LEASE)
    bench.send()
    assert states(bench, hook.id) == ["delivered", "delivered"]


def test_records_in_other_words_are_understood(receiver: Receiver, clock: Clock) -> None:
    """As of a version that wrote its JSON differently."""
    store = MemoryStore()
    campaign, bench = units(store), Bench(store, clock)
    hook = bench.make(receiver.url, "answer.settled", campaign="units")
    buy(campaign, 1)
    bench.watcher.look()
    bench.hooks.ping(hook.id)
    for kind in (HOOK, CURSOR, WAITING):
        for record in store.records(kind):
            other = json.dumps(json.loads(record.body), indent=1, sort_keys=True)
            assert store.change([Change(kind, record.id, record.body, other)])
    buy(campaign, 1)
    bench.work()
    assert states(bench, hook.id) == 3 * ["delivered"]
    assert bench.hooks.end(hook.id).ended == clock.now


def test_of_an_ended_hook_nothing_is_sent_and_nothing_is_left(
    receiver: Receiver, clock: Clock
) -> None:
    store = MemoryStore()
    campaign, bench = units(store), Bench(store, clock)
    hook = bench.make(receiver.url)
    other = bench.make(receiver.url)
    buy(campaign, 2)
    bench.work()
    buy(campaign, 1)
    bench.watcher.look()
    got = len(receiver.got)
    ended = bench.hooks.end(hook.id)
    assert bench.hooks.end(hook.id) == ended
    assert ended.secret == ""
    bench.hooks.end(other.id)
    bench.work()
    assert len(receiver.got) == got
    for kind in (CURSOR, LANE, WAITING, SETTLED):
        assert store.records(kind) == []
    assert len(store.records(HOOK)) == 2
    clock.pass_by(2 * 86400)
    bench.hooks.forget_ended()
    assert store.records(HOOK) == []


def test_a_hook_that_ends_while_it_is_sent_to_leaves_nothing(
    receiver: Receiver, clock: Clock
) -> None:
    store = MemoryStore()
    campaign, bench = units(store), Bench(store, clock)
    hook = bench.make(receiver.url)
    buy(campaign, 3)
    bench.watcher.look()

    def end_it(_: Got) -> int:
        bench.hooks.end(hook.id)
        return 500

    receiver.answer = end_it
    bench.send()
    assert len(receiver.got) == 1
    for kind in (CURSOR, LANE, WAITING, SETTLED):
        assert store.records(kind) == []
