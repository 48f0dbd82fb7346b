"""The policies of paper 000 as one would write them with NumPy: what askwise is held against.

The setting is that of section 6.3: the linear form of Hoeffding's bound, GA for the cheapest set,
the bounds of section 4.1. Each policy says whom to ask about a task, books answers, and learns
when the truth of the task comes. ``run`` hands over answers one by one, as a campaign does;
``run_by_task`` draws and books those of a whole task as arrays, which is quicker and only
possible where nobody answers late.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

EVERYBODY = None


def greedy(costs: Array, gains: Array, demand: float) -> Array | None:
    """GA (6.2.1): the members of its set, in its order; None if all together are too little."""
    useful = np.flatnonzero(gains > 0.0)
    order = useful[np.argsort(costs[useful] / gains[useful], kind="stable")]
    gain, cost = gains[order], costs[order]
    sums = np.cumsum(gain)
    at = int(np.searchsorted(sums, demand))
    if at == len(order):
        return None
    small = list(range(at))
    reached = float(sums[at - 1]) if at else 0.0
    paid = float(cost[:at].sum())
    best, members = math.inf, small
    while paid < best and at < len(order):
        # Those that would reach the demand, up to the next that would not.
        fits = gain[at:] < demand - reached
        after = at + int(fits.argmax()) if fits.any() else len(order)
        if after > at:
            closing = at + int(cost[at:after].argmin())
            if paid + cost[closing] < best:
                best, members = paid + float(cost[closing]), [*small, closing]
        if after < len(order):
            reached += float(gain[after])
            paid += float(cost[after])
            small.append(after)
        at = after + 1
    return order[members]


class Assured:
    """What all of them keep: how often each worker was asked and right, and the campaign's books.

    Parameters
    ----------
    costs : array
        Of an answer of each worker.
    alpha, xi : float
        Error allowed, and what the optimistic problem is solved below it.
    mu : float
        Chance that bounds may fail.
    floor : float
        The least that a quality can be.
    """

    def __init__(
        self, costs: Array, alpha: float, xi: float, mu: float, floor: float = 0.5
    ) -> None:
        size = len(costs)
        self.costs = costs
        self.price = costs.tolist()
        self.demand = 6.0 * math.log(1.0 / alpha)
        self.wanted = 6.0 * math.log(1.0 / (alpha - xi))
        self.log_term = math.log(2.0 * size / mu)
        self.floor = floor
        self.counts, self.right = np.zeros(size), np.zeros(size)
        self.everybody = np.arange(size)
        self.settled: Array | None = None
        self.pending: tuple[list[int], list[int]] = [], []
        self.log: list[tuple[int, int, int]] = []
        self.votes: list[list[int]] = []
        self.spent: list[float] = []

    def choose(self) -> Array:
        """Whom to ask about the next task."""
        if self.settled is not None:
            return self.settled
        with np.errstate(divide="ignore", invalid="ignore"):
            radius = np.sqrt(self.log_term / (2.0 * self.counts))
            means = self.right / self.counts
        upper = np.where(self.counts > 0, np.minimum(1.0, means + radius), 1.0)
        lower = np.where(self.counts > 0, np.maximum(self.floor, means - radius), self.floor)
        high, low = 2.0 * upper - 1.0, 2.0 * lower - 1.0
        members = greedy(self.costs, high, self.wanted)
        if members is EVERYBODY:
            return self.everybody
        if low[members].sum() >= self.demand:
            self.settled = members
            return members
        return self.explore(members, high, low)

    def explore(self, members: Array, high: Array, low: Array) -> Array:
        """Whom to ask while the set is not yet safe; ``high`` and ``low`` bound the gains."""
        raise NotImplementedError

    def begin(self) -> None:
        """Open the books of the next task."""
        self.votes.append([0, 0])
        self.spent.append(0.0)

    def answer(self, worker: int, value: int) -> None:
        """Book one answer to the task under way."""
        task = len(self.votes) - 1
        self.log.append((task, worker, value))
        self.votes[task][value] += 1
        self.spent[task] += self.price[worker]
        if self.settled is None:
            self.pending[0].append(worker)
            self.pending[1].append(value)

    def truth(self, value: int) -> None:
        """Learn who was right about the task under way."""
        workers, values = self.pending
        if workers:
            self.learn(np.array(workers), np.array(values) == value)
            workers.clear()
            values.clear()

    def learn(self, workers: Array, right: Array) -> None:
        """Count the answers of different workers to one task."""
        self.counts[workers] += 1.0
        self.right[workers] += right


class Ns(Assured):
    """CCB-NS: the optimistic set and as many more as make it safe."""

    def explore(self, members: Array, high: Array, low: Array) -> Array:
        """MINIMAL by GA on the lower bounds of the rest."""
        rest = low.copy()
        rest[members] = 0.0
        more = greedy(self.costs, rest, self.demand - float(low[members].sum()))
        return self.everybody if more is EVERYBODY else np.concatenate([members, more])


class S(Assured):
    """CCB-S: everybody."""

    def explore(self, members: Array, high: Array, low: Array) -> Array:
        """Leave nobody out, whatever they ask for."""
        return self.everybody


class Se(Assured):
    """CCB-SE: everybody who was not dropped (6.2.2)."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.stays = np.ones(len(self.costs), np.bool_)

    def choose(self) -> Array:
        """As the others, among those who are left."""
        chosen = super().choose()
        return chosen if self.settled is not None else chosen[self.stays[chosen]]

    def explore(self, members: Array, high: Array, low: Array) -> Array:
        """Drop those whom GA with the true qualities would not take, with high probability."""
        costs = self.costs
        safe = greedy(costs, np.where(self.stays, low, 0.0), self.demand)
        if safe is not EVERYBODY:
            with np.errstate(divide="ignore"):
                by_low, by_high = costs / low, costs / high
            order = np.argsort(by_low, kind="stable")
            place = np.empty(len(order), np.int64)
            place[order] = np.arange(len(order))
            last = int(place[safe].max())
            inside = order[: last + 1]
            dearest = costs[inside[self.stays[inside]]].max()
            after = order[last + 1 :]
            drop = (by_high[after] >= by_low[order[last]]) & (costs[after] >= dearest)
            self.stays[after[drop]] = False
        return self.everybody


class Greedy(Assured):
    """eps_t-greedy: everybody with probability min(1, 100/t), else GA on the means."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.chance = random.Random(1).random

    def choose(self) -> Array:
        """Toss, then solve with what was seen."""
        if self.chance() < 100.0 / (len(self.votes) + 1) or not self.counts.all():
            return self.everybody
        gains = 2.0 * np.maximum(self.floor, self.right / self.counts) - 1.0
        members = greedy(self.costs, gains, self.demand)
        return self.everybody if members is EVERYBODY else members


def run(policy: Assured, qualities: Array, tasks: int, seed: int) -> float:
    """A campaign, answer by answer; returns what it cost."""
    uniform = random.Random(seed).random
    right = qualities.tolist()
    for task in range(tasks):
        members = policy.choose().tolist()
        policy.begin()
        truth = task & 1
        for worker in members:
            policy.answer(worker, truth if uniform() < right[worker] else 1 - truth)
        policy.truth(truth)
    return sum(policy.spent)


def run_by_task(policy: Assured, qualities: Array, tasks: int, seed: int) -> float:
    """A campaign, a task's answers at a time; returns what it cost."""
    rng = np.random.default_rng(seed)
    costs, cost = policy.costs, 0.0
    for task in range(tasks):
        members = policy.choose()
        policy.votes.append([task])
        right = rng.random(len(members)) < qualities[members]
        cost += float(costs[members].sum())
        if policy.settled is None:
            policy.learn(members, right)
    return cost
