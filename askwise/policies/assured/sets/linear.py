"""The linear form: a minimum knapsack with the gains 2q - 1, compared as ``cover`` compares."""

from askwise.core.compiling import heavy_kernel
from askwise.kernels.knapsack.cover import cover_exact_into
from askwise.kernels.knapsack.ga import cover_greedy_into, in_units, scale_of
from askwise.kernels.knapsack.inputs import Array
from askwise.kernels.knapsack.ordering import ascending, ratios_of
from askwise.kernels.knapsack.states import TOO_LARGE
from askwise.policies.assured.sets.inputs import GREEDY
from askwise.policies.assured.sets.search import CHEAPEST, FIRST, FOUND, NONE


@heavy_kernel
def reaches_demand(qualities: Array, members: Array, demand: float) -> bool:
    """Whether the members' gains reach the demand; those worse than a coin take away."""
    whole, enough, first, second = scale_of(qualities.shape[0], demand)
    total = 0
    for i in range(qualities.shape[0]):
        if members[i]:
            units = in_units(abs(2.0 * qualities[i] - 1.0), demand, whole, first, second)
            total += units if qualities[i] >= 0.5 else -units
    return total >= enough


@heavy_kernel
def _lower_bound(costs: Array, gains: Array, demand: float) -> float:
    """The cost of reaching the demand if one could take parts of workers."""
    n = costs.shape[0]
    ratios = ratios_of(costs, gains)
    order = ascending(ratios)
    bound = 0.0
    left = demand * (1.0 - 1e-11)
    for k in range(n):
        i = order[k]
        if gains[i] >= left:
            return bound + ratios[i] * left
        bound += costs[i]
        left -= gains[i]
    return bound


@heavy_kernel
def cheapest_linear(
    costs: Array, qualities: Array, demand: float, solver: int, work: int, chosen: Array
) -> tuple[int, float]:
    """Mark a set whose gains reach the demand; statuses and bound as ``find_cheapest``.

    Greedy is the paper's GA; what else is given up after ``work`` states leaves GA's set.
    """
    gains = 2.0 * qualities - 1.0
    if not cover_greedy_into(costs, gains, demand, chosen):
        chosen[:] = False
        return NONE, 0.0
    known = costs[chosen].sum()
    if solver != GREEDY and cover_exact_into(costs, gains, demand, work, chosen) != TOO_LARGE:
        return FIRST, float(costs[chosen].sum())
    bound = min(float(known), _lower_bound(costs, gains, demand))
    return (CHEAPEST if bound >= known else FOUND), bound
