"""The model of ``hem``: what workers show, what answers tell, and how both are fitted."""

from askwise.kernels.hem.counting import SkillAnswers, count_in, counted_by
from askwise.kernels.hem.fitting import (
    FULL_ROUNDS,
    MANY,
    SETTLED,
    fit,
    judge_without_truth,
    posterior_of,
    weigh_answer,
)
from askwise.kernels.hem.sides import SURE_OF_SIDE, agreements, side_margins
from askwise.kernels.hem.skills import (
    HIGH,
    JUDGED,
    LENT,
    LOW,
    MEAN,
    RIGHT,
    SkillBeliefs,
    accuracy_here,
    lift_of,
    like_others,
    mean_accuracy,
    new_beliefs,
    rate_crowd,
    strength,
)

__all__ = [
    "FULL_ROUNDS",
    "HIGH",
    "JUDGED",
    "LENT",
    "LOW",
    "MANY",
    "MEAN",
    "RIGHT",
    "SETTLED",
    "SURE_OF_SIDE",
    "SkillAnswers",
    "SkillBeliefs",
    "accuracy_here",
    "agreements",
    "count_in",
    "counted_by",
    "fit",
    "judge_without_truth",
    "lift_of",
    "like_others",
    "mean_accuracy",
    "new_beliefs",
    "posterior_of",
    "rate_crowd",
    "side_margins",
    "strength",
    "weigh_answer",
]
