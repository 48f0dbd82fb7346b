"""The runner: asks a campaign, hands questions to sources, and tells what came back."""

from askwise.running.counts import CallCounts, RunProgress, RunResult
from askwise.running.runner import arun, run

__all__ = ["CallCounts", "RunProgress", "RunResult", "arun", "run"]
