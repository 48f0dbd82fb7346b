"""Uniform task assignment: pure exploration with the whole budget."""

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
from askwise.ledger.queries import idle
from askwise.policies.base import Kernels, policies
from askwise.policies.bounded.common import (
    SHARE_UNIT,
    BoundedPolicy,
    State,
    explore_uniformly,
    keep_stage,
)
from askwise.policies.capabilities import PlansForAll


class Params(NamedTuple):
    """Nothing to set."""

    share: int


@kernel
def choose(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Explore with a share of one."""
    if explore_uniformly(book, state, params.share, out):
        return c.PROPOSED
    return idle(book, available)


@step
def absorb(book: Book, state: State, params: Params, fact: Fact, draw: Draw) -> None:
    """Answers teach nothing here."""
    keep_stage(book, state, fact)


@policies.register("uniform")
@dataclass(frozen=True)
class Uniform(BoundedPolicy, PlansForAll):
    """Ask everyone equally often until the budget is used up.

    Whole rounds of all workers while a round fits, then passes from the cheapest worker up.

    Assumes nothing about quality and learns nothing, so it also works on tasks with options.

    Not for saving money: it is the yardstick for pure exploration (003, section 6.2).

    References
    ----------
    Paper 003, sections 4.1 and 6.2 (benchmark 4).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 2)], outcome="utility", budget=7, policy="uniform"
    ... )
    >>> [each.worker for each in campaign.ask(limit=9)]
    ['a', 'b', 'a', 'b', 'a']
    """

    outcomes: ClassVar[tuple[str, ...]] = ("utility", "options")
    needs_budget: ClassVar[bool] = False
    notes: ClassVar[tuple[str, ...]] = ("round", "pass")
    rule: ClassVar[str] = (
        "one unit to every worker in each round; when a round no longer fits, from the cheapest up"
    )
    kernels: ClassVar[Kernels] = Kernels(choose, absorb)

    def params(self) -> Params:
        """The whole budget is for exploration."""
        return Params(SHARE_UNIT)
