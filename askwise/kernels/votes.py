"""Counting votes: leaders, gaps, and the paper's confidence term (004, section 2).

Votes are a stretch of a row in a table of whole numbers (the ledger's `votes` or `cells`):
kernels take the table, the row and the column where the options begin, as a slice would cost
more than the counting.
"""

import math

from askwise.core.arrays import Array
from askwise.core.compiling import step
from askwise.core.draws import Draw, uniform


@step
def answers_in(table: Array, row: int, first: int, options: int) -> int:
    """How many answers a source has given."""
    count = 0
    for option in range(options):
        count += table[row, first + option]
    return count


@step
def two_largest(table: Array, row: int, first: int, options: int) -> tuple[int, int]:
    """The votes of the two leading options, of two or more."""
    top = second = -1
    for option in range(options):
        votes = table[row, first + option]
        if votes > top:
            second = top
            top = votes
        elif votes > second:
            second = votes
    return top, second


@step
def lead_in(table: Array, row: int, first: int, options: int) -> int:
    """By how many votes the first option leads the second: gap times answers."""
    top, second = two_largest(table, row, first, options)
    return top - second


@step
def leading_option(table: Array, row: int, first: int, options: int, draw: Draw, index: int) -> int:
    """The option with the most votes; a tie is broken by the draw at ``index``."""
    top = -1
    leaders = leader = 0
    for option in range(options):
        votes = table[row, first + option]
        if votes > top:
            top, leader, leaders = votes, option, 1
        elif votes == top:
            leaders += 1
    if leaders == 1:
        return leader
    pick = min(int(uniform(draw, index) * leaders), leaders - 1)
    for option in range(options):
        if table[row, first + option] == top:
            if pick == 0:
                return option
            pick -= 1
    return leader


@step
def exceeds(lead: int, term: float, smooth: bool, draw: Draw, index: int) -> bool:
    """Whether a lead is above a confidence term, strictly (rule (1)).

    Smooth: the term is rounded up as often as its fraction says, else down. The draw at
    ``index`` is looked at only where it matters.
    """
    if not smooth:
        return lead > term
    down = math.floor(term)
    if lead <= down or lead > down + 1:
        return lead > down
    return uniform(draw, index) >= term - down


@step
def theorem_1_quality(options: int, delta: float, answers: int) -> float:
    """C_qty of 004, Theorem 1: grows with the answers, for an error of order ``delta``."""
    return math.sqrt(math.log(options) - math.log(delta) + 2.0 * math.log(answers))
