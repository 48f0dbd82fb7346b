"""Workers who err together: what their answers to one task count, taken as one voice.

A family's answers to a task may depend on each other in any way. Two readings:

- *First answers*, for a guarantee. Of each family only the first answer to a task counts: it has
  no answer of its own family before it, so it is a fair bet whatever the others would say. The
  mean of all members' bets would be one as well if they were made at once and looked at once;
  but members are asked one by one and the rule looks after each. If b always contradicts a, and
  b is asked only where a was against the option, the mean is 1.5 where a was for it and
  (0.5 + 1.5) / 2 where not: 1.25 on average, a bet that wins. A crowd of a family likewise has one
  voice: its first answer.
- *Effective answers*, for a model. The m answers of a family count m / (1 + (m - 1) r) times their
  mean, on the scale of log-likelihoods, as m answers do whose errors have the correlation r.
"""

from askwise.kernels import step
from askwise.kernels.calibration import family_share
from askwise.ledger import Book
from askwise.ledger import columns as c


@step
def family_of(book: Book, cell: int) -> int:
    """The family of the worker of a cell; -1 if they have none."""
    return book.workers[book.cells[cell, c.CELL_WORKER], c.FAMILY]


@step
def any_family(book: Book, task: int) -> bool:
    """Whether somebody with a family was asked about a task."""
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        if family_of(book, cell) >= 0:
            return True
        cell = book.cells[cell, c.NEXT_CELL]
    return False


@step
def speaks_for_family(book: Book, task: int, cell: int) -> bool:
    """Whether the first answer of a cell is the first of its family to the task."""
    cells = book.cells
    since, family = cells[cell, c.FIRST_AT], family_of(book, cell)
    if since == 0:
        return False
    other = book.tasks[task, c.FIRST_CELL]
    while other >= 0:
        if 0 < cells[other, c.FIRST_AT] < since and family_of(book, other) == family:
            return False
        other = cells[other, c.NEXT_CELL]
    return True


@step
def families_for(book: Book, task: int, option: int) -> int:
    """How many families gave an option as their first answer to a task."""
    cells = book.cells
    count = 0
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        if cells[cell, c.FIRST_SAID] == option and family_of(book, cell) >= 0:
            count += speaks_for_family(book, task, cell)
        cell = cells[cell, c.NEXT_CELL]
    return count


@step
def counted_votes(book: Book, task: int, option: int) -> int:
    """Votes for an option: all of workers without a family, the first of each family."""
    cells = book.cells
    count = families_for(book, task, option)
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        if family_of(book, cell) < 0:
            count += cells[cell, c.VOTES + option]
        cell = cells[cell, c.NEXT_CELL]
    return count


@step
def family_answers(book: Book, task: int, family: int) -> int:
    """How many answers of a family a task has."""
    cells = book.cells
    count = 0
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        if family_of(book, cell) == family:
            count += cells[cell, c.CELL_ANSWERS]
        cell = cells[cell, c.NEXT_CELL]
    return count


@step
def share_in_task(book: Book, task: int, cell: int) -> float:
    """What each answer of a cell counts among all answers to the task."""
    family = family_of(book, cell)
    return family_share(family_answers(book, task, family)) if family >= 0 else 1.0
