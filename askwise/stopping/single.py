"""Rules on one source of answers: a crowd, or all crowds taken as one (004, section 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from askwise.core.arrays import Array
from askwise.core.compiling import bind, step
from askwise.core.draws import Draw
from askwise.kernels.votes import answers_in, leading_option
from askwise.ledger import columns as c
from askwise.ledger.columns import Book
from askwise.stopping.base import OPTION, SURE, KernelRule

TOTAL = 0
"""Which source the total crowd is; a worker's is his index + 1. Each has draws of its own."""


def halts(
    table: Array,
    row: int,
    first: int,
    options: int,
    params: Any,
    draw: Draw,
    source: int,
    ruling: Array,
) -> int:
    """Bound to a rule's own: judges the votes of one source, as ``judge`` does a task's.

    It may use the draws at ``2 * source`` and ``2 * source + 1``.
    """
    raise NotImplementedError


@step
def name_leader(
    table: Array, row: int, first: int, options: int, draw: Draw, source: int, ruling: Array
) -> int:
    """Name the option with most votes, as sure as its share of them; returns their number."""
    answers = answers_in(table, row, first, options)
    option = leading_option(table, row, first, options, draw, 2 * source + 1)
    ruling[OPTION] = option
    ruling[SURE] = table[row, first + option] / answers
    return answers


def judge_total(book: Book, params: Any, task: int, draw: Draw, ruling: Array) -> int:
    """Apply a single-crowd rule to all answers of a task, whoever gave them."""
    return halts(book.votes, task, 0, book.totals[c.OPTIONS], params, draw, TOTAL, ruling)


@cache
def bound(template: Callable[..., int], rule: type[SingleCrowdRule]) -> Callable[..., int]:
    """Bind a template of this kind to the kernel of a rule."""
    return bind(template, f"{rule.__module__}.{rule.name}", inline=True, halts=rule.single)


@dataclass(frozen=True)
class SingleCrowdRule(KernelRule):
    """Base: a rule on the votes of one source, by the kernel ``single`` (see ``halts``).

    Alone it takes all answers as one source, unless it has a ``kernel`` too.
    """

    single: ClassVar[Callable[..., int]]

    @property
    def judge(self) -> Callable[..., int]:
        """The rule on all answers."""
        own: Callable[..., int] | None = getattr(type(self), "kernel", None)
        return own or bound(judge_total, type(self))
