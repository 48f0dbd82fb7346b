"""Randomness without state: a draw is a pure function of (seed, role, decision, index).

The generator is Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw: "Parallel random
numbers: as easy as 1, 2, 3", 2011), written in 64-bit signed arithmetic that never overflows,
so that compiled and plain runs agree to the last bit.
"""

import math
from typing import NamedTuple

from askwise.core.compiling import kernel, step

(POLICY, RULE, WORLD, MARKET, AGGREGATION, MECHANISM, ABSORB, TRUTHS, GOLD, AUDITS, PILOT,
 SIDES, SCREENING) = range(1, 14)  # fmt: skip
"""Roles: streams of policy, rule, world, ... of one seed are independent."""

_WORD = 0xFFFFFFFF
_TINY = 2.0**-33


class Draw(NamedTuple):
    """Handle of one decision's draws: a key (from seed and role) and the decision's number."""

    key0: int
    key1: int
    decision: int


@kernel
def threefry(key0: int, key1: int, counter0: int, counter1: int) -> tuple[int, int]:
    """Two random 32-bit words for a key and a counter of two 32-bit words each.

    A round adds, rotates and combines. They are written out: in plain Python to call a function for
    each takes longer than the round.
    """
    key2 = key0 ^ key1 ^ 0x1BD11BDA
    x = (counter0 + key0) & _WORD
    y = (counter1 + key1) & _WORD
    for group in range(5):
        if group % 2 == 0:
            x = (x + y) & _WORD
            y = (((y << 13) | (y >> 19)) & _WORD) ^ x
            x = (x + y) & _WORD
            y = (((y << 15) | (y >> 17)) & _WORD) ^ x
            x = (x + y) & _WORD
            y = (((y << 26) | (y >> 6)) & _WORD) ^ x
            x = (x + y) & _WORD
            y = (((y << 6) | (y >> 26)) & _WORD) ^ x
        else:
            x = (x + y) & _WORD
            y = (((y << 17) | (y >> 15)) & _WORD) ^ x
            x = (x + y) & _WORD
            y = (((y << 29) | (y >> 3)) & _WORD) ^ x
            x = (x + y) & _WORD
            y = (((y << 16) | (y >> 16)) & _WORD) ^ x
            x = (x + y) & _WORD
            y = (((y << 24) | (y >> 8)) & _WORD) ^ x
        if group % 3 == 0:
            first, second = key1, key2
        elif group % 3 == 1:
            first, second = key2, key0
        else:
            first, second = key0, key1
        x = (x + first) & _WORD
        y = (y + second + group + 1) & _WORD
    return x, y


@kernel
def stream(seed: int, role: int, number: int) -> tuple[int, int]:
    """Key of the ``number``-th stream of a role (a replication, say) under a 63-bit seed."""
    return threefry(seed & _WORD, (seed >> 32) & _WORD, role, number)


@step
def words(draw: Draw, index: int) -> tuple[int, int]:
    """Draw two independent 32-bit words at ``index`` of a decision."""
    return threefry(draw.key0, draw.key1, draw.decision & _WORD, index & _WORD)


@step
def uniform(draw: Draw, index: int) -> float:
    """Draw from [0, 1) with 53 bits."""
    x, y = words(draw, index)
    return ((x >> 5) * 67108864.0 + (y >> 6)) / 9007199254740992.0


@kernel
def normal_and_uniform(draw: Draw, index: int) -> tuple[float, float]:
    """Draw a standard normal (Box-Muller) and, independent of it, a uniform from (0, 1)."""
    x, y = words(draw, index)
    z, _ = words(draw, index + 1)
    radius = math.sqrt(-2.0 * math.log(x / 4294967296.0 + _TINY))
    return radius * math.cos(2.0 * math.pi * (y / 4294967296.0)), z / 4294967296.0 + _TINY


@kernel
def gamma(draw: Draw, index: int, shape: float) -> float:
    """Draw from Gamma(shape, 1) by Marsaglia and Tsang's method; uses 64 indices."""
    boost = 1.0
    if shape < 1.0:
        boost = math.exp(math.log(uniform(draw, index + 63) + _TINY) / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    # An attempt fails with probability below .05: thirty in a row do not happen.
    for attempt in range(30):
        x, u = normal_and_uniform(draw, index + 2 * attempt)
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            if math.log(u) < 0.5 * x * x + d - d * v + d * math.log(v):
                return boost * d * v
    return boost * d


@kernel
def beta(draw: Draw, index: int, a: float, b: float) -> float:
    """Draw from Beta(a, b); ``index`` counts beta draws, each takes 128 indices of its own."""
    x = gamma(draw, 128 * index, a)
    y = gamma(draw, 128 * index + 64, b)
    return x / (x + y)
