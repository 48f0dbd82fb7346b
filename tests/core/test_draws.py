"""Draws: the generator's known answers, distributions, and independence of streams.

Seeds are fixed. A margin of five standard deviations is missed by one right generator in a
million, and then by the same one for good: a test that passes once passes for ever.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from askwise.core import draws
from askwise.core.draws import Draw, beta, gamma, normal_and_uniform, stream, threefry, uniform

ROLES = {
    "POLICY": draws.POLICY,
    "RULE": draws.RULE,
    "WORLD": draws.WORLD,
    "MARKET": draws.MARKET,
    "AGGREGATION": draws.AGGREGATION,
    "MECHANISM": draws.MECHANISM,
    "ABSORB": draws.ABSORB,
    "TRUTHS": draws.TRUTHS,
}

ONES = 0xFFFFFFFF


@pytest.mark.parametrize(
    ("counter", "key", "due"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((ONES, ONES), (ONES, ONES), (0x1CB996FC, 0xBB002BE7)),
        ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_the_generator_gives_the_known_answers_of_random123(
    counter: tuple[int, int], key: tuple[int, int], due: tuple[int, int]
) -> None:
    # kat_vectors of Random123, threefry2x32 with 20 rounds: counter, key, result.
    assert tuple(int(word) for word in threefry(*key, *counter)) == due


words = st.integers(0, ONES)


@given(words, words, words, words)
def test_the_generator_is_that_of_unbounded_arithmetic(k0: int, k1: int, c0: int, c1: int) -> None:
    # Written anew from the paper's definition: eight rotations in turn, a key after every four.
    keys = (k0, k1, 0x1BD11BDA ^ k0 ^ k1)
    x, y = (c0 + k0) % 2**32, (c1 + k1) % 2**32
    for number in range(20):
        bits = (13, 15, 26, 6, 17, 29, 16, 24)[number % 8]
        x = (x + y) % 2**32
        y = ((y << bits) % 2**32 | y >> (32 - bits)) ^ x
        if number % 4 == 3:
            turn = number // 4 + 1
            x = (x + keys[turn % 3]) % 2**32
            y = (y + keys[(turn + 1) % 3] + turn) % 2**32
    assert tuple(int(word) for word in threefry(k0, k1, c0, c1)) == (x, y)


def test_a_uniform_has_53_bits_and_stays_below_one() -> None:
    # (2^27 - 1) * 2^26 + 2^26 - 1 over 2^53 is the largest: below one.
    assert (((ONES >> 5) * 67108864.0) + (ONES >> 6)) / 9007199254740992.0 == 1 - 2**-53
    sample = [uniform(Draw(1, 2, at), 0) for at in range(2000)]
    assert 0.0 <= min(sample) < max(sample) < 1.0
    assert all(value * 2**53 == int(value * 2**53) for value in sample)
    assert any(int(value * 2**53) % 2 for value in sample)


def sample_of(role: int, count: int, seed: int = 99) -> np.ndarray:
    key = stream(seed, role, 0)
    return np.array([uniform(Draw(*key, at), 0) for at in range(count)])


@pytest.mark.parametrize("role", ROLES.values(), ids=ROLES)
def test_each_role_draws_uniformly(role: int) -> None:
    # Kolmogorov-Smirnov: sqrt(n) D exceeds 2.6 with probability 2 exp(-2 * 2.6^2) = 3e-6.
    count = 3000
    assert stats.kstest(sample_of(role, count), "uniform").statistic * math.sqrt(count) < 2.6


def test_roles_are_independent() -> None:
    # A correlation of n independent pairs is about normal with deviation 1 / sqrt(n).
    count = 3000
    samples = {role: sample_of(role, count) for role in ROLES.values()}
    for one, other in combinations(samples, 2):
        found = np.corrcoef(samples[one], samples[other])[0, 1]
        assert abs(found) < 5 / math.sqrt(count), (one, other)


def test_decisions_indices_streams_and_seeds_are_independent() -> None:
    count = 3000
    base = np.array([uniform(Draw(*stream(5, 1, 0), at), 0) for at in range(count)])
    others = {
        "the next decision": [uniform(Draw(*stream(5, 1, 0), at + 1), 0) for at in range(count)],
        "the next index": [uniform(Draw(*stream(5, 1, 0), at), 1) for at in range(count)],
        "the next stream": [uniform(Draw(*stream(5, 1, 1), at), 0) for at in range(count)],
        "the next seed": [uniform(Draw(*stream(6, 1, 0), at), 0) for at in range(count)],
        "a seed far off": [uniform(Draw(*stream(5 + 2**32, 1, 0), at), 0) for at in range(count)],
    }
    for what, other in others.items():
        assert abs(np.corrcoef(base, other)[0, 1]) < 5 / math.sqrt(count), what


@given(st.integers(0, 2**63 - 1), st.integers(1, 7), st.integers(0, 10**6))
def test_a_draw_is_a_pure_function(seed: int, role: int, number: int) -> None:
    assert stream(seed, role, number) == stream(seed, role, number)
    draw = Draw(*stream(seed, role, number), 3)
    assert uniform(draw, 7) == uniform(draw, 7)


def test_both_halves_of_a_seed_count() -> None:
    keys = {tuple(stream(seed, 1, 0)) for seed in (0, 1, 2**32, 2**32 + 1, 2**62, 2**63 - 1)}
    assert len(keys) == 6


def test_a_normal_is_standard_and_independent_of_its_uniform() -> None:
    count = 4000
    pairs = np.array([normal_and_uniform(Draw(3, 4, at), 0) for at in range(count)])
    assert stats.kstest(pairs[:, 0], "norm").statistic * math.sqrt(count) < 2.6
    assert stats.kstest(pairs[:, 1], "uniform").statistic * math.sqrt(count) < 2.6
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 5 / math.sqrt(count)
    assert abs(np.corrcoef(pairs[:, 0] ** 2, pairs[:, 1])[0, 1]) < 5 / math.sqrt(count)


@pytest.mark.parametrize("shape", [0.2, 0.9, 1.0, 2.5, 40.0])
def test_gamma_has_its_distribution(shape: float) -> None:
    count = 3000
    sample = [gamma(Draw(5, 6, at), 0, shape) for at in range(count)]
    assert stats.kstest(sample, stats.gamma(shape).cdf).statistic * math.sqrt(count) < 2.6
    # Mean and variance are both the shape; the fourth moment gives the variance's deviation.
    assert abs(np.mean(sample) - shape) < 5 * math.sqrt(shape / count)
    fourth = 3 * shape**2 + 6 * shape
    assert abs(np.var(sample) - shape) < 5 * math.sqrt((fourth - shape**2) / count)


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (0.5, 0.5), (3.0, 2.0), (30.0, 4.0)])
def test_beta_has_its_distribution(a: float, b: float) -> None:
    count = 3000
    sample = np.array([beta(Draw(7, 8, at), 2, a, b) for at in range(count)])
    due = stats.beta(a, b)
    assert stats.kstest(sample, due.cdf).statistic * math.sqrt(count) < 2.6
    assert abs(sample.mean() - due.mean()) < 5 * due.std() / math.sqrt(count)
    # kurtosis + 2 is the variance of the squared standardised value.
    kurtosis = float(due.stats("k")) + 2
    assert abs(sample.var() / due.var() - 1) < 5 * math.sqrt(kurtosis / count)


def test_betas_of_neighbouring_indices_share_no_draw() -> None:
    count = 3000
    one = [beta(Draw(9, 1, at), 0, 2.0, 2.0) for at in range(count)]
    other = [beta(Draw(9, 1, at), 1, 2.0, 2.0) for at in range(count)]
    assert abs(np.corrcoef(one, other)[0, 1]) < 5 / math.sqrt(count)
