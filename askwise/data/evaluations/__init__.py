"""Scores that evaluation tools have exported, as tables of who said what of which task."""

from askwise.data.evaluations.reading import TOOLS, read_scores
from askwise.data.evaluations.scores import ScoreTables

__all__ = ["TOOLS", "ScoreTables", "read_scores"]
