"""The cheapest mixture of crowds, when it is known how each of them answers.

Section 5 of paper 004: asking crowds at random by a distribution mu is like asking one crowd
whose response distribution is the mix of theirs, and its gap can far exceed that of every
crowd (Lemma 6). A survey that stops when the gap is told from 0 takes about 1 / gap^2 answers
at c . mu each, so the best mu maximises ``gap(mu) / sqrt(c . mu)``, at any prices.

Where one option is the runner-up, the gap is linear in mu, and the square of a linear function
over another is convex: the maximum is at a corner. At a corner s crowds take part and s options
tie as runner-up, so s is below the number of options, and s - 1 ties fix the weights.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from askwise.core.errors import InvalidParameter
from askwise.kernels import Array, kernel, step

MOST_MIXTURES = 300_000
"""The most mixtures that are tried, for all options together: 3 s without the compiler."""

# A smaller weight is a rounding error of 0, and a mix without that crowd is tried as well.
_LEAST = 1e-12


class Search(NamedTuple):
    """What a mixture is sought for: answers and prices of crowds, the option x taken to be right,
    and the weights of the best found so far, to be written.
    """

    responses: Array
    prices: Array
    x: int
    weights: Array


def mixtures_tried(options: int, crowds: int) -> int:
    """Count the mixtures of two and three crowds that :func:`best_mixture_any` tries.

    Examples
    --------
    >>> mixtures_tried(2, 1000), mixtures_tried(3, 50), mixtures_tried(4, 50)
    (0, 3675, 93100)
    """
    if options < 3:
        return 0
    pairs = math.comb(crowds, 2) * math.comb(options - 1, 2)
    return options * (pairs + math.comb(crowds, 3) * math.comb(options - 1, 3))


@kernel
def induced_gap(responses: Array, option: int, weights: Array) -> float:
    """By how much a mixture of crowds prefers an option to the next one.

    Parameters
    ----------
    responses : array of shape (crowds, options)
        How often each crowd gives each of two or more options.
    option : int
        The option taken to be right.
    weights : array of shape (crowds,)
        The distribution over crowds.
    """
    gap = math.inf
    for y in range(responses.shape[1]):
        if y != option:
            ahead = 0.0
            for crowd in range(responses.shape[0]):
                ahead += weights[crowd] * (responses[crowd, option] - responses[crowd, y])
            if ahead < gap:
                gap = ahead
    return gap


@kernel
def best_mixture(
    responses: Array, prices: Array, usable: Array, option: int, weights_out: Array
) -> float:
    """Write the mixture of crowds that tells an option from the others at the least cost.

    Mixtures of at most three crowds are tried: with up to four options, or up to three usable
    crowds, none is better; beyond that, it is the best of at most three. Equally good mixtures:
    the one of fewer crowds, then of lower indices.

    Parameters
    ----------
    responses : array of shape (crowds, options)
        How often each crowd gives each of two or more options; rows sum to 1.
    prices : array of shape (crowds,)
        Above 0.
    usable : array of shape (crowds,)
        1 for the crowds that may take part.
    option : int
        The option taken to be right.
    weights_out : array of shape (crowds,)
        Receives the distribution; all 0 if no crowd is usable.

    Returns
    -------
    float
        Induced gap over the square root of the mean price. If no mixture makes the option the
        first, the best of the single crowds, which is 0 or below; minus infinity for no crowd.
    """
    crowds, options = responses.shape
    of = Search(responses, prices, option, weights_out)
    best = _best_single(of, usable)
    # Two options: a single crowd is best (Lemma 7; it holds although 1 / gap^2 is convex).
    if options > 2:
        for i in range(crowds):
            for j in range(i + 1, crowds):
                if usable[i] == 1 and usable[j] == 1:
                    best = _best_pair(of, i, j, best)
    if options > 3:
        for i in range(crowds):
            for j in range(i + 1, crowds):
                if usable[i] == 1 and usable[j] == 1:
                    for h in range(j + 1, crowds):
                        if usable[h] == 1:
                            best = _best_triple(of, i, j, h, best)
    return best


@kernel
def best_mixture_any(
    responses: Array, prices: Array, usable: Array, scratch_weights: Array, weights_out: Array
) -> int:
    """Write the best mixture over all options that may be right, and give its option.

    As :func:`best_mixture`, which says what the arrays are; ``scratch_weights`` has room for a
    distribution. Equally good options: the lowest. Without a usable crowd it is -1.
    """
    best = -math.inf
    best_option = -1
    weights_out[:] = 0.0
    for option in range(responses.shape[1]):
        value = best_mixture(responses, prices, usable, option, scratch_weights)
        if value > best:
            best, best_option = value, option
            weights_out[:] = scratch_weights
    return best_option


@step
def _best_single(of: Search, usable: Array) -> float:
    prices, weights = of.prices, of.weights
    best = -math.inf
    best_crowd = -1
    for crowd in range(len(weights)):
        weights[crowd] = 0.0
        if usable[crowd] == 1:
            gap = _gap(of, crowd, crowd, crowd, 1.0, 0.0, 0.0)
            value = gap / math.sqrt(prices[crowd])
            if value > best:
                best, best_crowd = value, crowd
    if best_crowd >= 0:
        weights[best_crowd] = 1.0
    return best


@step
def _best_pair(of: Search, i: int, j: int, best: float) -> float:
    """Two crowds under which two options tie: p a_i + q a_j = 0 with p + q = 1."""
    responses, x = of.responses, of.x
    options = responses.shape[1]
    for y in range(options):
        for z in range(y + 1, options):
            if y != x and z != x:
                a_i = responses[i, y] - responses[i, z]
                a_j = responses[j, y] - responses[j, z]
                if (a_i < 0.0 and a_j > 0.0) or (a_i > 0.0 and a_j < 0.0):
                    p, q = a_j / (a_j - a_i), a_i / (a_i - a_j)
                    if p >= _LEAST and q >= _LEAST:
                        best = _keep_better(of, i, j, j, p, q, 0.0, best)
    return best


@step
def _best_triple(of: Search, i: int, j: int, h: int, best: float) -> float:
    """Three crowds under which three options tie."""
    responses, x = of.responses, of.x
    options = responses.shape[1]
    for y in range(options):
        for z in range(y + 1, options):
            if y != x and z != x:
                for v in range(z + 1, options):
                    if v != x:
                        best = _tie_of_three(of, i, j, h, y, z, v, best)
    return best


@step
def _tie_of_three(of: Search, i: int, j: int, h: int, y: int, z: int, v: int, best: float) -> float:
    """The weights are at right angles to both ties: Cramer's rule comes to a cross product."""
    responses = of.responses
    a_i, b_i = responses[i, y] - responses[i, z], responses[i, y] - responses[i, v]
    a_j, b_j = responses[j, y] - responses[j, z], responses[j, y] - responses[j, v]
    a_h, b_h = responses[h, y] - responses[h, z], responses[h, y] - responses[h, v]
    p = a_j * b_h - a_h * b_j
    q = a_h * b_i - a_i * b_h
    r = a_i * b_j - a_j * b_i
    total = p + q + r
    if total == 0.0:
        return best
    p, q, r = p / total, q / total, r / total
    if p < _LEAST or q < _LEAST or r < _LEAST:
        return best
    return _keep_better(of, i, j, h, p, q, r, best)


@step
def _keep_better(
    of: Search, i: int, j: int, h: int, p: float, q: float, r: float, best: float
) -> float:
    """Take over the mix if nothing before it was as good."""
    prices, weights = of.prices, of.weights
    gap = _gap(of, i, j, h, p, q, r)
    # Below 0 the square no longer ranks by cost; then the best single crowd stays.
    if gap <= 0.0:
        return best
    value = gap / math.sqrt(p * prices[i] + q * prices[j] + r * prices[h])
    if value <= best:
        return best
    for crowd in range(len(weights)):
        weights[crowd] = 0.0
    # Added, for a mix of two names its second crowd twice.
    weights[i] += p
    weights[j] += q
    weights[h] += r
    return value


@step
def _gap(of: Search, i: int, j: int, h: int, p: float, q: float, r: float) -> float:
    """The induced gap, whichever option is the runner-up there."""
    responses, x = of.responses, of.x
    gap = math.inf
    for y in range(responses.shape[1]):
        if y != x:
            ahead = (
                p * (responses[i, x] - responses[i, y])
                + q * (responses[j, x] - responses[j, y])
                + r * (responses[h, x] - responses[h, y])
            )
            if ahead < gap:
                gap = ahead
    return gap


def mixture(
    responses: npt.ArrayLike, prices: npt.ArrayLike | None = None, option: int | None = None
) -> tuple[npt.NDArray[np.float64], float]:
    """Find the distribution over crowds with the best induced gap for the money.

    It maximises the induced gap over the square root of the mean price, over mixtures of at
    most three crowds: no other is better with up to four options or up to three crowds. With
    more of both, a mix of more crowds may be better.

    Parameters
    ----------
    responses : array-like of shape (crowds, options)
        How often each crowd gives each of two or more options; rows sum to 1.
    prices : array-like of shape (crowds,), optional
        What an answer of each crowd costs, above 0; the same for all if left out.
    option : int, optional
        The option taken to be right; if left out, the one that some mixture tells best from
        the others.

    Returns
    -------
    tuple of array and float
        The weights of the crowds and their induced gap. The gap is 0 or below if no mixture
        has the option first: then it is that of a single crowd.

    References
    ----------
    Paper 004, Section 5 (uniform prices); with prices it is one of its open questions.

    Examples
    --------
    Lemma 6 with eps = 0.02: either crowd has a gap of 0.02, both together 1/10 + 3/2 eps.

    >>> weights, gap = mixture([[0.42, 0.40, 0.18], [0.42, 0.18, 0.40]])
    >>> weights.round(9).tolist(), round(gap, 9)
    ([0.5, 0.5], 0.13)
    """
    D = _checked_responses(responses)
    crowds, options = D.shape
    c = _checked_prices(prices, crowds)
    usable = np.ones(crowds, dtype=np.int8)
    weights = np.zeros(crowds)
    if option is None:
        option = int(best_mixture_any(D, c, usable, np.zeros(crowds), weights))
    elif isinstance(option, bool) or not isinstance(option, int) or not 0 <= option < options:
        raise InvalidParameter(
            f"option is {option!r}: give a whole number from 0 to {options - 1}", field="option"
        )
    else:
        best_mixture(D, c, usable, option, weights)
    return weights, float(induced_gap(D, option, weights))


def _checked_responses(given: npt.ArrayLike) -> npt.NDArray[np.float64]:
    responses = _numbers(given, "responses", "a row of frequencies for each crowd")
    if responses.ndim != 2 or responses.shape[0] < 1 or responses.shape[1] < 2:
        raise InvalidParameter(
            f"responses has the shape {responses.shape}: "
            "give a row for each crowd, of two or more options",
            field="responses",
        )
    for crowd, row in enumerate(responses.tolist()):
        if not min(row) >= 0 or not abs(math.fsum(row) - 1) <= 1e-9:
            raise InvalidParameter(
                f"responses of crowd {crowd} is {row!r}: give frequencies that sum to 1",
                field="responses",
            )
    return responses


def _checked_prices(given: npt.ArrayLike | None, crowds: int) -> npt.NDArray[np.float64]:
    if given is None:
        return np.ones(crowds)
    prices = _numbers(given, "prices", "a price for each crowd")
    if prices.shape != (crowds,) or not all(0 < price < math.inf for price in prices.tolist()):
        raise InvalidParameter(
            f"prices is {prices.tolist()!r}: give a price above 0 for each of {crowds} crowds",
            field="prices",
        )
    return prices


def _numbers(given: npt.ArrayLike, field: str, valid: str) -> npt.NDArray[np.float64]:
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidParameter(f"{field} is {given!r}: give {valid}", field=field) from error
