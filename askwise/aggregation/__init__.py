"""Aggregation: what the answer is."""

from askwise.aggregation.base import Aggregator, aggregation

__all__ = ["Aggregator", "aggregation"]
