"""Rules that count votes: a number of answers, a lead, a quorum."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from askwise.core.checks import real, whole
from askwise.core.errors import InvalidParameter
from askwise.kernels import Array, Draw, step
from askwise.kernels.votes import exceeds
from askwise.ledger import Book
from askwise.ledger import columns as c
from askwise.ledger.queries import may_come
from askwise.stopping import base
from askwise.stopping.base import CONFIDENT, GO_ON, LOW_CONFIDENCE, OPTION, stopping
from askwise.stopping.single import SingleCrowdRule, Votes, all_votes, lead_of, name_leader


@step
def enough(votes: Votes, n: int, draw: Draw, ruling: Array) -> int:
    """Count, then take the most frequent option."""
    return CONFIDENT if name_leader(votes, draw, ruling) >= n else GO_ON


@step
def enough_of_all(book: Book, n: int, task: int, draw: Draw, ruling: Array) -> int:
    """Count answers, which a utility campaign has as well."""
    if base.no_option(book, ruling):
        return CONFIDENT if book.tasks[task, c.TASK_ANSWERED] >= n else GO_ON
    return enough(all_votes(book, task), n, draw, ruling)


@stopping.register("fixed")
@dataclass(frozen=True)
class Fixed(SingleCrowdRule):
    """Close a task after ``n`` answers, with the option that most of them name.

    Parameters
    ----------
    n : int
        Number of answers per task. A declared draw breaks ties.
    horizon, cap
        As in ``gap``.

    Assumes nothing; works on utilities as well. Every answer counts one, whatever the workers'
    families.

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
    single: ClassVar = enough
    kernel: ClassVar = enough_of_all

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.n, "n", least=1)

    def params(self) -> int:
        """As plain numbers."""
        return self.n


@step
def ahead(votes: Votes, least: float, draw: Draw, ruling: Array) -> int:
    """Compare the lead with a number; one between two whole numbers is rounded at random."""
    name_leader(votes, draw, ruling)
    # At least this many is more than one less.
    lead, term = lead_of(votes), least - 1.0
    return CONFIDENT if exceeds(lead, term, True, draw, 2 * votes.source) else GO_ON


@stopping.register("lead")
@dataclass(frozen=True)
class Lead(SingleCrowdRule):
    """Stop when the first option leads the second by a number of votes.

    The sequential test of two simple hypotheses, without their probabilities: if every answer
    is right with the same known probability, no rule of the same error asks less on average.

    Parameters
    ----------
    lead : float
        Lead in votes. A lead that is not a whole number is rounded at random at each answer, up
        with the probability of its fractional part.
    horizon, cap
        As in ``gap``.

    Assumes independent answers, right about equally often on all questions. It counts votes, one
    each, whatever the workers' families: where they err together a lead says less (``e-process``
    and ``posterior`` take families into account).

    Not where questions differ much in difficulty and the error must be limited on the hard ones.

    References
    ----------
    Beyond paper 004, whose section 6 asks for rules better than the composite.
    A. Wald, "Sequential tests of statistical hypotheses", 1945.

    Examples
    --------
    >>> from askwise.stopping import stopping
    >>> stopping.make({"name": "lead", "lead": 3})
    Lead(horizon=None, cap=None, lead=3)
    """

    lead: float = 3.0
    paper: ClassVar[str] = "beyond 004"
    promise: ClassVar[str] = (
        "Trades error for cost by its lead; guarantees no error. If every answer to a question of "
        "two options is right with probability p, a whole lead errs with probability at most ((1 - "
        "p) / p)^lead, which is unknown because p is."
    )
    dial: ClassVar[str] = "lead"
    single: ClassVar = ahead

    def __post_init__(self) -> None:
        super().__post_init__()
        real(self.lead, "lead", "a number from 1 to a million", least=1, most=1e6)

    def params(self) -> float:
        """As plain numbers."""
        return float(self.lead)


class Params(NamedTuple):
    """Votes needed, out of at most this many answers."""

    quorum: int
    of: int


@step
def agreed(votes: Votes, params: Params, draw: Draw, ruling: Array) -> int:
    """Compare the leader's votes with the quorum, now and if all further answers were for it."""
    answers = name_leader(votes, draw, ruling)
    reached = votes.table[votes.row, votes.first + int(ruling[OPTION])]
    if reached >= params.quorum:
        return CONFIDENT
    return LOW_CONFIDENCE if reached + params.of - answers < params.quorum else GO_ON


@step
def agreed_of_all(book: Book, params: Params, task: int, draw: Draw, ruling: Array) -> int:
    """Also count who is left to be asked, where no crowd can be asked again."""
    totals, workers = book.totals, book.workers
    code = agreed(all_votes(book, task), params, draw, ruling)
    if code != GO_ON or (totals[c.REPEAT] == 1 and totals[c.ASKED_ONCE] == 0):
        return code
    more = book.tasks[task, c.TASK_ASKED] - book.tasks[task, c.TASK_ANSWERED]
    for worker in range(totals[c.WORKERS]):
        if may_come(book, task, worker):
            if workers[worker, c.ONCE] == 0:
                return code
            more += 1
    reachable = book.votes[task, int(ruling[OPTION])] + more
    return LOW_CONFIDENCE if reachable < params.quorum else GO_ON


@stopping.register("quorum")
@dataclass(frozen=True)
class Quorum(SingleCrowdRule):
    """Stop when an option has ``quorum`` votes, or when none can reach them.

    Parameters
    ----------
    quorum : int
        Number of votes that an option needs.
    of : int
        Maximum number of answers per question. It ends ``low_confidence`` when more votes are
        missing than answers are left (of these, or of workers not asked yet).
    horizon, cap
        As in ``gap``.

    Assumes nothing. Every answer counts one, whatever the workers' families: a family that errs
    together may be a quorum.

    Not for saving money on easy questions with a large quorum: it asks at least this many times.

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
    single: ClassVar = agreed
    kernel: ClassVar = agreed_of_all

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
