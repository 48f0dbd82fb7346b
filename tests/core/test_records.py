"""Records that compiled code takes by reference."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
import pytest

from askwise.core.compiling import forced, kernel, step
from askwise.core.records import by_reference
from askwise.kernels import Array


class Limit(NamedTuple):
    most: int


@by_reference
class Shelf(NamedTuple):
    counts: Array
    weights: Array
    limit: Limit
    factor: float


def shelf(*counts: int) -> Shelf:
    return Shelf(np.array(counts), np.ones((2, len(counts))), Limit(3), 0.5)


@kernel
def first(held: Shelf) -> int:
    return held.counts[0]


@kernel
def worth(held: Shelf) -> float:
    total = 0.0
    for at in range(len(held.counts)):
        total += min(held.counts[at], held.limit.most) * held.weights[1, at]
    return total * held.factor


@step
def add(held: Shelf, at: int, count: int) -> None:
    held.counts[at] += count


@kernel
def fill(held: Shelf, most: int) -> int:
    added = 0
    for at in range(len(held.counts)):
        while held.counts[at] < most:
            add(held, at, 1)
            added += 1
    return added


@kernel
def appended(held: Shelf, count: int) -> Array:
    longer = np.zeros(len(held.counts) + 1, np.int64)
    longer[: len(held.counts)] = held.counts
    longer[-1] = count
    return longer


def test_a_record_is_a_named_tuple_in_plain_python() -> None:
    held = shelf(1, 5)
    assert isinstance(held, tuple)
    assert held._replace(factor=2.0).factor == 2.0


@pytest.mark.compiled
@pytest.mark.xdist_group("records")
def test_compiled_code_reads_fields_and_writes_into_their_arrays() -> None:
    held = shelf(1, 5, 0)
    with forced():
        assert first(held) == 1
        assert worth(held) == 0.5 * (1 + 3 + 0)
        assert fill(held, 2) == 3
        assert held.counts.tolist() == [2, 5, 2]
        assert first(held) == 2, "what was read before is not kept for the next call"
        assert first(shelf(7)) == 7
    assert len(first.overloads) == len(worth.overloads) == 1  # type: ignore[attr-defined]


@pytest.mark.compiled
@pytest.mark.xdist_group("records")
def test_calls_keep_no_array_alive() -> None:
    held = shelf(1, 5, 0)
    with forced():
        before = references(held)
        for _ in range(50):
            first(held)
            fill(held, 2)
            longer = appended(held, 9)
    after = references(held)
    assert after == before
    assert longer.tolist() == [2, 5, 2, 9]
    assert references(held._replace(counts=longer))[0] == after[0] + 1, "the name, and no more"


def references(held: Shelf) -> list[int]:
    """How often each array is referred to."""
    return [sys.getrefcount(array) for array in held[:2]]


@pytest.mark.compiled
@pytest.mark.xdist_group("records")
def test_a_value_of_another_type_is_refused_and_nothing_is_kept() -> None:
    held = shelf(1, 5)
    with forced():
        first(held)
        before = references(held)
        with pytest.raises(Exception, match="counts"):
            first(held.limit)  # type: ignore[arg-type]
    after = references(held)
    assert after == before
