"""Kernels that are called over and over with the same records."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from askwise.core.compiling import forced, kernel
from askwise.core.records import by_reference
from askwise.core.repeated_calls import RepeatedCalls
from askwise.kernels import Array


@by_reference
class Pile(NamedTuple):
    items: Array


@kernel
def take(pile: Pile, at: int) -> float:
    return pile.items[at]


@kernel
def move(pile: Pile, other: Pile, at: int) -> float:
    other.items[at] += pile.items[at]
    return other.items[at]


def check_piles(calls: RepeatedCalls) -> None:
    whole, real = Pile(np.array([1, 2])), Pile(np.array([0.5, 1.5, 2.5]))
    for _ in range(3):
        assert calls.with_book(take, whole, 1) == 2
        whole.items[1] += 1
        assert calls.with_book(take, whole, 1) == 3, "what is in the arrays is read at each call"
        whole.items[1] -= 1
        # Arrays of another type, by the same kernel: read as what they are.
        assert calls.with_book(take, real, 2) == 2.5


def check_two(calls: RepeatedCalls) -> None:
    one, other, third = (Pile(np.array([n, n])) for n in (1, 10, 100))
    assert [calls.with_state(move, one, other, 0) for _ in range(3)] == [11, 12, 13]
    assert calls.with_state(move, one, third, 1) == 101, "the second record is another one"
    assert calls.with_state(move, other, third, 1) == 111, "the first record is another one"
    assert one.items.tolist() == [1, 1]


def test_kernels_run_plain_as_they_do_by_themselves() -> None:
    check_piles(RepeatedCalls())
    check_two(RepeatedCalls())


@pytest.mark.compiled
@pytest.mark.xdist_group("repeated_calls")
def test_compiled_code_is_looked_up_again_for_another_record() -> None:
    calls = RepeatedCalls()
    with forced():
        check_piles(calls)
        check_two(calls)
    assert len(take.overloads) == 2  # type: ignore[attr-defined]


@pytest.mark.compiled
@pytest.mark.xdist_group("repeated_calls")
def test_a_kernel_that_is_compiled_for_other_types_runs_plain() -> None:
    with forced():
        take(Pile(np.array([1, 2])), 0)
    calls, rare = RepeatedCalls(), Pile(np.array([1, 2], np.int16))
    assert [calls.with_book(take, rare, 1) for _ in range(3)] == [2, 2, 2]
