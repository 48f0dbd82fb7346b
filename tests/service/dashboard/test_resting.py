"""Things that are worked out again when they are out of date, and rest in between."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from askwise.service.dashboard.resting import Cached
from tests.clock import Clock


def refuse(work: Callable[[], None]) -> bool:
    return False


def test_what_is_current_is_not_made_again() -> None:
    clock = Clock(0.0)
    shelf: Cached[int] = Cached(1.0, clock, refuse)
    made: list[int] = []

    def make() -> int:
        made.append(len(made))
        return made[-1]

    assert [shelf.get(lambda kept: True, make) for _ in range(3)] == [0, 0, 0]
    clock.now = 100.0
    assert shelf.get(lambda kept: True, make) == 0


def test_what_is_out_of_date_rests_unless_it_must_be_of_now() -> None:
    clock = Clock(0.0)
    shelf: Cached[float] = Cached(1.0, clock, refuse)

    def never(kept: float) -> bool:
        return False

    seen = []
    for moment in (0.0, 0.4, 0.9, 1.0, 1.9, 2.1):
        clock.now = moment
        seen.append(shelf.get(never, clock))
    assert seen == [0.0, 0.0, 0.0, 1.0, 1.0, 2.1]
    assert shelf.get(lambda kept: False, lambda: 7.0, now=True) == 7.0


def test_what_took_long_rests_longer_but_not_for_ever() -> None:
    clock = Clock(0.0)
    shelf: Cached[float] = Cached(1.0, clock, refuse)

    def slow(seconds: float) -> Callable[[], float]:
        def make() -> float:
            clock.now += seconds
            return clock.now

        return make

    assert shelf.get(lambda kept: False, slow(0.5)) == 0.5
    # It took half a second and is over at 0.5: it rests for five seconds.
    clock.now = 5.4
    assert shelf.get(lambda kept: False, slow(9.0)) == 0.5
    clock.now = 5.5
    assert shelf.get(lambda kept: False, slow(9.0)) == 14.5
    # Fifteen seconds at the most, not ninety.
    clock.now = 29.4
    assert shelf.get(lambda kept: False, slow(1.0)) == 14.5
    clock.now = 29.5
    assert shelf.get(lambda kept: False, slow(1.0)) == 30.5


def test_what_takes_long_is_made_behind_the_back_of_who_asks() -> None:
    clock = Clock(0.0)
    waiting: list[Callable[[], None]] = []

    def later(job: Callable[[], None]) -> bool:
        waiting.append(job)
        return True

    shelf: Cached[str] = Cached(1.0, clock, later)

    def first() -> str:
        clock.now += 1.0
        return "first"

    assert shelf.get(lambda kept: False, first) == "first"
    clock.now = 50.0
    assert shelf.get(lambda kept: False, lambda: "second") == "first"
    assert shelf.get(lambda kept: False, lambda: "third") == "first"
    assert len(waiting) == 1
    waiting.pop()()
    assert shelf.get(lambda kept: False, lambda: "third") == "second"


def test_a_failure_behind_the_back_is_told_to_the_next_who_asks() -> None:
    clock = Clock(0.0)
    waiting: list[Callable[[], None]] = []

    def later(job: Callable[[], None]) -> bool:
        waiting.append(job)
        return True

    shelf: Cached[int] = Cached(1.0, clock, later)

    def slow() -> int:
        clock.now += 1.0
        return 1

    def broken() -> int:
        raise ValueError("broken")

    shelf.get(lambda kept: False, slow)
    clock.now = 50.0
    assert shelf.get(lambda kept: False, broken) == 1
    waiting.pop()()
    with pytest.raises(ValueError, match="broken"):
        shelf.get(lambda kept: False, broken)
    assert shelf.get(lambda kept: False, lambda: 2) == 2


def test_many_who_come_at_once_share_one_making() -> None:
    shelf: Cached[int] = Cached(1.0, Clock(0.0), refuse)
    begun, go_on = threading.Event(), threading.Event()
    made: list[int] = []

    def make() -> int:
        begun.set()
        assert go_on.wait(60)
        made.append(1)
        return 7

    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(shelf.get(lambda kept: True, make)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    assert begun.wait(60)
    go_on.set()
    for thread in threads:
        thread.join()
    assert (found, made) == ([7] * 8, [1])


# What is worked out.
