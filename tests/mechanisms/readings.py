"""CCB-S with the exact minimiser, read from the paper: plain Python, small pools, all subsets."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

Right = Sequence[Sequence[bool]]
"""A success realisation: whether worker i is right about task t, a row for each task."""


def majority_error(qualities: Sequence[float]) -> float:
    """The exact error of a majority; a tie is an error."""
    counts = [1.0]
    for quality in qualities:
        pairs = zip([*counts, 0.0], [0.0, *counts], strict=True)
        counts = [(1 - quality) * same + quality * fewer for same, fewer in pairs]
    return sum(counts[: len(qualities) // 2 + 1])


def linear_error(qualities: Sequence[float]) -> float:
    """Hoeffding's bound in its linear form, epsilon 1/2."""
    return math.exp(-sum(2 * quality - 1 for quality in qualities) * 0.5)


@dataclass(frozen=True)
class CcbS:
    """Algorithm 2 with the bounds of the paper, on one success realisation."""

    right: Right
    alpha: float
    mu: float
    xi: float = 0.0
    error: Callable[[Sequence[float]], float] = majority_error
    rounds: list[list[tuple[tuple[int, ...], bool]]] = field(init=False, compare=False)
    """After each task: the sets that meet the target at the upper bounds, in the order of lists,
    and whether each meets it at the lower ones. No bid changes this while all are asked."""

    def __post_init__(self) -> None:
        workers = len(self.right[0])
        sets = sorted(
            members for size in range(workers + 1) for members in combinations(range(workers), size)
        )
        rounds = []
        counts = [0] * workers
        for asked, answers in enumerate(self.right[:-1], 1):
            counts = [count + right for count, right in zip(counts, answers, strict=True)]
            radius = math.sqrt(math.log(2 * workers / self.mu) / (2 * asked))
            upper = [min(1.0, count / asked + radius) for count in counts]
            lower = [max(0.5, count / asked - radius) for count in counts]
            hoped = [each for each in sets if self._meets(each, upper, self.alpha - self.xi)]
            # Where no set reaches the narrower target, the wider one is planned for.
            hoped = hoped or [each for each in sets if self._meets(each, upper, self.alpha)]
            rounds.append([(each, self._meets(each, lower, self.alpha)) for each in hoped])
        object.__setattr__(self, "rounds", rounds)

    def _meets(self, members: tuple[int, ...], qualities: list[float], target: float) -> bool:
        return self.error([qualities[at] for at in members]) <= target * (1 + 1e-12)

    def sets(self, costs: Sequence[int]) -> list[tuple[int, ...]]:
        """Whom it asks about each task."""
        everyone = tuple(range(len(costs)))
        asked = [everyone]
        for feasible in self.rounds:
            if feasible:
                # The first of the cheapest, in the order of lists.
                best, ends = min(feasible, key=lambda each: sum(costs[at] for at in each[0]))
                if ends:
                    return asked + [best] * (len(self.right) - len(asked))
            asked.append(everyone)
        return asked

    def work(self, costs: Sequence[int], worker: int) -> int:
        """How many tasks a worker gets."""
        return sum(worker in members for members in self.sets(costs))
