"""Crowds drawn by fixed weights or asked in turn, whatever they answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from askwise.core.checks import real
from askwise.core.errors import InvalidParameter, UnknownName, nearest
from askwise.core.problem import Problem
from askwise.core.records import by_reference
from askwise.kernels import Array, Draw, kernel, step, uniform
from askwise.ledger import Book, Ledger, Proposal, cell_of, money_left, propose
from askwise.ledger import columns as c
from askwise.policies.base import Axes, Kernels, Nothing, learn_nothing, policies
from askwise.policies.capabilities import Score
from askwise.policies.crowds import common
from askwise.policies.crowds.common import SurveyPolicy, TermsOnly, choosing, largest, may_ask


@by_reference
class Weights(NamedTuple):
    """How often each crowd is drawn, up to a factor."""

    weights: Array


@step
def draw_crowd(
    book: Book, weights: Array, task: int, chance: float, available: Array, out: Proposal
) -> None:
    """Propose a crowd drawn by weight among those that may be asked; evenly if none has any."""
    money = money_left(book.totals)
    total = 0.0
    able = 0
    for worker in range(book.totals[c.WORKERS]):
        if may_ask(book, task, worker, money, available):
            able += 1
            total += weights[worker]
    chosen = -1
    odds = 1.0 / able
    reached = 0.0
    for worker in range(book.totals[c.WORKERS]):
        if may_ask(book, task, worker, money, available):
            share = weights[worker] / total if total > 0.0 else 1.0 / able
            if share > 0.0:
                # The last with a share is taken if rounding leaves a gap at the end.
                chosen, odds = worker, share
                reached += share
                if chance < reached:
                    break
    propose(out, task, chosen, 1, odds)


@step
def draw_by_share(
    book: Book, state: Weights, params: Any, task: int, draw: Draw, available: Array, out: Proposal
) -> None:
    """Propose a crowd drawn by its fixed weight."""
    draw_crowd(book, state.weights, task, uniform(draw, 0), available, out)


@dataclass(frozen=True)
class DrawingPolicy(SurveyPolicy):
    """Base: crowds are drawn by weights that answers do not change."""

    axes: ClassVar[Axes] = {"worker": "weights"}
    notes: ClassVar[tuple[str, ...]] = ("drawn",)
    kernels: ClassVar[Kernels] = Kernels(choosing(draw_by_share), learn_nothing)

    def weights(self, ledger: Ledger) -> Array:
        """How often to draw each crowd of the start, up to a factor; newcomers have no weight."""
        raise NotImplementedError

    def start(self, problem: Problem, ledger: Ledger) -> Weights:
        """Weights of those who are there."""
        held = np.zeros(len(ledger.book.workers))
        held[: len(ledger.workers)] = self.weights(ledger)
        return Weights(held)

    def scores(
        self, problem: Problem, state: Weights, ledger: Ledger, draw: Draw, available: Array
    ) -> list[Score]:
        """The weight of every crowd."""
        return [
            Score(worker.id, float(state.weights[at]), {"weight": float(state.weights[at])})
            for at, worker in enumerate(ledger.workers)
        ]


@policies.register("non-adaptive")
@dataclass(frozen=True)
class NonAdaptive(DrawingPolicy):
    """Draw the crowd for each answer from a fixed distribution.

    Parameters
    ----------
    shares : mapping of crowd to weight, optional
        How often each crowd is drawn, relative to the others; a crowd that is not named (or joins
        later) is drawn only when no other can be asked. By default all are drawn equally often.
    open_at_once : int, optional
        Maximum number of questions under way, not counting those that wait for an answer; 1
        finishes one question after the other. By default all open questions take turns.
    free_price : float
        Price at which a free crowd is ranked, as a share of the lowest price above 0.

    Assumes nothing about quality and learns nothing.

    Not for saving money: on some questions any such policy costs as many times what the best
    crowd alone would cost as there are crowds (Theorem 5).

    References
    ----------
    Paper 004, section 4.3 (non-adaptive crowd selection), Theorem 5.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 1)],
    ...     tasks=["q"],
    ...     options=["no", "yes"],
    ...     policy={"name": "non-adaptive", "shares": {"a": 3, "b": 1}},
    ...     seed=1,
    ... )
    >>> campaign.ask()[0].propensity in (0.75, 0.25)
    True
    """

    shares: Mapping[str, float] | None = None
    rule: ClassVar[str] = "of the question asked least, ask a crowd drawn by its fixed share"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shares is None:
            return
        if not isinstance(self.shares, Mapping):
            raise InvalidParameter(
                f"shares is {self.shares!r}: give a mapping of crowd to weight", field="shares"
            )
        object.__setattr__(self, "shares", dict(self.shares))
        for crowd, share in self.shares.items():
            if not isinstance(crowd, str):
                raise InvalidParameter(
                    f"shares names {crowd!r}: give ids of workers", field="shares"
                )
            real(share, f"shares[{crowd!r}]", "a weight of 0 or more", least=0)
        if not any(self.shares.values()):
            raise InvalidParameter("shares has no weight above 0: give one", field="shares")

    def __hash__(self) -> int:
        return hash((self.name, tuple(sorted((self.shares or {}).items()))))

    def check(self, problem: Problem) -> None:
        """Every crowd that has a share must be there."""
        super().check(problem)
        known = [worker.id for worker in problem.workers]
        for crowd in self.shares or ():
            if crowd not in known:
                raise UnknownName(
                    f"shares names {crowd!r}, which is not a worker: {nearest(crowd, known)}",
                    field="shares",
                    reason="unknown_worker",
                )

    def weights(self, ledger: Ledger) -> Array:
        """As given; where nobody has any, crowds are drawn evenly."""
        shares = self.shares or {}
        largest = max(shares.values(), default=1.0)
        return np.array([shares.get(worker.id, 0.0) / largest for worker in ledger.workers])


@kernel
def draw_by_price(
    book: Book, state: Any, params: Any, task: int, draw: Draw, available: Array, out: Proposal
) -> None:
    """Propose a crowd drawn with probability proportional to one over its price."""
    weights = out.real[0]
    unit = common.price_unit(book)
    for worker in range(book.totals[c.WORKERS]):
        weights[worker] = 1.0 / common.ranked_price(book, worker, unit, params.terms)
    draw_crowd(book, weights, task, uniform(draw, 0), available, out)


@policies.register("rand-rr")
@dataclass(frozen=True)
class RandRr(SurveyPolicy):
    """Draw the crowd for each answer with probability proportional to one over its price.

    Among all fixed distributions the one that does best against the worst question: spending is
    then equal on all crowds (Theorem 5). A crowd that costs nothing is drawn as if it cost
    ``free_price`` times the cheapest.

    Parameters
    ----------
    open_at_once : int, optional
        Maximum number of questions under way, not counting those that wait for an answer; 1
        finishes one question after the other. By default all open questions take turns.
    free_price : float
        Price at which a free crowd is ranked, as a share of the lowest price above 0.

    Assumes nothing about quality and learns nothing.

    Not for saving money: it is the yardstick of the paper's experiments.

    References
    ----------
    Paper 004, section 4.3 (RandRR), Theorem 5 and footnote 7.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 3)],
    ...     tasks=["q"],
    ...     options=["no", "yes"],
    ...     policy="rand-rr",
    ...     seed=1,
    ... )
    >>> campaign.ask()[0].propensity in (0.75, 0.25)
    True
    """

    notes: ClassVar[tuple[str, ...]] = ("drawn",)
    rule: ClassVar[str] = "of the question asked least, ask a crowd drawn by one over its price"
    kernels: ClassVar[Kernels] = Kernels(choosing(draw_by_price), learn_nothing)


@step
def seldom_asked(
    book: Book, state: Nothing, params: TermsOnly, task: int, worker: int, unit: float, draw: Draw
) -> float:
    """Minus the number of times that a crowd was asked about a question."""
    cells, cell = book.cells, cell_of(book, task, worker)
    return -float(cells[cell, c.CELL_OUT] + cells[cell, c.CELL_ANSWERS]) if cell >= 0 else 0.0


@policies.register("round-robin")
@dataclass(frozen=True)
class RoundRobin(SurveyPolicy):
    """Ask the crowds in turn, question by question.

    The crowd that was asked least about the question is next, the first of several.

    Parameters
    ----------
    open_at_once : int, optional
        Maximum number of questions under way, not counting those that wait for an answer; 1
        finishes one question after the other. By default all open questions take turns.
    free_price : float
        Price at which a free crowd is ranked, as a share of the lowest price above 0.

    Assumes nothing about quality and learns nothing.

    Not for saving money: a useless crowd gets as many questions as the best.

    References
    ----------
    Paper 004, section 4.3 (the naive approach).

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("a", 1), Worker("b", 1)],
    ...     tasks=["q"],
    ...     options=["no", "yes"],
    ...     policy="round-robin",
    ... )
    >>> [each.worker for each in campaign.ask(limit=4)]
    ['a', 'b', 'a', 'b']
    """

    notes: ClassVar[tuple[str, ...]] = ("in turn",)
    rule: ClassVar[str] = "of the question asked least, ask the crowd asked least about it"
    kernels: ClassVar[Kernels] = Kernels(choosing(largest(seldom_asked)), learn_nothing)
