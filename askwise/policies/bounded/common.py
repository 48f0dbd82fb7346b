"""What the policies of the bounded family share: beliefs, uniform exploration, plans.

Paper 003: L. Tran-Thanh, S. Stein, A. Rogers, N. R. Jennings, "Efficient crowdsourcing of
unknown experts using bounded multi-armed bandits", Artificial Intelligence 214 (2014).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from askwise.core.checks import real
from askwise.core.errors import InvalidProblem
from askwise.core.money import MICRO, SHARE_UNIT
from askwise.core.problem import Problem, Worker
from askwise.core.records import by_reference
from askwise.kernels import Array, Draw, Fact, kernel, step
from askwise.kernels.knapsack import greedy_into
from askwise.kernels.knapsack.ordering import ascending
from askwise.ledger import Book, Ledger, Proposal, has_task, idle, money_left, propose, room
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.ledger.queries import at_limit, part_of, scaled
from askwise.policies.base import Axes, KernelPolicy
from askwise.policies.capabilities import Explains, Score

PAPER = "003"


# Columns of `beliefs` (one row per worker): answers seen, their sum and sum of squares on the
# scale 0 to 1 of the range (what they are worth counts from zero: see `worth`), and whether the
# worker was rejected during exploration.
COUNT, SUM, SQUARES, REJECTED = range(4)

# Cells of `phase`: which stage it is, the step inside it, the one worker all work goes to
# (their index + 1), and what exploration left over.
STAGE, STEP, CHOSEN, SAVED = range(4)

# Stages: whole rounds, passes from the cheapest up, exploitation. A decision's note is the
# stage it belongs to, or PHASE for a phase of Successive Rejects.
ROUNDS, PASSES, EXPLOIT, PHASE = range(4)


PATIENCE = 8
"""Answers seen of a worker for each further unit that an index policy asks for at a time."""

Indices = Iterable[tuple[float | None, dict[str, float]]]
"""For each worker an index and what else to say about them."""


@by_reference
class State(NamedTuple):
    """Beliefs of the bounded family."""

    beliefs: Array
    phase: Array


@dataclass(frozen=True)
class BoundedPolicy(KernelPolicy, Explains):
    """Base of the family: utility campaigns, prices above zero."""

    paper: ClassVar[str] = PAPER
    axes: ClassVar[Axes] = {"worker": "beliefs"}

    def check_worker(self, worker: Worker) -> None:
        """Densities (utility per price) need prices above zero."""
        if worker.micro == 0:
            raise InvalidProblem(
                f"price of worker {worker.id!r} is 0: policy {self.name!r} divides a budget by "
                "prices and needs prices above 0",
                field="price",
            )

    def start(self, problem: Problem, ledger: Ledger) -> State:
        """No answers seen, exploration not begun."""
        return State(np.zeros((len(ledger.book.workers), 4)), np.zeros(4, np.int64))

    def indices(self, state: State, ledger: Ledger, draw: Draw) -> Indices:
        """What it ranks each worker by, utility per price, and details that only it knows."""
        for at in range(len(ledger.workers)):
            price = price_of(ledger, at)
            yield (float(worth(ledger.book, state.beliefs, at)) / price if price else None), {}

    def scores(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw, available: Array
    ) -> list[Score]:
        """What was seen of each worker, their price, and the index."""
        low, high = problem.range
        found = []
        for at, (index, more) in enumerate(self.indices(state, ledger, draw)):
            count, estimate = float(state.beliefs[at, COUNT]), float(mean(state.beliefs, at))
            details = {
                "answers": count,
                "mean": low + (high - low) * estimate if count > 0 else float("nan"),
                "price": price_of(ledger, at),
                **more,
            }
            found.append(Score(ledger.workers[at].id, index, details))
        return found


class ScreeningParams(NamedTuple):
    """Share of the budget for screening; discount of old answers."""

    screen: int
    discount: float


@dataclass(frozen=True)
class ScreeningPolicy(BoundedPolicy):
    """Base of those that first try workers out with a share of the budget."""

    screen: float = 0.10
    discount: float = 1.0
    paper: ClassVar[str] = "beyond 003"

    def __post_init__(self) -> None:
        share_of(self.screen, "screen")
        check_discount(self.discount)

    def params(self) -> tuple[float, ...]:
        """As plain numbers."""
        return ScreeningParams(share_of(self.screen, "screen"), float(self.discount))


def price_of(ledger: Ledger, worker: int) -> float:
    """What an answer costs, in units of money."""
    return int(ledger.book.workers[worker, c.PRICE]) / MICRO


def share_of(value: float, field: str) -> int:
    """Read a share of the budget (0 to 1) as thousand-millionths."""
    return round(real(value, field, "a share from 0 to 1", least=0, most=1) * SHARE_UNIT)


def check_discount(discount: float) -> None:
    """Refuse a discount that is not a factor."""
    real(discount, "discount", "a factor above 0 and at most 1", least=1e-9, most=1)


@kernel
def share_of_budget(book: Book, share: int) -> int:
    """floor(share * B), exactly."""
    return part_of(book.totals[c.BUDGET], share)


@step
def learn(book: Book, state: State, fact: Fact) -> None:
    """Add an answer to what is known of its worker."""
    if fact.kind == k.ANSWER:
        value = scaled(book.scale, fact.value)
        beliefs, worker = state.beliefs, fact.worker
        beliefs[worker, COUNT] += 1.0
        beliefs[worker, SUM] += value
        beliefs[worker, SQUARES] += value * value


@step
def learn_fading(book: Book, state: State, params: Any, fact: Fact, draw: Draw) -> None:
    """Let every earlier answer count less by ``params.discount``, then add what is new."""
    if fact.kind == k.ANSWER and params.discount < 1.0:
        for worker in range(book.totals[c.WORKERS]):
            for column in range(REJECTED):
                state.beliefs[worker, column] *= params.discount
    learn(book, state, fact)


@step
def mean(beliefs: Array, worker: int) -> float:
    """Estimate of a worker's utility; 0 for the unexplored, who so are used last."""
    count = beliefs[worker, COUNT]
    return beliefs[worker, SUM] / count if count > 0.0 else 0.0


@step
def worth(book: Book, beliefs: Array, worker: int) -> float:
    """How far a worker's utility is estimated to be above zero, in units of the range.

    Eq. (8) takes utilities as they are: they count from zero, wherever the range begins. The
    unexplored are estimated at 0 and so are used last; those below it are not used at all.
    """
    if beliefs[worker, COUNT] == 0.0:
        return 0.0
    return mean(beliefs, worker) - book.scale[c.ZERO]


@kernel
def anyone_fits(book: Book) -> bool:
    """Whether the money left would buy anything at all."""
    money = money_left(book.totals)
    for worker in range(book.totals[c.WORKERS]):
        if room(book, worker, money) > 0:
            return True
    return False


@kernel
def at_end(book: Book, available: Array) -> int:
    """Why nobody is asked now: as ``idle`` says, or because nobody is worth anything.

    For policies that leave out those below zero: what they would have asked was proposed before.
    """
    code = idle(book, available)
    if code != c.WAIT_WORKERS or not anyone_fits(book):
        return code
    money = money_left(book.totals)
    for worker in range(book.totals[c.WORKERS]):
        if available[worker] == 0 and room(book, worker, money) > 0:
            return code
    return c.WAIT_ANSWERS if book.totals[c.PENDING] > 0 else c.DONE_WORTHLESS


@kernel
def exploration_left(book: Book, share: int) -> int:
    """What exploration may still commit: during exploration all that was spent was its own."""
    return share_of_budget(book, share) - book.totals[c.SPENT] - book.totals[c.HELD]


@kernel
def allowance_for(book: Book, share: int) -> int:
    """What exploration may still commit of the money that is there."""
    return min(exploration_left(book, share), money_left(book.totals))


@kernel
def propose_round(book: Book, beliefs: Array, allowance: int, out: Proposal) -> bool:
    """Propose one unit to everyone still in the race, if all of it fits in the allowance."""
    workers = book.workers
    cost = 0
    for worker in range(book.totals[c.WORKERS]):
        if beliefs[worker, REJECTED] == 0.0 and room(book, worker, allowance) > 0:
            cost += workers[worker, c.PRICE]
        elif beliefs[worker, REJECTED] == 0.0 and _only_money_lacks(book, worker):
            return False
    if cost == 0 or cost > allowance:
        return False
    for worker in range(book.totals[c.WORKERS]):
        if beliefs[worker, REJECTED] == 0.0 and room(book, worker, allowance) > 0:
            propose(out, -1, worker, 1, 1.0)
    return True


@kernel
def _only_money_lacks(book: Book, worker: int) -> bool:
    """Whether a worker would be asked at a lower price."""
    return room(book, worker, book.totals[c.BUDGET]) > 0


@kernel
def cheapest_first(book: Book, out: Proposal) -> Array:
    """Indices of all workers by price, ties by index."""
    count = book.totals[c.WORKERS]
    prices = out.whole[0]
    for worker in range(count):
        prices[worker] = book.workers[worker, c.PRICE]
    return ascending(prices[:count])


@kernel
def propose_pass(book: Book, beliefs: Array, allowance: int, out: Proposal) -> bool:
    """Propose a pass from the cheapest up, one unit each, ending at the first that won't fit."""
    for worker in cheapest_first(book, out):
        if beliefs[worker, REJECTED] != 0.0 or not _only_money_lacks(book, worker):
            continue
        price = book.workers[worker, c.PRICE]
        if price > allowance:
            break
        allowance -= price
        propose(out, -1, worker, 1, 1.0)
    return bool(out.head[0] > 0)


@kernel
def explore_uniformly(book: Book, state: State, share: int, out: Proposal) -> bool:
    """Section 4.1: whole rounds while they fit in the share, then passes until nobody fits."""
    return explore_within(book, state, state.beliefs, allowance_for(book, share), out)


@kernel
def explore_within(book: Book, state: State, beliefs: Array, allowance: int, out: Proposal) -> bool:
    """Propose the next round or pass that an allowance has room for."""
    if state.phase[STAGE] == ROUNDS and propose_round(book, beliefs, allowance, out):
        out.head[1] = ROUNDS
        return True
    out.head[1] = PASSES
    return propose_pass(book, beliefs, allowance, out)


@kernel
def propose_by_density(book: Book, beliefs: Array, capacity: int, out: Proposal) -> bool:
    """Section 4.2: the bounded greedy plan of what is left, densest worker first."""
    count = book.totals[c.WORKERS]
    values, minus_density = out.real[0], out.real[1]
    prices, rooms, counts = out.whole[0], out.whole[1], out.whole[2]
    for worker in range(count):
        values[worker] = worth(book, beliefs, worker)
        prices[worker] = book.workers[worker, c.PRICE]
        rooms[worker] = room(book, worker, capacity) if values[worker] >= 0.0 else 0
        minus_density[worker] = -values[worker] / prices[worker]
    greedy_into(values[:count], prices[:count], rooms[:count], capacity, counts[:count])
    for worker in ascending(minus_density[:count]):
        if counts[worker] > 0:
            propose(out, -1, worker, counts[worker], 1.0)
    out.head[1] = EXPLOIT
    return bool(out.head[0] > 0)


@kernel
def best_worker(book: Book, beliefs: Array, by_total: bool) -> int:
    """Who promises most, per price or in all that they can still do; ties by index, -1: nobody."""
    money = money_left(book.totals)
    best = -1
    highest = -1.0
    for worker in range(book.totals[c.WORKERS]):
        units = room(book, worker, money)
        if units > 0:
            promise = worth(book, beliefs, worker)
            if promise < 0.0:
                continue
            promise = promise * units if by_total else promise / book.workers[worker, c.PRICE]
            if promise > highest:
                best, highest = worker, promise
    return best


@kernel
def propose_densest(
    book: Book,
    beliefs: Array,
    densities: Array,
    least: float,
    available: Array,
    patience: int,
    odds: float,
    out: Proposal,
) -> bool:
    """Propose the densest who can be asked, if somebody has at least ``least``; ties by index.

    One unit, and one more for every ``patience`` answers that were seen of them (0: never more).
    """
    money = money_left(book.totals)
    best, highest = -1, -math.inf
    for worker in range(book.totals[c.WORKERS]):
        density = densities[worker]
        if (
            available[worker] == 1
            and density >= least
            and density > highest
            and room(book, worker, money) > 0
        ):
            best, highest = worker, density
    if best < 0:
        return False
    units = max(1, int(beliefs[best, COUNT]) // patience) if patience > 0 else 1
    propose(out, -1, best, min(units, room(book, best, money)), odds)
    return True


@kernel
def give_all_to(book: Book, worker: int, out: Proposal) -> bool:
    """Propose as much work for one worker as limit and the money allow."""
    units = room(book, worker, money_left(book.totals))
    if units <= 0:
        return False
    propose(out, -1, worker, units, 1.0)
    out.head[1] = EXPLOIT
    return True


NOBODY = 1


@kernel
def go_on_with_the_one(book: Book, state: State, out: Proposal) -> int:
    """Give all further work to the one settled on; NOBODY before that, or if they left."""
    chosen = state.phase[CHOSEN] - 1
    if chosen < 0 or book.workers[chosen, c.JOINED] == 0:
        return NOBODY
    if give_all_to(book, chosen, out):
        return c.PROPOSED
    return after_the_one(book, chosen)


@kernel
def after_the_one(book: Book, worker: int) -> int:
    """Why a policy that gives all work to one worker has come to its end."""
    if book.totals[c.PENDING] > 0:
        return c.WAIT_ANSWERS
    if at_limit(book, worker):
        return c.DONE_LIMITS
    return c.DONE_BUDGET if has_task(book, worker) else c.DONE_TASKS


@step
def keep_stage(book: Book, state: State, fact: Fact) -> None:
    """Remember the stage that a decision belongs to, and whom exploitation settled on."""
    if fact.kind != k.DECIDED:
        return
    state.phase[STAGE] = max(state.phase[STAGE], fact.note)
    if fact.note == EXPLOIT:
        state.phase[CHOSEN] = book.plan[0, 1] + 1
