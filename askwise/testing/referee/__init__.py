"""A referee that keeps books of its own and objects to whatever a campaign may not do."""

from askwise.testing.referee.referee import Referee

__all__ = ["Referee"]
