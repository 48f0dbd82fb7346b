"""Cheapest sets inside policies: kernels over plain numbers, nothing checked."""

from __future__ import annotations

import numpy as np

from askwise.core.compiling import heavy_kernel
from askwise.kernels.knapsack import cover_greedy_into
from askwise.kernels.knapsack.inputs import Array
from askwise.kernels.knapsack.ordering import ascending
from askwise.ledger import columns as c
from askwise.policies.assured.sets.base import Target
from askwise.policies.assured.sets.cheapest import find_cheapest
from askwise.policies.assured.sets.inputs import EXACT, GREEDY
from askwise.policies.assured.sets.linear import cheapest_linear, reaches_demand
from askwise.policies.assured.sets.pools import floats_at, ints_at, worth_of
from askwise.policies.assured.sets.probability import (
    FORGIVEN,
    LINEAR,
    MAJORITY,
    MAX_OUTCOMES,
    WEIGHTED,
    Goal,
    add_voter,
    error_by_code,
    shortest_prefix,
    wrong_majority,
)
from askwise.policies.assured.sets.search import FIRST, FOUND, NONE

FEASIBLE = 1
INFEASIBLE = 0


@heavy_kernel
def error_of(target: Target, qualities: Array, members: Array) -> float:
    """Error of the set of those marked in ``members``; NaN for a user's function."""
    q = np.empty(qualities.shape[0], np.float64)
    size = 0
    for i in range(qualities.shape[0]):
        if members[i]:
            q[size] = qualities[i]
            size += 1
    return error_by_code(target.code, target.epsilon, target.ties, q[:size])


@heavy_kernel
def meets(target: Target, qualities: Array, members: Array) -> bool:
    """Whether the set's error is at most alpha, forgiving what the solvers forgive."""
    if target.code != LINEAR:
        return error_of(target, qualities, members) <= target.alpha * (1.0 + FORGIVEN)
    return reaches_demand(qualities, members, target.demand)


@heavy_kernel
def extend_into(
    target: Target, costs: Array, qualities: Array, allowed: Array, members: Array
) -> bool:
    """Add to ``members`` from the allowed workers until the whole set meets the target.

    The paper's MINIMAL (000, Algorithm 1). In the linear form the added are what GA takes for
    the part of the demand that the members leave open. Else workers better than a coin are
    added in order of cost / (2q - 1), ties by index (by majority that is two at a time where
    one alone makes the number even). If these never meet the target together, they are added in
    order of quality instead, which meets it if anything does. Last, added workers that are
    superfluous are dropped, dearest first, alone or with the least able other one (by
    ``weighted-majority`` only in sets of up to 20).

    Returns whether the target is met; if not, all allowed workers have been added.
    """
    n = costs.shape[0]
    if meets(target, qualities, members):
        return True
    worth = worth_of(target.code, qualities)
    free = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        if allowed[i] and not members[i] and worth[i] > 0.5:
            free[count] = i
            count += 1
    free = free[:count]
    if target.code == LINEAR:
        done = _extend_linear(target, costs, qualities, free, members)
    else:
        done = _extend(target, costs, qualities, worth, free, members)
    if done:
        return True
    for i in range(n):
        members[i] = members[i] or allowed[i]
    return False


@heavy_kernel
def _extend_linear(
    target: Target, costs: Array, qualities: Array, free: Array, members: Array
) -> bool:
    """GA on the others, for what the members leave open."""
    open_demand = target.demand
    for i in range(qualities.shape[0]):
        if members[i]:
            open_demand -= 2.0 * qualities[i] - 1.0
    gains = np.empty(free.shape[0], np.float64)
    price = np.empty(free.shape[0], np.int64)
    for k in range(free.shape[0]):
        gains[k] = 2.0 * qualities[free[k]] - 1.0
        price[k] = costs[free[k]]
    chosen = np.zeros(free.shape[0], np.bool_)
    if not cover_greedy_into(price, gains, open_demand, chosen):
        return False
    for k in range(free.shape[0]):
        if chosen[k]:
            members[free[k]] = True
    return True


@heavy_kernel
def _extend(
    target: Target, costs: Array, qualities: Array, worth: Array, free: Array, members: Array
) -> bool:
    """Add by ratio, or else by quality, and drop what is superfluous."""
    count = free.shape[0]
    if target.code == WEIGHTED:
        return _extend_weighted(target, costs, qualities, worth, free, members)
    limit = target.alpha * (1.0 + FORGIVEN)
    # By majority, how likely x are right: a thousand may have to be added before it is met.
    pmf = np.empty(members.shape[0] + 1, np.float64)
    keys = np.empty(count, np.float64)
    added = np.empty(count, np.int64)
    for attempt in range(2):
        for k in range(count):
            gain = 2.0 * worth[free[k]] - 1.0
            keys[k] = costs[free[k]] / gain if attempt == 0 else -gain
        order = ascending(keys)
        size = 0
        pmf[0] = 1.0
        for i in range(members.shape[0]):
            if members[i]:
                size += 1
                add_voter(pmf, size, qualities[i])
        for k in range(count):
            i = free[order[k]]
            members[i] = True
            added[k] = i
            size += 1
            if target.code == MAJORITY:
                add_voter(pmf, size, qualities[i])
                met = wrong_majority(pmf, size, target.ties) <= limit
            else:
                met = meets(target, qualities, members)
            if met:
                _drop_superfluous(target, costs, qualities, worth, added[: k + 1], members)
                return True
        for k in range(count):
            members[free[k]] = False
    return False


@heavy_kernel
def _extend_weighted(
    target: Target, costs: Array, qualities: Array, worth: Array, free: Array, members: Array
) -> bool:
    """Add by ratio where every worker helps, by bisection: a large vote takes long to judge."""
    count = free.shape[0]
    keys = np.empty(count, np.float64)
    for k in range(count):
        keys[k] = costs[free[k]] / (2.0 * worth[free[k]] - 1.0)
    order = ascending(keys)
    values = np.empty(members.shape[0], np.float64)
    start = 0
    for i in range(members.shape[0]):
        if members[i]:
            values[start] = qualities[i]
            start += 1
    for k in range(count):
        values[start + k] = qualities[free[order[k]]]
    limit = target.alpha * (1.0 + FORGIVEN)
    size = shortest_prefix(target.code, target.ties, limit, values[: start + count], start + 1)
    if size < 0:
        return False
    added = np.empty(size - start, np.int64)
    for k in range(size - start):
        added[k] = free[order[k]]
        members[added[k]] = True
    if size <= MAX_OUTCOMES:
        _drop_superfluous(target, costs, qualities, worth, added, members)
    return True


@heavy_kernel
def _drop_superfluous(
    target: Target, costs: Array, qualities: Array, worth: Array, added: Array, members: Array
) -> None:
    """Take added workers out again, dearest first (ties: the last added), while it is met."""
    count = added.shape[0]
    keys = np.empty(count, np.float64)
    for k in range(count):
        keys[k] = -costs[added[count - 1 - k]]
    order = ascending(keys)
    for k in range(count):
        i = added[count - 1 - order[k]]
        if not members[i]:
            continue
        members[i] = False
        if meets(target, qualities, members):
            continue
        weakest = -1
        for j in range(count):
            other = added[j]
            if members[other] and (weakest < 0 or worth[other] < worth[weakest]):
                weakest = other
        if weakest >= 0:
            members[weakest] = False
            if meets(target, qualities, members):
                continue
            members[weakest] = True
        members[i] = True


@heavy_kernel
def cheapest_into(
    target: Target, costs: Array, qualities: Array, allowed: Array, chosen: Array
) -> int:
    """Mark the cheapest allowed set that meets the target; return a status.

    Parameters
    ----------
    target : Target
        ``ErrorFunction.target(alpha, solver)``; not a user's function.
    costs : array of int64
        Not negative.
    qualities : array of float64
    allowed, chosen : array of bool

    Returns
    -------
    int
        FEASIBLE; INFEASIBLE, then all allowed are chosen; ``book.TOO_LARGE`` if the solver is
        "exact" and its limit was hit.
    """
    n = costs.shape[0]
    here = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        chosen[i] = False
        if allowed[i]:
            here[count] = i
            count += 1
    here = here[:count]
    price = ints_at(costs, here)
    quality = floats_at(qualities, here)
    flags = np.zeros(count, np.bool_)
    if target.code == LINEAR and target.solver == GREEDY:
        # Without the lower bound that goes with it: nobody asks for the gap here.
        gains = np.empty(count, np.float64)
        for k in range(count):
            gains[k] = 2.0 * quality[k] - 1.0
        status = FOUND if cover_greedy_into(price, gains, target.demand, flags) else NONE
    elif target.code == LINEAR:
        status, _ = cheapest_linear(
            price, quality, target.demand, target.solver, target.work, flags
        )
    else:
        goal = Goal(target.code, target.ties, target.alpha * (1.0 + FORGIVEN))
        status, _ = find_cheapest(goal, price, quality, target.solver, target.work, flags)
    if status == NONE:
        for i in range(n):
            chosen[i] = allowed[i]
        return INFEASIBLE
    if target.solver == EXACT and status != FIRST:
        return c.TOO_LARGE
    for k in range(count):
        chosen[here[k]] = flags[k]
    return FEASIBLE
