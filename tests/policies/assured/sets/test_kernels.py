"""The kernels for policies: cheapest sets among those allowed, and minimal extensions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.kernels.knapsack import cover_greedy
from askwise.ledger import columns as c
from askwise.policies.assured.sets import cheapest_set
from askwise.policies.assured.sets.base import Target, function_of
from askwise.policies.assured.sets.kernels import (
    FEASIBLE,
    INFEASIBLE,
    cheapest_into,
    error_of,
    extend_into,
    meets,
)

NAMES = [
    "majority",
    "majority(ties=random)",
    "hoeffding",
    "hoeffding-linear(epsilon=0.5)",
    "most-likely-error",
    "weighted-majority",
]


def arrays(n: int, seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 6, n) * 10**6
    return costs, rng.choice([0.45, 0.5, 0.6, 0.7, 0.8, 0.9], n), rng.random(n) < 0.8


@pytest.mark.parametrize("name", NAMES)
def test_the_cheapest_set_is_looked_for_among_the_allowed(name: str) -> None:
    for seed in range(15):
        costs, q, allowed = arrays(7, seed)
        chosen = np.ones(7, np.bool_)
        for solver in ("exact", "greedy"):
            target = function_of(name).target(0.2, solver)
            status = cheapest_into(target, costs, q, allowed, chosen)
            here = np.flatnonzero(allowed)
            found, error, feasible = cheapest_set(costs[here], q[here], 0.2, name, solver)
            assert status == (FEASIBLE if feasible else INFEASIBLE)
            if feasible:
                assert np.flatnonzero(chosen).tolist() == here[found].tolist()
                assert error_of(target, q, chosen) == error
                assert meets(target, q, chosen)
            else:
                assert (chosen == allowed).all()


def test_the_exact_solver_says_if_it_gave_up() -> None:
    rng = np.random.default_rng(1)
    costs, q = rng.integers(1, 20, 40) * 10**6, rng.uniform(0.55, 0.65, 40)
    chosen, allowed = np.zeros(40, np.bool_), np.ones(40, np.bool_)
    exact = function_of("majority").target(0.1, "exact")._replace(work=2000)
    assert cheapest_into(exact, costs, q, allowed, chosen) == c.TOO_LARGE
    auto = function_of("majority").target(0.1, "auto")._replace(work=2000)
    assert cheapest_into(auto, costs, q, allowed, chosen) == FEASIBLE
    assert meets(auto, q, chosen)


def test_meeting_is_forgiven_what_the_solver_forgives() -> None:
    q = np.full(3, 0.8)
    everyone = np.ones(3, np.bool_)
    assert meets(function_of("majority").target(0.104), q, everyone)
    assert not meets(function_of("majority").target(0.104 - 1e-11), q, everyone)
    # Ten times .1 is not 1 in floats; the demand is compared in whole units.
    gains = np.full(10, 0.1)
    target = function_of("hoeffding-linear").target(0.1)._replace(demand=1.0)
    assert cover_greedy([1] * 10, gains, 1.0)[2]
    assert meets(target, (1 + gains) / 2, np.ones(10, np.bool_))
    # Who is worse than a coin takes away.
    assert not meets(target, np.array([1.0, 0.4]), np.ones(2, np.bool_))
    assert meets(target, np.array([1.0, 0.4]), np.array([True, False]))


def minimal(target: Target, q: Any, begun: Any, members: Any, size: int) -> bool:
    """Whether no ``size`` of the added can be taken out."""
    added = np.flatnonzero(members & ~begun)
    for out in itertools.combinations(added.tolist(), size):
        fewer = members.copy()
        fewer[list(out)] = False
        if meets(target, q, fewer):
            return False
    return True


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_an_extension_meets_the_target_if_anything_does_and_is_minimal(
    name: str, data: Any
) -> None:
    n = data.draw(st.integers(1, 7))
    costs = np.array([data.draw(st.integers(0, 4)) for _ in range(n)]) * 10**6
    quality = st.sampled_from([0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
    q = np.array([data.draw(quality) for _ in range(n)])
    allowed = np.array([data.draw(st.booleans()) for _ in range(n)])
    begun = np.array([data.draw(st.sampled_from([False, False, True])) for _ in range(n)])
    target = function_of(name).target(data.draw(st.sampled_from([0.05, 0.1, 0.2, 0.35])))
    members = begun.copy()
    done = extend_into(target, costs, q, allowed, members)
    assert (members | begun == members).all()
    assert not (members & ~begun & ~allowed).any()
    assert done == meets(target, q, members) or not done
    # Workers no better than a coin are never added, though by majority they may make an even
    # number odd, and by most-likely-error, which counts just the less able half, fill a place.
    free = np.flatnonzero(allowed & ~begun & (q > 0.5))
    possible = False
    for size in range(len(free) + 1):
        for more in itertools.combinations(free.tolist(), size):
            trial = begun.copy()
            trial[list(more)] = True
            possible = possible or meets(target, q, trial)
    if not done:
        assert (members == (begun | allowed)).all()
    if name != "most-likely-error":
        assert done == possible
    if done and "linear" not in name:
        assert minimal(target, q, begun, members, 1)


def test_by_majority_workers_are_added_in_pairs() -> None:
    target = function_of("majority").target(0.11)
    costs, q = np.array([1, 1, 1, 1]) * 10**6, np.full(4, 0.8)
    members = np.array([True, False, False, False])
    assert extend_into(target, costs, q, np.ones(4, np.bool_), members)
    assert members.tolist() == [True, True, True, False]


def test_in_the_linear_form_ga_fills_what_the_members_leave_open() -> None:
    target = function_of("hoeffding-linear").target(0.1)._replace(demand=2.0)
    # Gains 1, .6, .6, .9; ratios of the others 1/.6, 2/.6, 3/.9.
    q = np.array([1.0, 0.8, 0.8, 0.95])
    costs = np.array([5, 1, 2, 3])
    members = np.array([True, False, False, False])
    assert extend_into(target, costs, q, np.ones(4, np.bool_), members)
    assert cover_greedy([1, 2, 3], [0.6, 0.6, 0.9], 1.0)[0] == [0, 1]
    assert members.tolist() == [True, True, True, False]
    # Whoever costs too little to matter stays in, as GA has it.
    assert not extend_into(target._replace(demand=9.0), costs, q, np.ones(4, np.bool_), members)
    assert members.all()


def test_a_users_function_is_not_a_number_in_kernels() -> None:
    target = function_of("majority").target(0.1)._replace(code=-1)
    assert np.isnan(error_of(target, np.array([0.9]), np.array([True])))
    assert not meets(target, np.array([0.9]), np.array([True]))
