"""Stop when the gap between the two leading options is large: rule (1) of paper 004."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from askwise.core.checks import between, flag, real
from askwise.kernels import Array, Draw, step
from askwise.kernels.votes import exceeds, theorem_1_quality
from askwise.stopping.base import CONFIDENT, GO_ON, stopping
from askwise.stopping.single import SingleCrowdRule, Votes, lead_of, name_leader


class Params(NamedTuple):
    """C_qty, the delta of Theorem 1's schedule (0: constant C_qty), smooth or not."""

    quality: float
    delta: float
    smooth: bool


@step
def halts(votes: Votes, params: Params, draw: Draw, ruling: Array) -> int:
    """Compare the lead with C_qty * sqrt(answers), strictly."""
    answers = name_leader(votes, draw, ruling)
    quality = params.quality
    if params.delta > 0.0:
        quality = theorem_1_quality(votes.options, params.delta, answers)
    lead, term = lead_of(votes), quality * math.sqrt(answers)
    return CONFIDENT if exceeds(lead, term, params.smooth, draw, 2 * votes.source) else GO_ON


@stopping.register("gap")
@dataclass(frozen=True)
class Gap(SingleCrowdRule):
    """Stop when the first option's lead over the second exceeds C times the root of the answers.

    With N answers and empirical gap e it stops when e N > C sqrt(N), strictly. It takes all
    answers as one source; ``composite`` applies it to each crowd.

    Parameters
    ----------
    quality : float
        The paper's C_qty: a larger value asks more and errs less; 1 to 3 is usual.
    delta : float, optional
        Use Theorem 1's schedule instead: C = sqrt(log(n / delta * N^2)) for n options. The theorem
        promises an error of order ``delta``; computed exactly, for two options, it is below delta
        down to .001, 1.1 to 1.5 times delta at .0001 and ten times delta at a millionth.
    smooth : bool
        Round the right-hand side up or down at random, afresh at each answer, as in the paper's
        experiments; otherwise one answer is enough if C is below 1.
    horizon : int, optional
        Maximum number of answers per question (rule (3)); a question that reaches it ends
        ``low_confidence``.
    cap : amount, optional
        Maximum cost of a question; a question that reaches it ends ``over_budget``.

    Assumes that answers are independent and that the right option is the most probable one. It
    counts votes, one each, whatever the workers' families: where they err together its error is
    larger (``e-process`` and ``posterior`` take families into account).

    Not when the error must be limited whatever the question: on questions whose options are nearly
    equal it errs nearly half of the time (``e-process`` guarantees its error).

    References
    ----------
    Paper 004, section 2, rules (1) and (3), Theorem 1; the smooth version of appendix C.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 1)],
    ...     tasks=["t"],
    ...     options=["no", "yes"],
    ...     policy="round-robin",
    ...     stopping={"name": "gap", "quality": 1.5, "smooth": False},
    ... )
    >>> while not campaign.status().open_tasks == 0:
    ...     campaign.tell(campaign.ask()[0].id, "yes")
    >>> campaign.answers()[0].count
    3
    """

    quality: float = 2.0
    delta: float | None = None
    smooth: bool = True
    paper: ClassVar[str] = "004"
    promise: ClassVar[str] = (
        "Trades error for cost by its quality. With a delta its error is of the order of delta "
        "(Theorem 1), not at most delta. Assumes independent answers, also within families."
    )
    dial: ClassVar[str] = "quality"
    single: ClassVar = halts

    def __post_init__(self) -> None:
        super().__post_init__()
        real(self.quality, "quality", "a number from 0 to a million", least=0, most=1e6)
        if self.delta is not None:
            between(self.delta, "delta", 0, 1)
        flag(self.smooth, "smooth")

    def params(self) -> Params:
        """As plain numbers."""
        return Params(float(self.quality), self.delta or 0.0, self.smooth)
