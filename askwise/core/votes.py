"""Counting votes."""

from __future__ import annotations

from askwise.core.book import Array
from askwise.core.draws import Draw, uniform


def leading_option(votes: Array, draw: Draw, index: int) -> int:
    """The option with the most votes; a tie is broken by the draw at ``index``."""
    leaders = [option for option, count in enumerate(votes) if count == votes.max()]
    return leaders[min(int(uniform(draw, index) * len(leaders)), len(leaders) - 1)]
