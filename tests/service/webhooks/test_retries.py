"""Attempts that fail: when the next one comes, who is left alone, what is given up."""

from __future__ import annotations

import itertools
import threading

import pytest

from askwise.core.events import Kind
from askwise.service.webhooks import sending
from askwise.service.webhooks.sending import BACKOFF
from askwise.store import MemoryStore
from tests.clock import Clock
from tests.service.webhooks.bench import Bench, Got, Receiver, buy, units
from tests.service.webhooks.told import states


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
    assert len({got.headers["webhook-id"] for got in receiver.got}) == 1
    signatures = {got.headers["webhook-signature"] for got in receiver.got}
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
