"""Stop by an empirical Bernstein bound on the gap: what paper 004 remarks in section 2."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from askwise.core.checks import between
from askwise.kernels import Array, Draw, step
from askwise.kernels.votes import two_largest
from askwise.stopping.base import CONFIDENT, GO_ON, stopping
from askwise.stopping.single import SingleCrowdRule, Votes, name_leader


class Params(NamedTuple):
    """The error to keep."""

    delta: float


@step
def halts(votes: Votes, params: Params, draw: Draw, ruling: Array) -> int:
    """Compare the lead with its confidence term, strictly.

    An answer for the first option counts 1, for the second -1, for others 0: N of them have the
    mean lead / N, and a variance that is small where answers agree. Maurer and Pontil (2009,
    Theorem 4), for values in a range of 2: the mean exceeds its expectation by more than
    sqrt(2 V L / N) + 2 * 7 L / (3 (N - 1)) with probability exp(-L) * 2 at most. L is such
    that this sums to delta over all N and the n - 1 options that may wrongly lead.
    """
    answers = name_leader(votes, draw, ruling)
    if answers < 2:
        return GO_ON
    top, second = two_largest(votes.table, votes.row, votes.first, votes.options)
    mean = (top - second) / answers
    variance = (top + second - answers * mean * mean) / (answers - 1.0)
    # The sum of 1 / (N (N - 1)) from N = 2 on is 1.
    log = math.log(2.0 * (votes.options - 1.0) / params.delta)
    log += math.log(answers) + math.log(answers - 1.0)
    term = math.sqrt(2.0 * variance * log / answers) + 14.0 * log / (3.0 * (answers - 1.0))
    return CONFIDENT if mean > term else GO_ON


@stopping.register("bernstein")
@dataclass(frozen=True)
class Bernstein(SingleCrowdRule):
    """Stop when the gap of the two leading options exceeds an empirical Bernstein bound.

    Like ``gap`` with a ``delta``, but the confidence term has the answers' own variance in place of
    the largest there could be, and constants with which the error is at most ``delta``. It takes
    all answers as one source; ``composite`` applies it to each crowd.

    Parameters
    ----------
    delta : float
        Probability of an error at which to stop.
    horizon, cap
        As in ``gap``.

    Assumes answers that are independent draws from one distribution, as those of one crowd are, or
    of crowds that are asked in an order fixed beforehand. Where a policy chooses crowds by what
    was answered, only ``composite`` without its total crowd keeps the assumption, with (crowds
    times delta) as its error.

    Not for questions of two options, nor for few answers. On two options the variance is 1 less the
    squared gap, close to the largest possible, so there is nothing to gain: with delta = 0.05 and
    gaps of 0.1, 0.3 and 0.9 it takes 5908, 780 and 88 answers, while Theorem 1's schedule, which
    has no constants, takes 1671, 134 and 10 (computed exactly; both err with probability below
    0.003). It takes 56 unanimous answers to end a question, ``e-process`` 7. It gains where there
    are many options, most answers are for neither of the two that lead, and questions take
    thousands of answers.

    References
    ----------
    Paper 004, section 2 (remark after Theorem 2). A. Maurer, M. Pontil, *Empirical Bernstein bounds
    and sample variance penalization*, COLT 2009, Theorem 4.

    Examples
    --------
    >>> from askwise.stopping import stopping
    >>> stopping.make("bernstein(delta=0.01)").delta
    0.01
    """

    delta: float = 0.05
    paper: ClassVar[str] = "004"
    promise: ClassVar[str] = (
        "Trades error for cost by its delta. On a single crowd, or on crowds asked in an order "
        "fixed beforehand, it errs with at most delta; not where a policy chooses by answers. "
        "Assumes independent answers, also within families."
    )
    dial: ClassVar[str] = "delta"
    single: ClassVar = halts

    def __post_init__(self) -> None:
        super().__post_init__()
        between(self.delta, "delta", 0, 1)

    def params(self) -> Params:
        """As plain numbers."""
        return Params(float(self.delta))
