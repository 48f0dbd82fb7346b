"""Prolific: its participants answer on the workers' page, its API recruits and pays them."""

from askwise.sources.prolific.api import ProlificApi, Submission
from askwise.sources.prolific.errors import (
    InvalidEvent,
    ProlificRefused,
    ProlificUnclear,
    ProlificUnreachable,
)
from askwise.sources.prolific.signing import check_event, sign_event
from askwise.sources.prolific.source import Prolific

__all__ = [
    "InvalidEvent",
    "Prolific",
    "ProlificApi",
    "ProlificRefused",
    "ProlificUnclear",
    "ProlificUnreachable",
    "Submission",
    "check_event",
    "sign_event",
]
