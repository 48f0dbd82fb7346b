"""The cheapest set of workers that keeps the error below a threshold, from Python."""

from dataclasses import dataclass

import numpy as np

from askwise.core.errors import TooLarge
from askwise.kernels.knapsack.inputs import Array, Numbers
from askwise.policies.assured.sets.base import ErrorFunction, Spec, Target, function_of
from askwise.policies.assured.sets.cheapest import least_error
from askwise.policies.assured.sets.checking import ensure_error_function
from askwise.policies.assured.sets.classes import NOBODY
from askwise.policies.assured.sets.codes import FORGIVEN, LINEAR, OTHER
from askwise.policies.assured.sets.enumeration import first_by_enumeration, greedily
from askwise.policies.assured.sets.inputs import CLASSES, EXACT, GREEDY, Workers, workers_of
from askwise.policies.assured.sets.kernels import find_set
from askwise.policies.assured.sets.plainly import finder_by_classes
from askwise.policies.assured.sets.search import FIRST, NONE

# Elementary operations, or states: about a quarter of a second, and four seconds.
_WORK = 1 << 26
_EXACT_WORK = 1 << 30


@dataclass(frozen=True)
class Cheapest:
    """A set of workers and what is known of it.

    Attributes
    ----------
    indices : tuple of int
        Ascending.
    cost : int or float
    error : float
    feasible : bool
        Whether the error is at most alpha; else it is the least that any set has.
    exact : bool
        Whether it is proved that no set is cheaper and none of the same cost comes before it.
    gap : float
        (cost - lower bound) / cost: the cheapest set costs at least (1 - gap) times as much.
    """

    indices: tuple[int, ...]
    cost: float
    error: float
    feasible: bool
    exact: bool
    gap: float


def cheapest_set(
    costs: Numbers, qualities: Numbers, alpha: float, error: Spec = "majority", solver: str = "auto"
) -> tuple[list[int], float, bool]:
    """Find the cheapest set of workers whose error is at most ``alpha``.

    Parameters
    ----------
    costs : array of int or float
        Not negative. Whole numbers are added up exactly, floats are counted in units of
        2**-60 of their sum.
    qualities : array of float
        From 0 to 1: how likely each worker is right.
    alpha : float
        Between 0 and 1/2. An error that exceeds it by up to one part in 10**12 is forgiven; in
        the linear form it is the demand ln(1/alpha) / epsilon that is compared, as
        ``cover_exact`` does.
    error : str, mapping or ErrorFunction
        From the registry ``errors``, or your own.
    solver : str
        ``"exact"``: the cheapest set, of equally cheap ones that whose list of indices comes
        first, or TooLarge. ``"auto"``: the same as long as the search ends soon (a fraction of
        a second), else the best set found; ``solve_cheapest`` says which, and how far it is
        from a lower bound. ``"greedy"``: for ``hoeffding-linear`` the paper's GA
        (``cover_greedy``), at most twice as expensive as the optimum; for the other functions of
        ours the best of those sets, for each size, that are optimal at some price on quality,
        improved by single replacements; for a user's function workers in order of
        cost / (2q - 1) until the target is met, without those who turn out superfluous.
        ``"classes"``: qualities are rounded down to a few classes and all numbers of workers of
        each class are tried, so that it always ends; the set depends on costs only through a
        range of sets that is settled by the qualities, which is what truthful payments need.
        A function of your own, ``plurality``, ``majority-first`` and ``likeliest`` are solved
        exactly by trying sets in order of cost, up to 20 workers.

    Returns
    -------
    indices : list of int
        Ascending. If no set has an error of at most alpha: the set with the least error, of
        equal error the cheapest, of equal cost the first.
    error : float
        Its error.
    feasible : bool
        Whether that is at most alpha.

    Raises
    ------
    TooLarge
        The solver is "exact" and the search took too long; or more than 20 workers with such a
        function, and the solver is neither "greedy" nor "classes".

    Examples
    --------
    >>> from askwise.core.accuracy import cheapest_set
    >>> cheapest_set([1, 1, 1, 4], [0.8, 0.8, 0.8, 0.9], 0.11)
    ([0, 1, 2], 0.10..., True)
    """
    found = solve_cheapest(costs, qualities, alpha, error, solver)
    return list(found.indices), found.error, found.feasible


def solve_cheapest(
    costs: Numbers, qualities: Numbers, alpha: float, error: Spec = "majority", solver: str = "auto"
) -> Cheapest:
    """Find the cheapest set as :func:`cheapest_set`, and say what is proved of it.

    Examples
    --------
    >>> from askwise.core.accuracy import solve_cheapest
    >>> solve_cheapest([1, 1, 1, 2], [0.8, 0.8, 0.8, 0.9], 0.11).indices
    (3,)
    """
    function = function_of(error)
    workers = workers_of(costs, qualities)
    target = function.target(alpha, solver)
    if target.code == OTHER:
        return _solve_other(function, workers, target)
    return solve_target(function, workers, target)


def solve_target(function: ErrorFunction, workers: Workers, target: Target) -> Cheapest:
    """Find the cheapest set for checked input and a function that kernels know."""
    chosen = np.zeros(len(workers.whole), np.bool_)
    status, bound = _run(workers, target, chosen)
    feasible = status != NONE
    if not feasible and target.code == LINEAR:
        chosen[:] = workers.qualities > 0.5
        status, bound = FIRST, float(workers.whole[chosen].sum())
    elif not feasible:
        target = target._replace(alpha=lowest_error(function, target, workers))
        status, bound = _run(workers, target, chosen)
    if target.solver == EXACT and status != FIRST:
        raise TooLarge(
            f"costs: the cheapest set among {len(chosen)} takes too long to prove; "
            "solver 'auto' or 'classes' says how near the best set found is",
            field="costs",
        )
    indices = np.flatnonzero(chosen)
    paid = int(workers.whole[indices].sum())
    gap = share_above(paid, bound)
    if target.solver == CLASSES:
        gap = gap_of(workers, target, chosen)
    return Cheapest(
        tuple(indices.tolist()),
        workers.cost(indices.tolist()),
        float(function.probability(workers.qualities[indices])),
        feasible,
        status == FIRST,
        gap,
    )


def gap_of(workers: Workers, target: Target, chosen: Array) -> float:
    """By how much, as a share, a set that meets the target costs more than the cheapest, at most.

    By the lower bound of the solver that goes by prices on quality, which holds for every set.
    """
    _, bound = _run(workers, target._replace(solver=GREEDY), np.zeros(len(chosen), np.bool_))
    return share_above(int(workers.whole[chosen].sum()), bound)


def share_above(paid: int, bound: float) -> float:
    """By what share of it a cost exceeds a lower bound."""
    return max(0.0, (paid - bound) / paid) if paid > 0 else 0.0


def lowest_error(function: ErrorFunction, target: Target, workers: Workers) -> float:
    """Return the least error that any set has, for a function that kernels know."""
    if target.code == LINEAR:
        return function.probability(workers.qualities[workers.qualities > 0.5])
    return float(least_error(target.code, target.ties, workers.qualities))


def _run(workers: Workers, target: Target, chosen: Array) -> tuple[int, float]:
    """Solve with more and more work: see ``askwise.kernels.knapsack.states.allowances``."""
    most = _EXACT_WORK if target.solver == EXACT else _WORK
    status, bound = NONE, 0.0
    for shift in (10, 8, 6, 4, 2, 0):
        allowed = target._replace(work=most >> shift)
        status, bound = find_set(allowed, workers.whole, workers.qualities, chosen)
        if status in (NONE, FIRST) or target.solver in (GREEDY, CLASSES):
            break
    return int(status), float(bound)


def _solve_other(function: ErrorFunction, workers: Workers, target: Target) -> Cheapest:
    """Solve for a user's function."""
    ensure_error_function(function)
    limit, exact = target.alpha * (1.0 + FORGIVEN), target.solver not in (GREEDY, CLASSES)
    solve = first_by_enumeration if exact else greedily
    chosen = np.zeros(len(workers.whole), np.bool_)
    find = finder_by_classes(function)
    if target.solver == CLASSES and (
        find(target, workers.whole, workers.qualities, NOBODY, chosen) != NONE
    ):
        indices = np.flatnonzero(chosen).tolist()
        error = float(function.probability(workers.qualities[indices]))
    else:
        indices, error = solve(function, workers, limit)
    # Of how far the others are from the cheapest nothing is known.
    cost, gap = workers.cost(indices), 0.0 if exact else 1.0
    return Cheapest(tuple(indices), cost, error, error <= limit, exact, gap)
