"""The operator's judges: who they are, and the campaigns that the service runs with them."""

from askwise.service.judges.panel import JudgePanel
from askwise.service.judges.runs import JudgeRuns

__all__ = ["JudgePanel", "JudgeRuns"]
