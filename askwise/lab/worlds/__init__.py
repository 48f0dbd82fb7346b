"""Worlds: who would answer what, and how well. In the lab only."""

from askwise.lab.worlds.assured import AssuredWorld, WorkerPool, paper_pool
from askwise.lab.worlds.base import Market, World, answer
from askwise.lab.worlds.completion import complete
from askwise.lab.worlds.crowds import Survey, SurveyWorld, two_options
from askwise.lab.worlds.freelancers import (
    correlation_market,
    drifting_market,
    freelancer_market,
    market_from_table,
    read_table,
)
from askwise.lab.worlds.labellers import LabellerCrowd, label_tasks
from askwise.lab.worlds.recorded import RecordedWorld, Recording

__all__ = [
    "AssuredWorld",
    "LabellerCrowd",
    "Market",
    "RecordedWorld",
    "Recording",
    "Survey",
    "SurveyWorld",
    "WorkerPool",
    "World",
    "answer",
    "complete",
    "correlation_market",
    "drifting_market",
    "freelancer_market",
    "label_tasks",
    "market_from_table",
    "paper_pool",
    "read_table",
    "two_options",
]
