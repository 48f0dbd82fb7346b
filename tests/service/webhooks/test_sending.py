"""Sending: signed, in order, by one at a time, in turns."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from askwise.client.webhooks import verify
from askwise.core.events import Kind
from askwise.service.open_campaigns import OpenCampaigns
from askwise.service.webhooks import webhooks
from askwise.service.webhooks.courier import Courier
from askwise.service.webhooks.posting import PATIENCE, Network
from askwise.service.webhooks.webhooks import Webhooks
from askwise.store import MemoryStore, Store, open_store
from docs.blocks import DOCS, blocks_of
from tests.clock import Clock
from tests.service.webhooks.bench import Bench, Got, Receiver, buy, receiving, units


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
    assert got.headers["webhook-id"] == made.id == got.message["id"]
    assert not any(name.lower().startswith("askwise") for name in got.headers)
    read = verify(secret, got.headers, got.body, clock=clock)
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


def test_who_is_slow_holds_up_nobody_else(receiver: Receiver) -> None:
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
    monkeypatch.setenv("HOOK_SECRET", "whsec_YW5vdGhlcg==")
    other = bench.hooks.ping(hook.id)
    bench.send()
    server.shutdown()
    server.server_close()
    assert bench.hooks.delivery(hook.id, made.id).status == 204
    assert bench.hooks.delivery(hook.id, other.id).status == 401
    assert capsys.readouterr().out == "ping None {}\n"
