"""Omniscient benchmarks: the best crowd and the best mixture, known beforehand. Lab only."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.core.checks import real
from askwise.core.errors import InvalidParameter
from askwise.core.problem import Problem
from askwise.ledger import Ledger
from askwise.policies.base import policies
from askwise.policies.capabilities import KnowsTruth, LimitsSize
from askwise.policies.crowds.common import price_unit, ranked_price
from askwise.policies.crowds.mixtures import MOST_MIXTURES, mixture, mixtures_tried
from askwise.policies.crowds.non_adaptive import DrawingPolicy

Truth = Sequence[Sequence[float]]


def _wrong(message: str) -> InvalidParameter:
    return InvalidParameter(message, field="truth")


def _rows(given: object) -> Sequence[object]:
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise _wrong(f"truth is {given!r}: give a list of distributions, one per crowd")
    return given


def _distribution(row: object) -> tuple[float, ...]:
    if isinstance(row, str | bytes) or not isinstance(row, Sequence) or len(row) < 2:
        raise _wrong(f"truth has {row!r}: give a list of probabilities, one per option")
    chances = tuple(
        real(each, "truth", "probabilities from 0 to 1", least=0, most=1) for each in row
    )
    if not math.isclose(sum(chances), 1.0, abs_tol=1e-9):
        raise _wrong(f"truth has {row!r}: its probabilities sum to {sum(chances):g}, not 1")
    return chances


@dataclass(frozen=True)
class Omniscient(DrawingPolicy, KnowsTruth):
    """Base: is told each crowd's true distribution over the options; the right one is on top."""

    truth: Truth = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "truth", tuple(_distribution(row) for row in _rows(self.truth)))
        if len({len(row) for row in self.truth}) > 1:
            raise _wrong("truth has rows of different lengths")

    def check(self, problem: Problem) -> None:
        """Refuse to work where the truth is unknown."""
        super().check(problem)
        if not self.truth:
            raise _wrong(
                f"policy {self.name!r} must be told the truth, a list of each crowd's true "
                "distribution over the options: it is a benchmark for the lab"
            )
        if len(self.truth) > len(problem.workers):
            raise _wrong(
                f"truth has {len(self.truth)} rows, there are {len(problem.workers)} crowds: give "
                "one per crowd"
            )
        if any(len(row) != len(problem.options) for row in self.truth):
            raise _wrong(
                f"truth has rows that are not of {len(problem.options)} probabilities, one an "
                "option"
            )

    def prices(self, ledger: Ledger) -> Array:
        """Prices of the crowds it was told about."""
        unit = price_unit(ledger.book)
        crowds, terms = range(len(self.truth)), self.terms()
        return np.array([ranked_price(ledger.book, at, unit, terms) for at in crowds])

    def spread(self, ledger: Ledger, weights: Array) -> Array:
        """Weights of all crowds: none for those it was told nothing about."""
        held = np.zeros(max(len(ledger.workers), len(weights)))
        held[: len(weights)] = weights
        return held[: len(ledger.workers)]


@policies.register("best-crowd")
@dataclass(frozen=True)
class BestCrowd(Omniscient):
    """Always ask the crowd that is truly best: the deterministic benchmark.

    The best is the one with the smallest price / gap^2, which approximates what a single-crowd
    rule costs.

    Parameters
    ----------
    truth : list of distributions
        Each crowd's distribution over the options, in the order of the workers; the right option is
        the most probable one.
    open_at_once : int, optional
        Maximum number of questions under way, not counting those that wait for an answer; 1
        finishes one question after the other. By default all open questions take turns.
    free_price : float
        Price at which a free crowd is ranked, as a share of the lowest price above 0.

    Assumes that the truth is known: a benchmark for the lab, refused without it.

    Not for use: it is what others are measured by.

    References
    ----------
    Paper 004, section 3 (deterministic benchmark).

    Examples
    --------
    >>> from askwise.policies import policies
    >>> policies.make({"name": "best-crowd", "truth": [[0.5, 0.5], [0.8, 0.2]]}).name
    'best-crowd'
    """

    rule: ClassVar[str] = "always ask the crowd with the smallest true price per squared gap"

    def weights(self, ledger: Ledger) -> Array:
        """All on the best."""
        rows = np.sort(np.array(self.truth, np.float64), axis=1)
        gaps = rows[:, -1] - rows[:, -2] if len(rows) else np.zeros(0)
        held = np.zeros(len(gaps))
        if len(gaps):
            held[int(np.argmax(gaps / np.sqrt(self.prices(ledger))))] = 1.0
        return self.spread(ledger, held)


@policies.register("best-mixture")
@dataclass(frozen=True)
class BestMixture(Omniscient, LimitsSize):
    """Draw from the truly best mixture of crowds: the randomized benchmark, any prices.

    The mixture has the largest gap of the mixed answers per root of its mean price. With three
    options or more it may be far better than the best crowd (Lemma 6).

    Parameters
    ----------
    truth : list of distributions
        Each crowd's distribution over the options, in the order of the workers; the right option is
        the most probable one.
    open_at_once : int, optional
        Maximum number of questions under way, not counting those that wait for an answer; 1
        finishes one question after the other. By default all open questions take turns.
    free_price : float
        Price at which a free crowd is ranked, as a share of the lowest price above 0.

    Assumes that the truth is known: a benchmark for the lab, refused without it. Mixtures of up
    to three crowds are searched, which is exact for up to four options; 300,000 are the limit.

    Not for use: it is what others are measured by. Goes with ``gap``, which takes all answers as
    one source.

    References
    ----------
    Paper 004, sections 3 and 5 (randomized benchmark), for equal prices; beyond it for others.

    Examples
    --------
    >>> from askwise.policies import policies
    >>> policies.make({"name": "best-mixture", "truth": [[0.5, 0.5], [0.8, 0.2]]}).name
    'best-mixture'
    """

    rule: ClassVar[str] = "draw from the mixture of crowds that is truly best per root of price"

    def check_size(self, options: int, workers: int) -> None:
        """Refuse more mixtures than a decision can try, of the crowds it is told about."""
        crowds = len(self.truth)
        self.refuse_size(
            f"the number of mixtures with {options} options and {crowds} rows of truth",
            mixtures_tried(options, crowds), MOST_MIXTURES, "truth",
            "use 'best-crowd', or fewer crowds",
        )  # fmt: skip

    def weights(self, ledger: Ledger) -> Array:
        """The mixture."""
        if not self.truth:
            return np.zeros(len(ledger.workers))
        best, _ = mixture(np.array(self.truth, np.float64), self.prices(ledger))
        return self.spread(ledger, np.asarray(best))
