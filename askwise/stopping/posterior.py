"""Stop when, by Bayes over the crowds' unknown quality, an error is improbable enough."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from askwise.core.checks import between, whole
from askwise.core.errors import InvalidParameter
from askwise.core.problem import Problem
from askwise.core.registry import LATER
from askwise.kernels import Array, Draw, step
from askwise.kernels.calibration import family_share
from askwise.kernels.votes import answers_in
from askwise.ledger import Book, Ledger
from askwise.ledger import columns as c
from askwise.stopping import ranges, records
from askwise.stopping.base import CONFIDENT, GO_ON, SCRATCH, name_likeliest, stopping
from askwise.stopping.evidence import log_evidence
from askwise.stopping.families import any_family, family_of, share_in_task
from askwise.stopping.single import TOTAL, SingleCrowdRule, Votes, votes_of

MOST_LEARNED = 1_000
"""The most answers that a record may count for: what judging takes grows with them."""


@step
def add_evidence(votes: Votes, share: float, ruling: Array) -> None:
    """Add what one source says for each option to the scratch cells; its answers count a share."""
    table, row, first, options, _ = votes
    answers = answers_in(table, row, first, options)
    for option in range(options):
        a = table[row, first + option]
        ruling[SCRATCH + option] += share * log_evidence(a, answers - a, options)


@step
def clear(options: int, ruling: Array) -> None:
    """Begin with equal odds."""
    for option in range(options):
        ruling[SCRATCH + option] = 0.0


@step
def judge_votes(votes: Votes, share: float, most: float, draw: Draw, ruling: Array) -> int:
    """Judge one source whose answers count a share of independent ones."""
    clear(votes.options, ruling)
    add_evidence(votes, share, ruling)
    error = name_likeliest(votes.options, draw, votes.source, ruling)
    return CONFIDENT if error <= most else GO_ON


@step
def halts(votes: Votes, most: float, draw: Draw, ruling: Array) -> int:
    """Judge one source."""
    return judge_votes(votes, 1.0, most, draw, ruling)


@step
def mean_share(book: Book, task: int) -> float:
    """What an answer to a task counts on average, all taken as one crowd."""
    cells = book.cells
    count, answers = 0.0, 0
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        given = cells[cell, c.CELL_ANSWERS]
        if given > 0:
            count += given * share_in_task(book, task, cell)
            answers += given
        cell = cells[cell, c.NEXT_CELL]
    return count / answers


@step
def halts_shared(book: Book, most: float, task: int, cell: int, draw: Draw, ruling: Array) -> int:
    """Judge one source with regard to families; ``cell`` as in ``votes_of``."""
    share = 1.0
    if cell < 0:
        share = mean_share(book, task) if any_family(book, task) else 1.0
    elif family_of(book, cell) >= 0:
        share = family_share(book.cells[cell, c.CELL_ANSWERS])
    return judge_votes(votes_of(book, task, cell), share, most, draw, ruling)


@step
def weigh_crowds(book: Book, task: int, draw: Draw, ruling: Array) -> float:
    """Multiply what each crowd says, each with a quality of its own; returns that of an error.

    What the crowds of a family say is multiplied as well, and raised to what their answers count.
    """
    cells, options = book.cells, book.totals[c.OPTIONS]
    clear(options, ruling)
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        if cells[cell, c.CELL_ANSWERS] > 0:
            add_evidence(votes_of(book, task, cell), share_in_task(book, task, cell), ruling)
        cell = cells[cell, c.NEXT_CELL]
    return name_likeliest(options, draw, TOTAL, ruling)


@step
def judge(book: Book, most: float, task: int, draw: Draw, ruling: Array) -> int:
    """Judge all crowds together."""
    return CONFIDENT if weigh_crowds(book, task, draw, ruling) <= most else GO_ON


@stopping.register("posterior")
@dataclass(frozen=True)
class Posterior(SingleCrowdRule):
    """Stop when the posterior probability that the leading option is wrong is small enough.

    Each crowd answers right with a probability of its own, unknown and uniform between chance
    and one, and errs evenly over the other options. Crowds are independent: their evidence is
    multiplied, so that a crowd at odds with itself counts little and a unanimous one much.
    Where you know more of a crowd than that, say it by ``accuracy``.

    Parameters
    ----------
    error : float
        Posterior probability of an error at which to stop.
    accuracy : mapping of worker to a number or a range of two, optional
        How often workers are right, or the range over which that varies evenly from question to
        question: ``{"panel": [0.65, 0.95], "vendor": 0.8}``. Workers who are not named, or join
        later, may be anywhere between chance and one.
    kinds : sequence of mappings, optional
        Kinds of questions that are harder for several workers at once, each with its ``share`` of
        all questions and the ``accuracy`` of the workers who differ on it. The kind of a question
        is not known beforehand.
    learn : int
        Maximum number of answers that a crowd's record on other questions counts for; 0: each
        question is a separate survey. A crowd's answers then weigh as much as it has shown: a crowd
        that is at odds with itself on other questions counts little where it happens to be of one
        mind. ``auto`` takes 100 for crowds.
    horizon, cap
        As in ``gap``.

    Assumes independent answers and qualities spread evenly between chance and one, or as
    ``accuracy`` and ``kinds`` say: its error is at most the target on average over such questions,
    not on each of them. It believes what you say: where workers are worse than their range, it errs
    more. Workers who err together are not independent: give them a ``family``. The m answers of a
    family to a question then count, in logarithms, m / (1 + 0.4 (m - 1)) times their mean, as
    answers do whose errors have a correlation of 0.4; that is a model, not a guarantee. A crowd
    with a family (a model that draws its answers) has its answers counted in the same way.
    Different families, and persons and models without one, count as independent.

    With ``learn`` each crowd is of one of 23 kinds. A kind's accuracy varies from question to
    question like a uniform one of which ``learn`` answers, or an eighth of them, are known, with a
    share of right ones between chance and all; or it is uniform. By Bayes, all that a crowd has
    answered about other questions, open or closed, says of which kind it is: how often it was
    right, where the truth was told, and elsewhere how much it agrees with itself. Verdicts are not
    used, so a crowd can't confirm itself by the questions that it has decided. Nothing is learned
    of a family, nor, without truths, of somebody who is asked only once about a question. It
    assumes that crowds are the same on all questions. With three options or more, a crowd whose
    errors are mostly one and the same option agrees with itself more than it is right. Until crowds
    have answered some questions twice there is no record: the first questions that end, end as they
    do without ``learn``.

    Not where questions may be nearly balanced and must not be decided by luck: there its error
    approaches one half (``e-process`` guarantees its error).

    References
    ----------
    Beyond paper 004, whose section 6 asks for rules better than the composite.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 1)],
    ...     tasks=["t"],
    ...     options=["no", "yes"],
    ...     policy="round-robin",
    ...     stopping={"name": "posterior", "error": 0.1},
    ... )
    >>> for _ in range(3):
    ...     campaign.tell(campaign.ask()[0].id, "yes")
    >>> answer = campaign.answers()[0]
    >>> answer.value, answer.outcome, round(answer.confidence, 3)
    ('yes', 'confident', 0.955)
    """

    error: float = 0.05
    accuracy: Mapping[str, Any] | None = field(default=None, kw_only=True, metadata=LATER)
    kinds: Sequence[Mapping[str, Any]] = field(default=(), kw_only=True, metadata=LATER)
    learn: int = field(default=0, kw_only=True, metadata=LATER)
    paper: ClassVar[str] = "beyond 004"
    promise: ClassVar[str] = (
        "Trades error for cost: its error is on average the target if crowds' qualities are "
        "spread evenly between chance and one, or as it was told. On a single question it may be "
        "far above. Assumes independent answers, within a family errors of correlation 0.4."
    )
    dial: ClassVar[str] = "error"
    single: ClassVar = halts
    source: ClassVar = halts_shared
    kernel: ClassVar = judge

    def __post_init__(self) -> None:
        super().__post_init__()
        between(self.error, "error", 0, 1)
        if self.accuracy is not None:
            object.__setattr__(self, "accuracy", ranges.read_accuracy(self.accuracy))
        object.__setattr__(self, "kinds", ranges.read_kinds(self.kinds))
        whole(self.learn, "learn", least=0, most=MOST_LEARNED)
        if self.learn and self.informed:
            raise InvalidParameter(
                f"learn is {self.learn}, and accuracy or kinds say how often workers are right: "
                "leave one of them out",
                field="learn",
            )

    def __hash__(self) -> int:
        return hash((self.name, self.error, self.learn, self.horizon, self.cap))

    @property
    def informed(self) -> bool:
        """Whether more is believed than that accuracies are between chance and one."""
        return bool(self.accuracy or self.kinds)

    def _believed(self) -> list[tuple[float, ranges.Ranges]]:
        return ranges.by_kind(dict(self.accuracy or {}), self.kinds)

    def check(self, problem: Problem) -> None:
        """Workers whose accuracy is said must be there."""
        super().check(problem)
        ranges.check_ranges(problem, self._believed())

    def check_single(self) -> None:
        """What is believed of one worker and another is about all of them together."""
        if self.informed or self.learn:
            raise InvalidParameter(
                "accuracy, kinds and learn are about all workers together: give them to "
                "'posterior' by itself, not inside 'composite'",
                field="rule",
            )

    @property
    def judge(self) -> Callable[..., int]:
        """By the ranges that are believed, or by anything between chance and one."""
        if self.learn:
            return records.judge
        return ranges.judge if self.informed else super().judge

    @property
    def observe(self) -> Callable[..., None] | None:
        """By the records of crowds, if it learns."""
        return records.observe if self.learn else None

    def start(self, problem: Problem, ledger: Ledger) -> Any:
        """No crowd has shown anything yet."""
        return records.new_record(ledger, self.learn) if self.learn else ()

    def grow(self, state: Any, ledger: Ledger) -> Any:
        """Begin a record for those who have joined."""
        return records.grown(state, ledger) if self.learn else state

    def params(self) -> float:
        """As plain numbers."""
        return float(self.error)

    def params_for(self, ledger: Ledger) -> Any:
        """With what is believed of each worker, by their places in the ledger."""
        if not self.informed:
            return self.params()
        return ranges.kinds_of(ledger, float(self.error), self._believed())

    def params_with(self, ledger: Ledger, state: Any) -> Any:
        """With the records of crowds, if it learns."""
        if not self.learn:
            return self.params_for(ledger)
        return records.kinds_of(ledger, float(self.error), self.learn, state)
