"""Self-resampling with CCB-S: no bid is better than the cost, integrated over the own draw.

For a fixed success realisation and fixed draws of the others, a worker's tasks are a step
function of what they are counted at. Its steps are found to the micro-unit, and the expectation
over their own draw is taken in closed form: nothing here is sampled.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

import pytest

from askwise.core.money import MICRO
from askwise.mechanisms.self_resampling import SelfResampling
from tests.mechanisms.readings import CcbS, linear_error, majority_error
from tests.mechanisms.steps import Steps, expected_utility, steps_of

HIGHEST = 20 * MICRO
GRID = [*range(0, HIGHEST, MICRO), HIGHEST]


class Setting(NamedTuple):
    """A pool of three to five workers: what they answer, and their costs."""

    reading: CcbS
    costs: list[int]


@cache
def setting(kind: str, seed: int) -> Setting:
    dice = random.Random(seed)
    workers = dice.choice([3, 4, 5])
    least, tasks = (0.6, 60) if kind == "majority" else (0.8, 150)
    qualities = [dice.uniform(least, 1.0) for _ in range(workers)]
    right = [[dice.random() < quality for quality in qualities] for _ in range(tasks)]
    # Many equal costs: ties must not make a lie pay.
    costs = [dice.choice([2, 5, 5, 9, 14]) * MICRO + dice.choice([0, 0, 1]) for _ in range(workers)]
    if kind == "majority":
        return Setting(CcbS(right, 0.35, 0.9, 0.25, majority_error), costs)
    return Setting(CcbS(right, 0.45, 0.9, 0.2, linear_error), costs)


def steps_for(reading: CcbS, ranks: list[int], worker: int) -> Steps:
    def work(at: int) -> int:
        return reading.work([*ranks[:worker], at, *ranks[worker + 1 :]], worker)

    return steps_of(work, GRID)


CASES = [("majority", seed) for seed in range(24)] + [("linear", seed) for seed in range(8)]


def test_the_settings_are_worth_testing() -> None:
    """Exploration ends in most of them, early or late, and bids decide who works."""
    ended, stepped = 0, 0
    for case in CASES:
        reading, costs = setting(*case)
        everyone = tuple(range(len(costs)))
        ended += reading.sets(costs)[-1] != everyone
        stepped += any(len(steps_for(reading, costs, at).starts) > 1 for at in everyone)
    assert ended > 24
    assert stepped > 22


def situations(case: tuple[str, int], gamma: float) -> Iterator[tuple[Steps, int]]:
    """The work of a worker as a function of what they are counted at, and their cost; each of the
    others kept or resampled.
    """
    reading, costs = setting(*case)
    dice = random.Random(case[1])
    worker = dice.randrange(len(costs))
    others = [at for at in range(len(costs)) if at != worker]
    for raised in product((False, True), repeat=len(others)):
        ranks = list(costs)
        for at, high in zip(others, raised, strict=True):
            if high:
                share = dice.random() ** (1 / (1 - gamma))
                ranks[at] = HIGHEST - round((HIGHEST - costs[at]) * share)
        yield steps_for(reading, ranks, worker), costs[worker]


def gain(mechanism: SelfResampling, work: Steps, cost: int) -> float:
    """What the best lie brings beyond the truth: bids on a grid, and beside every step."""
    bids = {*GRID, *work.starts, *(max(0, start - 1) for start in work.starts)}
    truthful = expected_utility(mechanism, work, cost, cost)
    return max(expected_utility(mechanism, work, bid, cost) for bid in bids) - truthful


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_bid_is_better_than_the_cost(case: tuple[str, int]) -> None:
    gamma = (0.1, 0.37)[case[1] % 2]
    mechanism = SelfResampling("20", gamma)
    for work, cost in situations(case, gamma):
        assert work.falls()
        # The bonus is rounded up: gamma micro-units an answer at most; a thousandth for floats.
        assert gain(mechanism, work, cost) <= gamma * max(work.values) + 1e-3
        assert expected_utility(mechanism, work, cost, cost) >= 0


class Meaner(SelfResampling):
    """Pays a tenth less of the bonus than the formula asks for."""

    def bonus(self, bid: int) -> int:
        return super().bonus(bid) * 9 // 10


def test_with_another_bonus_a_lie_pays() -> None:
    """The test above would notice."""
    mechanism = Meaner("20", 0.1)
    gains = [gain(mechanism, *each) for case in CASES[:6] for each in situations(case, 0.1)]
    assert max(gains) > MICRO


def test_where_a_lower_bid_brings_less_work_a_lie_pays() -> None:
    """As the greedy solver's does: a worker of cost 5.75 had better bid 6.25."""
    work = Steps((0, 6 * MICRO, 15 * MICRO), (92.0, 150.0, 92.0))
    mechanism = SelfResampling("20", 0.1)
    cost = 5_750_000
    truthful = expected_utility(mechanism, work, cost, cost)
    assert expected_utility(mechanism, work, 6_250_000, cost) > truthful + MICRO
