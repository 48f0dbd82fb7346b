"""Confidences that mean what they say: evidence counted once, and maps learned from truths.

The constants are round numbers at a flat optimum of the mean calibration error over 20 sets of
recorded answers, of people and of models; the page on what a confidence means has the figures, and
what leaving sets out would have chosen.
"""

from askwise.kernels.calibration.evidence import (
    OF_MODELS,
    OF_PERSONS,
    UNSAID,
    count_evidence,
    count_voices,
    family_share,
)
from askwise.kernels.calibration.mapping import (
    INTERCEPT_WIDTH,
    LEAST_TRUTHS,
    SLOPE_WIDTH,
    TOLERANCE,
    ConfidenceMap,
    fit_map,
    map_rows,
    mapped,
    score_in,
    score_rows,
)
from askwise.kernels.calibration.tempering import (
    contested_limit,
    damping,
    judge_workers,
    lead_in,
    leader,
    temper_row,
    temper_rows,
    told_apart,
)

__all__ = [
    "INTERCEPT_WIDTH",
    "LEAST_TRUTHS",
    "OF_MODELS",
    "OF_PERSONS",
    "SLOPE_WIDTH",
    "TOLERANCE",
    "UNSAID",
    "ConfidenceMap",
    "contested_limit",
    "count_evidence",
    "count_voices",
    "damping",
    "family_share",
    "fit_map",
    "judge_workers",
    "lead_in",
    "leader",
    "map_rows",
    "mapped",
    "score_in",
    "score_rows",
    "temper_row",
    "temper_rows",
    "told_apart",
]
