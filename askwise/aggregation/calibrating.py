"""What is reported of tasks: evidence counted once, and calibrated where truths are known.

The formulas and their constants are those of :mod:`askwise.kernels.calibration`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from askwise.aggregation.answers import Answers
from askwise.aggregation.features import Features, with_prediction
from askwise.aggregation.fitted import AGREEMENT, CALIBRATED, Calibration, Fitted
from askwise.aggregation.steps import sized, work_of
from askwise.core.arrays import Array
from askwise.core.scoring import NORMAL, ScoredLabels, right_shares
from askwise.kernels import calibration
from askwise.kernels.calibration import ConfidenceMap
from askwise.ledger import columns as c

FOLDS = 2
"""In how many parts truths are hidden, so that none judges itself."""

_DEPENDENCE = {
    c.UNSAID: calibration.UNSAID,
    c.PERSON: calibration.OF_PERSONS,
    c.MODEL: calibration.OF_MODELS,
    c.CROWD: calibration.OF_PERSONS,
}

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
    table = probabilities.copy()
    starts, workers, labels = answers.starts, answers.workers, answers.labels
    size = work_of(answers)
    sized(calibration.count_voices, size)(
        *(starts, workers, answers.once, answers.families, of_workers),
        *(in_all, np.zeros(families), voices, dependences),
    )
    judged, agreed = np.zeros(answers.crowd), np.zeros(answers.crowd)
    room = np.zeros(answers.classes)
    sized(calibration.judge_workers, size)(starts, workers, labels, room, judged, agreed)
    apart = bool(calibration.told_apart(judged, agreed))
    sized(calibration.temper_rows, size)(
        starts, labels, answers.weights, voices, dependences, apart, room, table
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
    if len(known) == 0 or (shares and len(known) < calibration.LEAST_TRUTHS):
        table = fitted.probabilities if shares else table
        return replace(fitted, probabilities=table, named=fitted.labels, rests_on=AGREEMENT)
    scores, right = np.zeros(len(known)), np.zeros(len(known))
    for fold in range(min(FOLDS, len(known))):
        here = np.arange(fold, len(known), FOLDS)
        hidden = answers.truths.copy()
        hidden[known[here]] = -1
        part = answers._replace(truths=hidden)
        found, judged = found_in(part)
        rows = known[here]
        scores[here] = _scores(judged, found.labels, rows)
        labels = ScoredLabels(found.labels[rows], found.confidence[rows], judged[rows])
        right[here], _ = right_shares(labels, answers.truths[rows])
    made: ConfidenceMap = calibration.fit_map(scores, right)
    unknown = np.flatnonzero(answers.truths < 0)
    left = _scores(table, fitted.labels, unknown)
    sized(calibration.map_rows, table.size)(made, fitted.labels, unknown, table)
    return replace(
        fitted,
        probabilities=table,
        named=fitted.labels,
        rests_on=CALIBRATED if len(known) >= calibration.LEAST_TRUTHS else AGREEMENT,
        calibration=Calibration(len(known), made, left),
    )


def band_width(fitted: Fitted, more: int = 0) -> float:
    """How far a confidence may be off, on average over the tasks without a truth.

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
    aa = made.h_aa + more * float(spread.mean()) + calibration.INTERCEPT_WIDTH**-2
    ab = made.h_ab + more * float((spread * moved).mean())
    bb = made.h_bb + more * float((spread * moved * moved).mean()) + calibration.SLOPE_WIDTH**-2
    variance = (bb - 2.0 * ab * moved + aa * moved * moved) / (aa * bb - ab * ab)
    return float(np.minimum(NORMAL * np.sqrt(variance) * spread, 0.5).mean())


def _scores(table: Array, labels: Array, rows: Array) -> Array:
    scores = np.zeros(len(rows))
    sized(calibration.score_rows, len(rows) * table.shape[1])(table, labels, rows, scores)
    return scores
