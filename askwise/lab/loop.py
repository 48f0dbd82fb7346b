"""The loop of a simulation, compiled with the kernels of a policy, a world and a rule."""

import hashlib
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from askwise.core.compiling import bind, in_plain_python, step
from askwise.kernels import Array, Draw, Fact
from askwise.lab.worlds.assured import AssuredWorld, assured_reply, assured_truth
from askwise.lab.worlds.base import World, no_truth, reply_with_utility
from askwise.lab.worlds.crowds import SurveyWorld, survey_reply, survey_truth
from askwise.lab.worlds.recorded import RecordedWorld, recorded_reply, recorded_truth
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.ledger.columns import Book
from askwise.ledger.proposals import Proposal, fault
from askwise.ledger.queries import new_cell_of, next_task
from askwise.ledger.transitions import AT_PRICE, advance, take_plan
from askwise.policies.base import Kernels
from askwise.stopping.base import CONFIDENT, GO_ON, OPTION, SURE, Limits, at_limit

FULL, FAULTY = -1001, -1002

# What is counted up: utility, events, and the first task whose truth may still come.
UTILITY, SEQ, NEXT_TRUTH = range(3)

# Columns of `closings`, one row a task: option, how sure, which outcome, the event's number, and
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


class Rulings(NamedTuple):
    """A rule's parameters and limits, room for one ruling, and what was closed."""

    params: Any
    limits: Limits
    ruling: Array
    closings: Array


class NoParams(NamedTuple):
    """Stands for the parameters of a rule where there is none."""

    none: int


def _unbound(*_: Any) -> int:
    raise NotImplementedError("the loop is compiled once its kernels are bound")


choose = absorb = reply = reveal = judge = _unbound


@step
def never(book: Book, params: NoParams, task: int, draw: Draw, ruling: Array) -> int:
    """Stands for the kernel of a rule where there is none."""
    return GO_ON


@step
def times_asked(book: Book, task: int, worker: int) -> int:
    """How often a pair was asked before; of a campaign without tasks, the worker."""
    if book.totals[c.OPTIONS] == 0:
        return book.workers[worker, c.ASKED]
    cell = new_cell_of(book, task, worker)
    return book.cells[cell, c.CELL_OUT] + book.cells[cell, c.CELL_ANSWERS] if cell >= 0 else 0


@step
def next_truth(book: Book, tally: Array) -> int:
    """The first task that has answers and no truth; -1 if there is none."""
    tasks, count = book.tasks, book.totals[c.TASKS]
    first = int(tally[NEXT_TRUTH])
    while first < count and tasks[first, c.TRUTH] >= 0:
        first += 1
    tally[NEXT_TRUTH] = first
    while first < count and (tasks[first, c.TASK_ANSWERED] == 0 or tasks[first, c.TRUTH] >= 0):
        first += 1
    return first if first < count else -1


def run_campaign(
    book: Book,
    state: Any,
    params: Any,
    world: Any,
    rulings: Rulings,
    streams: Streams,
    available: Array,
    out: Proposal,
    tally: Array,
    due: Array,
) -> int:
    """Ask and answer until the policy has nothing more to ask, or an array is full.

    ``choose`` and ``absorb`` are bound to a policy's kernels, ``reply`` and ``reveal`` to a
    world's, ``judge`` to a rule's. The truth of a task comes when the policy waits for one and
    nothing is out: that of the task it names, or else of the first with answers, as far as it is
    known. As many questions are out at a time as ``due`` has room for answers; they are answered in
    the order of asking, and all of them before the end is believed. With room for one, the order
    of events is that of a live campaign in which each answer is told before the next ask.
    """
    totals, plan, tasks = book.totals, book.plan, book.tasks
    assignments, ruling, closings = book.assignments, rulings.ruling, rulings.closings
    choosing, learning, judging = streams.choosing, streams.absorbing, streams.judging
    window = len(due)
    code, row, seq = c.PROPOSED, 0, int(tally[SEQ])
    while True:
        while row < totals[c.PLAN_ROWS] and plan[row, c.PLAN_COUNT] <= 0:
            row += 1
        pending = totals[c.PENDING]
        if pending == window or (pending > 0 and code != c.PROPOSED):
            at = totals[c.ANSWERS]
            task, worker = assignments[at, c.TASK], assignments[at, c.WORKER]
            value = due[at % window]
            tally[UTILITY] += value
            seq += 1
            advance(book, k.ANSWER, task, worker, at, AT_PRICE, value, seq)
            fact = Fact(k.ANSWER, task, worker, value, 0, at)
            absorb(book, state, params, fact, Draw(learning[0], learning[1], seq))
            if tasks[task, c.CLOSED] == 0:
                draw = Draw(judging[0], judging[1], seq)
                ruled = judge(book, rulings.params, task, draw, ruling)
                if ruled == GO_ON:
                    ruled = at_limit(book, task, rulings.limits)
                if ruled != GO_ON:
                    seq += 1
                    closings[task, CLOSED_OPTION] = ruling[OPTION]
                    closings[task, CLOSED_SURE] = ruling[SURE]
                    closings[task, CLOSED_CODE] = ruled
                    closings[task, CLOSED_SEQ] = seq
                    advance(book, k.CLOSED, task, -1, -1, AT_PRICE, ruling[OPTION], seq)
                    sure = 1 if ruled == CONFIDENT else 0
                    fact = Fact(k.CLOSED, task, -1, ruling[OPTION], sure, -1)
                    absorb(book, state, params, fact, Draw(learning[0], learning[1], seq))
            code = c.PROPOSED
        elif row < totals[c.PLAN_ROWS]:
            if totals[c.ASSIGNMENTS] == len(assignments):
                return FULL
            worker, named = plan[row, c.PLAN_WORKER], plan[row, c.PLAN_TASK]
            if totals[c.TASKLESS] == 0 and named < 0:
                named = next_task(book, worker)
            task = max(named, 0)
            before = times_asked(book, task, worker)
            if before == 0 and totals[c.CELLS] == len(book.cells):
                return FULL
            elapsed = totals[c.SPENT] / totals[c.BUDGET]
            seq += 1
            at = advance(book, k.ASKED, named, worker, row, AT_PRICE, np.inf, seq)
            fact = Fact(k.ASKED, named, worker, np.nan, 0, at)
            absorb(book, state, params, fact, Draw(learning[0], learning[1], seq))
            due[at % window] = reply(world, task, worker, before, elapsed)
        elif code != c.PROPOSED:
            if code != c.WAIT_TRUTH:
                return code
            task = out.head[2] - 1 if out.head[2] > 0 else next_truth(book, tally)
            truth = reveal(world, task) if task >= 0 else -1
            if truth < 0:
                return code
            seq += 1
            closings[task, TRUTH_SEQ] = seq
            advance(book, k.TRUTH, task, -1, -1, AT_PRICE, float(truth), seq)
            fact = Fact(k.TRUTH, task, -1, float(truth), 0, -1)
            absorb(book, state, params, fact, Draw(learning[0], learning[1], seq))
            code = c.PROPOSED
        else:
            out.head[0] = 0
            out.head[1] = 0
            out.head[2] = 0
            draw = Draw(choosing[0], choosing[1], totals[c.DECISIONS])
            code = choose(book, state, params, draw, available, out)
            if code == c.PROPOSED:
                if fault(book, out, available) != c.FINE:
                    return FAULTY
                take_plan(book, out.rows, out.odds, 0, out.head[0])
                row = 0
                seq += 1
                fact = Fact(k.DECIDED, -1, -1, np.nan, out.head[1], -1)
                absorb(book, state, params, fact, Draw(learning[0], learning[1], seq))
        tally[SEQ] = seq


@cache
def compiled(kernels: Kernels, world: Any, judging: Callable[..., int]) -> Any:
    """The loop for the kernels of a policy, a class of worlds and a rule's kernel.

    Policies that differ in parameters alone share it: a loop takes seconds to compile.
    """
    functions = (kernels.choose, kernels.absorb, judging, world)
    names = "_".join(f"{each.__module__}.{each.__name__}" for each in functions)
    # Hashed, as it becomes part of a file's name, which may not be long.
    digest = hashlib.sha256(names.encode()).hexdigest()[:16]
    label = f"{kernels.choose.__module__.rpartition('.')[2]}_{digest}"
    return bind(
        run_campaign,
        label,
        choose=kernels.choose,
        absorb=kernels.absorb,
        reply=REPLIES[world],
        reveal=TRUTHS.get(world, no_truth),
        judge=judging,
    )


def uncompiled(world: Any, **names: Callable[..., Any]) -> Any:
    """The same loop as plain Python, around functions that need not be kernels.

    What it calls costs microseconds a step: whatever the policy takes, compiling it (a minute)
    would not pay.
    """
    return in_plain_python(
        run_campaign, reply=REPLIES[world], reveal=TRUTHS.get(world, no_truth), **names
    )
