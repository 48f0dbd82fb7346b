"""Stop after a fixed number of answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from askwise.core.checks import whole
from askwise.kernels import Array, Draw, step
from askwise.ledger import Book
from askwise.ledger import columns as c
from askwise.stopping.base import CONFIDENT, GO_ON, no_option, stopping
from askwise.stopping.single import SingleCrowdRule, Votes, all_votes, name_leader


class Params(NamedTuple):
    """How many answers."""

    n: int


@step
def halts(votes: Votes, params: Params, draw: Draw, ruling: Array) -> int:
    """Count, then take the most frequent option."""
    return CONFIDENT if name_leader(votes, draw, ruling) >= params.n else GO_ON


@step
def judge(book: Book, params: Params, task: int, draw: Draw, ruling: Array) -> int:
    """Count answers, which a utility campaign has as well."""
    if no_option(book, ruling):
        return CONFIDENT if book.tasks[task, c.TASK_ANSWERED] >= params.n else GO_ON
    return halts(all_votes(book, task), params, draw, ruling)


@stopping.register("fixed")
@dataclass(frozen=True)
class Fixed(SingleCrowdRule):
    """Close a task after ``n`` answers, with the option most of them gave.

    Parameters
    ----------
    n : int
        How many answers a task gets. A tie is broken by a declared draw.
    horizon, cap
        As in ``gap``.

    Assumes nothing; works on utilities as well.

    Not for saving money: easy questions get as many answers as hard ones. It is the yardstick
    of paper 004, appendix C.

    References
    ----------
    Paper 004, appendix C (the non-adaptive rule).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 1)],
    ...     tasks=["t"],
    ...     options=["no", "yes"],
    ...     budget=9,
    ...     policy="uniform",
    ...     stopping={"name": "fixed", "n": 1},
    ... )
    >>> campaign.tell(campaign.ask()[0].id, "yes")
    >>> campaign.answers()[0].value, campaign.ask()
    ('yes', Done(why='tasks'))
    """

    n: int = 3
    outcomes: ClassVar[tuple[str, ...]] = ("utility", "options")
    paper: ClassVar[str] = "004"
    promise: ClassVar[str] = "Trades error for cost by its number; guarantees no error."
    dial: ClassVar[str] = "n"
    version: ClassVar[int] = 2
    single: ClassVar = halts
    kernel: ClassVar = judge

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.n, "n", least=1)

    def params(self) -> Params:
        """As plain numbers."""
        return Params(self.n)
