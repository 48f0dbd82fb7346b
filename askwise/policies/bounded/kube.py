"""Bounded KUBE: upper confidence bounds, a knapsack at each step, a draw from its plan."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from askwise.core.checks import flag, real
from askwise.core.money import from_micro
from askwise.core.problem import Problem
from askwise.kernels import Array, Draw, Fact, kernel, step, uniform
from askwise.kernels.knapsack import exact_into, fill_by_density
from askwise.kernels.knapsack.residues import MAX_CELLS
from askwise.ledger import Book, Ledger, Proposal, has_task, money_left, propose, room
from askwise.ledger import columns as c
from askwise.policies.base import Kernels, policies
from askwise.policies.bounded import common
from askwise.policies.bounded.common import COUNT, SUM, BoundedPolicy, Indices, State
from askwise.policies.capabilities import Cautions

# States that one decision may look at: a quarter of a second in plain Python.
MAX_STATES = 1 << 18

# With fewer workers than this no prices were found that need as many.
_MANY = 12

# The note of a decision whose plan may not be the best.
_BEST_FOUND = 2


class Params(NamedTuple):
    """Factor of the confidence term, and whether it is in the utility's own unit."""

    bonus: float
    raw: int


@step
def try_or_value(book: Book, state: State, params: Params, available: Array, out: Proposal) -> bool:
    """Propose one who was never asked, if there is one.

    Else write upper confidence bounds, prices and room of those who can be asked into scratch
    space, and return False.
    """
    totals, workers, beliefs = book.totals, book.workers, state.beliefs
    money = money_left(totals)
    by_task = totals[c.ASKED_ONCE] > 0 or totals[c.OPEN] == 0 or totals[c.OPEN_NAMED] > 0
    values, prices, rooms = out.real[0], out.whole[0], out.whole[1]
    answers, sums = out.real[1], out.real[2]
    # KUBE's t: the number of this pull.
    twice_log = 2.0 * math.log(totals[c.ANSWERS] + 1.0)
    bonus = params.bonus
    if params.raw == 1:
        bonus /= book.scale[c.HIGH] - book.scale[c.LOW]
    count = totals[c.WORKERS]
    for worker in range(count):
        prices[worker] = workers[worker, c.PRICE]
        rooms[worker] = 0
        answers[worker] = 1.0
        sums[worker] = 0.0
        left = workers[worker, c.LIMIT] - workers[worker, c.ASKED]
        if workers[worker, c.JOINED] == 0 or available[worker] == 0 or left <= 0:
            continue
        if prices[worker] > money or (by_task and not has_task(book, worker)):
            continue
        seen = beliefs[worker, COUNT]
        if seen > 0.0:
            answers[worker] = seen
            sums[worker] = beliefs[worker, SUM]
            rooms[worker] = left
        elif workers[worker, c.ASKED] == 0:
            propose(out, -1, worker, 1, 1.0)
            return True
    # In passes without branches, so that processors divide and take roots for several at once.
    zero = book.scale[c.ZERO]
    for worker in range(count):
        bound = bonus * math.sqrt(twice_log / answers[worker])
        value = sums[worker] / answers[worker] + bound - zero
        values[worker] = value if rooms[worker] > 0 else 0.0
    for worker in range(count):
        rooms[worker] = rooms[worker] if values[worker] >= 0.0 else 0
    return False


@step
def draw_from_plan(book: Book, draw: Draw, available: Array, out: Proposal) -> int:
    """Ask a worker with probability in proportion to their count in the plan."""
    count = book.totals[c.WORKERS]
    counts = out.whole[2]
    planned = 0
    for worker in range(count):
        planned += counts[worker]
    if planned == 0:
        return c.WAIT_ANSWERS if book.totals[c.PENDING] > 0 else common.at_end(book, available)
    mark = uniform(draw, 0) * planned
    passed = 0
    picked = 0
    for worker in range(count):
        if counts[worker] > 0:
            passed += counts[worker]
            picked = worker
            if mark < passed:
                break
    out.head[1] = 1
    propose(out, -1, picked, 1, counts[picked] / planned)
    return c.PROPOSED


@step
def choose_greedily(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Each worker once; then draw from the greedy plan by upper bounds."""
    if try_or_value(book, state, params, available, out):
        return c.PROPOSED
    n, money = book.totals[c.WORKERS], money_left(book.totals)
    values, prices, rooms, counts = out.real[0], out.whole[0], out.whole[1], out.whole[2]
    fill_by_density(values, prices, rooms, money, counts[:n], out.real[1])
    return draw_from_plan(book, draw, available, out)


@kernel
def choose_exactly(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Each worker once; then draw from the exact plan by upper bounds.

    Where that takes too long, from the best plan found, which is worth no less than the greedy
    one.
    """
    if try_or_value(book, state, params, available, out):
        return c.PROPOSED
    n, money = book.totals[c.WORKERS], money_left(book.totals)
    values, prices, rooms, counts = out.real[0], out.whole[0], out.whole[1], out.whole[2]
    # By way of NumPy: a literal would make the compiler do everything twice.
    most = int(np.int64(MAX_STATES))
    solved = exact_into(values[:n], prices[:n], rooms[:n], money, most, counts[:n]) == 0
    worth = 0.0
    for worker in range(n):
        worth += values[worker] * rooms[worker]
    if worth == 0.0:
        # Any plan is exact when all is worth nothing; an empty one would ask nobody.
        fill_by_density(values, prices, rooms, money, counts[:n], out.real[1])
    code = draw_from_plan(book, draw, available, out)
    if not solved:
        out.head[1] = _BEST_FOUND
    return code


@step
def absorb(book: Book, state: State, params: Params, fact: Fact, draw: Draw) -> None:
    """Keep sums and counts."""
    common.learn(book, state, fact)


@dataclass(frozen=True)
class _Kube(BoundedPolicy):
    bonus: float = 1.0
    raw_bonus: bool = False
    notes: ClassVar[tuple[str, ...]] = ("first try", "draw from the plan")
    rule: ClassVar[str] = (
        "each worker once; then plan the rest of the budget by upper confidence bounds and draw "
        "a worker in proportion to their share of the plan"
    )

    def __post_init__(self) -> None:
        real(self.bonus, "bonus", "a factor of 0 or more", least=0)
        flag(self.raw_bonus, "raw_bonus")

    def params(self) -> Params:
        """The factor."""
        return Params(float(self.bonus), int(self.raw_bonus))

    def indices(self, state: State, ledger: Ledger, draw: Draw) -> Indices:
        """Upper confidence bound per price; workers never asked come first."""
        low, high = ledger.problem.range
        factor = self.bonus / (high - low) if self.raw_bonus else self.bonus
        twice_log = 2.0 * math.log(ledger.total(c.ANSWERS) + 1.0)
        money = int(money_left(ledger.book.totals))
        for at in range(len(ledger.workers)):
            index, details = None, {"room": float(room(ledger.book, at, money))}
            seen = float(state.beliefs[at, COUNT])
            if seen > 0:
                bound = float(state.beliefs[at, SUM]) / seen + factor * math.sqrt(twice_log / seen)
                details["upper_bound"] = low + (high - low) * bound
                index = (bound - ledger.book.scale[c.ZERO]) / common.price_of(ledger, at)
            yield index, details


@policies.register("bounded-kube")
@dataclass(frozen=True)
class BoundedKube(_Kube, Cautions):
    """Draw the next worker from the best plan by upper confidence bounds, solved exactly.

    After each worker was asked once, every step plans the money left by an exact bounded
    knapsack over mean + bonus * sqrt(2 ln t / n) and asks a worker drawn in proportion to their
    count in that plan.

    Parameters
    ----------
    bonus : float
        Factor of the confidence term (1 in the paper; .1 to .25 earns more in practice).
    raw_bonus : bool
        Whether the confidence term is in units of the utility instead of units of its range.

    Assumes utilities from a fixed distribution per worker; needs a utility after each answer.

    Not for a dozen workers or more at prices with a tiny common divisor. A plan that takes more
    than 2^18 states (a quarter of a second without the compiler) is then not solved exactly but
    is the best one found, which is worth no less than the plan of ``simplified-bounded-kube``; the
    decision's note says so.

    References
    ----------
    Paper 003, section 6.2 (benchmark 5).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 2)],
    ...     outcome="utility",
    ...     budget=9,
    ...     policy="bounded-kube",
    ... )
    >>> campaign.ask()[0].worker
    'a'
    """

    kernels: ClassVar[Kernels] = Kernels(choose_exactly, absorb)
    notes: ClassVar[tuple[str, ...]] = (*_Kube.notes, "draw from the best plan found")

    def cautions(self, problem: Problem) -> list[str]:
        """Many workers at fine prices may have no plan that can be solved exactly in time."""
        prices = [worker.micro for worker in problem.workers]
        if len(prices) < _MANY:
            return []
        unit = math.gcd(*prices)
        if max(prices) // unit <= MAX_CELLS // len(prices):
            return []
        return [
            f"the prices of {len(prices)} workers have no larger common divisor than "
            f"{from_micro(unit)}: where an exact plan takes more than {MAX_STATES:,} states, "
            f"policy {self.name!r} draws from the best plan found and notes it; prices rounded to "
            "cents, say, are easier to plan for"
        ]


@policies.register("simplified-bounded-kube")
@dataclass(frozen=True)
class SimplifiedBoundedKube(_Kube):
    """Draw the next worker from the greedy plan by upper confidence bounds.

    Like ``bounded-kube``, but each step's knapsack is filled by density (bounded greedy).

    Parameters
    ----------
    bonus : float
        Factor of the confidence term (1 in the paper; .1 to .25 earns more in practice).
    raw_bonus : bool
        Whether the confidence term is in units of the utility instead of units of its range.

    Assumes utilities from a fixed distribution per worker; needs a utility after each answer.

    Not for small budgets: it goes on exploring for long.

    References
    ----------
    Paper 003, section 6.2 (benchmark 6).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 2)],
    ...     outcome="utility",
    ...     budget=9,
    ...     policy="simplified-bounded-kube",
    ... )
    >>> campaign.ask()[0].worker
    'a'
    """

    kernels: ClassVar[Kernels] = Kernels(choose_greedily, absorb)
