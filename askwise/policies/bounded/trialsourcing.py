"""Trialsourcing: one unit each on trial, then all the rest to the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from askwise.core.arrays import Array
from askwise.core.compiling import kernel, step
from askwise.core.draws import Draw
from askwise.core.events import Fact
from askwise.ledger import columns as c
from askwise.ledger.columns import Book
from askwise.ledger.proposals import Proposal, propose
from askwise.ledger.queries import idle, money_left, room
from askwise.policies.base import Kernels, policies
from askwise.policies.bounded.common import (
    COUNT,
    NOBODY,
    PASSES,
    BoundedPolicy,
    State,
    cheapest_first,
    give_all_to,
    go_on_with_the_one,
    keep_stage,
    learn,
    mean,
)
from askwise.policies.capabilities import PlansForAll


class Params(NamedTuple):
    """Nothing to set."""

    none: int


@kernel
def choose(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Trials first, cheapest up; then the best density to his limit."""
    code = go_on_with_the_one(book, state, out)
    if code != NOBODY:
        return code
    # Also when the one worker has left: newcomers get their trial.
    if propose_trials(book, out):
        return c.PROPOSED
    if book.totals[c.PENDING] > 0:
        return c.WAIT_ANSWERS
    best = -1
    best_density = -1.0
    money = money_left(book.totals)
    for worker in range(book.totals[c.WORKERS]):
        if state.beliefs[worker, COUNT] > 0.0 and room(book, worker, money) > 0:
            density = mean(state.beliefs, worker) / book.workers[worker, c.PRICE]
            if density > best_density:
                best, best_density = worker, density
    if best >= 0 and give_all_to(book, best, out):
        return c.PROPOSED
    return idle(book, available)


@kernel
def propose_trials(book: Book, out: Proposal) -> bool:
    """One unit to everyone who had none yet, from the cheapest up while there is money."""
    money = money_left(book.totals)
    for worker in cheapest_first(book, out):
        price = book.workers[worker, c.PRICE]
        if book.workers[worker, c.ASKED] == 0 and room(book, worker, money) > 0:
            propose(out, -1, worker, 1, 1.0)
            money -= price
    out.head[1] = PASSES
    return bool(out.head[0] > 0)


@step
def absorb(book: Book, state: State, params: Params, fact: Fact, draw: Draw) -> None:
    """Add up what the trials showed."""
    learn(book, state, fact)
    keep_stage(book, state, fact)


@policies.register("trialsourcing")
@dataclass(frozen=True)
class Trialsourcing(BoundedPolicy, PlansForAll):
    """One unit of work each on trial, then everything to the best utility per price.

    The trials go from the cheapest worker up while there is money; the worker with the best
    observed density then works to his limit, and the campaign ends, money left or not.

    Assumes that a single sample tells a worker's quality. Needs a utility after each answer.

    Not for campaigns in which the best worker's limit is far below the budget.

    References
    ----------
    Paper 003, section 6.2 (benchmark 2); an existing practice on expert sites.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1, limit=3), Worker("b", 2)],
    ...     outcome="utility",
    ...     budget=9,
    ...     policy="trialsourcing",
    ... )
    >>> [each.worker for each in campaign.ask(limit=9)]
    ['a', 'b']
    """

    notes: ClassVar[tuple[str, ...]] = ("none", "trial", "all to one")
    rule: ClassVar[str] = "one trial each, then all work to the best observed utility per price"
    kernels: ClassVar[Kernels] = Kernels(choose, absorb)

    def params(self) -> Params:
        """Nothing to set."""
        return Params(0)
