"""What ``hem`` believes, updated by each answer and fitted anew now and then."""

from typing import NamedTuple

import numpy as np

from askwise.kernels import Array, Fact, kernel, step
from askwise.kernels.calibration import family_share
from askwise.kernels.hem import (
    LENT,
    LIKE_ELSEWHERE,
    MANY,
    SETTLED,
    SkillAnswers,
    SkillBeliefs,
    accuracy_here,
    count_in,
    counted_by,
    fit,
    lift_of,
    like_others,
    new_beliefs,
    posterior_of,
    rate_crowd,
    rate_ease,
    trust_in_shares,
    weigh_answer,
)
from askwise.ledger import columns as c
from askwise.ledger.columns import Book

# Columns of `meta`: tasks with an answer or a truth; skills (pairs of context and worker with an
# answer); what was learned since the last fit, in answers; how tasks are ranked; whether in some
# context those seem wrong who seem right in others; tasks whose truth is known; how many of them
# the map of confidences rests on; voices that were heard; whether skills can be told apart; whether
# the last fit was run to its end; whether confidences are by a map that is a standard error lower.
HEARD, SKILLS, SINCE, MODE, CLASH, KNOWN, MAPPED, VOICES, APART, WHOLE, CAUTIOUS = range(11)

# Columns of `sides`: log-odds that known truths, and answers and truths together, give to a
# context being the right way round; how many truths are known; answers when it was fitted.
TOLD, MARGIN, GOLD, FITTED = range(4)

SUGGESTED = 3
"""Tasks of each context whose truth would tell most about which way round it is."""

ROUNDS = 6
"""Rounds of EM in a fit between decisions."""

LEAST_NEWS, NEWS_SHARE = 30, 0.1
"""Fitted after so many new answers, or this share of all if that is more."""

TRUTH_NEWS = 10
"""A known truth is news worth so many answers."""


class State(NamedTuple):
    """What is believed of workers, classes and tasks, and the tasks' ranking.

    From ``worker`` to ``posterior`` it is what :class:`askwise.kernels.hem.SkillBeliefs` says, with
    a row for each row of capacity. ``order`` lists tasks in the order in which they were first
    heard of; ``known`` has the true option plus one, and ``told`` lists the tasks that have one;
    ``given`` how many answers a task has, without those of experts; ``trusted`` who counts as an
    expert; ``tested`` how many known tasks a worker was asked about; ``lift`` a worker's accuracy
    in the mean over classes (0: nothing shown yet); ``ease`` how much easier their tasks were than
    those of others; ``blind`` what answers say of a task by what their givers showed in others,
    whatever its truth; ``skill_of`` a skill plus one (0: none); ``settling`` tasks plus one.
    ``scratch`` is room for logarithms and holds nothing between facts.
    """

    keys: Array
    tree: Array
    order: Array
    known: Array
    told: Array
    given: Array
    trusted: Array
    tested: Array
    lift: Array
    ease: Array
    skill_of: Array
    worker: Array
    place: Array
    shown: Array
    totals: Array
    right: Array
    seen: Array
    due: Array
    wrong: Array
    alone: Array
    errors: Array
    crowd: Array
    shares: Array
    posterior: Array
    blind: Array
    sides: Array
    settling: Array
    map: Array
    meta: Array
    scratch: Array


@kernel
def beliefs_in(state: State) -> SkillBeliefs:
    """The part of the state that the model is about."""
    return SkillBeliefs(
        state.worker, state.place, state.shown, state.totals, state.right, state.seen, state.due,
        state.wrong, state.alone, state.errors, state.crowd, state.shares, state.posterior,
    )  # fmt: skip


@step
def skill_row(state: State, context: int, worker: int) -> int:
    """Row of a pair of context and worker, a new one if need be."""
    if state.skill_of[context, worker] == 0:
        row = state.meta[SKILLS]
        state.meta[SKILLS] = row + 1
        state.skill_of[context, worker] = row + 1
        state.worker[row] = worker
        state.place[row] = context
    return state.skill_of[context, worker] - 1


@step
def hear_of(state: State, task: int) -> None:
    """Begin with a task."""
    state.order[state.meta[HEARD]] = task
    state.meta[HEARD] += 1


@kernel
def count_task(
    book: Book, state: State, task: int, sign: float, less_worker: int, less_option: int
) -> None:
    """Let the answers to a task count for their givers, or take that back (``sign`` -1).

    One answer may be left out: that of ``less_worker`` (-1: none).
    """
    cells, context = book.cells, book.tasks[task, c.CONTEXT]
    beliefs = beliefs_in(state)
    count = state.given[task]
    amount = sign * counted_by(count, state.known[task] > 0)
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        worker = cells[cell, c.CELL_WORKER]
        if cells[cell, c.CELL_ANSWERS] > 0 and book.workers[worker, c.TRUSTED] == 0:
            row = skill_row(state, context, worker)
            here = accuracy_here(state.totals, state.shown, state.crowd, worker, row)
            for option in range(book.totals[c.OPTIONS]):
                votes = cells[cell, c.VOTES + option]
                if worker == less_worker and option == less_option:
                    votes -= 1
                if votes <= 0:
                    continue
                if amount == 0.0:
                    state.alone[worker, option] += sign
                else:
                    count_in(beliefs, row, task, option, here, amount * votes)
        cell = cells[cell, c.NEXT_CELL]


@kernel
def of_family(book: Book, task: int, family: int) -> float:
    """How many answers a family gave to a task."""
    cells, count = book.cells, 0
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        worker = cells[cell, c.CELL_WORKER]
        if book.workers[worker, c.FAMILY] == family and book.workers[worker, c.TRUSTED] == 0:
            count += cells[cell, c.CELL_ANSWERS]
        cell = cells[cell, c.NEXT_CELL]
    return float(count)


@kernel
def weight_of(book: Book, task: int, worker: int) -> float:
    """What an answer of a worker counts as evidence for a task: families err together."""
    family = book.workers[worker, c.FAMILY]
    return 1.0 if family < 0 else family_share(of_family(book, task, family))


@kernel
def judge(book: Book, state: State, task: int, logs: Array) -> None:
    """Write what its answers say of each class of a task, as logarithms."""
    cells, context = book.cells, book.tasks[task, c.CONTEXT]
    beliefs = beliefs_in(state)
    like = like_others(book.totals[c.CONTEXTS])
    power = trust_in_shares(state.crowd, state.given[task])
    named = np.ones(len(logs), np.bool_)
    if len(logs) > MANY:
        name_options(book, task, named)
    for option in range(len(logs)):
        logs[option] = power * state.shares[context, option]
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        worker = cells[cell, c.CELL_WORKER]
        if cells[cell, c.CELL_ANSWERS] > 0 and book.workers[worker, c.TRUSTED] == 0:
            row = skill_row(state, context, worker)
            here = accuracy_here(state.totals, state.shown, state.crowd, worker, row)
            weight = weight_of(book, task, worker)
            for option in range(len(logs)):
                votes = cells[cell, c.VOTES + option]
                if votes > 0:
                    weigh_answer(beliefs, row, option, weight * votes, like, here, named, logs)
        cell = cells[cell, c.NEXT_CELL]


@kernel
def name_options(book: Book, task: int, named: Array) -> None:
    """Say which options an ordinary worker named for a task."""
    cells = book.cells
    named[:] = False
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        if book.workers[cells[cell, c.CELL_WORKER], c.TRUSTED] == 0:
            for option in range(len(named)):
                if cells[cell, c.VOTES + option] > 0:
                    named[option] = True
        cell = cells[cell, c.NEXT_CELL]


@kernel
def lift(book: Book, state: State, worker: int) -> None:
    """Bring a worker's accuracy in the mean over classes up to date."""
    state.lift[worker] = lift_of(beliefs_in(state), worker, book.totals[c.CONTEXTS])


@kernel
def lift_all(book: Book, state: State, task: int) -> None:
    """The same for all who answered a task."""
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        if book.cells[cell, c.CELL_ANSWERS] > 0:
            lift(book, state, book.cells[cell, c.CELL_WORKER])
        cell = book.cells[cell, c.NEXT_CELL]


@kernel
def is_new_voice(book: Book, worker: int, among: int) -> bool:
    """Whether nobody else of a worker's family has answered anything, of the first so many."""
    workers = book.workers
    for other in range(among):
        if (
            other != worker
            and workers[worker, c.FAMILY] >= 0
            and workers[other, c.FAMILY] == workers[worker, c.FAMILY]
            and workers[other, c.ANSWERED] > 0
            and workers[other, c.TRUSTED] == 0
        ):
            return False
    return True


@kernel
def learn(book: Book, state: State, fact: Fact) -> None:
    """Judge a task anew after an answer, and let all answers to it count by that."""
    task, worker, answer = fact.task, fact.worker, int(fact.value)
    if book.tasks[task, c.TASK_ANSWERED] == 1 and state.known[task] == 0:
        hear_of(state, task)
    # Also of an expert, who may come back as an ordinary worker.
    skill_row(state, book.tasks[task, c.CONTEXT], worker)
    if book.workers[worker, c.TRUSTED] == 1:
        if book.tasks[task, c.TRUTH] < 0:
            know(book, state, task, answer)
        return
    if book.workers[worker, c.ANSWERED] == 1 and is_new_voice(book, worker, book.totals[c.WORKERS]):
        state.meta[VOICES] += 1
    count_task(book, state, task, -1.0, worker, answer)
    state.given[task] += 1
    judge(book, state, task, state.scratch)
    posterior_of(state.scratch, state.blind, task)
    if state.known[task] > 0:
        state.tested[worker] += 1
    else:
        state.posterior[task] = state.blind[task]
    count_task(book, state, task, 1.0, -1, -1)
    rate_crowd(state.crowd, book.totals[c.OPTIONS])
    lift_all(book, state, task)
    state.meta[SINCE] += 1


@kernel
def know(book: Book, state: State, task: int, true: int) -> None:
    """Take a truth in: the task's posterior is certain, and its answers count accordingly."""
    if state.known[task] == 0:
        state.sides[book.tasks[task, c.CONTEXT], GOLD] += 1.0
        state.told[state.meta[KNOWN]] = task
        state.meta[KNOWN] += 1
    count_task(book, state, task, -1.0, -1, -1)
    judge(book, state, task, state.scratch)
    posterior_of(state.scratch, state.blind, task)
    state.known[task] = true + 1
    for option in range(book.totals[c.OPTIONS]):
        state.posterior[task, option] = 1.0 if option == true else 0.0
    count_task(book, state, task, 1.0, -1, -1)
    rate_crowd(state.crowd, book.totals[c.OPTIONS])
    lift_all(book, state, task)
    state.meta[SINCE] += TRUTH_NEWS


@kernel
def learn_truth(book: Book, state: State, fact: Fact) -> None:
    """Take in what the requester knows, also against what an expert said."""
    if book.tasks[fact.task, c.TASK_ANSWERED] == 0 and state.known[fact.task] == 0:
        hear_of(state, fact.task)
    know(book, state, fact.task, int(fact.value))


@step
def part_contexts(book: Book, state: State) -> None:
    """Let accuracies in a context differ from those elsewhere, where there are several."""
    state.crowd[LENT] = LIKE_ELSEWHERE if book.totals[c.CONTEXTS] > 1 else -1.0


@step
def is_due(book: Book, state: State) -> bool:
    """Whether enough has come in since the last fit."""
    return bool(state.meta[SINCE] >= max(LEAST_NEWS, NEWS_SHARE * book.totals[c.ANSWERS]))


@kernel
def trust_changed(book: Book, state: State) -> bool:
    """Whether somebody has come back as an expert who was none, or the other way round.

    An expert's answers count for nothing, those of the others for one each.
    """
    changed = False
    for worker in range(book.totals[c.WORKERS]):
        now = book.workers[worker, c.TRUSTED]
        changed = changed or (now != state.trusted[worker] and book.workers[worker, c.ANSWERED] > 0)
        state.trusted[worker] = now
    return changed


@kernel
def answers_in(book: Book, state: State) -> SkillAnswers:
    """All answers to tasks that were heard of, in that order."""
    cells, heard = book.cells, state.meta[HEARD]
    starts = np.zeros(heard + 1, np.int64)
    context = np.zeros(heard, np.int64)
    truth = np.zeros(heard, np.int64)
    skill = np.zeros(book.totals[c.ANSWERS], np.int64)
    label = np.zeros(book.totals[c.ANSWERS], np.int64)
    weight = np.ones(book.totals[c.ANSWERS])
    end = 0
    for at in range(heard):
        task = state.order[at]
        context[at] = book.tasks[task, c.CONTEXT]
        truth[at] = state.known[task] - 1
        cell = book.tasks[task, c.FIRST_CELL]
        while cell >= 0:
            worker = cells[cell, c.CELL_WORKER]
            if cells[cell, c.CELL_ANSWERS] > 0 and book.workers[worker, c.TRUSTED] == 0:
                row = skill_row(state, context[at], worker)
                counts = weight_of(book, task, worker)
                for option in range(book.totals[c.OPTIONS]):
                    for _ in range(cells[cell, c.VOTES + option]):
                        skill[end], label[end], weight[end] = row, option, counts
                        end += 1
            cell = cells[cell, c.NEXT_CELL]
        starts[at + 1] = end
        state.given[task] = end - starts[at]
    return SkillAnswers(starts, skill[:end], label[:end], weight[:end], context, truth)


@kernel
def fit_beliefs(book: Book, state: State, answers: SkillAnswers, rounds: int) -> SkillBeliefs:
    """Run EM over all answers; returns beliefs with the posteriors in the order of the answers."""
    heard, skills = state.meta[HEARD], state.meta[SKILLS]
    count, workers = book.totals[c.OPTIONS], book.totals[c.WORKERS]
    beliefs = SkillBeliefs(
        state.worker[:skills], state.place[:skills], state.shown[:skills], state.totals[:workers],
        state.right[:workers], state.seen[:workers], state.due[:workers], state.wrong[:workers],
        state.alone[:workers], state.errors, state.crowd,
        state.shares[: book.totals[c.CONTEXTS]], np.zeros((heard, count)),
    )  # fmt: skip
    fit(answers, beliefs, rounds, SETTLED)
    for at in range(heard):
        state.posterior[state.order[at], :count] = beliefs.posterior[at]
    for worker in range(workers):
        lift(book, state, worker)
    rate_ease(answers, beliefs, np.zeros(len(answers.skill)), state.ease[:workers])
    state.meta[SINCE] = 0
    return beliefs


def new_state(book: Book, options: int, tree: Array) -> State:
    """Nothing believed yet."""
    rows, workers, contexts = len(book.tasks), len(book.workers), len(book.contexts)
    beliefs = new_beliefs(len(book.cells), workers, options, contexts, rows)
    return State(
        keys=np.zeros(rows),
        tree=tree,
        order=np.zeros(rows, np.int64),
        known=np.zeros(rows, np.int64),
        told=np.zeros(rows, np.int64),
        given=np.zeros(rows, np.int64),
        trusted=np.zeros(workers, np.int64),
        tested=np.zeros(workers, np.int64),
        lift=np.zeros(workers),
        ease=np.zeros(workers),
        skill_of=np.zeros((contexts, workers), np.int64),
        **beliefs._asdict(),
        blind=np.zeros((rows, options)),
        sides=np.zeros((contexts, 4)),
        settling=np.zeros((contexts, SUGGESTED), np.int64),
        map=np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        meta=np.zeros(11, np.int64),
        scratch=np.zeros(options),
    )
