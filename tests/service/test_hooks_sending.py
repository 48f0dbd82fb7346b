"""Sending: signed, in order, again until it is taken, by one at a time."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from askwise.client.webhooks import verify
from askwise.core.errors import StoreError
from askwise.core.events import Kind
from askwise.service.open_campaigns import OpenCampaigns
from askwise.service.webhooks import sending, webhooks
from askwise.service.webhooks.courier import Courier
from askwise.service.webhooks.posting import PATIENCE, Network, PostResult
from askwise.service.webhooks.records import CURSOR, HOOK, LANE, SETTLED, WAITING
from askwise.service.webhooks.sending import BACKOFF, LEASE
from askwise.service.webhooks.webhooks import Webhooks
from askwise.store import Change, MemoryStore, Store, open_store
from docs.blocks import DOCS, blocks_of
from tests.service.hooking import Bench, Clock, Got, Receiver, buy, receiving, units


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


@pytest.fixture
def clock() -> Clock:
    return Clock()


class Crash(BaseException):
    """The process ends here."""


def states(bench: Bench, hook: str) -> list[str]:
    """Of a hook's deliveries, oldest first."""
    return [each.state for each in reversed(bench.hooks.deliveries(hook))]


def test_a_delivery_is_signed_and_says_what_it_is(receiver: Receiver, clock: Clock) -> None:
    store = MemoryStore()
    campaign, bench = units(store), Bench(store, clock)
    secret, hook = bench.hooks.make(receiver.url, ["answer.settled"], campaign="units")
    buy(campaign, 1)
    bench.work()
    (got,) = receiver.got
    (made,) = bench.hooks.deliveries(hook.id)
    assert got.path == "/hook?of=mine"
    assert got.headers["Content-Type"] == "application/json"
    assert got.headers["Askwise-Event"] == "answer.settled"
    assert got.headers["Askwise-Delivery"] == made.id == got.message["id"]
    assert secret.startswith("awh_")
    read = verify(secret, got.headers["Askwise-Signature"], got.body, clock=clock)
    assert read == made.payload
    assert (made.state, made.attempts, made.status, made.said) == ("delivered", 1, 200, "thanks")
    assert made.tried == clock.now
    assert made.due is None


def test_deliveries_come_in_the_order_of_the_log(receiver: Receiver, clock: Clock) -> None:
    store = MemoryStore()
    campaign, bench = units(store, budget=200), Bench(store, clock)
    bench.make(receiver.url, "answer.settled", campaign="units")
    buy(campaign, 120)
    bench.work()
    answers = [event.seq for event in campaign.log() if event.kind == Kind.ANSWER]
    assert [seq for _, seq in receiver.told] == answers


def test_each_attempt_is_later_than_the_one_before_until_it_is_given_up(
    receiver: Receiver, clock: Clock
) -> None:
    bench = Bench(MemoryStore(), clock)
    hook = bench.make(receiver.url)
    bench.hooks.ping(hook.id)
    receiver.answer = lambda _: 404
    begun, at = clock.now, []
    while (made := bench.hooks.deliveries(hook.id)[0]).due is not None:
        clock.now = max(clock.now, made.due)
        at.append(clock.now - begun)
        bench.send()
    waits = [later - sooner for sooner, later in itertools.pairwise(at)]
    assert waits == pytest.approx(BACKOFF)
    assert waits == sorted(waits)
    assert at[-1] == pytest.approx(sum(BACKOFF))
    assert 24 * 3600 <= at[-1] < 25 * 3600
    assert (made.state, made.attempts, made.status) == ("given_up", 10, 404)
    assert len({got.headers["Askwise-Delivery"] for got in receiver.got}) == 1
    signatures = {got.headers["Askwise-Signature"] for got in receiver.got}
    assert len(signatures) == len(receiver.got) == 10
    clock.pass_by(10**6)
    bench.send()
    assert len(receiver.got) == 10


def test_waits_are_drawn_a_fifth_longer_or_shorter(receiver: Receiver, clock: Clock) -> None:
    bench = Bench(MemoryStore(), clock)
    sender = sending.Sender(bench.hooks, bench.network)
    hook = bench.make(receiver.url)
    receiver.answer = lambda _: 404
    for _ in range(20):
        bench.hooks.ping(hook.id)
    sender.run(hook, threading.Event())
    waits = [(each.due or 0) - clock.now for each in bench.hooks.deliveries(hook.id)]
    assert len(set(waits)) == 20
    assert all(4.0 - 1e-6 <= wait <= 6.0 + 1e-6 for wait in waits)


def test_what_fails_steps_aside_and_comes_later(receiver: Receiver, clock: Clock) -> None:
    store = MemoryStore()
    campaign, bench = units(store), Bench(store, clock)
    hook = bench.make(receiver.url, "answer.settled", campaign="units")
    buy(campaign, 4)
    answers = [event.seq for event in campaign.log() if event.kind == Kind.ANSWER]
    refused = []

    def refuse_the_second(got: Got) -> int:
        if got.message["seq"] == answers[1] and len(refused) < 2:
            refused.append(got)
            return 400
        return 204

    receiver.answer = refuse_the_second
    bench.work()
    assert [seq for _, seq in receiver.told] == answers
    assert states(bench, hook.id) == ["delivered", "waiting", "delivered", "delivered"]
    clock.pass_by(5)
    bench.work()
    clock.pass_by(29.9)
    bench.work()
    assert len(receiver.got) == 5
    clock.pass_by(0.1)
    bench.work()
    assert states(bench, hook.id) == 4 * ["delivered"]
    assert [seq for _, seq in receiver.told[4:]] == [answers[1], answers[1]]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_who_is_down_is_left_alone_for_longer_each_time(
    status: int, receiver: Receiver, clock: Clock
) -> None:
    store = MemoryStore()
    campaign, bench = units(store), Bench(store, clock)
    hook = bench.make(receiver.url, "answer.settled", campaign="units")
    buy(campaign, 6)
    receiver.answer = lambda _: status
    bench.work()
    assert len(receiver.got) == 1
    tries = 1
    for pause in (5, 10, 20, 40, 80):
        clock.pass_by(pause - 0.01)
        bench.work()
        assert len(receiver.got) == tries
        clock.pass_by(0.02)
        bench.work()
        tries += 1
        assert len(receiver.got) == tries
    assert states(bench, hook.id) == 6 * ["waiting"]
    # Back again: all that waited its time comes at once.
    receiver.answer = lambda _: 200
    clock.pass_by(600)
    bench.work()
    assert states(bench, hook.id) == 6 * ["delivered"]


def test_a_pause_is_at_most_ten_minutes(receiver: Receiver, clock: Clock) -> None:
    bench = Bench(MemoryStore(), clock)
    hook = bench.make(receiver.url)
    receiver.answer = lambda _: 500
    for _ in range(40):
        bench.hooks.ping(hook.id)
    for _ in range(40):
        before = len(receiver.got)
        clock.pass_by(600.001)
        bench.send()
        assert len(receiver.got) == before + 1


def test_only_what_failed_a_day_after_is_given_up(receiver: Receiver, clock: Clock) -> None:
    bench = Bench(MemoryStore(), clock)
    hook = bench.make(receiver.url)
    receiver.answer = lambda _: 500
    bench.hooks.ping(hook.id)
    bench.hooks.ping(hook.id)
    clock.pass_by(2 * 86400)
    bench.send()
    # One attempt for one of them; the other has had none and waits.
    assert sorted(states(bench, hook.id)) == ["given_up", "waiting"]
    receiver.answer = lambda _: 200
    clock.pass_by(10)
    bench.send()
    assert sorted(states(bench, hook.id)) == ["delivered", "given_up"]


def test_another_try_can_be_asked_for(receiver: Receiver, clock: Clock) -> None:
    bench = Bench(MemoryStore(), clock)
    hook = bench.make(receiver.url)
    receiver.answer = lambda _: 500
    made = bench.hooks.ping(hook.id)
    clock.pass_by(86400)
    bench.send()
    assert bench.hooks.delivery(hook.id, made.id).state == "given_up"
    receiver.answer = lambda _: 200
    again = bench.hooks.retry(hook.id, made.id, "once")
    assert (again.state, again.id) == ("waiting", made.id)
    # The lane was closed by the failure; whoever asks opens it.
    bench.send()
    assert bench.hooks.delivery(hook.id, made.id).state == "delivered"
    assert len(receiver.got) == 2
    assert bench.hooks.retry(hook.id, made.id, "once").state == "delivered"
    bench.send()
    assert len(receiver.got) == 2
    bench.hooks.retry(hook.id, made.id, "twice")
    bench.send()
    assert len(receiver.got) == 3


def test_what_waits_can_be_tried_now(receiver: Receiver, clock: Clock) -> None:
    bench = Bench(MemoryStore(), clock)
    hook = bench.make(receiver.url)
    receiver.answer = lambda _: 404
    made = bench.hooks.ping(hook.id)
    bench.send()
    receiver.answer = lambda _: 200
    assert bench.hooks.delivery(hook.id, made.id).due == clock.now + 5
    bench.hooks.retry(hook.id, made.id)
    bench.send()
    assert states(bench, hook.id) == ["delivered"]


def test_the_newest_settled_ones_are_kept(
    receiver: Receiver, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "KEPT", 10)
    bench = Bench(MemoryStore(), clock)
    hook = bench.make(receiver.url)
    made = []
    for _ in range(25):
        clock.pass_by(0.001)
        made.append(bench.hooks.ping(hook.id).id)
    bench.send()
    assert [each.id for each in bench.hooks.deliveries(hook.id)] == made[:14:-1]


# Crashes.


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
    # The lane is the dead one's for a while: nobody knows that he is dead.
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


# The end of a hook.


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


# Threads and processes.


@contextmanager
def couriers(*stores: Store, patience: float = PATIENCE) -> Iterator[list[Webhooks]]:
    """As many processes' background work, in this one."""
    network = Network(private=True, patience=patience)
    made = [(OpenCampaigns(store, 60.0), Webhooks(store, network)) for store in stores]
    started = [Courier(campaigns, each, network) for campaigns, each in made]
    for courier in started:
        courier.start()
    yield [each for _, each in made]
    for courier in started:
        courier.close()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        found: str = request.getfixturevalue("postgres_url")
        return found
    return f"sqlite:///{tmp_path}/campaigns.sqlite"


@pytest.fixture
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks follow one another at once, so that two processes meet often."""
    monkeypatch.setattr("askwise.service.webhooks.courier.PAUSE", 0.01)
    monkeypatch.setattr("askwise.service.webhooks.courier.PAUSE_FACTOR", 0.0)


@pytest.mark.usefixtures("brisk")
def test_two_processes_on_one_store_send_each_delivery_once(url: str, receiver: Receiver) -> None:
    first, second = open_store(url), open_store(url)
    campaign = units(first, budget=30)
    with couriers(first, second) as (one, _):
        hook = one.make(receiver.url, ["answer.settled", "campaign.done", "budget.used"])[1]
        buy(campaign, 30)
        until(lambda: len(receiver.got) >= 32)
        until(lambda: not one.waiting(hook.id))
        time.sleep(0.3)
    assert len(receiver.got) == 32
    assert len({message["id"] for message in receiver.messages}) == 32
    answers = [event.seq for event in campaign.log() if event.kind == Kind.ANSWER]
    assert [seq for name, seq in receiver.told if name == "answer.settled"] == answers
    assert receiver.told[-1] == ("campaign.done", answers[-1])
    assert ("budget.used", answers[23]) in receiver.told
    first.close()
    second.close()


def test_who_is_slow_holds_up_himself_alone(receiver: Receiver) -> None:
    store = MemoryStore()
    campaign = units(store)
    released = threading.Event()
    # Nobody gives up on the slow ones while this runs: who waits for them waits in vain.
    with receiving() as slow, couriers(store, patience=3600.0) as (shelf,):
        slow.answer = lambda _: 200 if released.wait() else 500
        for _ in range(3):
            shelf.make(slow.url, ["answer.settled"])
        shelf.make(receiver.url, ["answer.settled"])
        buy(campaign, 5)
        try:
            until(lambda: len(slow.got) == 3 and len(receiver.got) == 5)
        finally:
            released.set()
        until(lambda: len(slow.got) == 15)


def test_a_turn_ends_after_a_while(receiver: Receiver, clock: Clock) -> None:
    bench = Bench(MemoryStore(), clock)
    hook = bench.make(receiver.url)

    def slow(_: Got) -> int:
        clock.pass_by(4)
        return 200

    receiver.answer = slow
    for _ in range(8):
        bench.hooks.ping(hook.id)
    assert bench.sender.run(hook, threading.Event())
    assert len(receiver.got) == 3
    bench.send()
    assert len(receiver.got) == 8


def test_a_request_is_served_before_the_next_regular_look(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("askwise.service.webhooks.courier.PAUSE", 3600.0)
    with couriers(MemoryStore()) as (shelf,):
        hook = shelf.make(receiver.url, ["campaign.done"])[1]
        shelf.ping(hook.id)
        until(lambda: len(receiver.got) == 1)
        assert receiver.messages[0]["event"] == "ping"


def test_the_receiver_of_the_page_takes_what_is_sent(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "how-to" / "webhooks.md").read_text(encoding="utf-8")
    (program,) = (each for each in blocks_of(page) if each.title == "receiver.py")
    space: dict[str, Any] = {"__name__": "receiver"}
    exec(compile(program.code, program.title, "exec"), space)
    monkeypatch.setattr(space["Receiver"], "log_message", lambda *_: None)
    server = space["HTTPServer"](("127.0.0.1", 0), space["Receiver"])
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    clock.now = time.time()
    bench = Bench(MemoryStore(), clock)
    secret, hook = bench.hooks.make(f"http://127.0.0.1:{server.server_port}/", ["task.closed"])
    monkeypatch.setenv("HOOK_SECRET", secret)
    made = bench.hooks.ping(hook.id)
    bench.send()
    bench.hooks.retry(hook.id, made.id)
    bench.send()
    monkeypatch.setenv("HOOK_SECRET", "awh_another")
    other = bench.hooks.ping(hook.id)
    bench.send()
    server.shutdown()
    server.server_close()
    assert bench.hooks.delivery(hook.id, made.id).status == 204
    assert bench.hooks.delivery(hook.id, other.id).status == 401
    assert capsys.readouterr().out == "ping None {}\n"
