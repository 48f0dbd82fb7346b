"""Mechanisms: what to pay."""

from askwise.mechanisms.base import Mechanism, Owed, Quote, mechanisms

__all__ = ["Mechanism", "Owed", "Quote", "mechanisms"]
