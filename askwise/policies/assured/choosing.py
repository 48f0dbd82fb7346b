"""Whom to ask: mend what lost somebody, then a set for the next task (Algorithms 1 and 2)."""

import numpy as np

from askwise.core.compiling import heavy_kernel, step
from askwise.kernels import Array, Draw, uniform
from askwise.kernels.knapsack.ordering import ascending
from askwise.ledger import Book, Proposal, propose
from askwise.ledger import columns as c
from askwise.ledger.queries import can_be_asked, may_answer, money_left
from askwise.policies.assured import common as a
from askwise.policies.assured.common import Params, State, bound, goes_to_all, optimism
from askwise.policies.assured.eliminating import drop_dear, drop_surpassed
from askwise.policies.assured.sets import codes, inputs
from askwise.policies.assured.sets.kernels import (
    FEASIBLE,
    INFEASIBLE,
    cheapest_into,
    error_of,
    extend_into,
    meets,
)
from askwise.policies.assured.sets.soft import softest_into
from askwise.policies.assured.watching import is_hopeless, widened

NOBODY = -1000
"""What a part of choosing says when it has nobody to propose; notes are 0 and up, codes below."""


@step
def copy_into(source: Array, target: Array) -> None:
    """Copy a mark a worker."""
    for worker in range(target.shape[0]):
        target[worker] = source[worker]


@step
def is_affordable(book: Book, chosen: Array) -> bool:
    """Whether there is money for all of a set."""
    cost = 0
    for worker in range(chosen.shape[0]):
        if chosen[worker]:
            cost += book.workers[worker, c.PRICE]
    return bool(cost <= money_left(book.totals))


# Mending.


@heavy_kernel
def find_members(book: Book, task: int, members: Array, allowed: Array) -> None:
    """Mark who has answered a task or is about to, and who else may be asked about it."""
    assignments = book.assignments
    for worker in range(members.shape[0]):
        members[worker] = False
        allowed[worker] = can_be_asked(book, worker) and may_answer(book, task, worker)
    at = book.tasks[task, c.TASK_LAST]
    while at >= 0:
        worker, status = assignments[at, c.WORKER], assignments[at, c.STATUS]
        if status != c.EXPIRED:
            allowed[worker] = False
            members[worker] = members[worker] or (status != c.DECLINED and status != c.FAILED)
        at = assignments[at, c.BEFORE_OF_TASK]


@heavy_kernel
def mend(book: Book, state: State, params: Params, wanted: Array) -> int:
    """Find the first lost task that needs somebody who can be had; mark whom. -1 if none does."""
    size = wanted.shape[0]
    lower, upper = np.empty(size, np.float64), np.empty(size, np.float64)
    bound(state, params, lower, upper)
    hope = lower if params.rule == a.FIXED else upper
    safe = upper if params.rule == a.CUCB else lower
    members, allowed = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    costs = book.workers[:size, c.RANKED_AT].copy()
    for task in range(state.tally[a.FIRST_LOST], book.totals[c.TASKS]):
        if state.tasks[task, a.LOST] == 0:
            continue
        find_members(book, task, members, allowed)
        copy_into(members, wanted)
        if goes_to_all(params, state.tasks[task, a.NOTE] - 1):
            for worker in range(size):
                gone = params.rule == a.SE and state.workers[worker, a.DROPPED] == 1
                wanted[worker] = allowed[worker] and not gone
        elif params.rule == a.UCB:
            pull(state, params, upper, allowed, wanted)
        elif params.miss < 0.0 and is_hopeless(state, params.check):
            copy_into(allowed, wanted)
        elif params.miss < 0.0:
            # Adds nobody where the target is met, and everybody where it can't be.
            extend_into(params.check, costs, safe, allowed, wanted)
        else:
            unpaid = costs.copy()
            either = allowed.copy()
            for worker in range(size):
                if members[worker]:
                    # Those are paid in any case.
                    unpaid[worker] = 0
                    either[worker] = True
            softest_into(params.check, params.miss, unpaid, hope, either, wanted)
        found = False
        for worker in range(size):
            wanted[worker] = wanted[worker] and allowed[worker]
            found = found or wanted[worker]
        if found:
            return task
    return -1


# The next task.


@heavy_kernel
def find_task(book: Book, begun: Array, start: int, allowed: Array) -> int:
    """Find the first task that was not begun and somebody can be asked about; mark them."""
    for task in range(start, book.totals[c.TASKS]):
        if book.tasks[task, c.CLOSED] == 1 or begun[task, a.NOTE] > 0:
            continue
        found = False
        for worker in range(allowed.shape[0]):
            allowed[worker] = can_be_asked(book, worker) and may_answer(book, task, worker)
            found = found or allowed[worker]
        if found:
            return task
        if book.tasks[task, c.NAMED] < 0:
            # Nobody has room.
            return -1
    return -1


@heavy_kernel
def end(book: Book, state: State, worthless: bool) -> int:
    """Say why no task is begun: ``worthless`` if there is one, and asking nobody is cheapest."""
    totals, workers = book.totals, book.workers
    if totals[c.OPEN] == 0:
        return c.DONE_TASKS
    if totals[c.PENDING] > 0:
        # Somebody may be lost yet.
        return c.WAIT_ANSWERS
    left = False
    for task in range(state.tally[a.FRESH], totals[c.TASKS]):
        left = left or (book.tasks[task, c.CLOSED] == 0 and state.tasks[task, a.NOTE] == 0)
    if not left:
        return c.DONE_TARGET
    if worthless:
        return c.DONE_WORTHLESS
    joined = False
    limited = False
    for worker in range(totals[c.WORKERS]):
        if workers[worker, c.JOINED] == 1:
            joined = True
            limited = limited or not can_be_asked(book, worker)
    if not joined:
        return c.WAIT_WORKERS
    return c.DONE_LIMITS if limited else c.DONE_TASKS


@step
def pause(tally: Array, params: Params) -> int:
    """What to wait for before the next task is begun; PROPOSED if nothing."""
    if tally[a.SETTLED] == 1 and params.audits == 0.0:
        return c.PROPOSED
    most = params.ahead
    if params.rule == a.FIXED and tally[a.BEGUN] >= params.rounds:
        # All that exploration taught is known before it is used.
        most = 1
    if tally[a.OUT_TASKS] + tally[a.DUE_TASKS] < most:
        return c.PROPOSED
    return c.WAIT_ANSWERS if tally[a.OUT_TASKS] > 0 else c.WAIT_TRUTH


@step
def begins_with_all(params: Params, begun: int) -> bool:
    """Whether the next task goes to everybody because of how many were begun before it."""
    if params.rule == a.FIXED:
        return bool(begun < params.rounds)
    # Alg. 1 and 2, line 2.
    first = params.rule == a.S or params.rule == a.SE
    return (
        begun == 0
        and params.rounds != a.INFORMED
        and (first or (params.rule == a.NS and params.miss < 0.0))
    )


@step
def begin_at_once(
    workers: Array, state: State, params: Params, allowed: Array, chosen: Array
) -> int:
    """Mark a set that needs no computing: that of exploration's end, or everybody.

    Returns a note, NOBODY if the bounds are to decide.
    """
    stands = state.tally[a.SETTLED] == 1
    for worker in range(allowed.shape[0]):
        if state.workers[worker, a.IN_SET] == 1 and not allowed[worker]:
            stands = False
    if stands:
        for worker in range(allowed.shape[0]):
            chosen[worker] = state.workers[worker, a.IN_SET] == 1
        return a.EXPLOIT
    explores = begins_with_all(params, state.tally[a.BEGUN])
    if params.rule == a.GREEDY:
        for worker in range(allowed.shape[0]):
            if allowed[worker] and workers[worker, c.LAST] < 0:
                explores = True
    if not explores:
        return NOBODY
    copy_into(allowed, chosen)
    return a.EXPLORE


@heavy_kernel
def pull(state: State, params: Params, upper: Array, allowed: Array, chosen: Array) -> bool:
    """Add to a set by falling upper bounds, until it is large enough (3.4.1).

    That is ``pulls`` workers or, where no number is given, as many as reach the target at the upper
    bounds. Ties by index. Returns whether the set is large enough.
    """
    index = np.empty(allowed.shape[0], np.float64)
    optimism(state, params, index)
    ranked = ascending(-index)
    count, place = chosen.sum(), 0
    while True:
        if params.pulls > 0 and count >= params.pulls:
            return True
        if params.pulls == 0 and meets(params.check, upper, chosen):
            return True
        while place < ranked.shape[0] and (chosen[ranked[place]] or not allowed[ranked[place]]):
            place += 1
        if place == ranked.shape[0]:
            return bool(params.pulls > 0)
        chosen[ranked[place]] = True
        count += 1


# Compiling whatever calls the solvers compiles them once more: so it is one kernel.


@heavy_kernel
def pick(
    costs: Array,
    lower: Array,
    upper: Array,
    state: State,
    params: Params,
    for_all: bool,
    allowed: Array,
    chosen: Array,
) -> int:
    """Mark the set for a task by the bounds on qualities; returns a note or a code."""
    size = allowed.shape[0]
    goal, check, rule = params.goal, params.check, params.rule
    if params.miss >= 0.0:
        value = softest_into(check, params.miss, costs, upper, allowed, chosen)
        if value < 0.0:
            return c.TOO_LARGE
        if not chosen.any():
            return NOBODY
        hoped = max(0.0, error_of(check, upper, chosen) - check.alpha)
        feared = max(0.0, error_of(check, lower, chosen) - check.alpha)
        if feared - hoped <= params.slack:
            return a.EXPLOIT
        if rule == a.S:
            copy_into(allowed, chosen)
        return a.EXPLORE
    if rule == a.UCB:
        chosen[:] = False
        if not pull(state, params, upper, allowed, chosen):
            return a.UNREACHABLE
        return a.EXPLOIT if chosen.any() else NOBODY
    kept = allowed.copy()
    if is_hopeless(state, check):
        copy_into(allowed, chosen)
        return a.UNREACHABLE
    if rule == a.SE:
        for worker in range(size):
            kept[worker] = allowed[worker] and state.workers[worker, a.DROPPED] == 0
    hope = lower if rule == a.FIXED else upper
    status, target = INFEASIBLE, goal
    # The goal or, if no set reaches that, what must hold; with SE after that with those who were
    # eliminated, should the others no longer be enough.
    for attempt in range(4 if rule == a.SE else 2):
        if attempt == 2 and status == INFEASIBLE:
            copy_into(allowed, kept)
        if status == INFEASIBLE and (attempt % 2 == 0 or goal.alpha < check.alpha):
            target = goal if attempt % 2 == 0 else check
            status = cheapest_into(target, costs, hope, kept, chosen)
    if status == c.TOO_LARGE:
        return c.TOO_LARGE
    if status == INFEASIBLE:
        return a.UNREACHABLE
    assumed = rule in (a.CUCB, a.GREEDY, a.FIXED)
    if assumed or meets(check, lower, chosen):
        # Where the options' frequencies alone keep the target, the set is empty.
        return a.EXPLOIT if chosen.any() else NOBODY
    if rule == a.NS:
        # MINIMAL, lines 10 and 29 to 31.
        extend_into(check, costs, lower, allowed, chosen)
        return a.EXPLORE
    if rule == a.SE and for_all:
        by_ratio = check.code == codes.LINEAR and check.solver == inputs.GREEDY
        known = cheapest_into(check if by_ratio else target, costs, lower, kept, chosen)
        if known == FEASIBLE and by_ratio:
            drop_dear(costs, lower, upper, chosen, kept)
        elif known == FEASIBLE:
            drop_surpassed(costs, lower, upper, chosen, kept)
    copy_into(kept, chosen)
    return a.EXPLORE


@step
def explore_by_chance(
    book: Book, state: State, params: Params, draw: Draw, allowed: Array, chosen: Array, odds: Array
) -> bool:
    """Mark everybody instead of the set with the probability that it is time for (6.3)."""
    chance = min(1.0, params.explore / (state.tally[a.BEGUN] + 1))
    # Where the money is short of everybody the draw has no bearing.
    if uniform(draw, 0) >= chance or not is_affordable(book, allowed):
        return False
    for worker in range(allowed.shape[0]):
        if not chosen[worker]:
            odds[worker] = chance
    copy_into(allowed, chosen)
    return True


@heavy_kernel
def choose(
    book: Book, state: State, params: Params, draw: Draw, available: Array, out: Proposal
) -> int:
    """Mend what lost somebody; then wait for a truth, or begin the next task."""
    params = widened(state, params)
    totals, workers = book.totals, book.workers
    size = totals[c.WORKERS]
    chosen, odds = np.zeros(size, np.bool_), np.ones(size, np.float64)
    note = a.MEND
    task = mend(book, state, params, chosen) if state.tally[a.LOST_TASKS] > 0 else -1
    if task < 0:
        note = NOBODY
        allowed = np.zeros(size, np.bool_)
        lower, upper = np.empty(size, np.float64), np.empty(size, np.float64)
        task = find_task(book, state.tasks, state.tally[a.FRESH], allowed)
        waiting = pause(state.tally, params)
        if task >= 0 and waiting != c.PROPOSED:
            if waiting == c.WAIT_TRUTH and params.audits > 0.0:
                out.head[2] = state.tally[a.FIRST_DUE] + 1
            return waiting
        worthless = task >= 0 and params.miss >= 0.0
        while task >= 0:
            for_all = book.tasks[task, c.NAMED] < 0
            note = begin_at_once(workers, state, params, allowed, chosen)
            if note == NOBODY:
                costs = workers[:size, c.RANKED_AT].copy()
                bound(state, params, lower, upper)
                note = pick(costs, lower, upper, state, params, for_all, allowed, chosen)
            # Where the best of all sets is the empty one, it is the best for every task.
            if note != NOBODY or for_all:
                break
            task = find_task(book, state.tasks, task + 1, allowed)
        if note == NOBODY:
            return end(book, state, worthless)
        if note < 0:
            return note
        chancy = params.rule == a.GREEDY
        if chancy and explore_by_chance(book, state, params, draw, allowed, chosen, odds):
            note = a.EXPLORE
    if not is_affordable(book, chosen):
        return c.WAIT_ANSWERS if totals[c.PENDING] > 0 else c.DONE_BUDGET
    for worker in range(size):
        if chosen[worker]:
            propose(out, task, worker, 1, odds[worker])
    out.head[1] = note
    return c.PROPOSED
