"""How much votes speak for an option, whatever a crowd's quality: a mixture of likelihoods.

A crowd of unknown quality p gives an option that is right a votes and the others b. Averaged
over p uniform on [1/n, 1], and relative to answers drawn blindly, that is

    M(a, b) = n^(a+b) / (1 - 1/n) * integral over p of p^a ((1 - p) / (n - 1))^b.

Integrating by parts, M is a sum of positive terms, so it is computed without special functions
and to the last digit (compiled and plain runs agree).

Where it is known that p goes from low to high, it is M(a, b; low, high), with that range and its
width in place of [1/n, 1] and 1 - 1/n. Sums in closed form cancel where a range is narrow or far
from the votes, so this one is integrated. With p = sin(x)^2 the logarithm of the integrand is
concave in x and its curvature at least 2 (a + b): away from its peak it falls at least as fast as
a normal density does.
"""

import math

import numpy as np

from askwise.core.compiling import kernel, step


@step
def log_evidence(a: int, b: int, options: int) -> float:
    """Logarithm of M(a, b).

    With S = M * (b + 1) the parts are S = 1 + a (n-1) / (b + 2) * (1 + (a-1) (n-1) / (b + 3) *
    (1 + ...)); c = 1/n makes (1 - c) / c = n - 1, and the factor 1 - c drops out.
    """
    total = term = 1.0
    shift = 0.0
    rest = a
    below = b + 2.0
    while rest > 0:
        term *= rest * (options - 1.0) / below
        total += term
        if term < 1e-18 * total:
            break
        if total > 1e200:
            total *= 1e-200
            term *= 1e-200
            shift += 460.51701859880916
        rest -= 1
        below += 1.0
    return math.log(total / (b + 1.0)) + shift


# Gauss and Legendre's rule with 16 points on [-1, 1]: the positive points, and their weights.
_POINTS = np.array(
    [
        *(0.09501250983763744, 0.2816035507792589, 0.45801677765722737, 0.6178762444026438),
        *(0.755404408355003, 0.8656312023878318, 0.9445750230732326, 0.9894009349916499),
    ]
)
_WEIGHTS = np.array(
    [
        *(0.18945061045506864, 0.18260341504492364, 0.16915651939500265, 0.1495959888165767),
        *(0.12462897125553407, 0.0951585116824926, 0.062253523938647456, 0.027152459411754176),
    ]
)

CERTAIN = 1.0 - 1e-6
"""The largest accuracy that is believed: one vote of a crowd that never errs would outweigh all."""


@step
def log_density(a: int, b: int, options: int, sine: float, cosine: float) -> float:
    """Logarithm of the integrand at p = sin(x)^2, without the Jacobian of the change to x."""
    found = a * math.log(options * sine * sine) if a > 0 else 0.0
    if b > 0:
        found += b * math.log(options * cosine * cosine / (options - 1.0))
    return found


@kernel
def one_way(a: int, b: int, options: int, peak: float, end: float, width: float) -> float:
    """Integrate from the largest value on towards an end, relative to that value."""
    top = log_density(a, b, options, math.sin(peak), math.cos(peak))
    total = 0.0
    side = 1.0 if end > peak else -1.0
    done = 0.0
    while done < abs(end - peak):
        half = 0.5 * min(width, abs(end - peak) - done)
        part = 0.0
        for at in range(len(_POINTS)):
            for point in (-_POINTS[at], _POINTS[at]):
                x = peak + side * (done + half * (1.0 + point))
                sine, cosine = math.sin(x), math.cos(x)
                density = math.exp(log_density(a, b, options, sine, cosine) - top)
                part += _WEIGHTS[at] * density * 2.0 * sine * cosine
        total += half * part
        if half * part < 1e-17 * total:
            break
        done += 2.0 * half
    return total


@kernel
def log_evidence_between(a: int, b: int, options: int, low: float, high: float) -> float:
    """Logarithm of M(a, b; low, high)."""
    if high - low < 1e-9:
        p = min(low, CERTAIN)
        return log_density(a, b, options, math.sqrt(p), math.sqrt(1.0 - p))
    first, last = math.asin(math.sqrt(low)), math.asin(math.sqrt(high))
    answers = a + b
    peak = math.asin(math.sqrt(a / answers)) if answers > 0 else first
    peak = min(max(peak, first), last)
    # The scale on which the integrand changes: its slope, if the peak is an end, and its curvature.
    slope = 0.0
    if a > 0:
        slope += 2.0 * a / math.tan(peak)
    if b > 0:
        slope -= 2.0 * b * math.tan(peak)
    width = 4.0 / (abs(slope) + math.sqrt(answers + 1.0))
    total = one_way(a, b, options, peak, first, width) + one_way(a, b, options, peak, last, width)
    top = log_density(a, b, options, math.sin(peak), math.cos(peak))
    return math.log(total / (high - low)) + top
