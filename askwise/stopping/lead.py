"""Stop when the leading option is a number of votes ahead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from askwise.core.checks import real
from askwise.kernels import Array, Draw, step
from askwise.kernels.votes import exceeds
from askwise.stopping.base import CONFIDENT, GO_ON, stopping
from askwise.stopping.single import SingleCrowdRule, Votes, lead_of, name_leader


class Params(NamedTuple):
    """How many votes ahead."""

    lead: float


@step
def halts(votes: Votes, params: Params, draw: Draw, ruling: Array) -> int:
    """Compare the lead with a number; one between two whole numbers is rounded at random."""
    name_leader(votes, draw, ruling)
    # At least so many is more than one less.
    lead, term = lead_of(votes), params.lead - 1.0
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
        How many votes ahead. Between two whole numbers it is rounded at random, at each answer,
        up as often as its fraction says.
    horizon, cap
        As in ``gap``.

    Assumes independent answers, right about equally often on all questions.

    Not where questions differ much in difficulty and an error must be kept on the hard ones.

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
        "two options is right with probability p, a whole lead errs with probability at most "
        "((1 - p) / p)^lead: unknown as p is."
    )
    dial: ClassVar[str] = "lead"
    single: ClassVar = halts

    def __post_init__(self) -> None:
        super().__post_init__()
        real(self.lead, "lead", "a number from 1 to a million", least=1, most=1e6)

    def params(self) -> Params:
        """As plain numbers."""
        return Params(float(self.lead))
