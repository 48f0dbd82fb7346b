"""Stores that can take back what an append-only log keeps: whole campaigns, and names in them."""

from askwise.store.amending.base import Amending, Rewriting, amending

__all__ = ["Amending", "Rewriting", "amending"]
