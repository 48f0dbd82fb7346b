"""Rules on one source of answers: a crowd, or all crowds taken as one (004, section 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

from askwise.core.compiling import bind
from askwise.kernels import Array, Draw, step
from askwise.kernels.votes import answers_in, lead_in, leading_option
from askwise.ledger import Book
from askwise.ledger import columns as c
from askwise.stopping.base import OPTION, SURE, KernelRule

TOTAL = 0
"""Which source the total crowd is; a worker's is their index + 1. Each has draws of its own."""


class Votes(NamedTuple):
    """The votes of one source: a stretch of a row in a table, one number per option."""

    table: Array
    row: int
    first: int
    options: int
    source: int


@step
def all_votes(book: Book, task: int) -> Votes:
    """All answers to a task, of all workers."""
    return Votes(book.votes, task, 0, book.totals[c.OPTIONS], TOTAL)


@step
def votes_of(book: Book, task: int, cell: int) -> Votes:
    """The answers of one worker to a task, by their cell; all answers to it where cell is -1."""
    if cell < 0:
        return all_votes(book, task)
    source = book.cells[cell, c.CELL_WORKER] + 1
    return Votes(book.cells, cell, c.VOTES, book.totals[c.OPTIONS], source)


def halts(votes: Votes, params: Any, draw: Draw, ruling: Array) -> int:
    """Bound to a rule's own: judges the votes of one source, as ``judge`` does a task's.

    It may use the draws at ``2 * votes.source`` and ``2 * votes.source + 1``.
    """
    raise NotImplementedError


@step
def name_leader(votes: Votes, draw: Draw, ruling: Array) -> int:
    """Name the option with most votes, as sure as its share of them; returns their number."""
    table, row, first, options, source = votes
    answers = answers_in(table, row, first, options)
    option = leading_option(table, row, first, options, draw, 2 * source + 1)
    ruling[OPTION] = option
    ruling[SURE] = table[row, first + option] / answers
    return answers


@step
def lead_of(votes: Votes) -> int:
    """By how many votes the first option leads the second."""
    return lead_in(votes.table, votes.row, votes.first, votes.options)


def judge_total(book: Book, params: Any, task: int, draw: Draw, ruling: Array) -> int:
    """Apply a single-crowd rule to all answers of a task together."""
    return halts(all_votes(book, task), params, draw, ruling)


def judge_source(book: Book, params: Any, task: int, cell: int, draw: Draw, ruling: Array) -> int:
    """Apply a single-crowd rule to one source, vote by vote; ``cell`` as in ``votes_of``."""
    return halts(votes_of(book, task, cell), params, draw, ruling)


@cache
def bound(template: Callable[..., int], rule: type[SingleCrowdRule]) -> Callable[..., int]:
    """Bind a template of this kind to the kernel of a rule."""
    return bind(template, f"{rule.__module__}.{rule.name}", inline=True, halts=rule.single)


@dataclass(frozen=True)
class SingleCrowdRule(KernelRule):
    """Base: a rule on the votes of one source, by the kernel ``single`` (see ``halts``).

    Alone it takes all answers as one source, unless it has a ``kernel`` too. A rule that does not
    count the answers of a family one by one has a kernel ``source`` (see ``judge_source``), by
    which ``composite`` judges.
    """

    single: ClassVar[Callable[..., int]]
    source: ClassVar[Callable[..., int] | None] = None

    def check_single(self) -> None:
        """Refuse parameters that mean nothing where the rule judges one crowd in a composite."""
        return None

    @property
    def judge(self) -> Callable[..., int]:
        """The rule on all answers."""
        own: Callable[..., int] | None = getattr(type(self), "kernel", None)
        return own or bound(judge_total, type(self))
