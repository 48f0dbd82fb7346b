"""Policies: whom to ask next. One file per algorithm, found through the registry."""

from askwise.core.allocation import FixedWorkers, SetsCriticalBids, TakesBids
from askwise.policies.base import KernelPolicy, Kernels, Policy, policies
from askwise.policies.capabilities import (
    AsksCrowds,
    Assures,
    AwaitsTruth,
    BoundsCost,
    Cautions,
    Explains,
    GoldFor,
    GoldRequest,
    KnowsTruth,
    LabelsItself,
    LimitsSize,
    NeedsStopping,
    PlansForAll,
    Score,
    Settles,
    SuggestsGold,
    TakesPilot,
    VotesBy,
)
from askwise.policies.gold import drawn_at_random

__all__ = [
    "AsksCrowds",
    "Assures",
    "AwaitsTruth",
    "BoundsCost",
    "Cautions",
    "Explains",
    "FixedWorkers",
    "GoldFor",
    "GoldRequest",
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
    "Settles",
    "SuggestsGold",
    "TakesBids",
    "TakesPilot",
    "VotesBy",
    "drawn_at_random",
    "policies",
]
