"""What the policies of paper 000 share: records of workers and tasks, bounds on qualities.

Paper 000: S. Jain, S. Gujar, S. Bhat, O. Zoeter, Y. Narahari, "An incentive compatible
multi-armed-bandit crowdsourcing mechanism with quality assurance", 2015.
"""

import math
from typing import NamedTuple

import numpy as np

from askwise.core.arrays import Array
from askwise.core.compiling import heavy_kernel, step
from askwise.ledger import columns as c
from askwise.ledger.columns import Book
from askwise.policies.assured.intervals import lasting_interval
from askwise.policies.assured.sets import Target

PAPER = "000"

NS, S, SE, FIXED, CUCB, GREEDY, UCB = range(7)
"""The rules by which sets are chosen."""

EXPLORE, EXPLOIT, UNREACHABLE, MEND = range(4)
"""What a decision is for: places in a policy's ``notes``."""

BOUNDS = ("paper", "ucb1", "anytime")
BY_PAPER, BY_UCB1, ANYTIME, BY_MEAN = range(4)

# Columns of `workers`: answers to tasks whose truth is known, how many were right, whether they
# were eliminated, whether they are in the set that exploration came to.
COUNT, RIGHT, DROPPED, IN_SET = range(4)

# Columns of `tasks`. NOTE is that of the decision by which a task was begun plus one, 0 before.
# LOST: somebody of its set was lost and it was not looked at since. WAITING: 0 unless its truth is
# waited for, ANSWERS_OUT while some of its answers are out, TRUTH_DUE then. AUDITED: its truth is
# learned from; chance decides when it is begun, unless all truths are to be told.
NOTE, LOST, WAITING, AUDITED = range(4)
TASK_COLUMNS = 4
ANSWERS_OUT, TRUTH_DUE = 1, 2

# Columns of `tally`. EXPLORED and UNREACHED count the tasks begun with the notes "explore" and
# "unreachable", BEGUN all. SETTLED is 1 once exploration has ended, LAST_ROUND is then the number
# of the task it ended with. FRESH is where the search for a task that was not begun starts,
# FIRST_LOST where that for a lost one does, FIRST_DUE the first whose truth is due; LOST_TASKS,
# OUT_TASKS and DUE_TASKS count.
(EXPLORED, UNREACHED, SETTLED, BEGUN, LAST_ROUND, FRESH, LOST_TASKS, FIRST_LOST, OUT_TASKS,
 DUE_TASKS, FIRST_DUE) = range(11)  # fmt: skip
TALLY_SIZE = 11

# Cells of `watch`: of the audited tasks that the present watch counts, their number, how many were
# answered wrong, the sum of the errors that the bounds gave them and of the slack that was added.
# SLACK is what is added to such an error now. ALARMS counts; SINCE is how many tasks had been begun
# at the first alarm. FAILED: what the watch that ended with the last one had counted. SEEN: what
# the slack rests on.
(WATCHED, WATCHED_WRONG, WATCHED_SAID, WATCHED_SLACK, SLACK, ALARMS, SINCE, FAILED, FAILED_WRONG,
 FAILED_SAID, SEEN, SEEN_WRONG, SEEN_SAID) = range(13)  # fmt: skip
WATCH_SIZE = 13


INFORMED = -1
"""In place of a number of rounds: earlier campaigns showed enough to begin without everybody."""


class Params(NamedTuple):
    """Parameters as kernels take them.

    ``goal`` is the target that the solver plans for, ``check`` the one that must hold; ``miss``
    is the price of a unit of error beyond it in micro-units, negative where it must hold.
    ``audits`` is the share of tasks whose truth is told, 0 where all are and nothing is watched.
    ``pulls`` is how many workers a task is put to, 0 where the target says it.
    """

    rule: int
    goal: Target
    check: Target
    mu: float
    bounds: int
    floor: float
    ahead: int
    explore: float = 0.0
    rounds: int = 0
    miss: float = -1.0
    slack: float = 0.0
    audits: float = 0.0
    alarm: float = 0.0
    pulls: int = 0


class State(NamedTuple):
    """Records of workers and tasks, the tally; ``known`` holds qualities that need no learning.

    ``intervals`` has both ends of each worker's, where they depend on their record alone; ``watch``
    is what audits showed of the answers.
    """

    workers: Array
    intervals: Array
    tasks: Array
    tally: Array
    known: Array
    watch: Array


def new_state(workers: int, tasks: int) -> State:
    """Nothing is known of the workers, and no task was begun."""
    return State(
        workers=np.zeros((workers, 4), np.int64),
        intervals=np.zeros((workers, 2)),
        tasks=np.zeros((tasks, TASK_COLUMNS), np.int64),
        tally=np.zeros(TALLY_SIZE, np.int64),
        known=np.full(workers, np.nan),
        watch=np.zeros(WATCH_SIZE),
    )


@step
def record(state: State, params: Params, workers: int, worker: int) -> None:
    """Bring a worker's interval up to their record."""
    if params.bounds == ANYTIME and state.workers[worker, COUNT] > 0:
        low, high = lasting_interval(
            state.workers[worker, RIGHT], state.workers[worker, COUNT], params.mu / workers
        )
        state.intervals[worker, 0] = low
        state.intervals[worker, 1] = high


@step
def spread_of(params: Params, workers: int, t: int) -> float:
    """The part of the radius of an interval that is the same for all workers.

    A logarithm for each of them would take longer than all the rest.
    """
    if params.bounds == BY_PAPER:
        # Section 4.1: holds for a count fixed beforehand.
        return math.log(2.0 * workers / params.mu)
    if params.bounds == BY_UCB1:
        return 2.0 * math.log(float(t))
    return 0.0


@step
def bound_one(
    state: State,
    params: Params,
    spread: float,
    worker: int,
    lower: Array,
    upper: Array,
    radius: Array,
) -> None:
    """Write the bounds on a worker's quality.

    ``radius`` has the count and the radius of the last who had one: many have the same.
    """
    records, intervals, known = state.workers, state.intervals, state.known[worker]
    count = records[worker, COUNT]
    if not math.isnan(known):
        lower[worker] = known
        upper[worker] = known
    elif count == 0:
        lower[worker] = params.floor
        upper[worker] = params.floor if params.bounds == BY_MEAN else 1.0
    else:
        if params.bounds == ANYTIME:
            low, high = intervals[worker, 0], intervals[worker, 1]
        else:
            mean = records[worker, RIGHT] / count
            if radius[0] != count:
                by = 2.0 if params.bounds == BY_PAPER else 1.0
                radius[0], radius[1] = count, math.sqrt(spread / (by * count))
            low, high = max(0.0, mean - radius[1]), min(1.0, mean + radius[1])
        upper[worker] = high
        lower[worker] = max(params.floor, low)
        if params.bounds == BY_MEAN:
            upper[worker] = lower[worker]
        elif high < params.floor and params.check.folded:
            # A weighted vote errs most where a worker is nearest to a coin, so they count as one.
            lower[worker] = 0.5
            upper[worker] = 0.5
        elif high < params.floor:
            # The record refutes the floor: then only the record counts.
            lower[worker] = low


@heavy_kernel
def bound(state: State, params: Params, lower: Array, upper: Array) -> None:
    """Write the bounds on each worker's quality, as they are for the next task."""
    tally, workers = state.tally, lower.shape[0]
    t = tally[LAST_ROUND] if tally[SETTLED] == 1 else tally[BEGUN] + 1
    spread, radius = spread_of(params, workers, t), np.zeros(2)
    for worker in range(workers):
        bound_one(state, params, spread, worker, lower, upper, radius)


@heavy_kernel
def optimism(state: State, params: Params, index: Array) -> None:
    """Write what UCB ranks workers by: their upper bounds, not cut off at 1.

    Cut off, those of whom little is known would all be equal. Workers without a record come first.
    """
    records, workers = state.workers, index.shape[0]
    spread = spread_of(params, workers, state.tally[BEGUN] + 1)
    by = 2.0 if params.bounds == BY_PAPER else 1.0
    for worker in range(workers):
        count = records[worker, COUNT]
        if count == 0:
            index[worker] = math.inf
        elif params.bounds == ANYTIME:
            index[worker] = state.intervals[worker, 1]
        else:
            index[worker] = records[worker, RIGHT] / count + math.sqrt(spread / (by * count))


@step
def never_settles(params: Params) -> bool:
    """Whether a set is chosen again for every task, and every truth is learned from."""
    return params.rule == CUCB or params.rule == GREEDY or params.rule == UCB


@step
def goes_to_all(params: Params, note: int) -> bool:
    """Whether a task begun with a note is put to everybody who can be asked."""
    return note == UNREACHABLE or (note == EXPLORE and params.rule != NS)


@step
def answers_out(book: Book, task: int) -> bool:
    """Whether some answers to a task are out."""
    return bool(book.tasks[task, c.TASK_ASKED] > book.tasks[task, c.TASK_ANSWERED])


@step
def is_under_way(book: Book, task: int) -> bool:
    """Whether answers to a task are out, or planned."""
    if answers_out(book, task):
        return True
    for row in range(book.totals[c.PLAN_ROWS]):
        if book.plan[row, c.PLAN_TASK] == task and book.plan[row, c.PLAN_COUNT] > 0:
            return True
    return False
