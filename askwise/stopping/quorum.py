"""Stop when an option has enough votes, or when none can get them any more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from askwise.core.checks import whole
from askwise.core.errors import InvalidParameter
from askwise.kernels import Array, Draw, step
from askwise.ledger import Book
from askwise.ledger import columns as c
from askwise.stopping.base import CONFIDENT, GO_ON, LOW_CONFIDENCE, OPTION, may_come, stopping
from askwise.stopping.single import SingleCrowdRule, Votes, all_votes, name_leader


class Params(NamedTuple):
    """Votes needed, out of at most so many answers."""

    quorum: int
    of: int


@step
def halts(votes: Votes, params: Params, draw: Draw, ruling: Array) -> int:
    """Compare the leader's votes with the quorum, now and if all further answers were for it."""
    answers = name_leader(votes, draw, ruling)
    reached = votes.table[votes.row, votes.first + int(ruling[OPTION])]
    if reached >= params.quorum:
        return CONFIDENT
    return LOW_CONFIDENCE if reached + params.of - answers < params.quorum else GO_ON


@step
def judge(book: Book, params: Params, task: int, draw: Draw, ruling: Array) -> int:
    """Also count who is left to be asked, where nobody is asked twice."""
    code = halts(all_votes(book, task), params, draw, ruling)
    if code != GO_ON or book.totals[c.REPEAT] == 1:
        return code
    more = book.tasks[task, c.TASK_ASKED] - book.tasks[task, c.TASK_ANSWERED]
    for worker in range(book.totals[c.WORKERS]):
        more += 1 if may_come(book, task, worker) else 0
    reachable = book.votes[task, int(ruling[OPTION])] + more
    return LOW_CONFIDENCE if reachable < params.quorum else GO_ON


@stopping.register("quorum")
@dataclass(frozen=True)
class Quorum(SingleCrowdRule):
    """Stop when an option has ``quorum`` votes, or when none can reach them any more.

    Parameters
    ----------
    quorum : int
        Votes that an option needs.
    of : int
        The most answers a question gets. When the votes still missing are more than the answers
        left (of these, or of workers not asked yet), it ends ``low_confidence``.
    horizon, cap
        As in ``gap``.

    Assumes nothing.

    Not for saving money on easy questions with a large quorum: it asks at least so many times.

    References
    ----------
    Common practice on crowdsourcing platforms; for comparison with paper 004's rules.

    Examples
    --------
    >>> from askwise.stopping import stopping
    >>> stopping.make({"name": "quorum", "quorum": 3, "of": 5}).of
    5
    """

    quorum: int = 3
    of: int = 5
    paper: ClassVar[str] = "practice"
    promise: ClassVar[str] = "Trades error for cost by its quorum; guarantees no error."
    dial: ClassVar[str] = "quorum"
    single: ClassVar = halts
    kernel: ClassVar = judge

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.quorum, "quorum", least=1)
        whole(self.of, "of", least=1)
        if self.of < self.quorum:
            raise InvalidParameter(
                f"of is {self.of}: a quorum of {self.quorum} needs at least as many answers",
                field="of",
            )

    def params(self) -> Params:
        """As plain numbers."""
        return Params(self.quorum, self.of)
