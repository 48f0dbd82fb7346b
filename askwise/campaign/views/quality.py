"""How good workers seem, by known truths, by agreement with others, or by their utility.

Intervals hold at 95% for one worker at one moment: watching many workers for long shows some of
them outside.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from askwise.campaign.state import CampaignState
from askwise.campaign.views.answers import Answer
from askwise.core.arrays import Array
from askwise.core.json_types import Count
from askwise.core.jsonable import Jsonable
from askwise.ledger import columns as c

LEVEL = 0.95
"""Of every interval."""

ENOUGH_TRUTHS = 10
"""From this many known truths on a worker is judged by them; fewer leave an interval of up to two
thirds of the scale."""

_BLOCK = 1 << 16
"""Cells taken at a time: bounds the memory for questions of many options."""


@dataclass(frozen=True, slots=True)
class Quality(Jsonable):
    """How good a worker seems, with a 95% interval, and what that rests on.

    Attributes
    ----------
    value : float
        The estimate: a share from 0 to 1, or a mean utility in the campaign's range.
    low : float
        The lower end of the interval.
    high : float
        The upper end of the interval.
    basis : "truth", "agreement" or "utility"
        ``truth`` (the share of right answers to tasks whose truth is known), ``agreement``
        (the share of answers that the vote of the other workers agrees with) or ``utility``
        (the mean of their answers).
    answers : int
        How many answers were counted.
    """

    value: float
    low: float
    high: float
    basis: Literal["truth", "agreement", "utility"]
    answers: Count


def judged(
    state: CampaignState, answers: Sequence[Answer]
) -> tuple[list[float | None], list[Quality | None]]:
    """Each worker's agreement with the present answers, and their quality."""
    ledger, options = state.ledger, state.spec.problem.options
    size = ledger.total(c.WORKERS)
    number = {option: at for at, option in enumerate(options)}
    present = np.array([number.get(each.value, -1) for each in answers], np.int64)  # type: ignore[arg-type]
    rows = ledger.book.assignments[: ledger.total(c.ASSIGNMENTS)]
    task_of = np.zeros(ledger.total(c.CELLS), np.int64)
    task_of[rows[:, c.CELL]] = rows[:, c.TASK]
    tally = np.zeros((3, 2, size))
    for first in range(0, len(task_of), _BLOCK):
        cells = ledger.book.cells[first : min(first + _BLOCK, len(task_of))]
        tasks = task_of[first : first + _BLOCK]
        others = ledger.book.votes[tasks] - cells[:, c.VOTES :]
        best = others.argmax(axis=1)
        top = others[np.arange(len(best)), best]
        clear = (top > 0) & ((others == top[:, None]).sum(axis=1) == 1)
        wanted = (
            np.where(top > 0, present[tasks], -1),
            ledger.book.tasks[tasks, c.TRUTH],
            np.where(clear, best, -1),
        )
        for at, option in enumerate(wanted):
            tally[at] += _hits(cells, option, size)
    (agreed, compared), (right, told), (backed, judged) = tally.astype(np.int64)
    agreement = [
        hit / n if n else None for hit, n in zip(agreed.tolist(), compared.tolist(), strict=True)
    ]
    by_truth = (told >= ENOUGH_TRUTHS) | (judged == 0)
    hits, tries = np.where(by_truth, right, backed), np.where(by_truth, told, judged)
    low, high = clopper_pearson(hits, tries)
    basis = np.where(by_truth, "truth", "agreement")
    return agreement, _qualities(hits / np.maximum(tries, 1), low, high, basis, tries)


def _hits(cells: Array, option: Array, size: int) -> Array:
    """How many of each worker's answers are the option wanted of them, and of how many."""
    counts = option >= 0
    hit = cells[np.arange(len(option)), c.VOTES + np.maximum(option, 0)]
    who, given = cells[:, c.CELL_WORKER], cells[:, c.CELL_ANSWERS]
    return np.stack([np.bincount(who, each * counts, minlength=size) for each in (hit, given)])


def rated(state: CampaignState, rows: Array) -> list[Quality | None]:
    """Each worker's mean utility."""
    ledger = state.ledger
    size, (low, high) = ledger.total(c.WORKERS), state.spec.problem.range
    settled = rows[:, c.STATUS] == c.SETTLED
    values = ledger.book.marks[: len(rows), c.VALUE][settled]
    who = rows[settled, c.WORKER]
    counts = np.bincount(who, minlength=size)
    means = np.bincount(who, (values - low) / (high - low), minlength=size) / np.maximum(counts, 1)
    means = np.clip(means, 0.0, 1.0)
    below, above = chernoff(means, counts)
    scaled = (low + (high - low) * each for each in (means, below, above))
    return _qualities(*scaled, np.full(size, "utility"), counts)


def _qualities(*columns: Array) -> list[Quality | None]:
    """One per worker, from the columns of its fields; None without an answer that was counted."""
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [Quality(*row) if row[-1] else None for row in rows]


def clopper_pearson(hits: Array | int, tries: Array | int) -> tuple[Array, Array]:
    """The exact interval of a share: honest for few answers, and for none or all of them right."""
    tail = (1.0 - LEVEL) / 2.0
    # The clipped cells are those for which the end of the scale is taken.
    low = scipy.special.betaincinv(np.maximum(hits, 1), tries - hits + 1, tail)
    high = scipy.special.betaincinv(hits + 1, np.maximum(tries - hits, 1), 1.0 - tail)
    return np.where(hits > 0, low, 0.0), np.where(hits < tries, high, 1.0)


def chernoff(means: Array, counts: Array) -> tuple[Array, Array]:
    """Where n kl(mean, q) stays within log(2 / error): holds for any variable in [0, 1]."""
    room = math.log(2.0 / (1.0 - LEVEL)) / np.maximum(counts, 1)
    ends = []
    for end in (np.zeros(len(means)), np.ones(len(means))):
        inside, outside = means.copy(), end
        for _ in range(50):
            middle = (inside + outside) / 2.0
            far = _divergence(means, middle) > room
            inside, outside = np.where(far, inside, middle), np.where(far, middle, outside)
        # Rounded outward; an end that is never too far is reached in the limit only.
        ends.append(np.where(np.abs(outside - end) < 1e-12, end, outside))
    return ends[0], ends[1]


def _divergence(p: Array, q: Array) -> Array:
    """Kullback and Leibler's, between two coins."""
    with np.errstate(divide="ignore", invalid="ignore"):
        heads = np.where(p > 0, p * np.log(p / q), 0.0)
        tails = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0.0)
    return heads + tails
