"""Special functions for kernels: explicit arithmetic, so compiled and plain agree to the bit."""

import math

from askwise.core.compiling import step

_HALF_LOG_TWO_PI = 0.9189385332046727


@step
def log_gamma(x: float) -> float:
    """Logarithm of the gamma function for x > 0, to about 1e-13: Stirling's series above 8."""
    shift = 1.0
    while x < 8.0:
        shift *= x
        x += 1.0
    y = 1.0 / (x * x)
    series = 1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))
    return (x - 0.5) * math.log(x) - x + _HALF_LOG_TWO_PI + series / x - math.log(shift)


@step
def log_beta(a: float, b: float) -> float:
    """Logarithm of the beta function for a, b > 0."""
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b)
