"""Cheapest sets inside policies: kernels over plain numbers, nothing checked."""

import math

import numpy as np

from askwise.core.compiling import heavy_kernel, kernel, step
from askwise.kernels.knapsack.ga import cover_greedy_among
from askwise.kernels.knapsack.inputs import Array
from askwise.kernels.knapsack.ordering import ascending, marked
from askwise.ledger import columns as c
from askwise.policies.assured.sets import codes
from askwise.policies.assured.sets.base import Target
from askwise.policies.assured.sets.cheapest import find_cheapest
from askwise.policies.assured.sets.classes import NOBODY, find_by_classes
from askwise.policies.assured.sets.inputs import CLASSES, EXACT, GREEDY
from askwise.policies.assured.sets.linear import cheapest_linear, reaches_demand
from askwise.policies.assured.sets.pools import worth_of
from askwise.policies.assured.sets.probability import (
    Goal,
    error_by_code,
    prefix_error,
    shortest_prefix,
)
from askwise.policies.assured.sets.search import FIRST, NONE

FEASIBLE = 1
INFEASIBLE = 0


@step
def with_alpha(target: Target, alpha: float) -> Target:
    """A target with another threshold."""
    demand = math.log(1.0 / alpha) / target.epsilon
    return Target(
        target.code,
        alpha,
        target.epsilon,
        target.ties,
        target.solver,
        demand,
        target.work,
        target.folded,
    )


@heavy_kernel
def error_of(target: Target, qualities: Array, members: Array) -> float:
    """Error of the set of those marked in ``members``; NaN for a user's function."""
    return error_by_code(target.code, target.epsilon, target.ties, qualities[members])


@heavy_kernel
def meets(target: Target, qualities: Array, members: Array) -> bool:
    """Whether the set's error is at most alpha, forgiving what the solvers forgive."""
    if target.code != codes.LINEAR:
        return error_of(target, qualities, members) <= target.alpha * (1.0 + codes.FORGIVEN)
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
    superfluous are dropped, most expensive first, alone or with the least able other one (by
    ``weighted-majority`` only in sets of up to 20).

    Returns whether the target is met; if not, all allowed workers have been added.
    """
    if meets(target, qualities, members):
        return True
    if target.code == codes.LINEAR:
        done = _extend_linear(target, costs, qualities, allowed, members)
    else:
        worth = worth_of(target.code, qualities)
        free = marked(allowed & ~members & (worth > 0.5))
        done = _extend(target, costs, qualities, worth, free, members)
    if not done:
        members |= allowed
    return done


@kernel
def gains_among(qualities: Array, allowed: Array) -> tuple[int, Array]:
    """How many are allowed, and what each of them adds in the linear form; 0 for the others."""
    size = 0
    gains = np.zeros(qualities.shape[0], np.float64)
    for i in range(qualities.shape[0]):
        if allowed[i]:
            gains[i] = 2.0 * qualities[i] - 1.0
            size += 1
    return size, gains


@heavy_kernel
def _extend_linear(
    target: Target, costs: Array, qualities: Array, allowed: Array, members: Array
) -> bool:
    """GA on the others who are better than a coin, for what the members leave open."""
    open_demand = target.demand
    free, chosen = allowed.copy(), allowed.copy()
    for i in range(members.shape[0]):
        if members[i]:
            open_demand -= 2.0 * qualities[i] - 1.0
        free[i] = allowed[i] and not members[i] and qualities[i] > 0.5
    size, gains = gains_among(qualities, free)
    done = cover_greedy_among(costs, gains, size, open_demand, chosen)
    if done:
        for i in range(members.shape[0]):
            members[i] = members[i] or chosen[i]
    return done


@heavy_kernel
def _extend(
    target: Target, costs: Array, qualities: Array, worth: Array, free: Array, members: Array
) -> bool:
    """Add by ratio, or else by quality, and drop what is superfluous."""
    gains = 2.0 * worth[free] - 1.0
    # Every worker helps a weighted vote: what all can't do in one order, they can't in another.
    for attempt in range(1 if target.code == codes.WEIGHTED else 2):
        added = free[ascending(costs[free] / gains if attempt == 0 else -gains)]
        count = _enough(target, qualities, added, members)
        if count < 0:
            continue
        added = added[:count]
        members[added] = True
        if target.code != codes.WEIGHTED or members.sum() <= codes.MAX_OUTCOMES:
            _drop_superfluous(target, costs, qualities, worth, added, members)
        return True
    return False


@heavy_kernel
def _enough(target: Target, qualities: Array, added: Array, members: Array) -> int:
    """How many of ``added``, one after the other, let the members meet the target; or -1."""
    limit = target.alpha * (1.0 + codes.FORGIVEN)
    size = members.sum()
    values = np.concatenate((qualities[members], qualities[added]))
    if target.code == codes.WEIGHTED:
        # By bisection: a large vote takes long to judge.
        found = shortest_prefix(limit, values, size + 1)
        return found - size if found >= 0 else -1
    if target.code == codes.MAJORITY:
        # Carried on from one to the next: a thousand may have to be added before it is met.
        pmf = np.empty(values.shape[0] + 1, np.float64)
        for place in range(1, values.shape[0] + 1):
            error = prefix_error(target.code, target.ties, values, place, pmf)
            if place > size and error <= limit:
                return place - size
        return -1
    trial = members.copy()
    for k in range(added.shape[0]):
        trial[added[k]] = True
        if meets(target, qualities, trial):
            return k + 1
    return -1


@heavy_kernel
def _drop_superfluous(
    target: Target, costs: Array, qualities: Array, worth: Array, added: Array, members: Array
) -> None:
    """Take added workers out again, the costliest first (ties: the last added), while it is met."""
    backward = added[::-1].copy()
    for i in backward[ascending(-costs[backward])]:
        if not members[i]:
            continue
        members[i] = False
        if meets(target, qualities, members):
            continue
        weakest = -1
        for other in added:
            if members[other] and (weakest < 0 or worth[other] < worth[weakest]):
                weakest = other
        if weakest >= 0:
            members[weakest] = False
            if meets(target, qualities, members):
                continue
            members[weakest] = True
        members[i] = True


@heavy_kernel
def find_set(target: Target, costs: Array, q: Array, chosen: Array) -> tuple[int, float]:
    """Mark the cheapest set that meets the target; statuses and bound as ``find_cheapest``."""
    if target.solver == CLASSES:
        return find_by_classes(target, costs, q, NOBODY, chosen), 0.0
    if target.code == codes.LINEAR:
        return cheapest_linear(costs, q, target.demand, target.solver, target.work, chosen)
    goal = Goal(target.code, target.ties, target.alpha * (1.0 + codes.FORGIVEN))
    return find_cheapest(goal, costs, q, target.solver, target.work, chosen)


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
    if target.code == codes.LINEAR and target.solver == GREEDY:
        # Without the lower bound that goes with it: nobody asks for the gap here.
        size, gains = gains_among(qualities, allowed)
        if cover_greedy_among(costs, gains, size, target.demand, chosen):
            return FEASIBLE
        chosen[:] = allowed
        return INFEASIBLE
    here = marked(allowed)
    price, quality = costs[here], qualities[here]
    flags = np.zeros(here.shape[0], np.bool_)
    status, _ = find_set(target, price, quality, flags)
    chosen[:] = False
    if status == NONE:
        chosen[here] = True
        return INFEASIBLE
    if target.solver == EXACT and status != FIRST:
        return c.TOO_LARGE
    chosen[here] = flags
    return FEASIBLE
