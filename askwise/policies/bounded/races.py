"""Exploration that rejects workers: Successive Rejects, Hoeffding and Bernstein Races.

Choosing writes nothing, so the rejection that a decision rests on is worked out twice by the
same function: on a copy when the decision is made, on the beliefs when it is absorbed.
"""

import math

import numpy as np

from askwise.kernels import Array, kernel
from askwise.kernels.knapsack.ordering import ascending
from askwise.ledger import Book, Proposal, money_left, propose, room
from askwise.ledger import columns as c
from askwise.policies.bounded import common
from askwise.policies.bounded.common import (
    COUNT,
    REJECTED,
    SQUARES,
    STEP,
    SUM,
    State,
    mean,
    share_of_budget,
)


@kernel
def merit(book: Book, beliefs: Array, worker: int, by_density: int) -> float:
    """What a race compares: the mean (as in the paper) or the mean per price."""
    if by_density == 1:
        return common.worth(book, beliefs, worker) / book.workers[worker, c.PRICE]
    return mean(beliefs, worker)


@kernel
def runners(book: Book, beliefs: Array) -> int:
    """How many workers are still in the race."""
    count = 0
    for worker in range(book.totals[c.WORKERS]):
        count += book.workers[worker, c.JOINED] == 1 and beliefs[worker, REJECTED] == 0.0
    return count


@kernel
def reject_worst(book: Book, beliefs: Array, by_density: int) -> None:
    """Algorithm 2, line 12: the lowest estimate leaves; of equals the last in index order."""
    worst, lowest = -1, 0.0
    for worker in range(book.totals[c.WORKERS]):
        if book.workers[worker, c.JOINED] == 1 and beliefs[worker, REJECTED] == 0.0:
            value = merit(book, beliefs, worker, by_density)
            if worst < 0 or value <= lowest:
                worst, lowest = worker, value
    if worst >= 0:
        beliefs[worst, REJECTED] = 1.0


@kernel
def pulls_until(book: Book, share: int, field: int, phase: int) -> int:
    """n_k of Eq. (20), k = phase, for a field of N workers; n_N = n_(N-1).

    l(N) sums to N, as the proof of Theorem 7 has it; the N - 1 printed before Eq. (20) would
    overspend (twice the share at N = 2).
    """
    if phase == 0 or field < 2:
        return 0
    phase = min(phase, field - 1)
    dearest = 0
    for worker in range(book.totals[c.WORKERS]):
        if book.workers[worker, c.JOINED] == 1:
            dearest = max(dearest, book.workers[worker, c.PRICE])
    harmonic = 0.5
    for j in range(2, field + 1):
        harmonic += 1.0 / j
    money = share_of_budget(book, share)
    # Where the quotient is whole, rounding in l(N) must not take a pull away.
    return int(money / (harmonic * (field + 1 - phase) * dearest) + 1e-9)


@kernel
def residual_money(book: Book, share: int, field: int) -> int:
    """Algorithm 2, line 3: what the phases will not need, in whatever order workers are rejected.

    The paper's sum takes the workers in index order, so that another order leaves another
    residual. They may be rejected in any: here the most expensive stay to the last.
    """
    count = book.totals[c.WORKERS]
    prices = np.zeros(count, np.int64)
    for worker in range(count):
        prices[worker] = book.workers[worker, c.PRICE]
    need = 0
    k = 0
    for worker in ascending(prices):
        if book.workers[worker, c.JOINED] == 1:
            k += 1
            need += pulls_until(book, share, field, k) * prices[worker]
    return share_of_budget(book, share) - need


@kernel
def propose_residual(book: Book, state: State, share: int, out: Proposal) -> bool:
    """Lines 4 to 7: the residual is explored uniformly, as in section 4.1.

    The cyclic order of line 6 would give it to those who come first, and its last pull would
    overspend.
    """
    used = share_of_budget(book, share) - common.exploration_left(book, share)
    allowance = min(residual_money(book, share, _field(book)) - used, money_left(book.totals))
    return common.explore_within(book, state, state.beliefs, allowance, out)


@kernel
def _field(book: Book) -> int:
    field = 0
    for worker in range(book.totals[c.WORKERS]):
        field += book.workers[worker, c.JOINED]
    return field


@kernel
def phase_units(book: Book, beliefs: Array, share: int, phase: int, units: Array) -> bool:
    """Line 11: (n_t - n_(t-1)) pulls of each runner, cut to their limit and the share left."""
    field = _field(book)
    more = pulls_until(book, share, field, phase) - pulls_until(book, share, field, phase - 1)
    left = common.allowance_for(book, share)
    any_unit = False
    for worker in range(book.totals[c.WORKERS]):
        units[worker] = 0
        if beliefs[worker, REJECTED] == 0.0 and more > 0:
            units[worker] = min(more, room(book, worker, left))
            left -= units[worker] * book.workers[worker, c.PRICE]
            any_unit = any_unit or units[worker] > 0
    return any_unit


@kernel
def next_phase(
    book: Book, beliefs: Array, share: int, by_density: int, step: int, units: Array
) -> int:
    """Reject and move on until a phase has something to pull; 0 when the race is over.

    ``step`` is the phase done last; each phase but the first begins with a rejection.
    """
    phase = step + 1
    while phase < _field(book):
        if phase > 1:
            reject_worst(book, beliefs, by_density)
        if phase_units(book, beliefs, share, phase, units):
            return phase
        phase += 1
    return 0


@kernel
def explore_by_rejects(
    book: Book, state: State, share: int, by_density: int, out: Proposal
) -> bool:
    """Algorithm 2: the residual first (while the step is 0), then phase after phase."""
    step = state.phase[STEP]
    if step == 0 and propose_residual(book, state, share, out):
        return True
    out.head[1] = common.PHASE
    units = out.whole[3]
    beliefs = state.beliefs.copy()
    if next_phase(book, beliefs, share, by_density, max(step, 1) - 1, units) == 0:
        return False
    for worker in range(book.totals[c.WORKERS]):
        if units[worker] > 0:
            propose(out, -1, worker, units[worker], 1.0)
    return True


@kernel
def absorb_rejects(book: Book, state: State, share: int, by_density: int) -> None:
    """Take the rejections of a decided phase into the beliefs.

    The ledger holds the decision already, but as planned money, which choosing counts as
    free: both see the same.
    """
    units = np.zeros(book.totals[c.WORKERS], np.int64)
    step = max(state.phase[STEP], 1) - 1
    state.phase[STEP] = next_phase(book, state.beliefs, share, by_density, step, units) + 1


@kernel
def reject_beaten(book: Book, beliefs: Array, beta: float, by_density: int, bernstein: int) -> None:
    """Eqs. (26), (27): those whose upper bound is below another's lower bound leave."""
    best_low = -math.inf
    for worker in range(book.totals[c.WORKERS]):
        if beliefs[worker, COUNT] > 0.0 and beliefs[worker, REJECTED] == 0.0:
            low = _bound(book, beliefs, worker, beta, by_density, bernstein, -1.0)
            best_low = max(best_low, low)
    for worker in range(book.totals[c.WORKERS]):
        if beliefs[worker, COUNT] > 0.0 and beliefs[worker, REJECTED] == 0.0:
            high = _bound(book, beliefs, worker, beta, by_density, bernstein, 1.0)
            if high < best_low:
                beliefs[worker, REJECTED] = 1.0


@kernel
def width_of(beliefs: Array, worker: int, beta: float, bernstein: int) -> float:
    """Half the width of a confidence interval: Hoeffding's, or Bernstein's with the variance seen.

    The latter is sqrt(2 v ln(3 / beta) / n) + 3 ln(3 / beta) / n (Mnih et al. 2008, Eq. 3).
    """
    count = beliefs[worker, COUNT]
    if bernstein == 0:
        return math.sqrt(-math.log(beta / 2.0) / (2.0 * count))
    level = beliefs[worker, SUM] / count
    variance = max(0.0, beliefs[worker, SQUARES] / count - level * level)
    log = math.log(3.0 / beta)
    return math.sqrt(2.0 * variance * log / count) + 3.0 * log / count


@kernel
def _bound(
    book: Book,
    beliefs: Array,
    worker: int,
    beta: float,
    by_density: int,
    bernstein: int,
    side: float,
) -> float:
    width = width_of(beliefs, worker, beta, bernstein)
    value = mean(beliefs, worker) + side * width
    if by_density == 1:
        return (value - book.scale[c.ZERO]) / book.workers[worker, c.PRICE]
    return value


@kernel
def explore_by_races(
    book: Book,
    state: State,
    share: int,
    beta: float,
    by_density: int,
    bernstein: int,
    out: Proposal,
) -> bool:
    """Uniform exploration of those still in the race, until one is left."""
    beliefs = state.beliefs.copy()
    reject_beaten(book, beliefs, beta, by_density, bernstein)
    if runners(book, beliefs) <= 1:
        return False
    return common.explore_within(book, state, beliefs, common.allowance_for(book, share), out)
