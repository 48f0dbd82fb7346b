"""Paper 000 read step by step in plain Python, and campaigns to compare with."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaln, xlog1py, xlogy

from askwise import Campaign, Worker
from askwise.core.choices import Batch, Done, Wait
from askwise.core.events import Kind

OPTIONS = ("no", "yes")


class World:
    """Costs, and who is right about which task."""

    def __init__(self, seed: int, qualities: list[float], tasks: int) -> None:
        rng = np.random.default_rng(seed)
        self.size, self.tasks = len(qualities), tasks
        self.costs = rng.integers(1_000_000, 3_000_000, self.size).tolist()
        self.right = rng.random((tasks, self.size)) < np.array(qualities)
        self.truth = rng.integers(2, size=tasks)

    def answer(self, task: int, worker: int) -> str:
        return OPTIONS[int(self.truth[task] ^ (not self.right[task, worker]))]


Decisions = list[tuple[list[int], str]]
"""For each task the set and the note."""


def run_campaign(world: World, policy: dict[str, Any], **more: Any) -> tuple[Decisions, Campaign]:
    """Answer everything at once; tell a truth whenever it is waited for."""
    campaign = Campaign.create(
        workers=[Worker(f"w{at}", f"{cost / 1e6:.6f}") for at, cost in enumerate(world.costs)],
        tasks=[f"t{at}" for at in range(world.tasks)],
        options=OPTIONS,
        policy=policy,
        name="assured",
        **more,
    )
    untold = list(range(world.tasks))
    while not isinstance(choice := campaign.ask(world.size), Done):
        if isinstance(choice, Batch):
            for each in choice:
                task, worker = int(each.task[1:]), int(each.worker[1:])
                campaign.tell(each.id, world.answer(task, worker))
        else:
            assert choice == Wait("truth")
            task = untold.pop(0)
            campaign.truth(f"t{task}", OPTIONS[world.truth[task]])
    decided = [
        ([int(row.worker[1:]) for row in event.rows], event.note)
        for event in campaign.log()
        if event.kind == Kind.DECIDED
    ]
    return decided, campaign


# Error functions and solvers.


def linear(epsilon: float) -> Callable[[list[float]], float]:
    return lambda q: math.exp(-epsilon * sum(2 * each - 1 for each in q))


def majority(q: list[float]) -> float:
    """The probability that no more than half are right, by all answers."""
    wrong = 0.0
    for answers in range(1 << len(q)):
        chance, count = 1.0, 0
        for at, each in enumerate(q):
            right = answers >> at & 1
            chance *= each if right else 1 - each
            count += right
        if 2 * count <= len(q):
            wrong += chance
    return wrong


def cheapest(costs, q, alpha, error, among):
    """The cheapest set with an error of alpha or less, by trying all; None if there is none."""
    found = [
        (sum(costs[at] for at in some), list(some))
        for size in range(1, len(among) + 1)
        for some in combinations(among, size)
        if error([q[at] for at in some]) <= alpha * (1 + 1e-12)
    ]
    return min(found)[1] if found else None


def ga(costs, q, demand, among):
    """Section 6.2.1: the small accumulate, each big one closes a candidate; None if none does."""
    gains = {at: 2 * q[at] - 1 for at in among if q[at] > 0.5}
    small, sum_of_small, candidates = [], 0.0, []
    for at in sorted(gains, key=lambda at: (costs[at] / gains[at], at)):
        if sum_of_small + gains[at] < demand * (1 - 1e-12):
            small.append(at)
            sum_of_small += gains[at]
        else:
            candidates.append((sum(costs[i] for i in small) + costs[at], at, sorted([*small, at])))
    return min(candidates)[2] if candidates else None


class Learner:
    """Counts of section 4.1 and the bounds on qualities."""

    def __init__(self, world: World, mu: float, bounds: str, floor: float = 0.5) -> None:
        self.world, self.mu, self.bounds, self.floor = world, mu, bounds, floor
        self.seen, self.right = [0] * world.size, [0] * world.size

    def learn(self, task: int, asked: list[int]) -> None:
        for at in asked:
            self.seen[at] += 1
            self.right[at] += int(self.world.right[task, at])

    def interval(self, t: int) -> tuple[list[float], list[float]]:
        n, low, high = self.world.size, [], []
        for k, right in zip(self.seen, self.right, strict=True):
            if k == 0:
                low.append(self.floor)
                high.append(1.0)
                continue
            if self.bounds == "anytime":
                ends = mixture_interval(right, k, self.mu / n)
            else:
                width = {
                    "paper": math.sqrt(math.log(2 * n / self.mu) / (2 * k)),
                    "ucb1": math.sqrt(2 * math.log(t) / k),
                }[self.bounds]
                ends = right / k - width, right / k + width
            low.append(max(self.floor, ends[0]))
            high.append(min(1.0, ends[1]))
        return low, high


def mixture_interval(right: int, count: int, chance: float) -> tuple[float, float]:
    """Where the Beta mixture of likelihoods is at most 1 / chance times the likelihood."""

    def excess(q: float) -> float:
        return (
            betaln(right + 1, count - right + 1)
            - xlogy(right, q)
            - xlog1py(count - right, -q)
            + math.log(chance)
        )

    mean = right / count
    low = brentq(excess, 1e-300, mean, xtol=1e-15) if right else 0.0
    high = brentq(excess, mean, 1 - 1e-16, xtol=1e-15) if right < count else 1.0
    return low, high


# The algorithms. Each returns the sets task by task.


def ccb_ns(world, alpha, xi, epsilon, learner) -> Decisions:
    """Algorithm 1 with GA, on the linear form."""
    everybody = list(range(world.size))
    M, M_xi = (math.log(1 / each) / epsilon for each in (alpha, alpha - xi))
    decided: Decisions = [(everybody, "explore")]
    learner.learn(0, everybody)
    for t in range(2, world.tasks + 1):
        low, high = learner.interval(t)
        S = ga(world.costs, high, M_xi, everybody)
        if S is None:
            decided.append((everybody, "unreachable"))
            learner.learn(t - 1, everybody)
            continue
        have = sum(2 * low[at] - 1 for at in S)
        if have >= M * (1 - 1e-12):
            return decided + [(S, "exploit")] * (world.tasks - t + 1)
        rest = [at for at in everybody if at not in S]
        added = ga(world.costs, low, M - have, rest)
        S = everybody if added is None else sorted(S + added)
        decided.append((S, "explore"))
        learner.learn(t - 1, S)
    return decided


def ccb_s(world, solve, meets, learner, eliminate=None) -> Decisions:
    """Algorithm 2; ``solve(q, among)`` finds a set, ``eliminate`` says who stays (CCB-SE)."""
    left = list(range(world.size))
    decided: Decisions = [(left, "explore")]
    learner.learn(0, left)
    for t in range(2, world.tasks + 1):
        low, high = learner.interval(t)
        S = solve(high, left)
        if S is not None and meets([low[at] for at in S]):
            return decided + [(S, "exploit")] * (world.tasks - t + 1)
        if S is not None and eliminate is not None:
            left = eliminate(low, high, left)
        decided.append((left, "explore" if S is not None else "unreachable"))
        learner.learn(t - 1, left)
    return decided


def elimination(costs, demand):
    """Section 6.2.2 as in the notes: who stays."""

    def stays(low, high, left):
        S = ga(costs, low, demand, left)
        if S is None:
            return left
        ratio = {at: costs[at] / (2 * low[at] - 1) if low[at] > 0.5 else math.inf for at in left}
        order = sorted(left, key=lambda at: (ratio[at], at))
        k = max(order.index(at) for at in S)
        dearest = max(costs[at] for at in order[: k + 1])
        gone = {
            r
            for r in order[k + 1 :]
            if costs[r] >= dearest
            and (high[r] <= 0.5 or costs[r] / (2 * high[r] - 1) >= ratio[order[k]])
        }
        return [at for at in left if at not in gone]

    return stays


def elimination_by_exchange(costs, alpha, error):
    """Who stays for any error function: by all sets that are cheaper than one that is enough."""

    def stays(low, high, left):
        S = cheapest(costs, low, alpha, error, left)
        if S is None:
            return left
        enough = sum(costs[at] for at in S)
        cheaper = [
            some
            for size in range(1, len(left) + 1)
            for some in combinations(left, size)
            if sum(costs[at] for at in some) < enough
        ]
        gone = set()
        for r in left:
            most = max((len(some) for some in cheaper if r in some), default=0)
            better = [at for at in left if (costs[at], at) < (costs[r], r) and low[at] >= high[r]]
            if r not in S and len(better) >= most:
                gone.add(r)
        return [at for at in left if at not in gone]

    return stays


def multiple_pull_ucb(world, pulls, alpha, learner) -> Decisions:
    """Section 3.4.1: arms by their upper confidence bounds; those never pulled come first."""
    decided: Decisions = []
    for t in range(1, world.tasks + 1):
        index = [
            right / seen + math.sqrt(2 * math.log(t) / seen) if seen else math.inf
            for seen, right in zip(learner.seen, learner.right, strict=True)
        ]
        ranked = sorted(range(world.size), key=lambda at: (-index[at], at))
        S = ranked[:pulls]
        if pulls is None:
            sizes = range(1, world.size + 1)
            S = ranked[
                : next(
                    k for k in sizes if majority([min(1, index[at]) for at in ranked[:k]]) <= alpha
                )
            ]
        decided.append((sorted(S), "optimistic"))
        learner.learn(t - 1, S)
    return decided


def epsilon_t_greedy(world, solve, explore, floor, learner, draws) -> Decisions:
    """Section 6.3: everybody with probability min(1, explore / t), else by the means."""
    everybody = list(range(world.size))
    decided: Decisions = []
    for t in range(1, world.tasks + 1):
        mean = [
            max(floor, right / seen) if seen else floor
            for seen, right in zip(learner.seen, learner.right, strict=True)
        ]
        S = solve(mean, everybody)
        if t == 1 or draws(t - 1) < min(1.0, explore / t):
            S, note = everybody, "explore"
        elif S is None:
            S, note = everybody, "unreachable"
        else:
            note = "exploit"
        decided.append((S, note))
        learner.learn(t - 1, S)
    return decided
