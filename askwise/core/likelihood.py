"""How far votes are from "this option is the most probable": generalised likelihood ratios."""

from __future__ import annotations

import math

from askwise.core.book import Array
from askwise.core.compiling import step

NONE = -1


@step
def votes_with(table: Array, row: int, first: int, option: int, extra: int) -> int:
    """Votes for an option, one more if it is the ``extra`` one."""
    return table[row, first + option] + (1 if option == extra else 0)


@step
def distance_from_top(
    table: Array, row: int, first: int, options: int, top: int, extra: int
) -> float:
    """N times the divergence of the votes' distribution from the nearest with ``top`` on top.

    The nearest shares the votes of ``top`` and of all who lead it evenly among them: options
    join while they have more than the mean of those that joined before. ``extra`` is an option
    with one vote more than the table has, or NONE.
    """
    total = float(votes_with(table, row, first, top, extra))
    members = 1
    # Who joins has more votes than the mean; the mean only grows, so he is found by threshold.
    floor = math.inf
    while True:
        highest = -1
        for option in range(options):
            votes = votes_with(table, row, first, option, extra)
            if option != top and votes < floor and votes > highest:
                highest = votes
        if highest < 0 or highest * members <= total:
            break
        for option in range(options):
            if option != top and votes_with(table, row, first, option, extra) == highest:
                total += highest
                members += 1
        floor = float(highest)
    mean = total / members
    distance = 0.0
    for option in range(options):
        votes = votes_with(table, row, first, option, extra)
        if votes > 0 and (option == top or votes >= floor):
            distance += votes * math.log(votes / mean)
    return distance
