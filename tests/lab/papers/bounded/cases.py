"""Cases for the bounds of paper 003: two workers by hand, many drawn."""

from __future__ import annotations

import math

from hypothesis import strategies as st

# Two workers: densities .8/2 = .4 and .4/4 = .1, so d_max = .3; C = 6; c_min = 2, c_max = 4;
# the part that does not vary is 2 + 2 * .4 = 2.8.
PRICES, MEANS = [2, 4], [0.8, 0.4]
# (1 - sqrt(beta)) / 2 = e^-6, so that L = -ln(...) = 6.
BETA = (1 - 2 * math.exp(-6)) ** 2


@st.composite
def cases(draw, least=2, most=12):
    """Budget, prices above one, means in [0, 1] with some spread, beta."""
    n = draw(st.integers(least, most))
    prices = draw(st.lists(st.floats(1.01, 100), min_size=n, max_size=n))
    means = draw(st.lists(st.floats(0, 1), min_size=n - 1, max_size=n - 1))
    # The first worker is worth nothing and the second at least .1: d_max is not 0.
    means = [0.0, max(0.1, means[0]), *means[1:]]
    return draw(st.floats(10, 1e7)), prices, means, draw(st.floats(0.001, 0.999))


def harmonic(n, last=None):
    return 0.5 + sum(1 / j for j in range(2, (last or n) + 1))
