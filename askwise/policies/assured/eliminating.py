"""Whom exploration need not ask any more: by GA's order (6.2.2), and for every error function."""

import math

import numpy as np

from askwise.core.compiling import heavy_kernel, step
from askwise.kernels import Array
from askwise.kernels.knapsack.ordering import ascending, marked, precedes
from askwise.policies.assured.sets.pools import preferable


@heavy_kernel
def drop_dear(costs: Array, lower: Array, upper: Array, chosen: Array, kept: Array) -> None:
    """Take those out who are surely more expensive than what is enough (6.2.2).

    In the order of cost / a-, the set that GA has ``chosen`` on the lower bounds ends with worker
    k. A later worker goes if their cost / a+ is no less than k's cost / a- and their cost no less
    than any before.
    """
    size = costs.shape[0]
    ratios = np.empty(size, np.float64)
    for worker in range(size):
        gain = 2.0 * lower[worker] - 1.0
        ratios[worker] = costs[worker] / gain if gain > 0.0 else math.inf
    last = -1
    for worker in range(size):
        if chosen[worker] and (last < 0 or precedes(ratios, last, worker)):
            last = worker
    dearest = 0
    for worker in range(size):
        if kept[worker] and not precedes(ratios, last, worker):
            dearest = max(dearest, costs[worker])
    for worker in range(size):
        gain = 2.0 * upper[worker] - 1.0
        best = costs[worker] / gain if gain > 0.0 else math.inf
        if best >= ratios[last] and costs[worker] >= dearest and precedes(ratios, last, worker):
            kept[worker] = False


@step
def count_below(sums: Array, limit: int) -> int:
    """How many of the ascending ``sums`` are below a limit."""
    low, high = 0, sums.shape[0]
    while low < high:
        middle = (low + high) // 2
        if sums[middle] < limit:
            low = middle + 1
        else:
            high = middle
    return low


@heavy_kernel
def drop_surpassed(costs: Array, lower: Array, upper: Array, chosen: Array, kept: Array) -> None:
    """Take those out without whom some cheapest set remains, if qualities are within the bounds.

    The ``chosen`` set reaches the target at the lower bounds, so nobody is needed in a set that
    costs as much. A cheaper one that contains r has at most m members: r and the m - 1 cheapest
    others are what it can pay for. If m workers cost no more than r and are surely no less able
    (their lower bound is no less than r's upper), one of them is not in the set, and it is no more
    expensive and errs no more with that one in place of r. All that is used of the error function
    is that it depends on qualities alone and never rises with one.
    """
    limit = costs[chosen].sum()
    order = marked(kept)
    # Ties of cost by index: an exchange always moves to a worker before r in this order, so a
    # chain of them ends, and with somebody who is kept.
    order = order[ascending(costs[order])]
    better = preferable(lower[order], upper[order])
    # What the cheapest k cost, for k = 0, 1, ...
    sums = np.zeros(order.shape[0] + 1, np.int64)
    for place in range(order.shape[0]):
        sums[place + 1] = sums[place] + costs[order[place]]
    for place in range(order.shape[0]):
        worker = order[place]
        most = count_below(sums, limit - costs[worker])
        if most > place:
            # Then worker is among the cheapest themselves.
            most = count_below(sums, limit) - 1
        if not chosen[worker] and better[place] >= most:
            kept[worker] = False
