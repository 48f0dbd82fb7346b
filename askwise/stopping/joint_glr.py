"""Stop when all crowds together tell the leading option from the next: a likelihood ratio."""

import math
from dataclasses import dataclass
from typing import ClassVar

from askwise.core.checks import real
from askwise.kernels import Array, Draw, step
from askwise.kernels.likelihood import distance_from_top
from askwise.ledger import Book
from askwise.ledger import columns as c
from askwise.stopping import base
from askwise.stopping.base import CONFIDENT, GO_ON, KernelRule, stopping
from askwise.stopping.families import share_in_task


@step
def judge(book: Book, beta: float, task: int, draw: Draw, ruling: Array) -> int:
    """Add up the crowds' distances from each option; compare the two smallest."""
    cells, options = book.cells, book.totals[c.OPTIONS]
    for option in range(options):
        distance = 0.0
        cell = book.tasks[task, c.FIRST_CELL]
        while cell >= 0:
            share = share_in_task(book, task, cell)
            distance += share * distance_from_top(cells, cell, c.VOTES, options, option)
            cell = cells[cell, c.NEXT_CELL]
        ruling[base.SCRATCH + option] = -distance
    nearest = base.name_largest(options, draw, 0, ruling)
    second = -math.inf
    for option in range(options):
        if option != int(ruling[base.OPTION]):
            second = max(second, ruling[base.SCRATCH + option])
    margin = nearest - second
    ruling[base.SURE] = 1.0 / (1.0 + math.exp(-margin))
    return CONFIDENT if margin > beta else GO_ON


@stopping.register("joint-glr")
@dataclass(frozen=True)
class JointGlr(KernelRule):
    """Stop when one option explains all crowds' answers better than any other, by ``beta``.

    For each option y and crowd i it takes the distribution nearest to the crowd's votes among
    those with y on top; G_y is the sum over crowds of N_i times the divergence. It stops when
    the second smallest G exceeds the smallest by beta.

    Parameters
    ----------
    beta : float
        How much larger, in natural logarithms of a likelihood ratio: about log(1 / error).
    horizon, cap
        As in ``gap``.

    Assumes that all crowds have the same option on top, and uses it: crowds that each leave
    two options close may together leave one (004, Lemma 6), which no rule on single crowds sees.
    Use it with ``glr-directed``. Answers are assumed to be independent; those of a ``family`` to a
    question count for less, as in ``posterior``: a model, not a guarantee.

    Not where an error must be guaranteed: maxima of likelihoods favour early stops.

    References
    ----------
    Beyond paper 004, whose section 6 asks for selection and stopping designed jointly.
    A. Garivier, E. Kaufmann, "Optimal best arm identification with fixed confidence", 2016.

    Examples
    --------
    >>> from askwise.stopping import stopping
    >>> stopping.make({"name": "joint-glr", "beta": 4.6}).beta
    4.6
    """

    beta: float = 3.0
    paper: ClassVar[str] = "beyond 004"
    promise: ClassVar[str] = (
        "Trades error for cost by its beta; guarantees no error. Assumes that all crowds have "
        "the same option on top, and independent answers but within a family."
    )
    dial: ClassVar[str] = "beta"
    kernel: ClassVar = judge

    def __post_init__(self) -> None:
        super().__post_init__()
        real(self.beta, "beta", "a number from 0 to a million", least=0, most=1e6)

    def params(self) -> float:
        """As plain numbers."""
        return float(self.beta)
