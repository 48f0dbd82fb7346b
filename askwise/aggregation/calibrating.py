"""What is reported of tasks: evidence counted once, and calibrated where truths are known.

The formulas and their constants are those of :mod:`askwise.kernels.calibration`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from askwise.aggregation.answers import Answers
from askwise.aggregation.features import Features, with_prediction
from askwise.aggregation.fitted import AGREEMENT, CALIBRATED, TIE, Calibration, Fitted
from askwise.aggregation.steps import sized, work_of
from askwise.core.arrays import Array
from askwise.core.scoring import NORMAL
from askwise.kernels.calibration import (
    INTERCEPT_WIDTH,
    LEAST_TRUTHS,
    OF_MODELS,
    OF_PERSONS,
    SLOPE_WIDTH,
    UNSAID,
    ConfidenceMap,
    count_voices,
    fit_map,
    judge_workers,
    map_rows,
    score_rows,
    temper_rows,
    told_apart,
)
from askwise.ledger import columns as c

FOLDS = 2
"""In how many parts truths are hidden, so that none judges itself."""

_DEPENDENCE = {c.UNSAID: UNSAID, c.PERSON: OF_PERSONS, c.MODEL: OF_MODELS, c.CROWD: OF_PERSONS}

_FAR = 5.0
"""Scores beyond it say nothing of how wide a band is: their confidence is 0 or 1."""

Solve = Callable[[Answers], Fitted]


def tempered(answers: Answers, probabilities: Array, dependence: float | None = None) -> Array:
    """Probabilities with the evidence of voices that depend on each other; truths stay.

    Parameters
    ----------
    answers : Answers
        Whom they are of.
    probabilities : array, tasks x classes
        What a model of independent workers makes of them.
    dependence : float, optional
        How dependent voices are on each other; by the kinds of the workers without it.
    """
    # Kinds are numbered from 0.
    of_kinds = np.array([_DEPENDENCE[kind] for kind in sorted(_DEPENDENCE)])
    of_workers = of_kinds[answers.kinds]
    if dependence is not None:
        of_workers = np.full(answers.crowd, float(dependence))
    families = int(answers.families.max(initial=-1)) + 1
    in_all = families + int((answers.families < 0).sum())
    voices, dependences = np.zeros(answers.tasks), np.zeros(answers.tasks)
    weights = answers.weights if len(answers.weights) else np.ones(len(answers.labels))
    table = probabilities.copy()
    size = work_of(answers)
    sized(count_voices, size)(
        *(answers.starts, answers.workers, answers.once, answers.families, of_workers),
        *(in_all, np.zeros(families), voices, dependences),
    )
    judged, agreed = np.zeros(answers.crowd), np.zeros(answers.crowd)
    room = np.zeros((2, answers.classes))
    sized(judge_workers, size)(
        *(answers.starts, answers.workers, answers.labels, room, judged, agreed)
    )
    apart = bool(told_apart(judged, agreed))
    sized(temper_rows, size)(
        *(answers.starts, answers.labels, weights, voices, dependences, apart, room[0], table)
    )
    known = np.flatnonzero(answers.truths >= 0)
    table[known] = probabilities[known]
    return table


def smoothed(answers: Answers, shares: Array) -> Array:
    """Shares of votes with one vote more, divided among the classes; truths stay.

    A share is no probability: it does not tell one vote of one from ten of ten. This does.
    """
    votes = answers.evidence[:, None]
    table = (shares * votes + 1.0 / answers.classes) / (votes + 1.0)
    known = np.flatnonzero(answers.truths >= 0)
    table[known] = shares[known]
    return table


def reported(
    solve: Solve,
    answers: Answers,
    *,
    temper: float | None = None,
    shares: bool = False,
    features: Features | None = None,
) -> Fitted:
    """What a method finds, with confidences that are tempered, and calibrated by known truths.

    Truths judge fits in which they were hidden: in turn each half of them. So without any truth
    the method runs once, else three times.

    Parameters
    ----------
    solve : callable
        The method.
    answers : Answers
        What it computes on.
    temper : float, optional
        How dependent voices are on each other; by the kinds of the workers without it.
    shares : bool
        Whether it finds shares of votes. These do not grow surer with the number of answers, so
        they stay as they are until there are enough truths to calibrate them.
    features : Features, optional
        Features of tasks, whose prediction is one more worker.
    """

    def found_in(part: Answers) -> tuple[Fitted, Array]:
        """What the method finds, and the probabilities by which truths judge it."""
        whole = part if features is None else with_prediction(solve, part, features)
        found = solve(whole)
        if shares:
            return found, smoothed(whole, found.probabilities)
        return found, tempered(whole, found.probabilities, temper)

    fitted, table = found_in(answers)
    known = np.flatnonzero(answers.truths >= 0)
    if len(known) == 0 or (shares and len(known) < LEAST_TRUTHS):
        table = fitted.probabilities if shares else table
        return replace(fitted, probabilities=table, named=fitted.labels, rests_on=AGREEMENT)
    scores, right = np.zeros(len(known)), np.zeros(len(known))
    for fold in range(min(FOLDS, len(known))):
        here = np.arange(fold, len(known), FOLDS)
        hidden = answers.truths.copy()
        hidden[known[here]] = -1
        part = answers._replace(truths=hidden)
        found, judged = found_in(part)
        scores[here], right[here] = _judged(judged, found.labels, known[here], answers.truths)
    made: ConfidenceMap = fit_map(scores, right)
    unknown = np.flatnonzero(answers.truths < 0)
    left = _scores(table, fitted.labels, unknown)
    sized(map_rows, table.size)(
        *(float(made.kept), float(made.intercept), float(made.log_slope)),
        *(fitted.labels, unknown, table),
    )
    return replace(
        fitted,
        probabilities=table,
        named=fitted.labels,
        rests_on=CALIBRATED if len(known) >= LEAST_TRUTHS else AGREEMENT,
        calibration=Calibration(len(known), made, left),
    )


def band_width(fitted: Fitted, more: int = 0) -> float:
    """How far a confidence may be off, in the mean over the tasks without a truth.

    Half the width of its 95% interval, by the normal approximation of what is known of the map:
    the priors, the truths that there are, and ``more`` of tasks drawn at random.
    """
    if fitted.calibration is None:
        made, told = ConfidenceMap(1.0, 0.0, 0.0, 0.0, 0.0, 0.0), fitted.probabilities
        scores = _scores(told, fitted.labels, np.arange(len(told)))
    else:
        made, scores = fitted.calibration.map, fitted.calibration.scores
    if len(scores) == 0:
        return 0.0
    moved = np.exp(made.log_slope) * np.clip(scores, -_FAR, _FAR)
    chance = 1.0 / (1.0 + np.exp(-(made.intercept + moved)))
    spread = chance * (1.0 - chance)
    aa = made.h_aa + more * float(spread.mean()) + INTERCEPT_WIDTH**-2
    ab = made.h_ab + more * float((spread * moved).mean())
    bb = made.h_bb + more * float((spread * moved * moved).mean()) + SLOPE_WIDTH**-2
    variance = (bb - 2.0 * ab * moved + aa * moved * moved) / (aa * bb - ab * ab)
    return float(np.minimum(NORMAL * np.sqrt(variance) * spread, 0.5).mean())


def _scores(table: Array, labels: Array, rows: Array) -> Array:
    scores = np.zeros(len(rows))
    sized(score_rows, len(rows) * table.shape[1])(table, labels, rows, scores)
    return scores


def _judged(table: Array, labels: Array, rows: Array, truths: Array) -> tuple[Array, Array]:
    """Scores of some tasks, and how right their labels are: of k tied classes each is 1/k."""
    level = np.abs(table[rows] - table[rows, labels[rows]][:, None]) < TIE
    tied = level.sum(axis=1)
    among = level[np.arange(len(rows)), truths[rows]]
    right = np.where(tied > 1, among / tied, labels[rows] == truths[rows])
    return _scores(table, labels, rows), right.astype(np.float64)
