"""Mechanisms: what to pay."""

from askwise.mechanisms.base import Mechanism, Owed, mechanisms

__all__ = ["Mechanism", "Owed", "mechanisms"]
