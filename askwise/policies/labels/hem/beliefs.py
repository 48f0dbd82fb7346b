"""What ``hem`` believes, updated by each answer and refitted now and then."""

import math
from typing import NamedTuple

import numpy as np

from askwise.kernels import Array, Fact, kernel, step
from askwise.kernels.hem import (
    LAM,
    RHO,
    SkillAnswers,
    SkillBeliefs,
    agreements,
    chance,
    class_share,
    count_softly,
    refit,
    side_margins,
)
from askwise.ledger import columns as c
from askwise.ledger.columns import Book

# Columns of `meta`: tasks with an answer or a truth; skills (pairs of context and worker with an
# answer); what was learned since the last fit, in answers; how tasks are ranked; whether in some
# context those seem wrong who seem right in others.
HEARD, SKILLS, SINCE, MODE, CLASH = range(5)

# Columns of `sides`: log-odds that known truths, and answers and truths together, give to a
# context being the right way round; how many truths are known; answers when it was fitted.
TOLD, MARGIN, GOLD, FITTED = range(4)

SUGGESTED = 3
"""Tasks of each context whose truth would tell most about which way round it is."""

ROUNDS = 3
LEAST_NEWS, NEWS_SHARE = 30, 0.1
"""Refitted after so many new answers, or this share of all if that is more."""

TRUTH_NEWS = 10
"""A known truth is news worth so many answers: it may turn a context round."""


class State(NamedTuple):
    """Soft counts by skill and worker, posteriors by task, and the tasks' ranking.

    ``order`` lists tasks in the order in which they were first heard of; ``known`` has the true
    option plus one; ``skill_of`` a row of ``counts`` plus one (0: none); ``settling`` tasks plus
    one. ``scratch`` is room for a posterior and holds nothing between facts.
    """

    keys: Array
    tree: Array
    order: Array
    known: Array
    posterior: Array
    skill_of: Array
    worker_of: Array
    place_of: Array
    counts: Array
    totals: Array
    classes: Array
    sides: Array
    settling: Array
    shares: Array
    meta: Array
    scratch: Array


@step
def judged(state: State, task: int) -> float:
    """Log-odds of a task's leading option against the second."""
    posterior = state.posterior
    top = 0.0
    second = 0.0
    for option in range(posterior.shape[1]):
        q = posterior[task, option]
        if q > top:
            second = top
            top = q
        elif q > second:
            second = q
    return math.log(top / max(second, 1e-300))


@step
def doubt(state: State, task: int) -> float:
    """Probability that a task's leading option is wrong."""
    posterior = state.posterior
    top = 0.0
    for option in range(posterior.shape[1]):
        top = max(top, posterior[task, option])
    return 1.0 - top


@kernel
def hear_of(book: Book, state: State, task: int) -> None:
    """Begin with a task: its posterior is the share of classes in its context."""
    count = book.totals[c.OPTIONS]
    context = book.tasks[task, c.CONTEXT]
    state.order[state.meta[HEARD]] = task
    state.meta[HEARD] += 1
    for option in range(count):
        state.posterior[task, option] = class_share(state.classes, context, option)
    for option in range(count):
        state.classes[context, option] += state.posterior[task, option]
    state.classes[context, count] += 1.0


@kernel
def shift(book: Book, state: State, task: int, option: int, change: float) -> None:
    """Let the answers to a task count more or less for a class."""
    cells = book.cells
    context = book.tasks[task, c.CONTEXT]
    state.classes[context, option] += change
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        worker = cells[cell, c.CELL_WORKER]
        if cells[cell, c.CELL_ANSWERS] > 0 and book.workers[worker, c.TRUSTED] == 0:
            row = state.skill_of[context, worker] - 1
            for a in range(state.posterior.shape[1]):
                votes = cells[cell, c.VOTES + a]
                if votes > 0:
                    state.counts[row, option, a] += change * votes
                    state.totals[worker, option, a] += change * votes
        cell = cells[cell, c.NEXT_CELL]


@step
def skill_row(state: State, context: int, worker: int) -> int:
    """Row of a pair of context and worker, a new one if need be."""
    if state.skill_of[context, worker] == 0:
        row = state.meta[SKILLS]
        state.meta[SKILLS] = row + 1
        state.skill_of[context, worker] = row + 1
        state.worker_of[row] = worker
        state.place_of[row] = context
    return state.skill_of[context, worker] - 1


@kernel
def learn(book: Book, state: State, fact: Fact) -> None:
    """Add an answer's log-likelihood to its task, and shift the counts of all who answered."""
    task, worker, answer = fact.task, fact.worker, int(fact.value)
    context = book.tasks[task, c.CONTEXT]
    posterior, counts, totals = state.posterior, state.counts, state.totals
    count = book.totals[c.OPTIONS]
    if book.tasks[task, c.TASK_ANSWERED] == 1 and state.known[task] == 0:
        hear_of(book, state, task)
    # Also of an expert, whose counts stay empty: he may come back as an ordinary worker.
    row = skill_row(state, context, worker)
    if book.workers[worker, c.TRUSTED] == 1:
        if book.tasks[task, c.TRUTH] < 0:
            know(book, state, task, answer)
        return
    lam, rho = state.shares[LAM], state.shares[RHO]
    after = state.scratch
    total = 0.0
    for option in range(count):
        likely = chance(counts, totals, row, worker, lam, rho, option, answer)
        after[option] = posterior[task, option] * (likely if state.known[task] == 0 else 1.0)
        total += after[option]
    # The new answer first counts by what was believed before it, as the others did.
    for option in range(count):
        before = posterior[task, option]
        counts[row, option, answer] += before
        totals[worker, option, answer] += before
        posterior[task, option] = after[option] / total
        shift(book, state, task, option, posterior[task, option] - before)
    state.meta[SINCE] += 1


@kernel
def know(book: Book, state: State, task: int, true: int) -> None:
    """Take a truth in: the task's posterior is certain, and its answers count accordingly."""
    if state.known[task] == 0:
        state.sides[book.tasks[task, c.CONTEXT], GOLD] += 1.0
    state.known[task] = true + 1
    for option in range(book.totals[c.OPTIONS]):
        certain = 1.0 if option == true else 0.0
        change = certain - state.posterior[task, option]
        state.posterior[task, option] = certain
        shift(book, state, task, option, change)
    state.meta[SINCE] += TRUTH_NEWS


@kernel
def learn_truth(book: Book, state: State, fact: Fact) -> None:
    """Take in what the requester knows, also against what an expert said."""
    if book.tasks[fact.task, c.TASK_ANSWERED] == 0 and state.known[fact.task] == 0:
        hear_of(book, state, fact.task)
    know(book, state, fact.task, int(fact.value))


@step
def is_due(book: Book, state: State) -> bool:
    """Whether enough has come in since the last fit."""
    return bool(state.meta[SINCE] >= max(LEAST_NEWS, NEWS_SHARE * book.totals[c.ANSWERS]))


@step
def trust_changed(book: Book, state: State) -> bool:
    """Whether somebody has come back as an expert who was none, or the other way round.

    An expert's answers count for nothing, those of the others for one each.
    """
    workers, totals = book.workers, state.totals
    for worker in range(book.totals[c.WORKERS]):
        counted = 0.0
        for option in range(totals.shape[1]):
            for a in range(totals.shape[2]):
                counted += totals[worker, option, a]
        due = 0.0 if workers[worker, c.TRUSTED] == 1 else float(workers[worker, c.ANSWERED])
        if abs(counted - due) > 0.5:
            return True
    return False


@kernel
def fit(book: Book, state: State, rounds: int) -> None:
    """Run EM over all answers; see which way round each context is."""
    cells = book.cells
    heard, skills, count = state.meta[HEARD], state.meta[SKILLS], book.totals[c.OPTIONS]
    contexts, workers = book.totals[c.CONTEXTS], book.totals[c.WORKERS]
    starts = np.zeros(heard + 1, np.int64)
    context = np.zeros(heard, np.int64)
    truth = np.zeros(heard, np.int64)
    posterior = np.zeros((heard, count))
    skill = np.zeros(book.totals[c.ANSWERS], np.int64)
    label = np.zeros(book.totals[c.ANSWERS], np.int64)
    end = 0
    for at in range(heard):
        task = state.order[at]
        context[at] = book.tasks[task, c.CONTEXT]
        truth[at] = state.known[task] - 1
        posterior[at] = state.posterior[task, :count]
        cell = book.tasks[task, c.FIRST_CELL]
        while cell >= 0:
            worker = cells[cell, c.CELL_WORKER]
            if book.workers[worker, c.TRUSTED] == 0:
                for a in range(count):
                    for _ in range(cells[cell, c.VOTES + a]):
                        skill[end] = state.skill_of[context[at], worker] - 1
                        label[end] = a
                        end += 1
            cell = cells[cell, c.NEXT_CELL]
        starts[at + 1] = end
    answers = SkillAnswers(starts, skill[:end], label[:end], context, truth)
    beliefs = SkillBeliefs(
        state.worker_of[:skills],
        state.place_of[:skills],
        state.counts[:skills],
        state.totals[:workers],
        state.classes[:contexts],
        posterior,
        state.shares,
    )
    # What rounding has left of many small shifts does not stay.
    count_softly(answers, beliefs)
    told = np.zeros(contexts)
    margins = np.zeros(contexts)
    refit(answers, beliefs, rounds, told)
    side_margins(beliefs, told, margins)
    agrees = np.zeros(contexts)
    agreements(beliefs, agrees)
    for at in range(heard):
        state.posterior[state.order[at], :count] = posterior[at]
    for each in range(contexts):
        state.sides[each, TOLD] = told[each]
        state.sides[each, MARGIN] = margins[each]
        state.sides[each, FITTED] = 0.0
    # Of two camps of contexts, either may be the one that is the wrong way round.
    state.meta[CLASH] = 0
    for each in range(contexts):
        if agrees[each] < 0.0:
            state.meta[CLASH] = 1
    for at in range(heard):
        state.sides[context[at], FITTED] += starts[at + 1] - starts[at]
    suggest(state, heard, context, truth)
    state.meta[SINCE] = 0


@kernel
def suggest(state: State, heard: int, context: Array, truth: Array) -> None:
    """Note the tasks of each context that are surest: their truth tells most about its side."""
    settling = state.settling
    settling[:] = 0
    for at in range(heard):
        if truth[at] >= 0:
            continue
        task = state.order[at]
        place = SUGGESTED
        while place > 0 and (
            settling[context[at], place - 1] == 0
            or judged(state, settling[context[at], place - 1] - 1) < judged(state, task)
        ):
            place -= 1
        if place < SUGGESTED:
            for later in range(SUGGESTED - 1, place, -1):
                settling[context[at], later] = settling[context[at], later - 1]
            settling[context[at], place] = task + 1


def new_state(book: Book, options: int, tree: Array) -> State:
    """Nothing believed yet."""
    rows, workers, contexts = len(book.tasks), len(book.workers), len(book.contexts)
    return State(
        keys=np.zeros(rows),
        tree=tree,
        order=np.zeros(rows, np.int64),
        known=np.zeros(rows, np.int64),
        posterior=np.zeros((rows, options)),
        skill_of=np.zeros((contexts, workers), np.int64),
        worker_of=np.zeros(len(book.cells), np.int64),
        place_of=np.zeros(len(book.cells), np.int64),
        counts=np.zeros((len(book.cells), options, options)),
        totals=np.zeros((workers, options, options)),
        classes=np.zeros((contexts, options + 1)),
        sides=np.zeros((contexts, 4)),
        settling=np.zeros((contexts, SUGGESTED), np.int64),
        shares=np.array([1.0, 0.0]),
        meta=np.zeros(5, np.int64),
        scratch=np.zeros(options),
    )
