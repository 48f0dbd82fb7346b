"""How far votes are from "this option is the most probable": generalised likelihood ratios."""

import math

from askwise.core.arrays import Array
from askwise.core.compiling import step


@step
def distance_from_top(table: Array, row: int, first: int, options: int, top: int) -> float:
    """N times the divergence of the votes' distribution from the nearest with ``top`` on top.

    The nearest shares the votes of ``top`` and of all who lead it evenly among them: options
    join while they have more than the mean of those that joined before. A row of probabilities
    will do for votes; then it is the divergence itself.
    """
    total = float(table[row, first + top])
    members = 1
    # Who joins has more votes than the mean; the mean only grows, so a threshold finds them.
    floor = math.inf
    while True:
        highest = -1.0
        for option in range(options):
            votes = table[row, first + option]
            if option != top and votes < floor and votes > highest:
                highest = float(votes)
        if highest < 0 or highest * members <= total:
            break
        for option in range(options):
            if option != top and table[row, first + option] == highest:
                total += highest
                members += 1
        floor = highest
    mean = total / members
    distance = 0.0
    for option in range(options):
        votes = table[row, first + option]
        if votes > 0 and (option == top or votes >= floor):
            distance += votes * math.log(votes / mean)
    return distance
