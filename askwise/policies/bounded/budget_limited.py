"""Budget-limited epsilon-first: explore, then everything to one worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from askwise.core.arrays import Array
from askwise.core.compiling import kernel, step
from askwise.core.draws import Draw
from askwise.core.events import Fact
from askwise.ledger import columns as c
from askwise.ledger.columns import Book
from askwise.ledger.proposals import Proposal
from askwise.ledger.queries import idle, money_left, room
from askwise.policies.base import Kernels, policies
from askwise.policies.bounded.common import (
    EXPLOIT,
    NOBODY,
    STAGE,
    BoundedPolicy,
    State,
    explore_uniformly,
    give_all_to,
    go_on_with_the_one,
    keep_stage,
    learn,
    mean,
    share_of,
)
from askwise.policies.capabilities import PlansForAll


class Params(NamedTuple):
    """Share of the budget for exploration."""

    share: int


@kernel
def choose(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Explore uniformly; then the worker who promises the largest total, to the end."""
    code = go_on_with_the_one(book, state, out)
    if code != NOBODY:
        return code
    if state.phase[STAGE] < EXPLOIT and explore_uniformly(book, state, params.share, out):
        return c.PROPOSED
    if book.totals[c.PENDING] > 0:
        return c.WAIT_ANSWERS
    best = -1
    best_total = -1.0
    money = money_left(book.totals)
    for worker in range(book.totals[c.WORKERS]):
        units = room(book, worker, money)
        total = mean(state.beliefs, worker) * units
        if units > 0 and total > best_total:
            best, best_total = worker, total
    if best >= 0 and give_all_to(book, best, out):
        return c.PROPOSED
    return idle(book, available)


@step
def absorb(book: Book, state: State, params: Params, fact: Fact, draw: Draw) -> None:
    """Add up what exploration showed."""
    learn(book, state, fact)
    keep_stage(book, state, fact)


@policies.register("budget-limited-epsilon-first")
@dataclass(frozen=True)
class BudgetLimitedEpsilonFirst(BoundedPolicy, PlansForAll):
    """Explore with a share of the budget, then give the rest to the single best worker.

    Best is the largest total that his limit and the money left allow: estimated utility
    times min(limit left, money left / price). When he can take no more, the campaign ends.

    Parameters
    ----------
    epsilon : float
        Share of the budget for uniform exploration, taken to nine decimals.

    Assumes utilities from a fixed distribution per worker; needs a utility after each answer.

    Not for workers with limits: it is the budget-limited bandit's answer, the rival that the
    bounded one improves on.

    References
    ----------
    Paper 003, section 6.2 (benchmark 1).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1, limit=3), Worker("b", 2)],
    ...     outcome="utility",
    ...     budget=30,
    ...     policy="budget-limited-epsilon-first",
    ... )
    >>> [each.worker for each in campaign.ask(limit=9)]
    ['a', 'b']
    """

    epsilon: float = 0.10
    notes: ClassVar[tuple[str, ...]] = ("explore: round", "explore: pass", "all to one")
    rule: ClassVar[str] = (
        "explore everyone with a share of the budget, then all work to the largest estimated total"
    )
    kernels: ClassVar[Kernels] = Kernels(choose, absorb)

    def __post_init__(self) -> None:
        share_of(self.epsilon, "epsilon")

    def params(self) -> Params:
        """The share in exact parts."""
        return Params(share_of(self.epsilon, "epsilon"))
