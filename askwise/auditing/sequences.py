"""An interval of a share that holds at all times at once, however often one looks.

Answers come one after the other; ``hits`` of the ``tries`` so far were right. Suppose that each is
right with a probability of at least p, whatever happened before. For q below p the product of
(q/p) for each right answer and (1-q)/(1-p) for each wrong one is then a supermartingale, and so is
its mean over all q from 0 to p,

    E(p) = integral over u from 0 to 1 of u^hits ((1 - p u) / (1 - p))^misses du.

By Ville's inequality E(p) ever reaches 1/doubt with a probability of at most ``doubt``. E grows
with p, so the p at which it does not are those up to an upper end. The lower end is found in the
same way from the misses.
"""

import math

import scipy

from askwise.auditing.intervals import Interval

DOUBT = 0.025
"""The probability that an end is ever on the wrong side: together that leaves 95%."""

HALVINGS = 50


def evidence_below(line: float, hits: int, tries: int) -> float:
    """How strongly answers speak for an accuracy below a line: the logarithm of E(line).

    Examples
    --------
    Ten wrong answers out of ten: the integral is (1 - .5^11) / (11 * .5 * .5^10).

    >>> round(math.exp(evidence_below(0.5, 0, 10)), 2)
    186.09
    """
    a, b = hits + 1, tries - hits + 1
    # E(p) is a complete beta function times the part of it below p, over p^a (1-p)^(b-1).
    part = scipy.special.betainc(a, b, line)
    if part == 0.0:
        # So far below what was seen that nothing speaks for it.
        return -math.inf
    whole = scipy.special.betaln(a, b)
    return float(math.log(part) + whole - a * math.log(line) - (b - 1) * math.log1p(-line))


def is_surely_below(line: float, hits: int, tries: int, doubt: float = DOUBT) -> bool:
    """Whether the upper end of a share is below a line, without looking for that end.

    Examples
    --------
    >>> is_surely_below(0.6, 20, 60), is_surely_below(0.5, 20, 60)
    (True, False)
    """
    return evidence_below(line, hits, tries) > -math.log(doubt)


def upper_end(hits: int, tries: int, doubt: float = DOUBT) -> float:
    """The upper end of a share: below the truth, ever, with a probability of at most ``doubt``.

    Examples
    --------
    >>> round(upper_end(20, 60), 3), upper_end(10, 10), upper_end(0, 0)
    (0.535, 1.0, 1.0)
    """
    if hits == tries:
        return 1.0
    enough = -math.log(doubt)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        if evidence_below(middle, hits, tries) < enough:
            low = middle
        else:
            high = middle
    return high


def share_at_all_times(hits: int, tries: int) -> Interval | None:
    """A share with a 95% interval that holds however often one looks; None of nothing.

    Examples
    --------
    >>> found = share_at_all_times(20, 60)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.333, 0.16, 0.535)
    """
    if tries == 0:
        return None
    value, low, high = hits / tries, 1.0 - upper_end(tries - hits, tries), upper_end(hits, tries)
    return Interval(value, min(low, value), max(high, value))
