"""Says once that a policy's decisions take long for want of compiled kernels."""

import logging

from askwise.core.compiling import plain_time
from askwise.policies.base import KernelPolicy

SLOW, SLOW_IN_ALL = 0.02, 5.0
"""Seconds in plain kernels, a decision and in all: above both, the process says so."""

_told: set[str] = set()
"""Policies that were said to be slow."""


def tell_if_slow(policy: KernelPolicy) -> None:
    """Say once that a policy's kernels have cost much for want of compiled code."""
    if policy.name in _told:
        return
    choosing, absorbing = (plain_time(kernel) for kernel in policy.kernels)
    seconds = choosing.seconds + absorbing.seconds
    if seconds > SLOW_IN_ALL and seconds > SLOW * choosing.calls:
        _told.add(policy.name)
        logging.getLogger(__name__).warning(
            "policy %r runs without compiled kernels and took %.0f ms per decision: "
            "`askwise warm %s` makes it faster",
            policy.name,
            1000.0 * seconds / max(1, choosing.calls),
            policy.name,
        )
