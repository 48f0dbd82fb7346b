"""Limits a minute, waits that endpoints ask for, and the breaker, by a clock of the test's own."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.sources.chat.pacing import (
    FIRST_OUTAGE,
    LONGEST_OUTAGE,
    MINUTE,
    MOST_FAILURES,
    Breaker,
    Pace,
    asked_wait,
    span,
)
from tests.sources.chat.stubs import Clock


def paced(requests: int | None = None, tokens: int | None = None) -> tuple[Pace, Clock]:
    clock = Clock()
    return Pace(requests, tokens, now=clock.now, sleep=clock.sleep), clock


def times(pace: Pace, clock: Clock, sizes: list[float]) -> list[float]:
    async def send() -> list[float]:
        sent = []
        for size in sizes:
            await pace.turn(size)
            sent.append(clock.time)
        return sent

    return asyncio.run(send())


def test_without_limits_nobody_waits() -> None:
    pace, clock = paced()
    assert times(pace, clock, [1e9] * 5) == [1000.0] * 5


def test_the_third_of_two_a_minute_waits_a_minute() -> None:
    pace, clock = paced(requests=2)
    assert times(pace, clock, [1, 1, 1]) == [1000, 1000, 1060]


@given(
    st.integers(1, 5),
    st.integers(10, 100),
    st.lists(st.integers(1, 100), min_size=1, max_size=25),
)
def test_no_minute_has_more_than_its_limits(requests: int, tokens: int, sizes: list[float]) -> None:
    pace, clock = paced(requests, tokens)
    sent = times(pace, clock, sizes)
    for start in sent:
        inside = [
            size for at, size in zip(sent, sizes, strict=True) if start <= at < start + MINUTE
        ]
        assert len(inside) <= requests
        # One that is larger than a minute's tokens goes alone.
        assert sum(inside) <= tokens or len(inside) == 1


def test_a_call_that_was_smaller_than_thought_leaves_room() -> None:
    pace, clock = paced(tokens=100)

    async def send() -> float:
        correct: Callable[[float], None] = await pace.turn(90)
        correct(10)
        await pace.turn(90)
        return clock.time

    assert asyncio.run(send()) == 1000


def test_a_correction_after_the_minute_changes_nothing() -> None:
    pace, clock = paced(tokens=100)

    async def send() -> float:
        correct = await pace.turn(90)
        await clock.sleep(61)
        await pace.turn(50)
        correct(1000)
        await pace.turn(50)
        return clock.time

    assert asyncio.run(send()) == 1061


def test_a_hold_lets_nothing_go() -> None:
    pace, clock = paced()
    pace.hold(7)
    pace.hold(3)
    assert pace.held() == 7
    assert times(pace, clock, [1]) == [1007]


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "12s"}, 12),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"}, 360),
        ({"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "12s"}, 0),
        ({"x-ratelimit-remaining-requests": "0"}, 0),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "soon"}, 0),
        ({}, 0),
    ],
)
def test_what_is_left_of_a_limit_is_obeyed(headers: dict[str, str], wait: float) -> None:
    pace, _ = paced()
    pace.obey(headers)
    assert pace.held() == pytest.approx(wait)


def test_a_wait_may_be_a_number_or_a_date() -> None:
    assert asked_wait({"retry-after": "2.5"}) == 2.5
    assert asked_wait({"retry-after": "-3"}) == 0
    assert asked_wait({"retry-after": "inf"}) == 0
    assert asked_wait({"retry-after": "Thu, 01 Jan 1970 00:00:10 GMT"}, now=lambda: 20.0) == 0
    assert span("1h") == 3600


def test_the_breaker_opens_after_failures_in_a_row_and_longer_each_time() -> None:
    clock = Clock()
    breaker = Breaker(now=clock.now)
    for _ in range(MOST_FAILURES - 1):
        breaker.failed("HTTP 503")
    assert breaker.outage() is None
    breaker.failed("HTTP 503")
    spans = []
    for _ in range(7):
        outage = breaker.outage()
        assert outage is not None
        assert outage.why == "HTTP 503"
        spans.append(outage.seconds)
        clock.time += outage.seconds
        assert breaker.outage() is None
        breaker.failed("HTTP 503")
    assert spans == [min(LONGEST_OUTAGE, FIRST_OUTAGE * 2**at) for at in range(7)]
    breaker.worked()
    assert breaker.outage() is None


def test_one_answer_makes_it_forget() -> None:
    breaker = Breaker()
    for _ in range(3 * MOST_FAILURES):
        breaker.failed("HTTP 503")
        breaker.worked()
    assert breaker.outage() is None


def test_what_no_waiting_mends_is_out_for_good() -> None:
    breaker = Breaker()
    breaker.break_for_good("the key is refused")
    outage = breaker.outage()
    assert outage is not None
    assert outage.seconds == math.inf
