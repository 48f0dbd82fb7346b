"""The runner: asks a campaign, hands questions to sources, and tells what came back."""

from askwise.running.claims import RunClaim, RunHolder, holder_of, last_run
from askwise.running.counts import CallCounts, RunProgress, RunResult
from askwise.running.starting import arun, run

__all__ = [
    "CallCounts",
    "RunClaim",
    "RunHolder",
    "RunProgress",
    "RunResult",
    "arun",
    "holder_of",
    "last_run",
    "run",
]
