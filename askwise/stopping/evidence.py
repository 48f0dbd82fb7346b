"""How much votes speak for an option, whatever a crowd's quality: a mixture of likelihoods.

A crowd of unknown quality p gives an option that is right a votes and the others b. Averaged
over p uniform on [1/n, 1], and relative to answers drawn blindly, that is

    M(a, b) = n^(a+b) / (1 - 1/n) * integral over p of p^a ((1 - p) / (n - 1))^b.

Integrating by parts, M is a sum of positive terms, so it is computed without special functions
and to the last digit (compiled and plain runs agree).
"""

import math

from askwise.core.compiling import step


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
