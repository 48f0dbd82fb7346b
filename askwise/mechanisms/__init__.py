"""Mechanisms: what to pay."""

from askwise.mechanisms.base import Mechanism, Owed, Quote, mechanisms
from askwise.mechanisms.sealed import SealedBids

__all__ = ["Mechanism", "Owed", "Quote", "SealedBids", "mechanisms"]
