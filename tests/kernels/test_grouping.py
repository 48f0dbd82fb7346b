"""Rows by group: the same whether NumPy or a compiled kernel does it; only bulk work compiles."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from askwise.core.compiling import allowed, ready, watched
from askwise.kernels import grouping

GROUPS = np.array([3, 0, 3, 1, 0, 3, 2, 0], np.int32)
WORKERS = np.arange(8, dtype=np.int32)
LABELS = WORKERS % 3


def in_a_live_thread(work: Callable[[], Any]) -> Any:
    """What a thread returns that was not allowed to compile anything."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


def check_places(found: tuple[Any, Any]) -> None:
    assert found[0].tolist() == [0, 3, 4, 5, 8]
    assert found[1].tolist() == [1, 4, 7, 3, 6, 0, 2, 5]


def check_buckets(found: tuple[int, Any, Any]) -> None:
    # Eight rows in buckets of two: four buckets, of one group each, in the order of their rows.
    size, starts, columns = found
    assert (size, starts.tolist()) == (1, [0, 3, 4, 5, 8])
    assert columns[0].tolist() == [0, 0, 0, 1, 2, 3, 3, 3]
    assert columns[1].tolist() == [1, 4, 7, 3, 6, 0, 2, 5]
    assert columns[2].tolist() == [1, 1, 1, 0, 0, 0, 2, 2]


def place() -> Any:
    return grouping.rows_by_group(GROUPS, 4)


def deal() -> Any:
    return grouping.dealt(GROUPS, WORKERS, LABELS, 4)


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "MANY", 4)
    monkeypatch.setattr(grouping, "SLICE", 2)


@pytest.mark.usefixtures("few_are_many")
def test_rows_are_placed_and_dealt_in_their_order() -> None:
    check_places(place())
    check_buckets(deal())


@pytest.mark.compiled
@pytest.mark.usefixtures("few_are_many")
def test_only_work_in_bulk_compiles_and_the_rows_are_the_same() -> None:
    heard: list[str] = []

    with watched(lambda what, begins: heard.append(what)):
        check_places(in_a_live_thread(place))
        check_buckets(in_a_live_thread(deal))
    assert heard == []
    with allowed("grouping"):
        check_places(place())
        check_buckets(deal())
    ends, order = np.array([0, 3, 4, 5]), np.empty(8, np.int32)
    assert in_a_live_thread(lambda: ready(grouping.place_rows, GROUPS, ends, order))
