"""Policies: whom to ask next. One file an algorithm, found through the registry."""

from askwise.policies.base import KernelPolicy, Kernels, Policy, Score, policies

__all__ = ["KernelPolicy", "Kernels", "Policy", "Score", "policies"]
