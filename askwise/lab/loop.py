"""The loop of a simulation, compiled with the kernels of a policy, a world and a rule."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from askwise.core.compiling import in_plain_python, routine, step
from askwise.core.records import by_reference
from askwise.kernels import Array, Draw, Fact
from askwise.lab.worlds.assured import AssuredWorld, assured_reply, assured_truth
from askwise.lab.worlds.base import World, no_truth, reply_with_utility
from askwise.lab.worlds.crowds import SurveyWorld, survey_reply, survey_truth
from askwise.lab.worlds.recorded import RecordedWorld, recorded_reply, recorded_truth
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.ledger.columns import Book
from askwise.ledger.plan_rows import take_plan
from askwise.ledger.proposals import Proposal, fault
from askwise.ledger.queries import new_cell_of, next_task
from askwise.ledger.transitions import proceed
from askwise.stopping.base import CONFIDENT, GO_ON, OPTION, SURE, Limits, at_limit

FULL, FAULTY = -1001, -1002

# What is next: nothing is under way, the policy chooses, it learns of an event, the world reveals a
# truth, or it is over.
NOTHING, CHOOSE, LEARN, REVEAL, END = range(5)

# Cells of a course's `whole`: the move under way; of the event or truth that it is about kind,
# task, worker, note, assignment and how often the pair was asked before; what choosing came to, or
# why it is over; what the rule or the world said; the plan's row; events so far, and the first task
# whose truth may still come.
(MOVE, KIND, TASK, WORKER, NOTE, AT, BEFORE, CODE, SAID, ROW, SEQ, NEXT_TRUTH) = range(12)

# Cells of a course's `real`: the event's value, the share of the budget that was spent, and all
# utility so far.
VALUE, ELAPSED, UTILITY = range(3)

# Columns of `closings`, one row per task: option, how sure, which outcome, the event's number, and
# that of the event that revealed the truth.
CLOSED_OPTION, CLOSED_SURE, CLOSED_CODE, CLOSED_SEQ, TRUTH_SEQ = range(5)

AnyWorld = World | SurveyWorld | RecordedWorld | AssuredWorld

REPLIES: dict[type, Callable[..., float]] = {
    World: reply_with_utility,
    SurveyWorld: survey_reply,
    RecordedWorld: recorded_reply,
    AssuredWorld: assured_reply,
}
"""How each kind of world answers."""

TRUTHS: dict[type, Callable[..., int]] = {
    SurveyWorld: survey_truth,
    RecordedWorld: recorded_truth,
    AssuredWorld: assured_truth,
}
"""How a kind of world reveals what is true, if it can."""


class Streams(NamedTuple):
    """Keys of the draws: of choosing, absorbing and judging."""

    choosing: tuple[int, int]
    absorbing: tuple[int, int]
    judging: tuple[int, int]


@by_reference
class LoopState(NamedTuple):
    """Where a simulation is: its counts, answers that are due, one ruling, and what was closed.

    As many questions are out at a time as ``due`` has room for answers.
    """

    whole: Array
    real: Array
    due: Array
    ruling: Array
    closings: Array
    limits: Limits


def new_course(window: int, tasks: int, ruling: Array, limits: Limits) -> LoopState:
    """A simulation that has not begun."""
    return LoopState(
        np.zeros(12, np.int64), np.zeros(3), np.zeros(window), ruling, np.zeros((tasks, 5)), limits
    )


class NoParams(NamedTuple):
    """Stands for the parameters of a rule where there is none."""

    none: int


def _unbound(*_: Any) -> int:
    raise NotImplementedError("the loop is compiled once its kernels are bound")


choose = absorb = observe = reply = reveal = judge = _unbound


@step
def never(book: Book, params: NoParams, task: int, draw: Draw, ruling: Array) -> int:
    """Stands for the kernel of a rule where there is none."""
    return GO_ON


@step
def keep_nothing(book: Book, params: Any, fact: Fact) -> None:
    """Stands for the learning kernel of a rule where there is none."""
    return


@step
def times_asked(book: Book, task: int, worker: int) -> int:
    """How often a pair was asked before; of a campaign without tasks, the worker."""
    if book.totals[c.OPTIONS] == 0:
        return book.workers[worker, c.ASKED]
    cell = new_cell_of(book, task, worker)
    return book.cells[cell, c.CELL_OUT] + book.cells[cell, c.CELL_ANSWERS] if cell >= 0 else 0


@step
def next_truth(book: Book, whole: Array) -> int:
    """The first task that has answers and no truth; -1 if there is none."""
    tasks, count = book.tasks, book.totals[c.TASKS]
    first = whole[NEXT_TRUTH]
    while first < count and tasks[first, c.TRUTH] >= 0:
        first += 1
    whole[NEXT_TRUTH] = first
    while first < count and (tasks[first, c.TASK_ANSWERED] == 0 or tasks[first, c.TRUTH] >= 0):
        first += 1
    return first if first < count else -1


@step
def learn_of(
    course: LoopState, kind: int, task: int, worker: int, value: float, note: int, at: int
) -> int:
    """Have the policy learn of an event that the book has taken in."""
    whole = course.whole
    whole[MOVE] = LEARN
    whole[KIND] = kind
    whole[TASK] = task
    whole[WORKER] = worker
    whole[NOTE] = note
    whole[AT] = at
    course.real[VALUE] = value
    return LEARN


@step
def end(course: LoopState, code: int) -> int:
    """Say why it is over."""
    course.whole[MOVE] = END
    course.whole[CODE] = code
    return END


@step
def take_choice(book: Book, out: Proposal, available: Array, course: LoopState) -> int:
    """Take what was proposed as the current decision."""
    if fault(book, out, available) != c.FINE:
        return end(course, FAULTY)
    take_plan(book, out.rows, out.odds, 0, out.head[0])
    course.whole[ROW] = 0
    course.whole[SEQ] += 1
    return learn_of(course, k.DECIDED, -1, -1, np.nan, out.head[1], -1)


@step
def take_truth(book: Book, course: LoopState) -> int:
    """Take in a truth that the world has revealed, if it has."""
    whole = course.whole
    task, truth = whole[TASK], whole[SAID]
    if truth < 0:
        return end(course, c.WAIT_TRUTH)
    whole[SEQ] += 1
    course.closings[task, TRUTH_SEQ] = whole[SEQ]
    proceed(book, k.TRUTH, task, -1, float(truth), whole[SEQ])
    whole[CODE] = c.PROPOSED
    return learn_of(course, k.TRUTH, task, -1, float(truth), 0, -1)


@step
def close_if_ruled(book: Book, course: LoopState) -> int:
    """Close the task of an answer if the rule said so, or if it has reached a limit."""
    whole, ruling, closings = course.whole, course.ruling, course.closings
    task, ruled = whole[TASK], whole[SAID]
    if ruled == GO_ON:
        ruled = at_limit(book, task, course.limits)
    if ruled == GO_ON:
        return NOTHING
    whole[SEQ] += 1
    closings[task, CLOSED_OPTION] = ruling[OPTION]
    closings[task, CLOSED_SURE] = ruling[SURE]
    closings[task, CLOSED_CODE] = ruled
    closings[task, CLOSED_SEQ] = whole[SEQ]
    proceed(book, k.CLOSED, task, -1, ruling[OPTION], whole[SEQ])
    sure = 1 if ruled == CONFIDENT else 0
    return learn_of(course, k.CLOSED, task, -1, ruling[OPTION], sure, -1)


@step
def take_answer(book: Book, course: LoopState) -> int:
    """Book the answer to the question that has been out for longest."""
    whole, assignments = course.whole, book.assignments
    at = book.totals[c.ANSWERS]
    value = course.due[at % len(course.due)]
    task = assignments[at, c.TASK]
    course.real[UTILITY] += value
    whole[SEQ] += 1
    proceed(book, k.ANSWER, task, at, value, whole[SEQ])
    whole[CODE] = c.PROPOSED
    return learn_of(course, k.ANSWER, task, assignments[at, c.WORKER], value, 0, at)


@step
def ask(book: Book, course: LoopState, row: int) -> int:
    """Hand out one question of a plan's row, if there is room for it."""
    totals, plan, whole = book.totals, book.plan, course.whole
    if totals[c.ASSIGNMENTS] == len(book.assignments):
        return end(course, FULL)
    worker, named = plan[row, c.PLAN_WORKER], plan[row, c.PLAN_TASK]
    if totals[c.TASKLESS] == 0 and named < 0:
        named = next_task(book, worker)
    before = times_asked(book, max(named, 0), worker)
    if before == 0 and totals[c.CELLS] == len(book.cells):
        return end(course, FULL)
    whole[BEFORE] = before
    course.real[ELAPSED] = totals[c.SPENT] / totals[c.BUDGET]
    whole[SEQ] += 1
    at = proceed(book, k.ASKED, named, row, np.inf, whole[SEQ])
    return learn_of(course, k.ASKED, named, worker, np.nan, 0, at)


@routine
def next_move(book: Book, out: Proposal, available: Array, course: LoopState) -> int:
    """Take in the result of the last move, and say what is to be done next.

    All of a simulation that depends on no policy, world or rule: compiled once for all loops.
    """
    totals, plan, whole = book.totals, book.plan, course.whole
    last = whole[MOVE]
    whole[MOVE] = NOTHING
    if last == CHOOSE and whole[CODE] == c.PROPOSED:
        return take_choice(book, out, available, course)
    if last == REVEAL:
        return take_truth(book, course)
    if last == LEARN and whole[KIND] == k.ANSWER and book.tasks[whole[TASK], c.CLOSED] == 0:
        closed = close_if_ruled(book, course)
        if closed != NOTHING:
            return closed
    row = whole[ROW]
    while row < totals[c.PLAN_ROWS] and plan[row, c.PLAN_COUNT] <= 0:
        row += 1
    whole[ROW] = row
    pending, code = totals[c.PENDING], whole[CODE]
    if pending == len(course.due) or (pending > 0 and code != c.PROPOSED):
        return take_answer(book, course)
    if row < totals[c.PLAN_ROWS]:
        return ask(book, course, row)
    if code == c.PROPOSED:
        out.head[0] = 0
        out.head[1] = 0
        out.head[2] = 0
        whole[MOVE] = CHOOSE
        return CHOOSE
    if code != c.WAIT_TRUTH:
        return end(course, code)
    task = out.head[2] - 1 if out.head[2] > 0 else next_truth(book, whole)
    if task < 0:
        return end(course, code)
    whole[TASK] = task
    whole[MOVE] = REVEAL
    return REVEAL


def run_campaign(
    book: Book,
    state: Any,
    params: Any,
    world: Any,
    ruling_by: Any,
    streams: Streams,
    available: Array,
    out: Proposal,
    course: LoopState,
) -> int:
    """Ask and answer until the policy has nothing more to ask, or an array is full.

    ``choose`` and ``absorb`` are bound to a policy's kernels, ``reply`` and ``reveal`` to a
    world's, ``judge`` and ``observe`` to a rule's, which take ``ruling_by`` as their parameters.
    The truth of a task comes when the policy waits for one and nothing is out: that of the task it
    names, or else of the first with answers, as far as it is known. Answers come in the order of
    asking, and all of them before the end is believed. With one question out at a time, the order
    of events is that of a live campaign in which each answer is told before the next ask.
    """
    whole, real = course.whole, course.real
    choosing, learning, judging = streams.choosing, streams.absorbing, streams.judging
    whole[MOVE] = NOTHING
    whole[CODE] = c.PROPOSED
    whole[ROW] = 0
    while True:
        move = next_move(book, out, available, course)
        if move == LEARN:
            kind, task, worker, at = int(whole[KIND]), whole[TASK], whole[WORKER], whole[AT]
            seq = int(whole[SEQ])
            fact = Fact(kind, task, worker, real[VALUE], whole[NOTE], at)
            absorb(book, state, params, fact, Draw(learning[0], learning[1], seq))
            observe(book, ruling_by, fact)
            if kind == k.ASKED:
                value = reply(world, max(task, 0), worker, whole[BEFORE], real[ELAPSED])
                course.due[at % len(course.due)] = value
            elif kind == k.ANSWER and book.tasks[task, c.CLOSED] == 0:
                draw = Draw(judging[0], judging[1], seq)
                whole[SAID] = judge(book, ruling_by, task, draw, course.ruling)
        elif move == CHOOSE:
            draw = Draw(choosing[0], choosing[1], book.totals[c.DECISIONS])
            whole[CODE] = choose(book, state, params, draw, available, out)
        elif move == REVEAL:
            whole[SAID] = reveal(world, whole[TASK])
        else:
            return int(whole[CODE])


def uncompiled(world: Any, **names: Callable[..., Any]) -> Any:
    """The same loop as plain Python, around functions that need not be kernels.

    What it calls costs microseconds a step: whatever the policy takes, compiling it (a minute)
    would not pay.
    """
    return in_plain_python(
        run_campaign, reply=REPLIES[world], reveal=TRUTHS.get(world, no_truth), **names
    )
