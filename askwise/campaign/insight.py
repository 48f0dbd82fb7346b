"""What can be made of a campaign: who is good, what is contested, what it saves, when it ends.

Everything is read off an engine (lent by ``Campaign.reading()``) in O(tasks + workers + answers);
nothing is changed. Intervals hold at 95% for one worker at one moment: watching many workers for
long shows some of them outside.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import betaincinv

from askwise.campaign import reading
from askwise.campaign.insight_views import (
    Contested,
    Estimate,
    OutcomeCount,
    Outcomes,
    Savings,
    WorkerInsight,
)
from askwise.campaign.state import Engine
from askwise.campaign.views import Answer
from askwise.core.arrays import Array
from askwise.core.checks import whole
from askwise.core.money import from_micro
from askwise.core.problem import UNLIMITED
from askwise.ledger import columns as c

LEVEL = 0.95
"""Of every interval."""

ENOUGH_TRUTHS = 10
"""From so many known truths on a worker is judged by them; fewer leave an interval of up to two
thirds of the scale."""

BINS = 10
"""Of confidence, from 0 to 1."""

_BLOCK = 1 << 16
"""Cells taken at a time: bounds the memory for questions of many options."""

_ORDER = (
    *("confident", "assured", "everyone_asked", "not_assured", "low_confidence"),
    *("target_not_reachable", "over_budget", "closed", "open"),
)


def workers(engine: Engine, answers: Sequence[Answer] | None = None) -> list[WorkerInsight]:
    """Every worker who ever joined, in that order.

    A worker is judged by the truth where that is known for ``ENOUGH_TRUTHS`` of his answers, or
    for some if nothing else is there: the share of right ones, with Clopper and Pearson's
    interval. Otherwise by agreement: the share of his answers that are what most of the *other*
    workers said about the task, his own votes left out and ties among the others passed over,
    with the same interval. That is not his accuracy. Where the others err it pulls everyone
    towards chance, so it understates the good and flatters the bad, and whoever shares the
    others' mistakes looks better than he is; the interval is about agreeing and knows nothing of
    this. The two are never mixed, and ``basis`` says which it is. Utilities: the mean of his
    answers with Chernoff's interval, which holds for any answers in the range. All take a
    worker's answers for independent and equally good, whatever he was asked and how often.

    Parameters
    ----------
    answers : sequence of Answer, optional
        What ``Campaign.answers()`` says at the same point of the log; worked out if not given.
    """
    ledger, problem = engine.ledger, engine.spec.problem
    size, total = ledger.total(c.WORKERS), ledger.total(c.ANSWERS)
    rows = ledger.book.assignments[: ledger.total(c.ASSIGNMENTS)]
    tally = np.bincount(4 * rows[:, c.WORKER] + rows[:, c.STATUS], minlength=4 * size)
    states = tally.reshape(size, 4).tolist()
    paid = [each.paid for each in engine.spec.mechanism.settle(problem, ledger)]
    sealed = engine.bidding
    agreement: list[float | None] = [None] * size
    if problem.options:
        agreement, quality = _judged(
            engine, reading.answers(engine) if answers is None else answers
        )
    else:
        quality = _rated(engine, rows)
    found = []
    for at, worker in enumerate(ledger.workers):
        row = ledger.book.workers[at]
        out, answered, expired, declined = states[at]
        limit = int(row[c.LIMIT])
        found.append(
            WorkerInsight(
                id=worker.id,
                joined=bool(row[c.JOINED]),
                trusted=bool(row[c.TRUSTED]),
                price=None if sealed else from_micro(int(row[c.PRICE])),
                limit=None if limit == UNLIMITED else limit,
                asked=out + answered + expired + declined,
                answered=answered,
                out=out,
                expired=expired,
                declined=declined,
                paid=from_micro(paid[at]),
                share=answered / total if total else 0.0,
                agreement=agreement[at],
                quality=quality[at],
            )
        )
    return found


def contested(engine: Engine, answers: Sequence[Answer], limit: int = 20) -> list[Contested]:
    """The tasks that are least sure, with their votes; open ones and closed ones.

    By confidence (tasks without one come last), then by the lead of the first option over the
    second, then those with more answers first, then as they were added. Tasks that nobody has
    answered are left out; with utilities there are no votes and the list is empty.
    """
    whole(limit, "limit", least=1)
    ledger, options = engine.ledger, engine.spec.problem.options
    if not options:
        return []
    votes = ledger.book.votes[: ledger.total(c.TASKS)]
    counts = ledger.book.tasks[: len(votes), c.TASK_ANSWERED]
    best = np.partition(votes, -2, axis=1)[:, -2:]
    leads = best[:, 1] - best[:, 0]
    sure = np.array([np.nan if each.confidence is None else each.confidence for each in answers])
    # NaN sorts last.
    order = np.lexsort((-counts, leads, sure))
    found = []
    for at in order[counts[order] > 0][:limit].tolist():
        answer, truth = answers[at], int(ledger.book.tasks[at, c.TRUTH])
        found.append(
            Contested(
                task=str(answer.task),
                value=None if answer.value is None else str(answer.value),
                confidence=answer.confidence,
                outcome=answer.outcome,
                answers=answer.count,
                lead=int(leads[at]),
                votes=dict(zip(options, votes[at].tolist(), strict=True)),
                truth=None if truth < 0 else options[truth],
            )
        )
    return found


def outcomes(answers: Sequence[Answer]) -> Outcomes:
    """Count tasks by outcome and confidence; none where units of work are bought.

    Examples
    --------
    >>> found = outcomes(
    ...     [Answer("a", "yes", 0.95, "confident", 5), Answer("b", None, None, "open", 0)]
    ... )
    >>> [(each.outcome, each.tasks, each.unanswered, each.bins[9]) for each in found.counts]
    [('confident', 1, 0, 1), ('open', 1, 1, 0)]
    """
    edges = np.arange(BINS + 1) / BINS
    groups: dict[str, list[Answer]] = {}
    for answer in answers:
        if answer.task is not None:
            groups.setdefault(answer.outcome, []).append(answer)
    counts = []
    for outcome in sorted(groups, key=_place):
        group = groups[outcome]
        known = [each.confidence for each in group if each.count and each.confidence is not None]
        places = np.clip(np.searchsorted(edges, known, side="right") - 1, 0, BINS - 1)
        unanswered = sum(each.count == 0 for each in group)
        counts.append(
            OutcomeCount(
                outcome=outcome,
                tasks=len(group),
                unanswered=unanswered,
                unknown=len(group) - unanswered - len(known),
                bins=tuple(np.bincount(places, minlength=BINS).tolist()),
            )
        )
    return Outcomes(tuple(edges.tolist()), tuple(counts))


def savings(engine: Engine, fixed: int | None = None) -> Savings | None:
    """What was saved against asking every settled task ``fixed`` times.

    Settled are the tasks that were answered and closed, and all that were answered where none
    will be closed any more: without a stopping rule, or when nothing can be asked. An answer is
    counted at the mean price of all answers so far. None while there is nothing to compare.

    Parameters
    ----------
    fixed : int, optional
        The most answers that any closed task took, if not given: what a fixed number must be so
        that no task gets fewer than it got here.
    """
    if fixed is not None:
        whole(fixed, "fixed", least=1, most=10**6)
    ledger = engine.ledger
    if engine.spec.problem.taskless:
        return None
    rows = ledger.book.tasks[: ledger.total(c.TASKS)]
    answered, closed = rows[:, c.TASK_ANSWERED], rows[:, c.CLOSED] == 1
    if fixed is None:
        fixed = int(answered[closed].max(initial=0))
        chosen = "the most answers that a closed task took"
    else:
        chosen = "as given"
    settled, which = (answered > 0) & closed, "closed tasks"
    if engine.spec.rule is None or ledger.total(c.STOPPED) or engine.ran_out() != "open":
        settled, which = answered > 0, "answered tasks"
    tasks, count = int(settled.sum()), int(answered[settled].sum())
    if fixed == 0 or tasks == 0:
        return None
    spent, total = ledger.total(c.SPENT), ledger.total(c.ANSWERS)
    cost = int(rows[settled, c.TASK_SPENT].sum())
    fixed_cost = (2 * fixed * tasks * spent + total) // (2 * total)
    saved = fixed_cost - cost
    return Savings(
        fixed=fixed,
        tasks=tasks,
        answers=count,
        price=from_micro((2 * spent + total) // (2 * total)),
        cost=from_micro(cost),
        fixed_cost=from_micro(fixed_cost),
        saved=from_micro(saved),
        share=saved / fixed_cost if fixed_cost else None,
        why=f"{which}; fixed number: {chosen}",
    )


def _place(outcome: str) -> tuple[int, str]:
    """Settled tasks first, open ones last, words of others' rules before these."""
    return (_ORDER.index(outcome) if outcome in _ORDER else len(_ORDER) - 2, outcome)


def _judged(
    engine: Engine, answers: Sequence[Answer]
) -> tuple[list[float | None], list[Estimate | None]]:
    """Each worker's agreement with the present answers, and his quality."""
    ledger, options = engine.ledger, engine.spec.problem.options
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
    low, high = _clopper_pearson(hits, tries)
    found = [
        Estimate(hit / n, below, above, "truth" if told_so else "agreement", n) if n else None
        for hit, n, below, above, told_so in zip(
            hits.tolist(),
            tries.tolist(),
            low.tolist(),
            high.tolist(),
            by_truth.tolist(),
            strict=True,
        )
    ]
    return agreement, found


def _hits(cells: Array, option: Array, size: int) -> Array:
    """How many of each worker's answers are the option wanted of them, and of how many."""
    counts = option >= 0
    hit = cells[np.arange(len(option)), c.VOTES + np.maximum(option, 0)]
    who, given = cells[:, c.CELL_WORKER], cells[:, c.CELL_ANSWERS]
    return np.stack([np.bincount(who, each * counts, minlength=size) for each in (hit, given)])


def _rated(engine: Engine, rows: Array) -> list[Estimate | None]:
    """Each worker's mean utility."""
    ledger = engine.ledger
    size, (low, high) = ledger.total(c.WORKERS), engine.spec.problem.range
    settled = rows[:, c.STATUS] == c.SETTLED
    values = ledger.book.marks[: len(rows), c.VALUE][settled]
    who = rows[settled, c.WORKER]
    counts = np.bincount(who, minlength=size)
    means = np.bincount(who, (values - low) / (high - low), minlength=size) / np.maximum(counts, 1)
    means = np.clip(means, 0.0, 1.0)
    below, above = _chernoff(means, counts)
    span = high - low
    return [
        Estimate(low + span * mean, low + span * least, low + span * most, "utility", n)
        if n
        else None
        for mean, least, most, n in zip(
            means.tolist(), below.tolist(), above.tolist(), counts.tolist(), strict=True
        )
    ]


def _clopper_pearson(hits: Array, tries: Array) -> tuple[Array, Array]:
    """The exact interval of a share: honest for few answers, and for none or all of them right."""
    tail = (1.0 - LEVEL) / 2.0
    # The clipped cells are those for which the end of the scale is taken.
    low = betaincinv(np.maximum(hits, 1), tries - hits + 1, tail)
    high = betaincinv(hits + 1, np.maximum(tries - hits, 1), 1.0 - tail)
    return np.where(hits > 0, low, 0.0), np.where(hits < tries, high, 1.0)


def _chernoff(means: Array, counts: Array) -> tuple[Array, Array]:
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
