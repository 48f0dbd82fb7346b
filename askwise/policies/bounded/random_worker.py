"""One worker drawn at random gets all the work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from askwise.core.arrays import Array
from askwise.core.compiling import kernel, step
from askwise.core.draws import Draw, uniform
from askwise.core.events import Fact
from askwise.ledger import columns as c
from askwise.ledger.columns import Book
from askwise.ledger.proposals import Proposal
from askwise.ledger.queries import idle, money_left, room
from askwise.policies.base import Kernels, policies
from askwise.policies.bounded.common import (
    NOBODY,
    BoundedPolicy,
    State,
    give_all_to,
    go_on_with_the_one,
    keep_stage,
)
from askwise.policies.capabilities import PlansForAll


class Params(NamedTuple):
    """Nothing to set."""

    none: int


@kernel
def choose(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Draw once; then the same worker to the end."""
    code = go_on_with_the_one(book, state, out)
    if code != NOBODY:
        return code
    money = money_left(book.totals)
    able = 0
    for worker in range(book.totals[c.WORKERS]):
        able += room(book, worker, money) > 0
    if able == 0:
        return idle(book, available)
    pick = min(int(uniform(draw, 0) * able), able - 1)
    for worker in range(book.totals[c.WORKERS]):
        if room(book, worker, money) > 0:
            if pick == 0:
                give_all_to(book, worker, out)
                out.odds[0] = 1.0 / able
                break
            pick -= 1
    return c.PROPOSED


@step
def absorb(book: Book, state: State, params: Params, fact: Fact, draw: Draw) -> None:
    """Remember who was drawn."""
    keep_stage(book, state, fact)


@policies.register("random")
@dataclass(frozen=True)
class RandomWorker(BoundedPolicy, PlansForAll):
    """Draw one worker uniformly and give him all the work he can take; then stop.

    Assumes nothing about quality and learns nothing, so it also works on tasks with options.

    Not for saving money: it is how an employer without information picks an applicant, the
    benchmark of 003, section 6.2.

    References
    ----------
    Paper 003, section 6.2 (benchmark 3).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 1)],
    ...     seed=1,
    ...     outcome="utility",
    ...     budget=3,
    ...     policy="random",
    ... )
    >>> batch = campaign.ask(limit=9)
    >>> len(batch), len({each.worker for each in batch}), batch[0].propensity
    (3, 1, 0.5)
    """

    outcomes: ClassVar[tuple[str, ...]] = ("utility", "options")
    notes: ClassVar[tuple[str, ...]] = ("none", "none", "all to one")
    rule: ClassVar[str] = "one worker, drawn uniformly, gets all the work"
    kernels: ClassVar[Kernels] = Kernels(choose, absorb)

    def params(self) -> Params:
        """Nothing to set."""
        return Params(0)
