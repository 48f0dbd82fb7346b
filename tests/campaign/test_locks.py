"""A lock that nobody takes again and again past others who wait."""

from __future__ import annotations

import threading
import time

from askwise.campaign.locks import FairLock


def waiting(lock: FairLock) -> None:
    """Return once somebody waits for a lock that is taken."""
    while not lock._gate.locked():
        time.sleep(0.001)


def test_who_waits_comes_before_who_takes_it_again() -> None:
    lock, order = FairLock(), []

    def come_once() -> None:
        with lock:
            order.append("other")

    with lock:
        other = threading.Thread(target=come_once)
        other.start()
        waiting(lock)
    with lock:
        order.append("again")
    other.join()
    assert order == ["other", "again"]


def test_its_owner_may_take_it_within_itself_though_others_wait() -> None:
    lock = FairLock()
    with lock:
        other = threading.Thread(target=lambda: lock.acquire() and lock.release())
        other.start()
        waiting(lock)
        with lock:
            assert lock.acquire(blocking=False)
            lock.release()
    other.join()
    assert lock.acquire(blocking=False)


def test_without_blocking_it_is_had_only_if_it_is_free() -> None:
    lock, found = FairLock(), []
    with lock:
        other = threading.Thread(target=lambda: found.append(lock.acquire(blocking=False)))
        other.start()
        other.join()
    assert found == [False]
