"""UCB1 with virtual rewards: paper 004, algorithm 1."""

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from askwise.core.checks import one_of, real
from askwise.core.registry import LATER
from askwise.kernels import Draw, step
from askwise.ledger import Book
from askwise.ledger import columns as c
from askwise.policies.base import Kernels, policies
from askwise.policies.crowds import common
from askwise.policies.crowds.common import (
    LearningPolicy,
    Memory,
    Prices,
    State,
    SurveyTerms,
    choosing,
    largest,
    learn,
)


class Params(NamedTuple):
    """C of index (2), whether it grows as in the analysis; memory, and what the family shares; the
    power of the virtual reward; when a crowd that was never asked is tried.
    """

    exploration: float
    growing: bool
    memory: Memory
    terms: SurveyTerms
    power: float
    try_after: float


@step
def optimistic(gap: float, width: float, price: float, power: float) -> float:
    """The estimate of the virtual reward (price / gap^2)^-power and its confidence term.

    As a function of the gap, which is between 0 and 1, the reward changes by 2 power price^-power
    times as much at most, so the term is that many times the gap's. At power 1/2 it is (2).
    """
    if power == 0.5:
        return common.per_root(gap + width, price)
    return (gap ** (2.0 * power) + 2.0 * power * width) / price**power


@step
def virtual_index(
    book: Book, state: State, params: Params, task: int, worker: int, prices: Prices, draw: Draw
) -> float:
    """Index (2): the gap plus a confidence term, per root of the price.

    Answers that are out count in the confidence term: the next ask looks elsewhere.
    """
    said = common.heard(book, state, params.memory, task, worker)
    asked = said.total + said.out
    gap = (said.top - said.second) / said.total if said.total > 0.0 else 0.0
    width = params.exploration
    if params.growing:
        # t counts from 1, with what is out as the N do: the round that is about to be.
        width *= math.sqrt(8.0 * math.log(book.tasks[task, c.TASK_ASKED] + 1.0))
    price = common.ranked_price(book, worker, prices.unit, params.terms)
    if asked <= 0.0:
        if prices.so_far < params.try_after * (price - prices.least):
            # Asked only where all have to wait, the cheapest first.
            return -price
        # Beside a free crowd one that was never asked ranks as if its first answer were in (which
        # has a gap of 1), so that money is spent only where free answers disappoint.
        beside_free = prices.free and book.workers[worker, c.PRICE] > 0
        return optimistic(1.0, width, price, params.power) if beside_free else math.inf
    return optimistic(gap, width / math.sqrt(asked), price, params.power)


@policies.register("virt-ucb")
@dataclass(frozen=True)
class VirtUcb(LearningPolicy):
    """Ask the crowd with the largest gap, plus a bonus if little known, per square root of price.

    The cost of finding the answer with crowd i alone is about c_i / gap_i^2. So gap / sqrt(c)
    is taken as a reward (never seen itself, but estimated from votes) and UCB1 is run on it:
    index (gap + C / sqrt(N)) / sqrt(c).

    Parameters
    ----------
    exploration : float
        C of the index; the paper's experiments found 1 best.
    schedule : "constant" or "log"
        ``log`` multiplies C by sqrt(8 log t), as in the analysis (Theorem 4).
    power : float
        Exponent of the virtual reward f(x) = x^-power of the cost x = c / gap^2, which may be any
        decreasing function. The paper has 1/2; with a larger one, a crowd's confidence term weighs
        more against its estimate, and a price more against a gap that is little known.
    discount : float
        Factor by which each new answer to a question reduces the weight of the earlier ones; below
        1 for crowds that drift.
    prior : float
        Maximum number of answers that a crowd's record on closed questions counts for; 0 ignores
        the record.
    open_at_once : int, optional
        Maximum number of questions under way, not counting those that wait for an answer; 1
        finishes one question after the other. By default all open questions take turns.
    try_after : float
        A crowd that was never asked about a question is tried once the question has cost this many
        times what its answer costs more than the cheapest crowd's, free ones at ``free_price``. 0,
        the paper's algorithm, asks every crowd once first. ``auto`` takes 4: many questions are
        over before an expensive crowd's turn comes.
    free_price : float
        Price at which a free crowd is ranked, as a share of the lowest price above 0.

    Assumes that all crowds have the same right option. Deterministic given the answers. A crowd
    that costs nothing is ranked at ``free_price``, so that it is not asked for ever; beside it a
    crowd that costs money is not asked before free answers disappoint.

    Not where a mixture of crowds is far better than the best of them (three options or more that
    different crowds confuse differently: 004, Lemma 6): see ``lp-thompson``, ``glr-directed``.

    References
    ----------
    Paper 004, section 4.1 (algorithm 1, index (2)), Theorem 4.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("panel", "0.10"), Worker("vendor", "0.05")],
    ...     tasks=["q"],
    ...     options=["no", "yes"],
    ...     policy="virt-ucb",
    ...     stopping="composite",
    ... )
    >>> for answer in ("yes", "no", "yes"):
    ...     campaign.tell(campaign.ask()[0].id, answer)
    >>> campaign.ask()[0].worker
    'panel'
    """

    exploration: float = 1.0
    schedule: str = "constant"
    power: float = field(default=0.5, kw_only=True, metadata=LATER)
    try_after: float = field(default=0.0, kw_only=True, metadata=LATER)
    notes: ClassVar[tuple[str, ...]] = ("largest index",)
    rule: ClassVar[str] = (
        "of the question asked least, ask the crowd with the largest (gap + C / sqrt(answers)) "
        "per root of its price; a crowd never asked comes first, once the question has cost "
        "try_after times what its answer costs more than the cheapest's"
    )
    kernels: ClassVar[Kernels] = Kernels(choosing(largest(virtual_index)), learn)
    ranks_by: ClassVar = virtual_index

    def __post_init__(self) -> None:
        super().__post_init__()
        real(self.exploration, "exploration", "a number of 0 or more", least=0)
        one_of(self.schedule, "schedule", ("constant", "log"))
        real(self.power, "power", "a number from 0.5 to 4", least=0.5, most=4)
        real(self.try_after, "try_after", "a number of times, 0 or more", least=0)

    def params(self) -> Params:
        """As plain numbers."""
        growing = self.schedule == "log"
        return Params(
            float(self.exploration),
            growing,
            self.memory(),
            self.terms(),
            float(self.power),
            float(self.try_after),
        )
