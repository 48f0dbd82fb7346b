"""Which way round a context is: whether those who agree there are right, or wrong together."""

import math

import numpy as np

from askwise.core.arrays import Array
from askwise.core.compiling import kernel
from askwise.kernels.hem.skills import JUDGED, LENT, LIKE_CROWD, MEAN, RIGHT, SkillBeliefs
from askwise.kernels.special import log_beta

SURE_OF_SIDE = 3.0
"""Log-odds (20 to 1) from which on it counts as settled which way round a context is."""


@kernel
def side_margins(beliefs: SkillBeliefs, margins: Array) -> None:
    """Log-odds, by context, that it is the right way round rather than mirrored.

    By what the workers show there against what they would show if each leading answer were wrong
    (with several classes: if it were another one), given what they show elsewhere.
    """
    totals, shown, crowd = beliefs.totals, beliefs.shown, beliefs.crowd
    classes = beliefs.posterior.shape[1]
    like = LIKE_CROWD if crowd[LENT] < 0.0 else crowd[LENT]
    margins[:] = 0.0
    for row in range(len(beliefs.worker)):
        worker = beliefs.worker[row]
        judged = shown[row, JUDGED]
        right = min(judged, max(0.0, shown[row, RIGHT]))
        elsewhere = max(0.0, totals[worker, JUDGED] - judged)
        right_elsewhere = min(elsewhere, max(0.0, totals[worker, RIGHT] - right))
        prior = (LIKE_CROWD * crowd[MEAN] + right_elsewhere) / (LIKE_CROWD + elsewhere)
        a, b = like * prior, like * (1.0 - prior)
        mirrored = (judged - right) / max(1.0, classes - 1.0)
        margins[beliefs.place[row]] += log_beta(a + right, b + judged - right) - log_beta(
            a + mirrored, b + judged - mirrored
        )


@kernel
def agreements(beliefs: SkillBeliefs, found: Array) -> None:
    """Correlation, by context, of what its workers show there and in the other contexts.

    Weighted by answers; 1 where fewer than five workers have three judged answers in both. Where it
    is negative, those who are right elsewhere seem wrong there: perhaps the context is the wrong
    way round, perhaps they are indeed, and answers alone can't tell.
    """
    totals, shown = beliefs.totals, beliefs.shown
    sums = np.zeros((len(found), 6))
    people = np.zeros(len(found), np.int64)
    for row in range(len(beliefs.worker)):
        worker, context = beliefs.worker[row], beliefs.place[row]
        judged = shown[row, JUDGED]
        elsewhere = totals[worker, JUDGED] - judged
        if judged < 3.0 or elsewhere < 3.0:
            continue
        here = (shown[row, RIGHT] + 1.0) / (judged + 2.0)
        there = (totals[worker, RIGHT] - shown[row, RIGHT] + 1.0) / (elsewhere + 2.0)
        weight = judged * elsewhere / (judged + elsewhere)
        people[context] += 1
        sums[context, 0] += weight
        sums[context, 1] += weight * here
        sums[context, 2] += weight * there
        sums[context, 3] += weight * here * here
        sums[context, 4] += weight * there * there
        sums[context, 5] += weight * here * there
    for context in range(len(found)):
        found[context] = 1.0
        w, x, y, xx, yy, xy = sums[context]
        if people[context] >= 5:
            spread = (w * xx - x * x) * (w * yy - y * y)
            if spread > 1e-12:
                found[context] = (w * xy - x * y) / math.sqrt(spread)
