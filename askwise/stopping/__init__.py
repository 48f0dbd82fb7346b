"""Stopping rules: when a task has been asked often enough."""

from askwise.stopping.base import StoppingRule, Verdict, stopping

__all__ = ["StoppingRule", "Verdict", "stopping"]
