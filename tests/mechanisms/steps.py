"""Work as a step function of a worker's own bid, and what it earns, integrated in closed form."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from askwise.mechanisms.self_resampling import SelfResampling


@dataclass(frozen=True)
class Steps:
    """A function of whole micro-units: ``values[k]`` from ``starts[k]`` up to the next start."""

    starts: tuple[int, ...]
    values: tuple[float, ...]

    def at(self, bid: int) -> float:
        return self.values[bisect_right(self.starts, bid) - 1]

    def falls(self) -> bool:
        return all(b <= a for a, b in pairwise(self.values))


def steps_of(work: Callable[[int], float], grid: Sequence[int]) -> Steps:
    """Find the steps of a function that is monotone: equal at two places is equal in between."""
    known = cache(work)
    starts, values = [grid[0]], [known(grid[0])]

    def walk(low: int, high: int) -> None:
        if known(low) == known(high):
            return
        if high - low == 1:
            starts.append(high)
            values.append(known(high))
            return
        middle = (low + high) // 2
        walk(low, middle)
        walk(middle, high)

    for low, high in pairwise(grid):
        walk(low, high)
    return Steps(tuple(starts), tuple(values))


def expected_resampled(work: Steps, bid: int, highest: int, gamma: float) -> float:
    """E[A(x)] given that the bid was resampled: P(x < s) = 1 - ((c_max-s)/(c_max-b))^(1-gamma)."""
    if bid == highest:
        return work.at(bid)
    ends = [*work.starts[1:], highest]
    total = 0.0
    for start, end, value in zip(work.starts, ends, work.values, strict=True):
        low, high = max(start, bid), min(max(end, bid), highest)
        if low < high:
            above = [((highest - s) / (highest - bid)) ** (1.0 - gamma) for s in (low, high)]
            total += value * (above[0] - above[1])
    return total


def expected_work(work: Steps, bid: int, highest: int, gamma: float) -> float:
    """E[A(x)] over the worker's own draw."""
    resampled = expected_resampled(work, bid, highest, gamma)
    return (1.0 - gamma) * work.at(bid) + gamma * resampled


def expected_utility(mechanism: SelfResampling, work: Steps, bid: int, cost: int) -> float:
    """What a worker of a cost can expect of a bid, at the prices that the mechanism pays."""
    gamma, highest = mechanism.gamma, mechanism.highest
    kept = (bid - cost) * work.at(bid)
    raised = bid + mechanism.bonus(bid) - cost
    resampled = raised * expected_resampled(work, bid, highest, gamma)
    return (1.0 - gamma) * kept + gamma * resampled
