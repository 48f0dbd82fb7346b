"""Sets one by one, for functions of which nothing is known but their value."""

from collections.abc import Iterator

import numpy as np

from askwise.core.errors import TooLarge
from askwise.kernels.knapsack.inputs import Array
from askwise.policies.assured.sets.base import ErrorFunction
from askwise.policies.assured.sets.codes import FORGIVEN
from askwise.policies.assured.sets.inputs import Workers

MOST_WORKERS = 20


def sets_by_cost(costs: Array) -> Iterator[tuple[int, list[int]]]:
    """Yield all sets with their costs: cheapest first, of equal cost the first list first."""
    n = len(costs)
    # All sets of the workers from i on, in the order of their lists: the empty one, those that
    # begin with i, the others.
    masks = np.zeros(1, np.int64)
    for i in range(n - 1, -1, -1):
        masks = np.concatenate((masks[:1], masks | (1 << i), masks[1:]))
    totals = np.zeros(1 << n, np.int64)
    for i in range(n):
        totals[1 << i : 2 << i] = totals[: 1 << i] + costs[i]
    for mask in masks[np.argsort(totals[masks], kind="stable")].tolist():
        yield int(totals[mask]), [i for i in range(n) if mask >> i & 1]


def refuse_many(workers: int, remedy: str) -> None:
    """Refuse to enumerate the sets of too many workers."""
    if workers > MOST_WORKERS:
        raise TooLarge(
            f"costs: all sets of {workers} workers are too many to try, {MOST_WORKERS} at most; "
            f"{remedy}",
            field="costs",
        )


def first_by_enumeration(
    function: ErrorFunction, workers: Workers, limit: float
) -> tuple[list[int], float]:
    """Return the cheapest set within the limit and its error, else that with the least error."""
    refuse_many(
        len(workers.whole), "use solver 'classes' or 'greedy', or the error function 'majority'"
    )
    least = np.inf
    tried: list[tuple[list[int], float]] = []
    for _, indices in sets_by_cost(workers.whole):
        error = float(function.probability(workers.qualities[indices]))
        if error <= limit:
            return indices, error
        # Only what is near the least so far can turn out to be the answer.
        if error <= least * (1.0 + FORGIVEN):
            least = min(least, error)
            tried.append((indices, error))
    return next(each for each in tried if each[1] <= least * (1.0 + FORGIVEN))


def greedily(function: ErrorFunction, workers: Workers, limit: float) -> tuple[list[int], float]:
    """Add by cost / (2q - 1), or else by quality, until the limit is kept; drop the superfluous.

    If it is never kept: of the sets that were tried the one with the least error.
    """
    q = workers.qualities

    def error_of(indices: list[int]) -> float:
        return float(function.probability(q[sorted(indices)]))

    useful = [i for i in range(len(q)) if q[i] > 0.5]
    best: tuple[float, list[int]] = (error_of([]), [])
    if best[0] <= limit:
        return [], best[0]
    for key in (lambda i: workers.whole[i] / (2.0 * q[i] - 1.0), lambda i: -q[i]):
        order = sorted(useful, key=key)
        for size in range(1, len(order) + 1):
            error = error_of(order[:size])
            if error <= limit:
                kept = sorted(order[:size])
                for i in sorted(kept, key=lambda i: (-workers.whole[i], -i)):
                    without = [j for j in kept if j != i]
                    if error_of(without) <= limit:
                        kept = without
                return kept, error_of(kept)
            best = min(best, (error, sorted(order[:size])))
    return best[1], best[0]
