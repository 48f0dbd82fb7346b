"""One worker in full: how good over time, at which kind of task, and what they mix up."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from askwise.auditing.intervals import Interval
from askwise.campaign.state import CampaignState
from askwise.campaign.views.quality import ENOUGH_TRUTHS, chernoff, clopper_pearson
from askwise.campaign.views.worker_pace import WorkerPace
from askwise.campaign.views.workers import WorkerSummary, workers
from askwise.core.arrays import Array
from askwise.core.json_types import Count, Id, Positive
from askwise.core.jsonable import Jsonable
from askwise.ledger import columns as c

BLOCKS = 10
"""The most stretches of answers that quality is shown for,"""

SMALLEST_BLOCK = 10
"""of at least this many answers, unless there is only one."""

Reference = Literal["truth", "agreement", "utility"]
"""What answers are held against: known truths, the vote of the others, or nothing."""


@dataclass(frozen=True, slots=True)
class QualityBlock(Jsonable):
    """A worker's quality in a stretch of their answers.

    Attributes
    ----------
    first : int
        The number of the first answer of the stretch, among those that can be judged, from 1.
    last : int
        The number of its last answer.
    quality : Interval
        The share that is right, or agrees; or the mean utility.
    """

    first: Positive
    last: Positive
    quality: Interval


@dataclass(frozen=True, slots=True)
class ConfusionCount(Jsonable):
    """How often a worker said one option where another, or the same, was expected.

    Attributes
    ----------
    expected : str
        The truth, or what most others say.
    said : str
        What the worker said.
    count : int
        How often.
    """

    expected: Id
    said: Id
    count: Positive


@dataclass(frozen=True, slots=True)
class ContextQuality(Jsonable):
    """A worker's answers to tasks of one context.

    Attributes
    ----------
    context : str or None
        The context, or kind, of the tasks; None for those without one.
    answers : int
        Answers to such tasks.
    judged : int
        How many of them can be judged.
    quality : Interval or None
        As for a stretch; None where nothing can be judged.
    """

    context: str | None
    answers: Positive
    judged: Count
    quality: Interval | None


@dataclass(frozen=True, slots=True)
class WorkerReport(Jsonable):
    """One worker in full. All intervals are at 95%.

    Attributes
    ----------
    worker : WorkerSummary
        What the list of workers says of them.
    basis : Reference
        What the rest is compared with: ``truth`` (known truths), ``agreement`` (what most of the
        other workers say, which is not accuracy; tasks on which they are tied are left out), or
        ``utility`` (nothing: a mean of answers).
    blocks : tuple of QualityBlock
        Quality over time: stretches of answers, in the order in which they were asked for.
    confusion : tuple of ConfusionCount
        What they say and what was expected, the most frequent first; empty for utilities.
    contexts : tuple of ContextQuality
        By context, in the order in which contexts appeared; empty where tasks have none.
    pace : WorkerPace or None
        How fast they answer; None if they have not answered recently.
    """

    worker: WorkerSummary
    basis: Reference
    blocks: tuple[QualityBlock, ...]
    confusion: tuple[ConfusionCount, ...]
    contexts: tuple[ContextQuality, ...]
    pace: WorkerPace | None = None


class _Judged(NamedTuple):
    """A worker's answers in their order: context, value from 0 to 1, and whether that counts."""

    contexts: Array
    values: Array
    counts: Array
    basis: Reference


def worker_report(
    state: CampaignState, worker: str, summary: WorkerSummary | None = None
) -> WorkerReport:
    """A worker in full, but for their pace, which only the log knows.

    Parameters
    ----------
    summary : WorkerSummary, optional
        What ``workers`` says of them at the same point of the log; worked out if not given.
    """
    ledger, problem = state.ledger, state.spec.problem
    at = ledger.worker_at(worker)
    places = ledger.book.assignments[: ledger.total(c.ASSIGNMENTS)]
    mine = np.flatnonzero((places[:, c.WORKER] == at) & (places[:, c.STATUS] == c.SETTLED))
    confusion: tuple[ConfusionCount, ...] = ()
    if problem.options:
        answers, confusion = _held_against(state, mine)
    else:
        low, high = problem.range
        scaled = (ledger.book.marks[mine, c.VALUE] - low) / (high - low)
        contexts = ledger.book.tasks[places[mine, c.TASK], c.CONTEXT]
        answers = _Judged(contexts, np.clip(scaled, 0, 1), np.ones(len(mine), bool), "utility")
    return WorkerReport(
        worker=workers(state)[at] if summary is None else summary,
        basis=answers.basis,
        blocks=_blocks(answers, problem.range),
        confusion=confusion,
        contexts=_by_context(state, answers),
    )


def _held_against(state: CampaignState, mine: Array) -> tuple[_Judged, tuple[ConfusionCount, ...]]:
    """Answers beside what was expected: by truths where there are enough, as in ``workers``."""
    ledger, options = state.ledger, state.spec.problem.options
    rows = ledger.book.assignments[mine]
    said = ledger.book.marks[mine, c.VALUE].astype(np.int64)
    truths = ledger.book.tasks[rows[:, c.TASK], c.TRUTH]
    others = ledger.book.votes[rows[:, c.TASK]] - ledger.book.cells[rows[:, c.CELL], c.VOTES :]
    top = others.max(axis=1, initial=0)
    clear = (top > 0) & ((others == top[:, None]).sum(axis=1) == 1)
    backed = np.where(clear, others.argmax(axis=1), -1)
    by_truth = (truths >= 0).sum() >= ENOUGH_TRUTHS or not clear.any()
    expected = truths if by_truth else backed
    counts = expected >= 0
    pairs = expected[counts] * len(options) + said[counts]
    cells, times = np.unique(pairs, return_counts=True)
    order = np.argsort(-times, kind="stable").tolist()
    confusion = tuple(
        ConfusionCount(
            options[cells[at] // len(options)], options[cells[at] % len(options)], int(times[at])
        )
        for at in order
    )
    contexts = ledger.book.tasks[rows[:, c.TASK], c.CONTEXT]
    basis: Reference = "truth" if by_truth else "agreement"
    return _Judged(contexts, (said == expected).astype(float), counts, basis), confusion


def _blocks(answers: _Judged, scale: tuple[float, float]) -> tuple[QualityBlock, ...]:
    values = answers.values[answers.counts]
    if len(values) == 0:
        return ()
    pieces = max(1, min(BLOCKS, len(values) // SMALLEST_BLOCK))
    ends = [math.ceil(len(values) * each / pieces) for each in range(pieces + 1)]
    scale = scale if answers.basis == "utility" else (0.0, 1.0)
    return tuple(
        QualityBlock(first + 1, last, _quality(values[first:last], answers.basis, scale))
        for first, last in itertools.pairwise(ends)
    )


def _quality(values: Array, basis: Reference, scale: tuple[float, float]) -> Interval:
    mean, count = float(values.mean()), len(values)
    if basis == "utility":
        low, high = (float(end[0]) for end in chernoff(np.array([mean]), np.array([count])))
    else:
        low, high = (float(end) for end in clopper_pearson(round(mean * count), count))
    ends = (scale[0] + (scale[1] - scale[0]) * each for each in (mean, low, high))
    return Interval(*ends)


def _by_context(state: CampaignState, answers: _Judged) -> tuple[ContextQuality, ...]:
    names: Sequence[str | None] = list(state.ledger.contexts)
    if len(names) < 2:
        return ()
    scale = state.spec.problem.range if answers.basis == "utility" else (0.0, 1.0)
    found = []
    for at in np.unique(answers.contexts).tolist():
        here = answers.contexts == at
        judged = answers.values[here & answers.counts]
        quality = _quality(judged, answers.basis, scale) if len(judged) else None
        found.append(ContextQuality(names[at], int(here.sum()), len(judged), quality))
    return tuple(found)
