"""What ``hem`` believes, updated by each answer and fitted again now and then."""

import numpy as np

from askwise.kernels import Array, Fact, hem, kernel, step
from askwise.kernels.calibration import family_share
from askwise.kernels.hem import SkillAnswers, SkillBeliefs
from askwise.ledger import columns as c
from askwise.ledger.columns import Book
from askwise.policies.labels.hem import state as s
from askwise.policies.labels.hem.state import State, beliefs_in, hear_of, skill_row

ROUNDS = 6
"""Rounds of EM in a fit between decisions."""

LEAST_NEWS, NEWS_SHARE = 30, 0.1
"""Fitted after this many new answers, or this share of all if that is more."""

TRUTH_NEWS = 10
"""A known truth is news worth this many answers."""


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
    amount = sign * hem.counted_by(count, state.known[task] > 0)
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        worker = cells[cell, c.CELL_WORKER]
        if cells[cell, c.CELL_ANSWERS] > 0 and book.workers[worker, c.TRUSTED] == 0:
            row = skill_row(state, context, worker)
            here = hem.accuracy_here(state.totals, state.shown, state.crowd, worker, row)
            for option in range(book.totals[c.OPTIONS]):
                votes = cells[cell, c.VOTES + option]
                if worker == less_worker and option == less_option:
                    votes -= 1
                if votes <= 0:
                    continue
                if amount == 0.0:
                    state.alone[worker, option] += sign
                else:
                    hem.count_in(beliefs, row, task, option, here, amount * votes)
        cell = cells[cell, c.NEXT_CELL]


@step
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


@step
def weight_of(book: Book, task: int, worker: int) -> float:
    """What an answer of a worker counts as evidence for a task: families err together."""
    family = book.workers[worker, c.FAMILY]
    return 1.0 if family < 0 else family_share(of_family(book, task, family))


@kernel
def judge(book: Book, state: State, task: int) -> None:
    """Write what the answers to a task say of each class, whatever its truth."""
    cells, context, logs = book.cells, book.tasks[task, c.CONTEXT], state.scratch
    beliefs = beliefs_in(state)
    like = hem.like_others(book.totals[c.CONTEXTS])
    power = hem.trust_in_shares(state.crowd, state.given[task])
    named = np.ones(len(logs), np.bool_)
    if len(logs) > hem.MANY:
        name_options(book, task, named)
    for option in range(len(logs)):
        logs[option] = power * state.shares[context, option]
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        worker = cells[cell, c.CELL_WORKER]
        if cells[cell, c.CELL_ANSWERS] > 0 and book.workers[worker, c.TRUSTED] == 0:
            row = skill_row(state, context, worker)
            here = hem.accuracy_here(state.totals, state.shown, state.crowd, worker, row)
            weight = weight_of(book, task, worker)
            for option in range(len(logs)):
                votes = cells[cell, c.VOTES + option]
                if votes > 0:
                    hem.weigh_answer(beliefs, row, option, weight * votes, like, here, named, logs)
        cell = cells[cell, c.NEXT_CELL]
    hem.posterior_of(logs, state.blind, task)


@step
def name_options(book: Book, task: int, named: Array) -> None:
    """Say which options an ordinary worker named for a task."""
    cells = book.cells
    for option in range(len(named)):
        named[option] = False
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        if book.workers[cells[cell, c.CELL_WORKER], c.TRUSTED] == 0:
            for option in range(len(named)):
                if cells[cell, c.VOTES + option] > 0:
                    named[option] = True
        cell = cells[cell, c.NEXT_CELL]


@kernel
def lift(book: Book, state: State, worker: int) -> None:
    """Bring a worker's accuracy averaged over classes up to date."""
    contexts = book.totals[c.CONTEXTS]
    state.lift[worker] = hem.lift_among(beliefs_in(state), worker, contexts, state.occurs)


@kernel
def count_again(book: Book, state: State, task: int, news: int) -> None:
    """Let all answers to a task count as it is judged now, which is worth this many answers."""
    count_task(book, state, task, 1.0, -1, -1)
    hem.rate_crowd(state.crowd, book.totals[c.OPTIONS])
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        if book.cells[cell, c.CELL_ANSWERS] > 0:
            lift(book, state, book.cells[cell, c.CELL_WORKER])
        cell = book.cells[cell, c.NEXT_CELL]
    state.meta[s.SINCE] += news


@step
def is_new_voice(book: Book, worker: int, among: int) -> bool:
    """Whether nobody else of a worker's family has answered anything, among the first ones."""
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
    """Judge a task again after an answer, and let all answers to it count by that."""
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
        state.meta[s.VOICES] += 1
    count_task(book, state, task, -1.0, worker, answer)
    state.given[task] += 1
    judge(book, state, task)
    if state.known[task] > 0:
        state.tested[worker] += 1
    else:
        for option in range(state.posterior.shape[1]):
            state.posterior[task, option] = state.blind[task, option]
    count_again(book, state, task, 1)


@kernel
def know(book: Book, state: State, task: int, true: int) -> None:
    """Take a truth in: the task's posterior is certain, and its answers count accordingly."""
    if state.known[task] == 0:
        state.sides[book.tasks[task, c.CONTEXT], s.GOLD] += 1.0
        state.told[state.meta[s.KNOWN]] = task
        state.meta[s.KNOWN] += 1
    count_task(book, state, task, -1.0, -1, -1)
    judge(book, state, task)
    state.known[task] = true + 1
    for option in range(book.totals[c.OPTIONS]):
        state.posterior[task, option] = 1.0 if option == true else 0.0
    count_again(book, state, task, TRUTH_NEWS)


@kernel
def learn_truth(book: Book, state: State, fact: Fact) -> None:
    """Take in what the requester knows, also against what an expert said."""
    if book.tasks[fact.task, c.TASK_ANSWERED] == 0 and state.known[fact.task] == 0:
        hear_of(state, fact.task)
    know(book, state, fact.task, int(fact.value))


@step
def part_contexts(book: Book, state: State) -> None:
    """Let accuracies in a context differ from those elsewhere, where there are several."""
    state.crowd[hem.LENT] = hem.LIKE_ELSEWHERE if book.totals[c.CONTEXTS] > 1 else -1.0


@step
def is_due(book: Book, state: State) -> bool:
    """Whether enough has come in since the last fit."""
    return bool(state.meta[s.SINCE] >= max(LEAST_NEWS, NEWS_SHARE * book.totals[c.ANSWERS]))


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
    cells, heard = book.cells, state.meta[s.HEARD]
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
def beliefs_of(book: Book, state: State) -> SkillBeliefs:
    """Skills of a state as a fit takes them, with posteriors of their own in the answers' order."""
    skills, workers = state.meta[s.SKILLS], book.totals[c.WORKERS]
    return SkillBeliefs(
        state.worker[:skills], state.place[:skills], state.shown[:skills], state.totals[:workers],
        state.right[:workers], state.seen[:workers], state.due[:workers], state.wrong[:workers],
        state.alone[:workers], state.errors, state.crowd,
        state.shares[: book.totals[c.CONTEXTS]],
        np.zeros((state.meta[s.HEARD], book.totals[c.OPTIONS])),
    )  # fmt: skip


@kernel
def count_classes(book: Book, state: State) -> None:
    """Sum up over contexts how common classes are believed to be; spare room has no say."""
    hem.count_classes(state.shares[: book.totals[c.CONTEXTS]], state.occurs)


@kernel
def fit_beliefs(book: Book, state: State, answers: SkillAnswers, rounds: int) -> SkillBeliefs:
    """Run EM over all answers; returns beliefs with the posteriors in the order of the answers."""
    beliefs, count = beliefs_of(book, state), book.totals[c.OPTIONS]
    hem.fit(answers, beliefs, rounds, hem.SETTLED, True)
    count_classes(book, state)
    for at in range(state.meta[s.HEARD]):
        for option in range(count):
            state.posterior[state.order[at], option] = beliefs.posterior[at, option]
    workers = book.totals[c.WORKERS]
    for worker in range(workers):
        lift(book, state, worker)
    hem.rate_ease(answers, beliefs, np.zeros(len(answers.skill)), state.ease[:workers])
    state.meta[s.SINCE] = 0
    return beliefs
