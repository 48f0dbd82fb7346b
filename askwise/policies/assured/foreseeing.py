"""Whether the cheapest set of many workers will be found exactly, before anybody is paid.

How long an exact search takes is unknown beforehand: it depends on prices and on what will be
learned. So it is tried on workers of the same number who are made up: prices from 1 to 2 and
qualities from the floor to 1, both evenly spread and in no order, with the bounds that a policy
would have for them when it chooses. Where that takes too long, it is likely to do so later.
"""

from functools import lru_cache

import numpy as np

from askwise.core.arrays import Array
from askwise.core.money import MICRO
from askwise.ledger import columns as c
from askwise.policies.assured import common as a
from askwise.policies.assured.common import Params, State, bound, new_state, record
from askwise.policies.assured.sets.enumeration import MOST_WORKERS
from askwise.policies.assured.sets.kernels import cheapest_into

_SEED = 20150618
_SHARE = 8
"""Of the work that a decision may take: who is paid can have another profile than those made up."""


def made_up(workers: int, floor: float) -> tuple[Array, Array]:
    """Prices in micro-units and qualities of this many workers, always the same."""
    rng = np.random.default_rng([_SEED, workers])
    spread = (np.arange(workers) + 0.5) / workers
    prices = np.rint((1.0 + rng.permutation(spread)) * MICRO).astype(np.int64)
    return prices, floor + (1.0 - floor) * rng.permutation(spread)


def lower_after(params: Params, qualities: Array) -> Array:
    """The lower bounds after ``params.rounds`` tasks, if each is right as often as expected."""
    size, rounds = len(qualities), params.rounds
    state: State = new_state(size, 0)
    state.workers[:, a.COUNT] = rounds
    state.workers[:, a.RIGHT] = np.rint(rounds * qualities).astype(np.int64)
    for worker in range(size):
        record(state, params, size, worker)
    lower, upper = np.empty(size), np.empty(size)
    bound(state, params, lower, upper)
    return lower


@lru_cache(maxsize=64)
def is_found(params: Params, workers: int, known: tuple[float, ...]) -> bool:
    """Whether the exact search of a policy with these parameters ends on made-up workers."""
    if workers <= MOST_WORKERS:
        return True
    prices, qualities = made_up(workers, params.floor)
    if known:
        qualities = np.array(known)
    elif params.rule == a.FIXED:
        qualities = lower_after(params, qualities)
    everybody, chosen = np.ones(workers, np.bool_), np.zeros(workers, np.bool_)
    targets = {params.goal, params.check}
    return all(
        cheapest_into(
            target._replace(work=target.work // _SHARE), prices, qualities, everybody, chosen
        )
        != c.TOO_LARGE
        for target in targets
    )
