"""Policies: whom to ask next. One file an algorithm, found through the registry."""

from askwise.core.allocation import FixedWorkers, SetsCriticalBids, TakesBids
from askwise.policies.base import KernelPolicy, Kernels, Policy, policies
from askwise.policies.capabilities import (
    AsksCrowds,
    Assures,
    AwaitsTruth,
    Explains,
    KnowsTruth,
    LabelsItself,
    LimitsSize,
    NeedsStopping,
    PlansForAll,
    Score,
    SuggestsGold,
)

__all__ = [
    "AsksCrowds",
    "Assures",
    "AwaitsTruth",
    "Explains",
    "FixedWorkers",
    "KernelPolicy",
    "Kernels",
    "KnowsTruth",
    "LabelsItself",
    "LimitsSize",
    "NeedsStopping",
    "PlansForAll",
    "Policy",
    "Score",
    "SetsCriticalBids",
    "SuggestsGold",
    "TakesBids",
    "policies",
]
