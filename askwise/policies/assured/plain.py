"""Choosing with an error function that is plain Python: the kernels' source, run over it."""

from functools import cache
from typing import Any

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import TooLarge
from askwise.policies.assured import choosing
from askwise.policies.assured.sets import Target, kernels, softest_set, solve_cheapest
from askwise.policies.assured.sets.base import function_of
from askwise.policies.assured.sets.enumeration import MOST_WORKERS
from askwise.policies.assured.sets.plainly import over


@cache
def solvers(error: str, solver: str) -> dict[str, Any]:
    """What choosing calls of ``kernels``, for a registered error function."""
    function = function_of(error)

    def error_of(target: Target, qualities: Array, members: Array) -> float:
        return float(function.probability(qualities[members]))

    def cheapest_into(
        target: Target, costs: Array, qualities: Array, allowed: Array, chosen: Array
    ) -> int:
        pool = np.flatnonzero(allowed)
        found = solve_cheapest(costs[pool], qualities[pool], target.alpha, function, solver)
        chosen[:] = False
        chosen[pool[list(found.indices)] if found.feasible else pool] = True
        return kernels.FEASIBLE if found.feasible else kernels.INFEASIBLE

    def softest_into(
        target: Target, price: float, costs: Array, qualities: Array, allowed: Array, chosen: Array
    ) -> float:
        pool = np.flatnonzero(allowed)
        indices, value = softest_set(costs[pool], qualities[pool], target.alpha, price, function)
        chosen[:] = False
        chosen[pool[indices]] = True
        return value

    names = {"error_of": error_of, "cheapest_into": cheapest_into, "softest_into": softest_into}
    space = over(kernels, **names)
    return {**names, "meets": space["meets"], "extend_into": space["extend_into"]}


@cache
def choose_with(error: str, solver: str) -> Any:
    """``choosing.choose`` for a registered error function."""
    return over(choosing, **solvers(error, solver))["choose"]


def check_size(error: str, solver: str, workers: int) -> None:
    """Refuse more workers than all sets of them can be tried."""
    if solver in ("auto", "exact") and workers > MOST_WORKERS:
        raise TooLarge(
            f"workers are {workers}: with error {error!r} all their sets are tried, give at most "
            f"{MOST_WORKERS}, or solver='classes' or 'greedy'",
            field="workers",
        )
