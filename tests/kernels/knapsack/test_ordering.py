"""Sorting is stable, and the same compiled and not."""

from __future__ import annotations

import numpy as np
import pytest

from askwise.core.compiling import forced
from askwise.kernels.knapsack.ordering import _merged, ascending

LENGTHS = (0, 1, 2, 15, 16, 17, 31, 32, 33, 48, 65, 200)


def keys_of(length: int) -> list[np.ndarray]:
    """Keys with many ties; as floats with NaN, infinities and both zeros among them."""
    rng = np.random.default_rng(length)
    whole = rng.integers(-4, 5, size=length)
    real = rng.choice([-np.inf, -1.5, -0.0, 0.0, 2.0, np.inf, np.nan], size=length)
    return [whole, real, np.sort(real), np.sort(whole)[::-1].copy()]


@pytest.mark.parametrize("length", LENGTHS)
def test_what_compiled_code_sorts_by_is_a_stable_argsort(length: int) -> None:
    for keys in keys_of(length):
        assert _merged(keys).tolist() == np.argsort(keys, kind="stable").tolist()
        assert ascending(keys).tolist() == _merged(keys).tolist()


@pytest.mark.compiled
@pytest.mark.checked
def test_a_compiled_kernel_finds_the_same_order() -> None:
    with forced():
        for length in LENGTHS:
            for keys in keys_of(length):
                assert ascending(keys).tolist() == np.argsort(keys, kind="stable").tolist()
