"""Accuracies that are believed beforehand: read from parameters, and judged by."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from askwise.core.checks import real
from askwise.core.errors import InvalidParameter, InvalidProblem, UnknownName, nearest
from askwise.core.fields import refuse_unknown
from askwise.core.problem import Problem
from askwise.kernels import Array, Draw, kernel
from askwise.kernels.votes import answers_in
from askwise.ledger import Book, Ledger
from askwise.ledger import columns as c
from askwise.stopping.base import CONFIDENT, GO_ON, SCRATCH, name_likeliest
from askwise.stopping.evidence import log_evidence_between
from askwise.stopping.families import share_in_task
from askwise.stopping.single import TOTAL

Range = tuple[float, float]

Ranges = dict[str, Range]
"""From where to where the accuracy of workers goes, by their ids."""

_NEAR_ONE = 0.005
"""How far shares may sum from 1: thirds are written 0.33."""


class Kinds(NamedTuple):
    """The error to stop at; of each kind of question the logarithm of its share, and from where to
    where each worker's accuracy goes on it.
    """

    most: float
    log_shares: Array
    low: Array
    high: Array


@kernel
def judge(book: Book, kinds: Kinds, task: int, draw: Draw, ruling: Array) -> int:
    """Judge all crowds together; of which kind the question is, is not known.

    Within a kind the crowds are independent: their evidence is multiplied, a family's tempered.
    """
    cells, options = book.cells, book.totals[c.OPTIONS]
    log_shares, lows, highs = kinds.log_shares, kinds.low, kinds.high
    for option in range(options):
        total = -math.inf
        for kind in range(len(log_shares)):
            said = log_shares[kind]
            cell = book.tasks[task, c.FIRST_CELL]
            while cell >= 0:
                answers = answers_in(cells, cell, c.VOTES, options)
                if answers > 0:
                    worker, a = cells[cell, c.CELL_WORKER], cells[cell, c.VOTES + option]
                    low, high = lows[kind, worker], highs[kind, worker]
                    one = log_evidence_between(a, answers - a, options, low, high)
                    said += share_in_task(book, task, cell) * one
                cell = cells[cell, c.NEXT_CELL]
            top = max(total, said)
            total = top + math.log(math.exp(total - top) + math.exp(said - top))
        ruling[SCRATCH + option] = total
    error = name_likeliest(options, draw, TOTAL, ruling)
    return CONFIDENT if error <= kinds.most else GO_ON


def read_accuracy(given: object, field: str = "accuracy") -> Ranges:
    """Accuracies by worker: numbers, or ranges of two."""
    if not isinstance(given, Mapping):
        raise InvalidParameter(
            f"{field} is {given!r}: give a mapping of workers to accuracies, such as "
            "{'panel': [0.6, 0.9], 'vendor': 0.8}",
            field=field,
        )
    valid = "a number from 0 to 1, or a range of two such as [0.6, 0.9]"
    found: Ranges = {}
    for worker, each in given.items():
        if not isinstance(worker, str):
            raise InvalidParameter(f"{field} names {worker!r}: give ids of workers", field=field)
        name = f"{field}[{worker!r}]"
        pair = isinstance(each, Sequence) and not isinstance(each, str | bytes)
        ends: list[Any] = list(each) if pair else [each, each]
        if len(ends) != 2:
            raise InvalidParameter(f"{name} is {each!r}: give {valid}", field=field)
        low, high = (_share(end, name, valid, field) for end in ends)
        if low > high:
            raise InvalidParameter(
                f"{name} is {each!r}: give the lower end of the range first", field=field
            )
        found[worker] = (low, high)
    return found


def _share(value: object, name: str, valid: str, field: str) -> float:
    try:
        return real(value, name, valid, least=0, most=1)
    except InvalidParameter as wrong:
        raise InvalidParameter(str(wrong), field=field) from None


def read_kinds(given: object) -> tuple[dict[str, Any], ...]:
    """Kinds of questions: mappings with a ``share`` and, where it differs, an ``accuracy``."""
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise InvalidParameter(
            f"kinds is {given!r}: give a list of kinds, each with 'share' and 'accuracy'",
            field="kinds",
        )
    found: list[dict[str, Any]] = []
    for kind in given:
        if not isinstance(kind, Mapping) or "share" not in kind:
            raise InvalidParameter(f"kinds has {kind!r}: a kind needs a 'share'", field="kinds")
        refuse_unknown(kind, ("share", "accuracy"), "kinds", field="kinds", error=InvalidParameter)
        share = _share(kind["share"], "share of a kind", "a number above 0, at most 1", "kinds")
        if share == 0:
            raise InvalidParameter("share of a kind is 0: leave the kind out", field="kinds")
        accuracy = read_accuracy(kind.get("accuracy", {}), "kinds")
        found.append({"share": share, "accuracy": accuracy})
    total = sum(kind["share"] for kind in found)
    if found and abs(total - 1) > _NEAR_ONE:
        raise InvalidParameter(
            f"kinds have shares that sum to {total:.6g}: they must sum to 1", field="kinds"
        )
    return tuple(found)


def by_kind(own: Ranges, kinds: Sequence[Mapping[str, Any]]) -> list[tuple[float, Ranges]]:
    """Share and accuracies of each kind of question; one kind where none are given."""
    if not kinds:
        return [(1.0, own)]
    total = sum(kind["share"] for kind in kinds)
    return [(kind["share"] / total, {**own, **kind["accuracy"]}) for kind in kinds]


def check_ranges(problem: Problem, believed: Sequence[tuple[float, Ranges]]) -> None:
    """Every worker that is named must be there; nobody is right less often than chance."""
    known = [worker.id for worker in problem.workers]
    chance = 1 / len(problem.options)
    for _, ranges in believed:
        for worker, (low, _) in ranges.items():
            if worker not in known:
                raise UnknownName(
                    f"accuracy names {worker!r}, which is not a worker: {nearest(worker, known)}",
                    field="accuracy",
                    reason="unknown_worker",
                )
            # Chance may be cut after two digits: 0.33 means one third.
            if low < min(chance, math.floor(100 * chance) / 100):
                raise InvalidProblem(
                    f"accuracy[{worker!r}] begins at {low:g}: give at least {chance:.4g}, chance "
                    f"with {len(problem.options)} options",
                    field="accuracy",
                )


def kinds_of(ledger: Ledger, most: float, believed: Sequence[tuple[float, Ranges]]) -> Kinds:
    """As kernels take them; of workers who are not named, anything from chance to 1 is believed."""
    chance = 1 / len(ledger.problem.options)
    shape = (len(believed), len(ledger.workers))
    low, high = np.full(shape, chance), np.ones(shape)
    for kind, (_, ranges) in enumerate(believed):
        for worker, ends in ranges.items():
            at = ledger.worker_places.get(worker)
            if at is not None:
                low[kind, at], high[kind, at] = (max(end, chance) for end in ends)
    return Kinds(most, np.log([share for share, _ in believed]), low, high)
