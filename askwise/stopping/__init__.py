"""Stopping rules: when a task has been asked often enough."""

from askwise.stopping.base import KernelRule, StoppingRule, Verdict, stopping
from askwise.stopping.single import SingleCrowdRule

__all__ = ["KernelRule", "SingleCrowdRule", "StoppingRule", "Verdict", "stopping"]
