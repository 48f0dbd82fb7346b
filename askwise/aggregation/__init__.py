"""Aggregation: what the answer is."""

from askwise.aggregation.answers import Answers, code_answers
from askwise.aggregation.base import Aggregator, LabelAggregator, Learned, aggregation
from askwise.aggregation.fitted import Errors, Fitted

__all__ = [
    "Aggregator",
    "Answers",
    "Errors",
    "Fitted",
    "LabelAggregator",
    "Learned",
    "aggregation",
    "code_answers",
]
