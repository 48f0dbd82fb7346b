"""Scores turned into probabilities by truths of tasks drawn at random.

With the score s of a task, the tempered log-odds of its label against the rest, the label is right
with probability::

    k sigmoid(s) + (1 - k) sigmoid(a + exp(b) s)

either as agreement says, or by a map with normal priors on a and b; k is the probability of the
former after the truths. Without any truth it is sigmoid(s).
"""

import math
from typing import NamedTuple

from askwise.core.arrays import Array
from askwise.core.compiling import kernel, step
from askwise.core.scoring import TIE

INTERCEPT_WIDTH, SLOPE_WIDTH = 1.5, 0.7
"""Standard deviations of a and b before any truth."""

LEAST_TRUTHS = 10
"""Known truths of answered tasks from which on a confidence is called calibrated; fewer move it a
little."""

MOST_SCORE = 30.0
"""Scores beyond it are taken for it."""

TOLERANCE = 1e-6
"""By how much a class that is named is more probable than the others, at least."""

_ROUNDS, _HALVINGS = 50, 30
_LONGEST = 2.0
_SETTLED = 1e-12


class ConfidenceMap(NamedTuple):
    """How scores are turned into probabilities.

    Attributes
    ----------
    kept : float
        The probability that scores mean what they say.
    intercept, log_slope : float
        Of the map where they do not: a and b.
    h_aa, h_ab, h_bb : float
        What the truths tell about a and b: the matrix of information, without the priors.
    """

    kept: float
    intercept: float
    log_slope: float
    h_aa: float
    h_ab: float
    h_bb: float


@step
def score_in(table: Array, row: int, classes: int, label: int) -> float:
    """The log-odds of a class against the rest, from -30 to 30."""
    rest = 0.0
    for other in range(classes):
        if other != label:
            rest += table[row, other]
    if rest <= 0.0:
        return MOST_SCORE
    if table[row, label] <= 0.0:
        return -MOST_SCORE
    return min(MOST_SCORE, max(-MOST_SCORE, math.log(table[row, label] / rest)))


@step
def sigmoid(score: float) -> float:
    """The probability that log-odds stand for."""
    if score >= 0.0:
        return 1.0 / (1.0 + math.exp(-score))
    small = math.exp(score)
    return small / (1.0 + small)


@step
def surprise(score: float, right: float) -> float:
    """Minus the logarithm of the likelihood of being right, so far as it is right."""
    return max(score, 0.0) - right * score + math.log1p(math.exp(-abs(score)))


@step
def loss_of_map(scores: Array, right: Array, intercept: float, log_slope: float) -> float:
    """Minus the logarithm of likelihood and priors, up to a constant."""
    a, b = intercept / INTERCEPT_WIDTH, log_slope / SLOPE_WIDTH
    loss = 0.5 * (a * a + b * b)
    slope = math.exp(log_slope)
    for at in range(len(scores)):
        loss += surprise(intercept + slope * scores[at], right[at])
    return loss


@kernel
def fit_map(scores: Array, right: Array) -> ConfidenceMap:
    """Learn a map from scores (from -30 to 30) of tasks and how right their labels are (0 to 1).

    Newton's method with the expected second derivatives, which are positive; a step that makes
    things worse is halved. Without any truth the map is the identity.
    """
    a = b = 0.0
    loss = loss_of_map(scores, right, a, b)
    as_it_is = loss
    at_a, at_b = 1.0 / (INTERCEPT_WIDTH * INTERCEPT_WIDTH), 1.0 / (SLOPE_WIDTH * SLOPE_WIDTH)
    h_aa = h_ab = h_bb = 0.0
    for _ in range(_ROUNDS):
        slope = math.exp(b)
        g_a, g_b = a * at_a, b * at_b
        h_aa = h_ab = h_bb = 0.0
        for at in range(len(scores)):
            moved = slope * scores[at]
            chance = sigmoid(a + moved)
            error, spread = chance - right[at], chance * (1.0 - chance)
            g_a += error
            g_b += error * moved
            h_aa += spread
            h_ab += spread * moved
            h_bb += spread * moved * moved
        p_aa, p_bb = h_aa + at_a, h_bb + at_b
        det = p_aa * p_bb - h_ab * h_ab
        d_a = -(p_bb * g_a - h_ab * g_b) / det
        d_b = -(p_aa * g_b - h_ab * g_a) / det
        length = min(1.0, _LONGEST / max(abs(d_a), abs(d_b), _LONGEST))
        better = loss
        for _ in range(_HALVINGS):
            better = loss_of_map(scores, right, a + length * d_a, b + length * d_b)
            if better < loss:
                break
            length *= 0.5
        if not better < loss:
            break
        gain = loss - better
        a += length * d_a
        b += length * d_b
        loss = better
        if gain < _SETTLED * (1.0 + loss):
            break
    # Laplace's approximation of the evidence for some map, against that for none.
    p_aa, p_bb = h_aa + at_a, h_bb + at_b
    det = p_aa * p_bb - h_ab * h_ab
    for_map = as_it_is - loss - 0.5 * math.log(det / (at_a * at_b))
    return ConfidenceMap(sigmoid(-for_map), a, b, h_aa, h_ab, h_bb)


@step
def mapped(found: ConfidenceMap, score: float) -> float:
    """The probability that a label with this score is right."""
    moved = sigmoid(found.intercept + math.exp(found.log_slope) * score)
    return found.kept * sigmoid(score) + (1.0 - found.kept) * moved


@step
def set_confidence(table: Array, row: int, classes: int, label: int, confidence: float) -> None:
    """Give the named class of a row a probability; the others share the rest as they did.

    The named class stays the most probable, by a hair at least: those tied with it get the same,
    all others less, and a probability below one in this many classes counts as that.
    """
    if classes == 1:
        table[row, 0] = 1.0
        return
    top = table[row, label]
    tied = 0
    for other in range(classes):
        tied += abs(table[row, other] - top) < TIE
    if tied == classes:
        return
    sure = min(max(confidence, (1.0 + 2.0 * TOLERANCE) / classes), 1.0 / tied)
    most = sure * (1.0 - TOLERANCE)
    left, mass, others = 1.0 - tied * sure, 0.0, 0
    # What would be above the named class is cut below it, and marked by its sign until all are
    # done; the rest of it goes to those below.
    for _ in range(classes):
        mass, others = 0.0, 0
        for other in range(classes):
            chance = table[row, other]
            if chance >= 0.0 and abs(chance - top) >= TIE:
                mass += chance
                others += 1
        before = left
        for other in range(classes):
            chance = table[row, other]
            if chance > 0.0 and abs(chance - top) >= TIE and chance / mass * before > most:
                table[row, other] = -1.0
                left -= most
        if left == before:
            break
    for other in range(classes):
        chance = table[row, other]
        if chance < 0.0:
            table[row, other] = most
        elif abs(chance - top) < TIE:
            table[row, other] = sure
        elif mass > 0.0:
            table[row, other] = max(0.0, left) * (chance / mass)
        else:
            table[row, other] = max(0.0, left) / others


@kernel
def score_rows(table: Array, labels: Array, rows: Array, scores: Array) -> None:
    """Write the scores of the labels of some rows."""
    for at in range(len(rows)):
        scores[at] = score_in(table, rows[at], table.shape[1], labels[rows[at]])


@kernel
def map_rows(found: ConfidenceMap, labels: Array, rows: Array, table: Array) -> None:
    """Calibrate some rows of a table of probabilities, in place."""
    classes = table.shape[1]
    for at in range(len(rows)):
        row = rows[at]
        score = score_in(table, row, classes, labels[row])
        set_confidence(table, row, classes, labels[row], mapped(found, score))
