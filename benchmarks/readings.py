"""Simplified bounded KUBE as one would write it without a compiler: what askwise is held against.

Both follow paper 003, section 6.2: each worker once, then at each step the bounded greedy plan
of the money left by upper confidence bounds, and a worker drawn in proportion to their count in
it. Prices and money are whole numbers; the budget has to cover everyone once. Each is as quick
as its means allow.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class NumpyKube:
    """With NumPy arrays: vectorised bounds, argsort by density, ``Generator.choice``.

    What is read one by one is kept in lists too: NumPy is slow at single cells.
    """

    def __init__(
        self, prices: NDArray[np.int64], limits: NDArray[np.int64], budget: int, seed: int
    ) -> None:
        self.prices = prices
        self.price, self.room = prices.tolist(), limits.tolist()
        self.cheapest = min(self.price)
        self.left = budget
        self.counts = np.zeros(len(prices))
        self.sums = np.zeros(len(prices))
        self.answers = 0
        self.rng = np.random.default_rng(seed)

    def choose(self) -> int | None:
        """Whom to ask; None when the money or the limits are used up."""
        if self.answers < len(self.prices):
            return self.answers
        bonus = np.sqrt(2.0 * math.log(self.answers + 1) / self.counts)
        density = (self.sums / self.counts + bonus) / self.prices
        plan = np.zeros(len(density))
        left = self.left
        for worker in np.argsort(-density, kind="stable").tolist():
            take = min(self.room[worker], left // self.price[worker])
            plan[worker] = take
            left -= take * self.price[worker]
            if left < self.cheapest:
                break
        planned = plan.sum()
        if planned == 0:
            return None
        return int(self.rng.choice(len(plan), p=plan / planned))

    def learn(self, worker: int, value: float) -> None:
        """Book an answer."""
        self.answers += 1
        self.counts[worker] += 1
        self.sums[worker] += value
        self.room[worker] -= 1
        self.left -= self.price[worker]


class ListKube:
    """With plain lists: a loop for the bounds, a sort by density, ``random.random``."""

    def __init__(
        self, prices: NDArray[np.int64], limits: NDArray[np.int64], budget: int, seed: int
    ) -> None:
        self.prices, self.room = prices.tolist(), limits.tolist()
        self.cheapest = min(self.prices)
        self.left = budget
        self.counts = [0] * len(prices)
        self.sums = [0.0] * len(prices)
        self.answers = 0
        self.random = random.Random(seed).random

    def choose(self) -> int | None:
        """Whom to ask; None when the money or the limits are used up."""
        if self.answers < len(self.prices):
            return self.answers
        left, sqrt = self.left, math.sqrt
        twice_log = 2.0 * math.log(self.answers + 1)
        densities = []
        table = zip(self.prices, self.room, self.counts, self.sums, strict=True)
        for worker, (price, room, seen, total) in enumerate(table):
            if room > 0 and price <= left:
                densities.append((-(total / seen + sqrt(twice_log / seen)) / price, worker))
        densities.sort()
        plan = []
        planned = 0
        for _, worker in densities:
            price = self.prices[worker]
            take = left // price
            if take > self.room[worker]:
                take = self.room[worker]
            if take > 0:
                plan.append((worker, take))
                planned += take
                left -= take * price
                if left < self.cheapest:
                    break
        mark = self.random() * planned
        for worker, take in plan:
            mark -= take
            if mark < 0:
                return worker
        return plan[-1][0] if plan else None

    def learn(self, worker: int, value: float) -> None:
        """Book an answer."""
        self.answers += 1
        self.counts[worker] += 1
        self.sums[worker] += value
        self.room[worker] -= 1
        self.left -= self.prices[worker]


def run(policy: NumpyKube | ListKube, ratings: Sequence[Sequence[float]], seed: int) -> float:
    """Ask until the policy ends, in the freelancer market's way of answering; the utility."""
    uniform = random.Random(seed).random
    utility = 0.0
    while (worker := policy.choose()) is not None:
        own = ratings[worker]
        value = 0.9 * own[int(uniform() * len(own))] + 0.1 * uniform()
        policy.learn(worker, value)
        utility += value
    return utility
