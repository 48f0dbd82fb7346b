"""The knapsack without limits, as a shortest path over the residues of the break type's weight."""

from typing import NamedTuple

import numpy as np

from askwise.core.compiling import kernel
from askwise.kernels.knapsack.inputs import Array

# Residues times types up to which the table is tried at all, and steps after which it is
# given up: beyond that the lists of states are quicker.
MAX_CELLS = 1 << 18
_MAX_STEPS = 1 << 20


class LinearOptimum(NamedTuple):
    """The plan that takes all of the densest types and a part of one, the break type.

    Types are in order of density; ``loss`` is what a unit of difference in each loses. ``b`` is
    the break type, ``density`` its density, and ``left_over`` the capacity that the types before
    it leave.
    """

    v: Array
    w: Array
    limits: Array
    loss: Array
    b: int
    density: float
    left_over: int


@kernel
def _walk(shifts: Array, loss: Array, distance: Array, last: Array, reached: Array) -> int:
    """Fill in the cheapest loss per residue; return how many are reached, 0 for "given up".

    ``distance`` comes filled with the loss that is not worth reaching, 0 at residue 0.
    ``last`` receives the type of the last step to a residue. Steps cost nothing or more and
    are taken only if strictly cheaper, so following ``last`` backward always ends at 0.
    """
    modulus = distance.shape[0]
    too_much = distance[1]
    reached[0] = 0
    size = 1
    steps = 0
    for i in range(shifts.shape[0]):
        shift = shifts[i]
        step = loss[i]
        if shift == 0 or step >= too_much:
            continue
        # From each residue known so far, on around its cycle while that is cheaper than what
        # is known there. Residues reached on such a walk need no walk of their own.
        for k in range(size):
            if steps > _MAX_STEPS:
                return 0
            at = (reached[k] + shift) % modulus
            here = distance[reached[k]] + step
            while here < distance[at]:
                if distance[at] == too_much:
                    reached[size] = at
                    size += 1
                distance[at] = here
                last[at] = i
                here += step
                at += shift
                if at >= modulus:
                    at -= modulus
                steps += 1
    return size


@kernel
def best_without_limits(
    linear: LinearOptimum, known_loss: float, plan: Array
) -> tuple[float, bool]:
    """Solve without limits; return the loss, and whether ``plan`` received a legal plan.

    The break type has a weight of 2 at least. No plan is made unless it loses less than
    ``known_loss``. The loss returned is a lower bound on that of any legal plan (0 if the search
    was given up).
    """
    _, w, limits, loss, b, density, left_over = linear
    n = w.shape[0]
    modulus = w[b]
    shifts = np.empty(n, np.int64)
    for i in range(n):
        shifts[i] = w[i] % modulus
        if i > b and shifts[i] > 0:
            shifts[i] = modulus - shifts[i]
    distance = np.full(modulus, known_loss)
    distance[0] = 0.0
    last = np.empty(modulus, np.int64)
    reached = np.empty(modulus, np.int64)
    size = _walk(shifts, loss, distance, last, reached)
    if size == 0:
        return 0.0, False
    best_loss = known_loss
    at = -1
    for k in range(size):
        unused = (left_over + reached[k]) % modulus
        total = distance[reached[k]] + density * unused
        if total < best_loss:
            best_loss = total
            at = reached[k]
    if at < 0:
        return known_loss, False

    for i in range(n):
        plan[i] = limits[i] if i < b else 0
    while at != 0:
        i = last[at]
        plan[i] += 1 if i > b else -1
        at -= shifts[i]
        if at < 0:
            at += modulus
    # Limits first: only then are the products below known to be within the capacity.
    for i in range(n):
        if plan[i] < 0 or plan[i] > limits[i]:
            return best_loss, False
    room = left_over
    for i in range(b):
        room += (limits[i] - plan[i]) * w[i]
    for i in range(b + 1, n):
        room -= plan[i] * w[i]
        if room < 0:
            return best_loss, False
    plan[b] = room // modulus
    return best_loss, plan[b] <= limits[b]
