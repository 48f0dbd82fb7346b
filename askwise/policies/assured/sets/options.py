"""Errors with more than two options, and where one of two options is the likelier one.

The option with the most votes can be wrong only if at least as many answers are wrong as right:
whatever the wrong ones are, and however many options there are. So ``majority`` (a tie counts as an
error), and with it ``hoeffding``, bounds the error for any number of options and any way to be
wrong. Where wrong answers spread evenly over the other options, ``plurality`` is what the error
is, and much less.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from askwise.core.checks import between, one_of, real, whole
from askwise.kernels.knapsack.inputs import Array
from askwise.policies.assured.sets import probability as kernels
from askwise.policies.assured.sets.base import ErrorFunction, errors
from askwise.policies.assured.sets.functions import TIES, only_two

MOST_OPTIONS = 100
_UNIT = 1e-9


@lru_cache(maxsize=4096)
def lost(right: int, wrong: int, options: int, ties: str) -> float:
    """How likely the truth loses with its votes, if the other votes spread evenly.

    The wrong votes fall into ``options - 1`` boxes: numbers that are Poisson each, given their
    sum. So that none has ``right`` or more is a coefficient in the power of a polynomial, divided
    by the chance of the sum; that t have just ``right`` and the others fewer comes from t factors
    for that number in place of polynomials.
    """
    boxes = options - 1
    if right > wrong:
        return 0.0
    if right == 0:
        # Every option that has votes leads; without any a draw among all is as good.
        return 1.0 if wrong > 0 or ties == "error" else boxes / options
    rate = wrong / boxes
    # The chance that Poisson numbers of this rate have the sum that they have.
    log_sum = wrong * math.log(wrong) - wrong - math.lgamma(wrong + 1)

    def log_chance(number: int) -> float:
        return number * math.log(rate) - rate - math.lgamma(number + 1)

    below = np.array([math.exp(log_chance(number)) for number in range(right)])
    powers = [np.ones(1)]
    for _ in range(boxes):
        powers.append(np.convolve(powers[-1], below)[: wrong + 1])

    def weighed(power: Array, left: int, log_factor: float) -> float:
        if left < 0 or left >= len(power) or power[left] <= 0.0:
            return 0.0
        return math.exp(log_factor + math.log(power[left]) - log_sum)

    won = weighed(powers[boxes], wrong, 0.0)
    if ties == "random":
        for tied in range(1, min(boxes, wrong // right) + 1):
            ways = math.log(math.comb(boxes, tied)) + tied * log_chance(right)
            chance = weighed(powers[boxes - tied], wrong - tied * right, ways)
            won += chance / (tied + 1)
    return min(1.0, max(0.0, 1.0 - won))


@errors.register("plurality")
@dataclass(frozen=True)
class PluralityError(ErrorFunction):
    """The probability that the option with the most votes is wrong, exactly, if errors are even.

    A worker who is wrong names each of the other options with the same probability. How the wrong
    votes spread then depends on their number alone, so that the error is the mean of that over how
    many are right (Poisson-binomial).

    Parameters
    ----------
    options : int
        Number of options that the campaign has.
    ties : str
        How a tie of the truth with other options counts: as an ``"error"``, or ``"random"`` for a
        draw among the leading options.

    Assumes even errors, and answers that are right independently of each other. Where workers
    mistake one option for another in particular, this is too small; ``majority`` holds whatever
    the wrong answers are.

    Not for hundreds of workers: their cheapest set is found by trying sets, exactly for up to
    twenty, with the solvers ``"greedy"`` and ``"classes"`` for more.

    References
    ----------
    Beyond paper 000, which has two options.

    Examples
    --------
    >>> from askwise.core.accuracy import error_probability
    >>> [
    ...     round(error_probability(name, [0.6] * 5), 3)
    ...     for name in ("majority", "plurality(options=4)")
    ... ]
    [0.317, 0.266]
    """

    options: int = 3
    ties: str = "error"

    def __post_init__(self) -> None:
        whole(self.options, "options", least=2, most=MOST_OPTIONS)
        one_of(self.ties, "ties", tuple(TIES))

    def probability(self, qualities: Array) -> float:
        """Average over how many are right."""
        size = len(qualities)
        pmf = np.ones(size + 1)
        for at, quality in enumerate(np.asarray(qualities).tolist(), 1):
            kernels.add_voter(pmf, at, quality)
        chances = (lost(x, size - x, self.options, self.ties) for x in range(size + 1))
        return float(sum(p * q for p, q in zip(pmf[: size + 1].tolist(), chances, strict=True)))

    def misfit(self, options: int) -> str:
        """It is made for a number of options."""
        if options == self.options:
            return ""
        return f"is made for {self.options} options: give 'plurality(options={options})'"


@errors.register("majority-first")
@dataclass(frozen=True)
class MajorityFirstError(ErrorFunction):
    """The error of a majority whose ties go to the first option, true of a share of the tasks.

    A tie is wrong with probability 1 - ``prior``. It is the paper's vote (Eq. 1), whose error at
    any prior its Example 3.2 writes down and bounds for a prior of 1/2. A campaign with it has
    ``aggregation={"name": "majority", "ties": "first"}``.

    Parameters
    ----------
    prior : float
        Share of tasks whose truth is the first option.

    Assumes two options, workers who are right as often with either, and answers that are right
    independently of each other. Without ties, and so in odd sets, the prior has no bearing.

    Not where the prior is a guess: ``majority`` holds for every prior.

    References
    ----------
    Paper 000, Eq. 1 and Example 3.2.

    Examples
    --------
    >>> from askwise.core.accuracy import error_probability
    >>> round(error_probability("majority-first(prior=0.9)", [0.8, 0.8]), 3)
    0.072
    """

    prior: float = 0.5

    def __post_init__(self) -> None:
        between(self.prior, "prior", 0, 1)

    def aggregation(self) -> dict[str, Any]:
        """Where ties go elsewhere, the error is another."""
        return {"name": "majority", "ties": "first"}

    def probability(self, qualities: Array) -> float:
        """As by majority; a tie counts what is not of the first option."""
        return float(kernels.majority_error(np.asarray(qualities, np.float64), 1.0 - self.prior))

    def misfit(self, options: int) -> str:
        """Two options."""
        return only_two(options)


@errors.register("likeliest")
@dataclass(frozen=True)
class LikeliestError(ErrorFunction):
    """The error of naming the likeliest option, given the answers and how frequent options are.

    Answers weigh log(q / (1 - q)), and the prior as one more answer of a worker who is right with
    that probability: the least error that any vote has.

    Parameters
    ----------
    prior : float
        Share of tasks whose truth is one of the two options; it does not matter which one.

    Assumes two options, independent answers of workers who are right as often with either, known
    qualities and a known prior. No set errs more than the prior alone, so the error that is
    allowed must be less than that. Labels are named that way by ``aggregation={"name":
    "weighted-majority", "learn": "truths", "first": 0.8}`` where the first option is true of a
    share of .8. Because its weights are learned, labels are assured only where a majority's error
    would be low enough too.

    Not when qualities are rough estimates, as ``weighted-majority``, which has a prior of 1/2.

    References
    ----------
    S. Nitzan, J. Paroush, "Optimal decision rules in uncertain dichotomous choice situations",
    1982. Beyond paper 000.

    Examples
    --------
    >>> from askwise.core.accuracy import error_probability
    >>> round(error_probability("likeliest(prior=0.9)", [0.8, 0.8]), 3)
    0.072
    """

    prior: float = 0.5
    folded: ClassVar[bool] = True
    is_of_labels: ClassVar[bool] = False

    def __post_init__(self) -> None:
        real(self.prior, "prior", "a number from 0.5, below 1", least=0.5, most=1.0 - _UNIT)

    def probability(self, qualities: Array) -> float:
        """As a weighted vote with one more voter."""
        voters = np.append(np.asarray(qualities, np.float64), self.prior)
        return float(kernels.weighted_error(voters))

    def misfit(self, options: int) -> str:
        """Two options."""
        return only_two(options)
