"""The Gittins index of a normal mean that can be used a limited number of times."""

import math

import numpy as np

from askwise.kernels import step

ROWS, COLUMNS = 9, 13
"""Ratios 4**-5 to 4**3, and 2**0 to 2**12 answers."""

BONUSES = np.array(
    [
        (0.000, 0.009, 0.021, 0.038, 0.062, 0.095, 0.141, 0.206, 0.295, 0.423, 0.579, 0.773, 0.997),
        (0.000, 0.017, 0.041, 0.075, 0.121, 0.186, 0.274, 0.391, 0.542, 0.732, 0.947, 1.184, 1.435),
        (0.000, 0.034, 0.082, 0.147, 0.235, 0.353, 0.504, 0.688, 0.900, 1.137, 1.384, 1.636, 1.889),
        (0.000, 0.067, 0.157, 0.277, 0.429, 0.614, 0.827, 1.061, 1.307, 1.559, 1.810, 2.056, 2.294),
        (0.000, 0.123, 0.279, 0.467, 0.683, 0.918, 1.165, 1.416, 1.667, 1.913, 2.151, 2.380, 2.600),
        (0.000, 0.195, 0.416, 0.656, 0.905, 1.160, 1.413, 1.660, 1.900, 2.132, 2.353, 2.565, 2.767),
        (0.000, 0.247, 0.504, 0.764, 1.024, 1.278, 1.526, 1.765, 1.994, 2.214, 2.424, 2.625, 2.818),
        (0.000, 0.268, 0.537, 0.803, 1.063, 1.316, 1.560, 1.794, 2.018, 2.233, 2.439, 2.637, 2.827),
        (0.000, 0.274, 0.546, 0.813, 1.073, 1.325, 1.568, 1.800, 2.023, 2.237, 2.442, 2.639, 2.829),
    ]
)
"""By the ratio of variance to noise and the number of answers: in deviations of the mean, what a
known worth must exceed it by to be preferred at once. By backward induction (see the tests)."""

LOG_2, LOG_4 = math.log(2.0), math.log(4.0)


@step
def normal_bonus(ratio: float, answers: float) -> float:
    """Deviations to add to a mean, to a few thousandths; between the table's points on logarithms.

    Parameters
    ----------
    ratio : float
        The variance of the mean over the noise of one answer. Below the table's, learning is slow:
        what it is worth grows as the root. Above it, one answer tells nearly all.
    answers : float
        How many can still be had. After 4096 the bonus grows no more.
    """
    if answers <= 1.0 or ratio <= 0.0:
        return 0.0
    down = math.log(ratio) / LOG_4 + 5.0
    factor = 1.0 if down >= 0.0 else math.exp(0.5 * LOG_4 * down)
    down = min(max(down, 0.0), ROWS - 1.0)
    along = min(math.log(answers) / LOG_2, COLUMNS - 1.0)
    row, column = min(int(down), ROWS - 2), min(int(along), COLUMNS - 2)
    down -= row
    along -= column
    less = (1.0 - along) * BONUSES[row, column] + along * BONUSES[row, column + 1]
    more = (1.0 - along) * BONUSES[row + 1, column] + along * BONUSES[row + 1, column + 1]
    return factor * ((1.0 - down) * less + down * more)
