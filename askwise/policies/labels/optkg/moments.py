"""The arithmetic of OptKG: Beta beliefs of tasks and workers, and what an answer would gain.

X. Chen, Q. Lin, D. Zhou, "Optimistic knowledge gradient policy for optimal budget allocation in
crowdsourcing", ICML 2013, appendix 5: theta_i ~ Beta(a, b) is how likely the task's answer is
the positive one, rho_j ~ Beta(c, d) how likely the worker says what holds. After an answer the
two are no longer Beta; each is replaced by the Beta distribution with the same two moments.
"""

import math

from askwise.core.compiling import kernel, step

_HALF_LOG_2PI = 0.9189385332046728
_LOG_2 = 0.6931471805599453
_TINY = 1e-300


_SHAPE_BITS = 2.0**40
_GAIN_BITS = 2.0**33


@step
def rounded(x: float, bits: float) -> float:
    """Leave out the last digits of a number, so that numbers equal but for rounding are equal.

    Gains of different tasks are often equal (of all that had one answer, say), and an answer to a
    new task says nothing about the worker: last digits must not decide who is asked.
    """
    mantissa, exponent = math.frexp(x)
    return math.ldexp(math.floor(mantissa * bits + 0.5) / bits, exponent)


@step
def log_gamma(x: float) -> float:
    """Logarithm of the gamma function for x > 0, by Stirling's series above 10."""
    product = 1.0
    while x < 10.0:
        product *= x
        x += 1.0
    y = 1.0 / (x * x)
    series = 1.0 / 12.0 - y * (
        1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y * (1.0 / 1188.0)))
    )
    return (x - 0.5) * math.log(x) - x + _HALF_LOG_2PI + series / x - math.log(product)


@step
def lentz(term: float, c: float, d: float) -> tuple[float, float]:
    """One term of a continued fraction into the two ratios of Lentz's method."""
    c = 1.0 + term / c
    d = 1.0 + term * d
    if abs(c) < _TINY:
        c = _TINY
    if abs(d) < _TINY:
        d = _TINY
    return c, 1.0 / d


@kernel
def doubt(a: float, b: float) -> float:
    """1 - h(I(a, b)): how likely theta is on the other side of .5 than most of Beta(a, b).

    With a >= b that is P(theta < .5), the regularised incomplete beta function at .5, by its
    continued fraction (modified Lentz). The smaller side is the one that keeps its digits: gains
    of tasks that are all but certain are still told apart.
    """
    if a == b:
        return 0.5
    if a < b:
        a, b = b, a
    n = a + b
    _, d = lentz(-n * 0.5 / (a + 1.0), 1.0, 1.0)
    c, fraction, m = 1.0, d, 0.0
    # At .5 and with a >= b it needs some root of n rounds.
    while m < n + 1000.0:
        m += 1.0
        c, d = lentz(m * (b - m) * 0.5 / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)), c, d)
        fraction *= d * c
        term = -(a + m) * (n + m) * 0.5 / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        c, d = lentz(term, c, d)
        change = d * c
        fraction *= change
        if abs(change - 1.0) < 1e-15:
            break
    front = log_gamma(n) - log_gamma(a) - log_gamma(b) - n * _LOG_2
    return min(0.5, math.exp(front) * fraction / a)


@step
def beta_with(m1: float, m2: float) -> tuple[float, float]:
    """Parameters of the Beta distribution with these first two moments."""
    scale = (m1 - m2) / (m2 - m1 * m1)
    return rounded(m1 * scale, _SHAPE_BITS), rounded((1.0 - m1) * scale, _SHAPE_BITS)


@step
def task_after(a: float, b: float, c: float, d: float) -> tuple[float, float]:
    """Beliefs of a task after a positive answer of a worker with Beta(c, d)."""
    if d == 0.0:
        return a + 1.0, b
    weight = a * c + b * d
    m1 = a * ((a + 1.0) * c + b * d) / ((a + b + 1.0) * weight)
    m2 = a * (a + 1.0) * ((a + 2.0) * c + b * d) / ((a + b + 1.0) * (a + b + 2.0) * weight)
    return beta_with(m1, m2)


@step
def worker_after(a: float, b: float, c: float, d: float) -> tuple[float, float]:
    """Beliefs of a worker after their positive answer to a task with Beta(a, b)."""
    weight = a * c + b * d
    m1 = c * (a * (c + 1.0) + b * d) / ((c + d + 1.0) * weight)
    m2 = c * (c + 1.0) * (a * (c + 2.0) + b * d) / ((c + d + 1.0) * (c + d + 2.0) * weight)
    return beta_with(m1, m2)


@step
def strength(c: float, d: float) -> float:
    """How far a worker's mean accuracy is from guessing, 0 to 1: all that a gain depends on.

    The moments of theta hold c and d only as their ratio, and swapping the two swaps the answers.
    """
    return abs(c - d) / (c + d)


@kernel
def gain(a: float, b: float, doubted: float, s: float) -> float:
    """Score of a pair: max over the answer of h(I(a', b')) - h(I(a, b)).

    ``doubted`` is ``doubt(a, b)``, s the worker's strength. The answer that confirms the leading
    side gains most. The gain grows with s, which is what lets a search leave workers and tasks
    out. (Neither is proved here; both were checked on a fine grid, see the tests.)
    """
    if a < b:
        a, b = b, a
    after_a, after_b = task_after(a, b, 1.0 + s, 1.0 - s)
    return rounded(doubted - doubt(after_a, after_b), _GAIN_BITS)
