"""Special functions against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaln, gammaln

from askwise.kernels.special import log_beta, log_gamma


@pytest.mark.parametrize("x", [1e-3, 0.1, 0.5, 1.0, 1.5, 2.0, 3.7, 7.99, 8.0, 12.3, 170.0, 1e6])
def test_log_gamma_is_scipys(x):
    assert log_gamma(x) == pytest.approx(float(gammaln(x)), rel=1e-12, abs=1e-12)


def test_log_beta_is_scipys():
    for a, b in np.random.default_rng(1).uniform(0.05, 50, size=(200, 2)):
        assert log_beta(a, b) == pytest.approx(float(betaln(a, b)), rel=1e-11, abs=1e-11)
