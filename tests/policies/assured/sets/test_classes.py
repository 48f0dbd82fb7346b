"""Sets by classes of qualities: always found, within a gap that is told, and truthful."""

import itertools
import math

import numpy as np
import pytest

from askwise.core.accuracy import (
    critical_bids_by_classes,
    critical_bids_exact,
    error_probability,
    solve_cheapest,
)
from askwise.core.errors import InvalidParameter
from askwise.policies.assured.sets import classes
from askwise.policies.assured.sets.base import function_of

ERRORS = (
    "majority",
    "majority(ties=random)",
    "hoeffding",
    "hoeffding-linear(epsilon=0.5)",
    "most-likely-error",
)


def instances(count, most):
    rng = np.random.default_rng(7)
    for at in range(count):
        size = int(rng.integers(1, most + 1))
        qualities = np.round(rng.uniform(0.5, 1.0, size), 2)
        yield rng.integers(1, 30, size), qualities, (0.05, 0.15, 0.3)[at % 3], ERRORS[at % 5]


@pytest.fixture(params=[1 << 23, 0], ids=["fine", "one class"])
def work(request, monkeypatch):
    """With all the work there is each quality is a class of its own; with none there is one."""
    monkeypatch.setattr(classes, "MOST_WORK", request.param)
    return request.param


def test_a_set_is_found_wherever_there_is_one_and_the_gap_covers_the_cheapest(work):
    for costs, qualities, alpha, error in instances(60, 8):
        exact = solve_cheapest(costs, qualities, alpha, error, "exact")
        found = solve_cheapest(costs, qualities, alpha, error, "classes")
        assert found.feasible == exact.feasible
        if found.feasible:
            assert error_probability(error, qualities[list(found.indices)]) <= alpha * (1 + 1e-11)
            assert exact.cost <= found.cost
            assert found.cost * (1.0 - found.gap) <= exact.cost + 1e-9
            if work:
                assert found.cost == exact.cost


def test_no_bid_but_the_cost_serves_a_worker_better(work):
    for costs, qualities, alpha, error in instances(25, 6):
        if not solve_cheapest(costs, qualities, alpha, error, "classes").feasible:
            continue
        for worker in range(len(costs)):
            gains = []
            for bid in (costs[worker], 1, 5, 12, 20, 29, 40):
                bids = costs.copy()
                bids[worker] = bid
                chosen = solve_cheapest(bids, qualities, alpha, error, "classes").indices
                paid = dict(
                    zip(
                        chosen,
                        critical_bids_by_classes(bids, qualities, alpha, error),
                        strict=True,
                    )
                )
                # Who is indispensable is paid the highest bid that is taken.
                gains.append(min(50, paid[worker]) - costs[worker] if worker in paid else 0.0)
            assert gains[0] >= 0.0
            assert gains[0] == max(gains)


@pytest.mark.parametrize(
    "error", ["plurality(options=4)", "majority-first(prior=0.8)", "likeliest(prior=0.6)"]
)
def test_functions_in_plain_python_are_solved_and_paid_by_classes_too(error):
    rng, found = np.random.default_rng(3), 0
    for _ in range(6):
        costs, qualities = rng.integers(1, 30, 5), np.round(rng.uniform(0.5, 1.0, 5), 2)
        exact = solve_cheapest(costs, qualities, 0.15, error, "exact")
        by_classes = solve_cheapest(costs, qualities, 0.15, error, "classes")
        # Each quality is a class of its own.
        assert (by_classes.feasible, by_classes.cost) == (exact.feasible, exact.cost)
        if exact.feasible:
            found += 1
            paid = critical_bids_by_classes(costs, qualities, 0.15, error)
            assert paid == critical_bids_exact(costs, qualities, 0.15, error)
    assert found > 2


def test_a_function_in_plain_python_has_sets_by_classes_among_many_workers():
    rng = np.random.default_rng(3)
    costs, qualities = rng.integers(10, 20, 60), rng.uniform(2 / 3, 1.0, 60)
    found = solve_cheapest(costs, qualities, 0.05, "plurality(options=4)", "classes")
    assert found.feasible
    assert found.cost <= solve_cheapest(costs, qualities, 0.05, solver="exact").cost


def test_with_a_class_a_quality_payments_are_those_of_the_cheapest_set():
    costs, qualities = [3, 4, 9, 5, 6], [0.8, 0.85, 0.9, 0.8, 0.75]
    assert critical_bids_by_classes(costs, qualities, 0.12) == critical_bids_exact(
        costs, qualities, 0.12
    )
    assert critical_bids_by_classes([1], [0.95], 0.1) == [math.inf]


def test_all_numbers_with_a_sum_are_tried_once():
    room = np.array([2, 0, 3, 1])
    for size in range(7):
        taken, left = np.zeros(4, np.int64), size
        for k in range(4):
            taken[k] = min(room[k], left)
            left -= taken[k]
        seen = []
        while left == 0:
            seen.append(tuple(taken.tolist()))
            left = classes._take_next(taken, room)
        every = itertools.product(*(range(most + 1) for most in room))
        assert sorted(seen) == sorted(each for each in every if sum(each) == size)
        assert len(set(seen)) == len(seen)


def test_classes_are_cut_by_qualities_alone_and_narrow_at_the_top(monkeypatch):
    qualities = np.linspace(0.6, 0.95, 40)
    monkeypatch.setattr(classes, "MOST_WORK", 20_000)
    target = function_of("majority").target(0.05, "classes")
    found = classes.classes_of(target, qualities)
    widths = np.diff(found.first)
    assert 1 < len(widths) < 40
    assert widths[0] == widths.min()
    assert widths[-1] == widths.max()
    assert (found.counted <= qualities[found.order]).all()


def test_a_weighted_vote_is_not_solved_by_classes():
    with pytest.raises(InvalidParameter, match="which compares too many sets") as caught:
        solve_cheapest([1, 2], [0.9, 0.8], 0.2, "weighted-majority", "classes")
    assert caught.value.field == "solver"
