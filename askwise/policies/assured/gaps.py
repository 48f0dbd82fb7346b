"""How much more than the cheapest a set may cost that exploration came to."""

from functools import lru_cache

import numpy as np

from askwise.core.arrays import Array
from askwise.policies.assured.common import Params
from askwise.policies.assured.sets import Target
from askwise.policies.assured.sets.inputs import AUTO, GREEDY, Workers
from askwise.policies.assured.sets.kernels import cheapest_into, find_set
from askwise.policies.assured.sets.search import NONE
from askwise.policies.assured.sets.solve import gap_of, share_above


def gap_in_pool(params: Params, costs: Array, qualities: Array, chosen: Array) -> float:
    """By what share the cheapest set may cost less than the chosen one; 0 if nothing is cheaper.

    Costs are int64. What is found is kept: until qualities change, a campaign that is looked at
    again and again searches once.
    """
    packed = (costs.tobytes(), qualities.tobytes(), chosen.tobytes())
    return _gap(params.goal, params.check, *packed)


@lru_cache(maxsize=256)
def _gap(goal: Target, check: Target, costs: bytes, qualities: bytes, chosen: bytes) -> float:
    price, quality = np.frombuffer(costs, np.int64), np.frombuffer(qualities)
    members, marks = np.frombuffer(chosen, np.bool_), np.zeros(len(price), np.bool_)
    # As when choosing: what must hold, where no set reaches the goal.
    target = goal
    if goal.alpha < check.alpha:
        everybody = np.ones(len(price), np.bool_)
        quick = goal._replace(solver=GREEDY)
        if not cheapest_into(quick, price, quality, everybody, marks):
            target = check
    if target.solver != AUTO:
        return gap_of(Workers(price, price, quality), target, members)
    # As long as the policy's own search, which proves most sets to be the cheapest.
    status, bound = find_set(target, price, quality, marks)
    return 0.0 if status == NONE else share_above(int(price[members].sum()), float(bound))
