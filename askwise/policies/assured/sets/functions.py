"""The error functions that come with askwise."""

import math
from dataclasses import dataclass
from typing import ClassVar

from askwise.core.checks import one_of, real
from askwise.kernels.knapsack.inputs import Array
from askwise.policies.assured.sets import codes
from askwise.policies.assured.sets import probability as kernels
from askwise.policies.assured.sets.base import ErrorFunction, errors

TIES = {"error": 1.0, "random": 0.5}


@errors.register("majority")
@dataclass(frozen=True)
class MajorityError(ErrorFunction):
    """The probability that the majority is wrong, exactly (Poisson-binomial).

    Parameters
    ----------
    ties : str
        How a tie counts: as an ``"error"``, or ``"random"``, as half an error (a coin decides). So
        the empty set has an error of 1, or of 1/2.

    Assumes answers that are right independently of each other. It is the error with two options,
    whichever is the likelier; with more of them it bounds that of the option with the most votes,
    whatever the wrong answers are: that one is wrong only if no more are right than wrong. A second
    worker beside one does not help, a weak worker beside good ones harms: not decreasing in the
    set.

    Not when answers are weighed by what is known of the workers: see ``weighted-majority``.

    References
    ----------
    Beyond paper 000, whose section 3.1 bounds this error by ``hoeffding``.

    Examples
    --------
    >>> from askwise.core.accuracy import error_probability
    >>> round(error_probability("majority(ties=random)", [0.9, 0.8]), 3)
    0.15
    """

    ties: str = "error"
    code: ClassVar[int] = codes.MAJORITY

    def __post_init__(self) -> None:
        one_of(self.ties, "ties", tuple(TIES))

    def probability(self, qualities: Array) -> float:
        """Count the ways in which the majority is wrong."""
        return float(kernels.majority_error(qualities, TIES[self.ties]))

    def slope(self, workers: int) -> float | None:
        """Count the workers times the most that one's answer can decide."""
        # A quality's derivative is the chance that its worker decides, multi-affine in the other
        # qualities and so largest where they are 1/2 or 1; in an odd set where all are 1/2.
        sizes = (max(1, workers - 1), max(1, workers))
        return max(size * _decisive(size, self.ties) for size in sizes)

    def numbers(self) -> tuple[float, float]:
        """No epsilon; what a tie counts."""
        return 1.0, TIES[self.ties]


def _decisive(size: int, ties: str) -> float:
    """The largest chance that one worker of a set decides, qualities being at least 1/2."""
    if size % 2 == 1:
        return _central(size - 1)
    # An even set: with one sure worker the others are as in an odd set; at random, C(s, s/2)/2^s.
    return _central(size - 2) if ties == "error" else _central(size)


def only_two(options: int) -> str:
    """Why a function says nothing of more than two options."""
    return "" if options == 2 else "is made for two options: give 'majority' or 'plurality'"


def _central(flips: int) -> float:
    """The chance that an even number of coins falls half and half."""
    half = flips // 2
    return math.exp(math.lgamma(flips + 1) - 2.0 * math.lgamma(half + 1) - flips * math.log(2.0))


@errors.register("hoeffding")
@dataclass(frozen=True)
class Hoeffding(ErrorFunction):
    """Hoeffding's bound on the majority's error: exp(-(sum of (2q - 1))^2 / (2s)).

    1 where the sum is not positive, and for the empty set.

    Assumes independent answers; any number of options, as ``majority``. An upper bound, so a
    set that meets the target meets it by majority too; it asks for several times as many workers as
    ``majority``.

    Not to be read as the majority's error. Not decreasing in the set: a weak worker lowers the
    mean margin.

    References
    ----------
    Paper 000, Example 3.2.

    Examples
    --------
    >>> from askwise.core.accuracy import error_probability
    >>> round(error_probability("hoeffding", [0.8] * 5), 3)
    0.407
    """

    code: ClassVar[int] = codes.HOEFFDING

    def probability(self, qualities: Array) -> float:
        """Compute the bound."""
        return float(kernels.hoeffding_error(qualities))

    def slope(self, workers: int) -> float | None:
        """2 sqrt(n / e)."""
        # f = exp(-x^2 / 2s) has the slope x/s exp(-x^2 / 2s) <= 1/sqrt(e s); x moves by 2 s delta.
        return 2.0 * math.sqrt(max(1, workers) / math.e)


@errors.register("hoeffding-linear")
@dataclass(frozen=True)
class HoeffdingLinear(ErrorFunction):
    """The linear form of Hoeffding's bound: exp(-epsilon * sum of (2q - 1)), at most 1.

    It is at most alpha if the sum reaches M = ln(1/alpha) / epsilon: a minimum knapsack, which
    ``cover_greedy`` (the paper's GA) solves to a factor of 2, and monotonously in each price.

    Parameters
    ----------
    epsilon : float
        Every quality is at least 1/2 + epsilon. The paper has 1/6: qualities above 2/3.

    Assumes that; below it this does not bound the majority's error. The empty set has the
    error 1.

    Not when cost matters more than the paper's guarantees: five workers of quality .8 err in
    6% of cases, and this function asks for 24 to promise 10%.

    References
    ----------
    Paper 000, Example 3.2 and section 6.2.

    Examples
    --------
    >>> from askwise.core.accuracy import error_probability
    >>> round(error_probability("hoeffding-linear", [0.8] * 24), 3)
    0.091
    """

    epsilon: float = 1.0 / 6.0
    decreasing: ClassVar[bool] = True
    is_of_labels: ClassVar[bool] = False
    code: ClassVar[int] = codes.LINEAR

    def __post_init__(self) -> None:
        real(self.epsilon, "epsilon", "a number above 0, at most 0.5", least=1e-6, most=0.5)

    def probability(self, qualities: Array) -> float:
        """Compute the bound."""
        return float(kernels.linear_error(qualities, self.epsilon))

    def slope(self, workers: int) -> float | None:
        """2 epsilon n."""
        # f = exp(-epsilon x) with x >= 0 has a slope of at most epsilon; x moves by 2 s delta.
        return 2.0 * self.epsilon * max(1, workers)

    def numbers(self) -> tuple[float, float]:
        """Epsilon."""
        return self.epsilon, 1.0


@errors.register("most-likely-error")
@dataclass(frozen=True)
class MostLikelyError(ErrorFunction):
    """The product of 1 - q over the less able half of the set, rounded up; 1 if it is empty.

    Assumes nothing beyond qualities of single workers.

    Not as a promise: it is a surrogate for the probability of the most likely outcome that
    leads to an error, not a bound on the majority's error. Five workers of quality .6 get .064
    and err in 32% of cases. Not decreasing in the set.

    References
    ----------
    Paper 000, Example 3.1, Eq. 2.

    Examples
    --------
    >>> from askwise.core.accuracy import error_probability
    >>> round(error_probability("most-likely-error", [0.6] * 5), 3)
    0.064
    """

    is_of_labels: ClassVar[bool] = False
    code: ClassVar[int] = codes.MOST_LIKELY

    def probability(self, qualities: Array) -> float:
        """Multiply."""
        return float(kernels.most_likely_error(qualities))

    def misfit(self, options: int) -> str:
        """Two options."""
        return only_two(options)

    def slope(self, workers: int) -> float | None:
        """One: h(delta) = delta."""
        # Sorted qualities move by delta at most, and the partial derivatives of a product of k
        # factors of up to 1/2 add up to k / 2^(k-1) <= 1.
        return 1.0


@errors.register("weighted-majority")
@dataclass(frozen=True)
class WeightedMajorityError(ErrorFunction):
    """The error of the best vote there is: each answer weighs log(q / (1 - q)).

    Up to 20 workers exactly, by all their answers. Above, the error of a vote with whole
    weights: an upper bound, proved to be within 1% of the exact error for up to sixty workers
    of quality about .75, within 4% for a hundred; beyond some hundreds not much is proved,
    though roundings mostly cancel. A worker
    with quality 0 or 1 is sure, and the error is 0; one with quality below 1/2 is believed the
    opposite of what they say. The empty set has the error 1/2: a coin.

    Assumes two options that are equally likely, independent answers and known qualities.

    Not when qualities are rough estimates: a vote that trusts them errs more often than this
    says. Use ``majority`` then.

    References
    ----------
    Beyond paper 000. S. Nitzan, J. Paroush, "Optimal decision rules in uncertain dichotomous
    choice situations", 1982.

    Examples
    --------
    >>> from askwise.core.accuracy import error_probability
    >>> round(error_probability("weighted-majority", [0.9, 0.6, 0.6]), 3)
    0.1
    """

    decreasing: ClassVar[bool] = True
    folded: ClassVar[bool] = True
    is_of_labels: ClassVar[bool] = False
    code: ClassVar[int] = codes.WEIGHTED

    def probability(self, qualities: Array) -> float:
        """Try all answers, or convolve."""
        return float(kernels.weighted_error(qualities))

    def misfit(self, options: int) -> str:
        """Two options."""
        return only_two(options)

    def slope(self, workers: int) -> float | None:
        """Take n; not known where the error is not computed exactly."""
        # An error is the least over all ways to decide, and no event's probability changes by
        # more than the total variation between two products: the sum of |q - q'|.
        return float(max(1, workers)) if workers <= codes.MAX_OUTCOMES else None
