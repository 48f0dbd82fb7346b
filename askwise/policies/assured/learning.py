"""What events teach: records of workers, and where each task stands."""

from askwise.core.compiling import heavy_kernel, step
from askwise.kernels import Draw, Fact, uniform
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.ledger.columns import Book
from askwise.ledger.queries import asked_before, can_be_asked, may_answer
from askwise.policies.assured import common as a
from askwise.policies.assured.common import (
    Params,
    State,
    answers_out,
    never_settles,
    record,
)
from askwise.policies.assured.watching import judge


@step
def teaches(state: State, params: Params, task: int) -> bool:
    """Whether the truth of a task is learned from: not after exploration has ended.

    With audits only if chance chose the task: those whose truth somebody cares to tell may be
    easier than others.
    """
    if params.audits > 0.0 and state.tasks[task, a.AUDITED] == 0:
        return False
    if never_settles(params):
        return True
    if params.rule == a.FIXED and state.tasks[task, a.NOTE] != a.EXPLORE + 1:
        return False
    return bool(state.tally[a.SETTLED] == 0)


@step
def is_waited_for(book: Book, state: State, params: Params, task: int) -> bool:
    """Whether a task was begun to learn from, is open, and its truth can still come."""
    note = state.tasks[task, a.NOTE] - 1
    if note < 0 or book.tasks[task, c.CLOSED] == 1 or book.tasks[task, c.TRUTH] >= 0:
        return False
    if book.tasks[task, c.TASK_ASKED] == 0:
        return False
    if params.audits > 0.0:
        return bool(state.tasks[task, a.AUDITED] == 1)
    if never_settles(params):
        return True
    return bool(note == a.EXPLORE or (note == a.UNREACHABLE and params.rule != a.FIXED))


@step
def recount(book: Book, state: State, params: Params, task: int) -> None:
    """See again what is waited for in a task."""
    tasks, tally = state.tasks, state.tally
    now = 0
    if is_waited_for(book, state, params, task):
        now = a.ANSWERS_OUT if answers_out(book, task) else a.TRUTH_DUE
    before = tasks[task, a.WAITING]
    if now != before:
        tally[a.OUT_TASKS] += int(now == a.ANSWERS_OUT) - int(before == a.ANSWERS_OUT)
        tally[a.DUE_TASKS] += int(now == a.TRUTH_DUE) - int(before == a.TRUTH_DUE)
        tasks[task, a.WAITING] = now
        first = tally[a.FIRST_DUE]
        if now == a.TRUTH_DUE and (tally[a.DUE_TASKS] == 1 or task < first):
            first = task
        elif tally[a.DUE_TASKS] > 0:
            while tasks[first, a.WAITING] != a.TRUTH_DUE:
                first += 1
        tally[a.FIRST_DUE] = first


@step
def lose(book: Book, state: State, task: int) -> None:
    """Mark a task as one that lost somebody, unless its answer no longer matters."""
    tasks, tally = state.tasks, state.tally
    over = book.tasks[task, c.CLOSED] == 1 or book.tasks[task, c.TRUTH] >= 0
    if over or tasks[task, a.NOTE] == 0 or tasks[task, a.LOST] == 1:
        return
    if tally[a.LOST_TASKS] == 0 or task < tally[a.FIRST_LOST]:
        tally[a.FIRST_LOST] = task
    tally[a.LOST_TASKS] += 1
    tasks[task, a.LOST] = 1


@step
def find(state: State, task: int) -> None:
    """Take the mark away."""
    if state.tasks[task, a.LOST] == 1:
        state.tasks[task, a.LOST] = 0
        state.tally[a.LOST_TASKS] -= 1
        if state.tally[a.LOST_TASKS] == 0:
            state.tally[a.FIRST_LOST] = 0


@step
def skip_begun(book: Book, state: State) -> None:
    """Move on to the first task that is open and was not begun."""
    tally = state.tally
    at = tally[a.FRESH]
    while at < book.totals[c.TASKS] and (
        book.tasks[at, c.CLOSED] == 1 or state.tasks[at, a.NOTE] > 0
    ):
        at += 1
    tally[a.FRESH] = at


@heavy_kernel
def learn_truth(book: Book, state: State, params: Params, task: int) -> None:
    """Count all answers that a task has, as right or wrong (Alg. 1, lines 14 to 18)."""
    cells, workers, truth = book.cells, state.workers, book.tasks[task, c.TRUTH]
    at = book.tasks[task, c.FIRST_CELL]
    while at >= 0:
        worker = cells[at, c.CELL_WORKER]
        workers[worker, a.COUNT] += cells[at, c.CELL_ANSWERS]
        workers[worker, a.RIGHT] += cells[at, c.VOTES + truth]
        record(state, params, book.totals[c.WORKERS], worker)
        at = cells[at, c.NEXT_CELL]


@heavy_kernel
def lose_planned(book: Book, state: State, worker: int) -> None:
    """Mark the task for which a worker who left was planned and had not been asked yet."""
    for row in range(book.totals[c.PLAN_ROWS]):
        task = book.plan[row, c.PLAN_TASK]
        if book.plan[row, c.PLAN_WORKER] == worker and not asked_before(book, task, worker):
            lose(book, state, task)


@heavy_kernel
def is_for_all(book: Book, task: int) -> bool:
    """Whether a task may be put to everybody who is there and below their limit."""
    for worker in range(book.totals[c.WORKERS]):
        if can_be_asked(book, worker) and not may_answer(book, task, worker):
            return False
    return True


@step
def is_intact(book: Book, state: State) -> bool:
    """Whether exploration has come to a set of whom all can be asked still."""
    if state.tally[a.SETTLED] == 0:
        return False
    for worker in range(book.totals[c.WORKERS]):
        if state.workers[worker, a.IN_SET] == 1 and not can_be_asked(book, worker):
            return False
    return True


@heavy_kernel
def settle_on(book: Book, state: State, params: Params, task: int, note: int) -> None:
    """End exploration with the set of an exploiting decision, or take it up again."""
    workers, tally, plan = state.workers, state.tally, book.plan
    if never_settles(params):
        return
    # A task that names workers may get a set of its own while the common one stands.
    if note == a.EXPLOIT and is_intact(book, state):
        return
    for worker in range(book.totals[c.WORKERS]):
        workers[worker, a.IN_SET] = 0
    tally[a.SETTLED] = 0
    tally[a.LAST_ROUND] = 0
    if state.watch[a.ALARMS] > 0.0:
        # What is added to errors changes with every audit, and with it the set.
        return
    if note == a.EXPLOIT and is_for_all(book, task):
        for row in range(book.totals[c.PLAN_ROWS]):
            workers[plan[row, c.PLAN_WORKER], a.IN_SET] = 1
        tally[a.SETTLED] = 1
        tally[a.LAST_ROUND] = tally[a.BEGUN] + 1


@heavy_kernel
def drop_unasked(book: Book, state: State, task: int) -> None:
    """Eliminate for good whom an exploring decision left out (6.2.2)."""
    workers, plan = state.workers, book.plan
    row = 0
    for worker in range(book.totals[c.WORKERS]):
        # Rows are in the order of workers.
        if row < book.totals[c.PLAN_ROWS] and plan[row, c.PLAN_WORKER] == worker:
            row += 1
        elif can_be_asked(book, worker) and may_answer(book, task, worker):
            workers[worker, a.DROPPED] = 1


@step
def begin(book: Book, state: State, params: Params, task: int, note: int, draw: Draw) -> None:
    """Count a task as begun, and let chance decide whether it is audited."""
    tally = state.tally
    state.tasks[task, a.NOTE] = note + 1
    if params.audits > 0.0:
        # By the task's number alone: nothing that happens has a bearing on it.
        chance = uniform(Draw(draw.key0, draw.key1, task), 0)
        state.tasks[task, a.AUDITED] = int(chance < params.audits)
    tally[a.BEGUN] += 1
    tally[a.EXPLORED] += int(note == a.EXPLORE)
    tally[a.UNREACHED] += int(note == a.UNREACHABLE)
    skip_begun(book, state)


@heavy_kernel
def take_decision(book: Book, state: State, params: Params, note: int, draw: Draw) -> None:
    """Book a decision: what it was for, and what was passed over before it."""
    tally, task = state.tally, book.plan[0, c.PLAN_TASK]
    # Choosing looks at lost tasks first: those it passed over can't or need not be mended.
    at = tally[a.FIRST_LOST]
    while tally[a.LOST_TASKS] > 0 and not (note == a.MEND and at > task):
        find(state, at)
        at += 1
    tally[a.FIRST_LOST] = at if tally[a.LOST_TASKS] > 0 else 0
    if note == a.MEND:
        return
    if params.rule == a.SE and note == a.EXPLORE:
        drop_unasked(book, state, task)
    settle_on(book, state, params, task, note)
    begin(book, state, params, task, note, draw)


@heavy_kernel
def take_in(book: Book, state: State, params: Params, fact: Fact, draw: Draw) -> None:
    """Absorb what is not an assignment or its answer."""
    kind, task = fact.kind, fact.task
    if kind == k.DECIDED:
        take_decision(book, state, params, fact.note, draw)
    elif kind == k.LEFT:
        lose_planned(book, state, fact.worker)
    elif kind in (k.TRUTH, k.EXPIRED, k.DECLINED, k.CLOSED):
        recount(book, state, params, task)
        if kind in (k.EXPIRED, k.DECLINED):
            lose(book, state, task)
            return
        find(state, task)
        if kind == k.CLOSED:
            skip_begun(book, state)
        else:
            if params.audits > 0.0 and state.tasks[task, a.AUDITED] == 1:
                judge(book, state, params, task)
            if teaches(state, params, task):
                learn_truth(book, state, params, task)


@step
def absorb(book: Book, state: State, params: Params, fact: Fact, draw: Draw) -> None:
    """Learn from truths; keep track of tasks."""
    if fact.kind != k.ASKED and fact.kind != k.ANSWER:
        take_in(book, state, params, fact, draw)
        return
    recount(book, state, params, fact.task)
    truth = book.tasks[fact.task, c.TRUTH]
    if fact.kind == k.ANSWER and truth >= 0 and teaches(state, params, fact.task):
        state.workers[fact.worker, a.COUNT] += 1
        state.workers[fact.worker, a.RIGHT] += int(int(fact.value) == truth)
        record(state, params, book.totals[c.WORKERS], fact.worker)
