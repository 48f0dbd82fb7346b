"""How sure ``hem`` is of a task: tempered, and calibrated by the truths that are known."""

import math

import numpy as np

from askwise.core.scoring import TIE
from askwise.kernels import Array, calibration, hem, kernel, step
from askwise.kernels.calibration import ConfidenceMap
from askwise.kernels.hem import SkillAnswers, SkillBeliefs
from askwise.ledger import columns as c
from askwise.ledger.columns import Book
from askwise.policies.labels.hem import state as s
from askwise.policies.labels.hem.beliefs import (
    answers_in,
    beliefs_of,
    fit_beliefs,
    is_new_voice,
    weight_of,
)
from askwise.policies.labels.hem.state import State

CALIBRATING = 50
"""Known truths that are asked for where a target is to be a probability."""

LONE = 0.9
"""The most that a task's only answer is believed with, where a target is at stake: its giver's
record alone speaks for it, and nobody would notice a slip."""


PARTS = 2
"""In how many parts truths are hidden in a whole fit, so that none judges itself."""


@step
def rival(row: Array, label: int) -> int:
    """The most probable of the other options."""
    other = 1 if label == 0 else 0
    for option in range(len(row)):
        if option != label and row[option] > row[other]:
            other = option
    return other


@step
def not_yet_heard(book: Book, task: int, cell: int) -> bool:
    """Whether nobody of the family of a cell's worker has one before it in the list of a task's."""
    cells, workers = book.cells, book.workers
    family = workers[cells[cell, c.CELL_WORKER], c.FAMILY]
    if family < 0:
        return True
    at = book.tasks[task, c.FIRST_CELL]
    while at != cell:
        other = cells[at, c.CELL_WORKER]
        if (
            workers[other, c.FAMILY] == family
            and workers[other, c.TRUSTED] == 0
            and cells[at, c.CELL_ANSWERS] > 0
        ):
            return False
        at = cells[at, c.NEXT_CELL]
    return True


@kernel
def voices_for(book: Book, state: State, task: int) -> tuple[float, float]:
    """How many voices have answered a task, and how dependent they are on each other."""
    cells, workers = book.cells, book.workers
    distinct = answers = 0
    count = total = unsaid = 0.0
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        worker, given = cells[cell, c.CELL_WORKER], cells[cell, c.CELL_ANSWERS]
        if given > 0 and workers[worker, c.TRUSTED] == 0:
            distinct += not_yet_heard(book, task, cell)
            heard = 1 if workers[worker, c.ONCE] == 1 else given
            count += heard * weight_of(book, task, worker)
            answers += given
            if workers[worker, c.KIND] == c.UNSAID:
                unsaid += given
            elif workers[worker, c.KIND] == c.MODEL:
                total += given * calibration.OF_MODELS
            else:
                total += given * calibration.OF_PERSONS
        cell = cells[cell, c.NEXT_CELL]
    if answers == 0:
        return 0.0, calibration.OF_PERSONS
    total += unsaid * (1.0 + min(1.0, distinct / max(1, state.meta[s.VOICES])))
    return count, total / answers


@kernel
def lead_of(book: Book, task: int, label: int) -> tuple[float, float]:
    """By how many votes an option leads the others, and how many there are: families once."""
    cells, options = book.cells, book.totals[c.OPTIONS]
    votes = np.zeros(options)
    counted = 0.0
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        worker = cells[cell, c.CELL_WORKER]
        if cells[cell, c.CELL_ANSWERS] > 0 and book.workers[worker, c.TRUSTED] == 0:
            weight = weight_of(book, task, worker)
            for option in range(options):
                votes[option] += weight * cells[cell, c.VOTES + option]
                counted += weight * cells[cell, c.VOTES + option]
        cell = cells[cell, c.NEXT_CELL]
    return calibration.lead_in(votes, label), counted


@kernel
def tempered_score(book: Book, state: State, task: int, table: Array) -> float:
    """Log-odds of the leading option in the one row of a table against the rest, tempered."""
    voices, dependence = voices_for(book, state, task)
    factor = calibration.damping(voices, dependence)
    label = calibration.leader(table[0])
    lead, counted = lead_of(book, task, label)
    calibration.temper_row(table, 0, table.shape[1], factor, max(1.0, counted))
    score = calibration.score_in(table, 0, table.shape[1], label)
    return min(score, calibration.contested_limit(lead, factor, state.meta[s.APART] == 1))


@step
def map_in(state: State) -> ConfidenceMap:
    """How scores are turned into probabilities, as the truths say."""
    found = state.map
    return ConfidenceMap(found[0], found[1], found[2], found[3], found[4], found[5])


@step
def keep_map(state: State, learned: ConfidenceMap) -> None:
    """Turn scores into probabilities by this map from now on."""
    # One by one: to assign a slice takes a second to compile, most of it for the words of an error.
    for at in range(len(learned)):
        state.map[at] = learned[at]


@kernel
def confidence_in(book: Book, state: State, task: int) -> float:
    """Probability that the option which a task's answers favour is right, as it is reported."""
    options = book.totals[c.OPTIONS]
    if options == 1:
        return 1.0
    table = np.zeros((1, options))
    for option in range(options):
        table[0, option] = state.blind[task, option]
    label = calibration.leader(table[0])
    leads = table[0, label] - table[0, rival(table[0], label)] > TIE
    score = tempered_score(book, state, task, table)
    sure = calibration.mapped(map_in(state), score)
    if state.meta[s.CAUTIOUS] == 1 and state.given[task] < 2:
        sure = min(sure, LONE)
    if leads and state.meta[s.MAPPED] > 0:
        # However little truths make of it, a label that answers favour is not a tie of all options.
        return max(sure, (1.0 + 2.0 * calibration.TOLERANCE) / options)
    return max(sure, 1.0 / options)


@step
def is_told(book: Book, state: State, answers: SkillAnswers, at: int) -> bool:
    """Whether a task has answers and a truth that was told.

    What experts said is about tasks that answers left in doubt, and no sample of all.
    """
    answered = answers.starts[at] < answers.starts[at + 1]
    return bool(answered and book.tasks[state.order[at], c.TRUTH] >= 0)


@kernel
def count_told(book: Book, state: State, answers: SkillAnswers) -> int:
    """How many tasks have answers and a truth that was told."""
    count = 0
    for at in range(state.meta[s.HEARD]):
        count += is_told(book, state, answers, at)
    return count


@step
def rightness(row: Array, true: int) -> float:
    """How right the leading option is: by half, where it is tied with another and one is true."""
    label = calibration.leader(row)
    if abs(row[label] - row[true]) < 1e-9:
        # Tied with the truth: right as often as a toss would be.
        return 1.0 if label == true and row[rival(row, true)] < row[true] else 0.5
    return 0.0


@kernel
def calibrate(book: Book, state: State, answers: SkillAnswers, beliefs: SkillBeliefs) -> None:
    """Learn from known truths what scores are worth, and which way round contexts are."""
    heard, options = state.meta[s.HEARD], book.totals[c.OPTIONS]
    count = count_told(book, state, answers)
    state.meta[s.MAPPED] = count
    for context in range(len(state.sides)):
        state.sides[context, s.TOLD] = 0.0
    scores, right = np.zeros(count), np.zeros(count)
    here = np.zeros((2, len(beliefs.worker)))
    table = np.zeros((1, options))
    found = 0
    for at in range(heard):
        true, task = answers.truth[at], state.order[at]
        hem.judge_held_out(answers, beliefs, at, here, table[0])
        for option in range(options):
            state.blind[task, option] = table[0, option]
        if true < 0 or answers.starts[at] == answers.starts[at + 1]:
            continue
        other = rival(table[0], true)
        told = math.log(max(table[0, true], 1e-300) / max(table[0, other], 1e-300))
        told = min(hem.SURE_OF_SIDE, max(-hem.SURE_OF_SIDE, told))
        state.sides[answers.context[at], s.TOLD] += told
        if is_told(book, state, answers, at):
            right[found] = rightness(table[0], true)
            scores[found] = tempered_score(book, state, task, table)
            found += 1
    keep_map(state, calibration.fit_map(scores, right))


@kernel
def map_by_parts(book: Book, state: State, answers: SkillAnswers, rounds: int) -> ConfidenceMap:
    """Learn what scores are worth from fits in which half of the truths are hidden in turn.

    Leaving a task out of what its givers showed is not enough: its truth has also moved what is
    believed of their other tasks. By that, labels of known tasks were right .02 more often than
    those of others, averaged over 20 recorded sets. This overwrites the skills of a state: a fit
    to all truths must follow.
    """
    heard, options = state.meta[s.HEARD], book.totals[c.OPTIONS]
    count = count_told(book, state, answers)
    scores, right = np.zeros(count), np.zeros(count)
    here = np.zeros((2, state.meta[s.SKILLS]))
    table = np.zeros((1, options))
    found = 0
    for part in range(min(PARTS, count)):
        hidden = answers.truth.copy()
        number = 0
        for at in range(heard):
            if is_told(book, state, answers, at):
                if number % PARTS == part:
                    hidden[at] = -1
                number += 1
        some = SkillAnswers(
            answers.starts, answers.skill, answers.label, answers.weight, answers.context, hidden
        )
        beliefs = beliefs_of(book, state)
        hem.fit(some, beliefs, rounds, hem.SETTLED, True)
        for at in range(heard):
            if hidden[at] != answers.truth[at]:
                hem.judge_held_out(some, beliefs, at, here, table[0])
                right[found] = rightness(table[0], answers.truth[at])
                scores[found] = tempered_score(book, state, state.order[at], table)
                found += 1
    return calibration.fit_map(scores, right)


@kernel
def tell_apart(book: Book, state: State, answers: SkillAnswers) -> None:
    """See how many voices there are, and whether they differ in how often they agree."""
    workers, total = book.workers, book.totals[c.WORKERS]
    givers = np.zeros(len(answers.skill), np.int64)
    for at in range(len(givers)):
        givers[at] = state.worker[answers.skill[at]]
    judged, agreed = np.zeros(total), np.zeros(total)
    room = np.zeros(book.totals[c.OPTIONS])
    calibration.judge_workers(answers.starts, givers, answers.label, room, judged, agreed)
    state.meta[s.APART] = 1 if calibration.told_apart(judged, agreed) else 0
    state.meta[s.VOICES] = 0
    for worker in range(total):
        if workers[worker, c.ANSWERED] > 0 and workers[worker, c.TRUSTED] == 0:
            state.meta[s.VOICES] += is_new_voice(book, worker, worker)


@kernel
def watch_sides(state: State, answers: SkillAnswers, beliefs: SkillBeliefs) -> None:
    """Note which way round contexts seem, and tasks whose truth would tell most about it."""
    contexts = len(beliefs.shares)
    margins, agrees = np.zeros(contexts), np.zeros(contexts)
    hem.side_margins(beliefs, margins)
    hem.agreements(beliefs, agrees)
    state.meta[s.CLASH] = 0
    for each in range(contexts):
        state.sides[each, s.MARGIN] = margins[each] + state.sides[each, s.TOLD]
        state.sides[each, s.FITTED] = 0.0
        # Of two camps of contexts, either may be the one that is the wrong way round.
        if agrees[each] < 0.0:
            state.meta[s.CLASH] = 1
    state.settling[:] = 0
    for at in range(len(answers.starts) - 1):
        state.sides[answers.context[at], s.FITTED] += answers.starts[at + 1] - answers.starts[at]
        if answers.truth[at] < 0:
            suggest(state, answers.context[at], state.order[at])


@step
def suggest(state: State, context: int, task: int) -> None:
    """Take a task among the surest of its context, if it is: their truth tells most."""
    settling, sure = state.settling, judged(state, task)
    place = s.SUGGESTED
    while place > 0 and (
        settling[context, place - 1] == 0 or judged(state, settling[context, place - 1] - 1) < sure
    ):
        place -= 1
    if place < s.SUGGESTED:
        for later in range(s.SUGGESTED - 1, place, -1):
            settling[context, later] = settling[context, later - 1]
        settling[context, place] = task + 1


@step
def judged(state: State, task: int) -> float:
    """Log-odds of the option that a task's answers favour, as the model has them."""
    top = 0.0
    for option in range(state.blind.shape[1]):
        top = max(top, state.blind[task, option])
    return math.log(top / max(1.0 - top, 1e-12))


@kernel
def fit_all(book: Book, state: State, rounds: int) -> None:
    """Fit all beliefs again: skills, posteriors, the map of confidences, sides of contexts."""
    answers = answers_in(book, state)
    whole = rounds >= hem.FULL_ROUNDS
    tell_apart(book, state, answers)
    learned = map_by_parts(book, state, answers, rounds) if whole else map_in(state)
    beliefs = fit_beliefs(book, state, answers, rounds)
    state.meta[s.WHOLE] = 1 if whole else 0
    calibrate(book, state, answers, beliefs)
    if whole:
        keep_map(state, learned)
    watch_sides(state, answers, beliefs)
