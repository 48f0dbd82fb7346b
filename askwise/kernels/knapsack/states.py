"""The 0-1 knapsack by lists of undominated states, grown outward from the break piece.

Pieces come in order of decreasing density. The first ones that fit are packed; the piece
that does not fit any more is the break piece. From there pieces are decided in turn, one
more to the right (put in) and one more to the left (taken out), and a state (weight, value)
is kept only while no other state is lighter and worth more and its linear bound can still
beat the best plan known. This is Pisinger's MINKNAP; weights of any size are no burden,
since no table over the capacity is kept.

References
----------
Pisinger (1997), "A minimal algorithm for the 0-1 knapsack problem", Operations Research 45.
"""

import numpy as np

from askwise.core.compiling import kernel
from askwise.kernels.knapsack.inputs import Array

# States looked at before an exact solver gives up: compiled about a second, plain a quarter of a
# minute, and 400 MB at most.
MAX_STATES = 1 << 24

NOTHING_BETTER = 0
IMPROVED = 1
TOO_LARGE = 2


def allowances() -> list[int]:
    """Return the numbers of states to try with in turn when called from Python.

    A kernel that Python calls begins as plain Python. Only between calls, once they have cost
    something, is compiled code looked for, or made where work in bulk allows that: small
    allowances first give occasion to it, before the one that costs most.
    """
    return [MAX_STATES >> shift for shift in (8, 6, 4, 2, 0)]


@kernel
def _room(array: Array, used: int, wanted: int) -> Array:
    """Return the array itself, or a longer one that begins with its ``used`` first entries."""
    if wanted <= array.shape[0]:
        return array
    longer = np.empty(max(wanted, 2 * array.shape[0]), array.dtype)
    for k in range(used):
        longer[k] = array[k]
    return longer


@kernel
def best_subset(
    weights: Array,
    values: Array,
    capacity: int,
    best: float,
    enough: float,
    slack: float,
    max_states: int,
    chosen: Array,
) -> int:
    """Find the most valuable set of pieces that fits and is worth more than ``best``.

    Parameters
    ----------
    weights : array of int64
        Positive, as the pieces' order asks: by decreasing ``value / weight``.
    values : array of float64 or int64
        Not negative. ``best`` and ``enough`` are of the same type.
    capacity : int
        From 0 to 2**61; no piece weighs more than 2**61.
    best : float or int
        Value that a set has to exceed.
    enough : float or int
        The search ends with the first set worth this much.
    slack : float
        A state is kept if its bound exceeds the best value by more than this. Floats need
        something positive of the size of their rounding, whole numbers get just under 1
        (less by the rounding of the bound).
    max_states : int
        States to look at before giving up.
    chosen : array of bool
        Receives the set if one is found.

    Returns
    -------
    int
        NOTHING_BETTER, IMPROVED or TOO_LARGE.
    """
    n = weights.shape[0]
    right = 0
    left_over = capacity
    worth = best - best
    while right < n and weights[right] <= left_over:
        left_over -= weights[right]
        worth += values[right]
        right += 1
    break_piece = right
    left = right - 1
    droppable = capacity - left_over

    bound = float(worth)
    break_density = 0.0
    if break_piece < n:
        break_density = values[break_piece] / weights[break_piece]
        bound += left_over * break_density

    found = worth > best
    best_node = 0
    if found:
        best = worth
    # A node is a decision: the node it followed and the piece it put in or took out.
    parents = np.empty(64, np.int32)
    pieces = np.empty(64, np.int32)
    # By way of NumPy: literals would make the compiler do what they are handed to twice.
    nodes, none = int(np.int64(1)), int(np.int64(0))
    # State k: what is left of the capacity (negative if overfull), value, node. Increasing
    # in weight, hence decreasing in what is left, and increasing in value.
    lefts = np.empty(64, np.int64)
    worths = np.empty(64, values.dtype)
    origins = np.empty(64, np.int32)
    new_lefts = np.empty(64, np.int64)
    new_worths = np.empty(64, values.dtype)
    new_origins = np.empty(64, np.int32)
    lefts[0] = left_over
    worths[0] = worth
    origins[0] = 0
    size = 1 if bound > best + slack else 0
    looked_at = 0
    go_right = True
    while size > 0 and best < enough and (left >= 0 or right < n):
        if right >= n or (left >= 0 and not go_right):
            piece = left
            left -= 1
            weight = -weights[piece]
            droppable += weight
            value = -values[piece]
        else:
            piece = right
            right += 1
            weight = weights[piece]
            value = values[piece]
        go_right = not go_right
        # What it costs, by the linear bound, to decide this piece against the linear plan.
        if bound - abs(value - break_density * weight) <= best + slack:
            continue
        looked_at += 2 * size
        if looked_at > max_states:
            return TOO_LARGE
        parents = _room(parents, nodes, nodes + size)
        pieces = _room(pieces, nodes, nodes + size)
        new_lefts = _room(new_lefts, none, 2 * size)
        new_worths = _room(new_worths, none, 2 * size)
        new_origins = _room(new_origins, none, 2 * size)
        add_density = values[right] / weights[right] if right < n else 0.0
        drop_density = values[left] / weights[left] if left >= 0 else 0.0
        kept = old = changed = 0
        highest = worths[0]
        first = True
        while old < size or changed < size:
            # The lighter of the two next states; of equal weight the worthier, then the old.
            take_old = old < size
            if take_old and changed < size:
                room = lefts[changed] - weight
                take_old = lefts[old] > room or (
                    lefts[old] == room and worths[old] >= worths[changed] + value
                )
            if take_old:
                room = lefts[old]
                worth = worths[old]
                origin = origins[old]
                old += 1
            else:
                room = lefts[changed] - weight
                worth = worths[changed] + value
                origin = origins[changed]
                changed += 1
            if not first and worth <= highest:
                continue
            first = False
            highest = worth
            better = room >= 0 and worth > best
            if better:
                best = worth
                found = True
            if room >= 0:
                keep = worth + room * add_density > best + slack
            else:
                keep = room + droppable >= 0 and worth + room * drop_density > best + slack
            if not (keep or better):
                continue
            if not take_old:
                parents[nodes] = origin
                pieces[nodes] = piece
                origin = nodes
                nodes += 1
            if better:
                best_node = origin
            if keep:
                new_lefts[kept] = room
                new_worths[kept] = worth
                new_origins[kept] = origin
                kept += 1
        lefts, new_lefts = new_lefts, lefts
        worths, new_worths = new_worths, worths
        origins, new_origins = new_origins, origins
        size = kept
    if not found:
        return NOTHING_BETTER
    for k in range(n):
        chosen[k] = k < break_piece
    while best_node > 0:
        piece = pieces[best_node]
        chosen[piece] = not chosen[piece]
        best_node = parents[best_node]
    return IMPROVED
