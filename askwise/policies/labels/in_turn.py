"""What the policies share that take tasks one after the other: whose turn it is, and the end.

A task is done when the policy says so; answers then teach it about workers, and the next task's
turn comes. That is the meaning of these algorithms: whom they ask about a task depends on all
tasks before. So nothing about the next task is asked while answers about this one are out.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from askwise.core.compiling import bind, kernel, step
from askwise.core.problem import Problem
from askwise.kernels import Array, Draw, Fact
from askwise.ledger import Book, Ledger, Proposal
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.ledger.queries import asked_before, can_be_asked, may_answer, money_left
from askwise.policies.base import Axes, Kernels
from askwise.policies.capabilities import Settles
from askwise.policies.labels.common import LabelPolicy, out_for

# Columns of `shown`: how many answers of a worker were judged, and how many agreed with the vote.
JUDGED, AGREED = range(2)


@step
def is_left(book: Book, task: int, worker: int) -> bool:
    """Whether a worker, there or not just now, may still be asked about a task, price aside.

    Each is asked once about a task, also where a campaign lets pairs repeat.
    """
    if not can_be_asked(book, worker) or not may_answer(book, task, worker):
        return False
    return not asked_before(book, task, worker)


@step
def anyone_affordable(book: Book) -> bool:
    """Whether the money is enough for somebody who is within their limit."""
    money = money_left(book.totals)
    for worker in range(book.totals[c.WORKERS]):
        if can_be_asked(book, worker) and book.workers[worker, c.PRICE] <= money:
            return True
    return False


@kernel
def next_turn(book: Book, done: Array, task: int) -> int:
    """The first task from ``task`` on that is open and whose turn is not over."""
    tasks = book.tasks
    while task < book.totals[c.TASKS] and (done[task] == 1 or tasks[task, c.CLOSED] == 1):
        task += 1
    return task


@kernel
def at_end(book: Book, done: Array, first: int) -> int:
    """Why nobody can be asked: what to wait for, or that it is over."""
    totals, workers = book.totals, book.workers
    if totals[c.PENDING] > 0:
        return c.WAIT_ANSWERS
    task = next_turn(book, done, first)
    if task >= totals[c.TASKS]:
        return c.DONE_TARGET if totals[c.OPEN] > 0 else c.DONE_TASKS
    joined = limited = False
    for worker in range(totals[c.WORKERS]):
        if workers[worker, c.JOINED] == 1:
            joined = True
            limited = limited or workers[worker, c.ASKED] >= workers[worker, c.LIMIT]
    if not joined:
        return c.WAIT_WORKERS
    while task < totals[c.TASKS]:
        for worker in range(totals[c.WORKERS]):
            if is_left(book, task, worker):
                return c.DONE_BUDGET
        task = next_turn(book, done, task + 1)
    return c.DONE_LIMITS if limited else c.DONE_TASKS


def _unbound(*_: Any) -> Any:
    raise NotImplementedError("these kernels are compiled once they are bound to a policy's")


propose_for = anyone_missing = is_complete = teach = judge = _unbound


def _choose(
    book: Book, state: Any, params: Any, draw: Draw, available: Array, out: Proposal
) -> int:
    """Go on with the task whose turn it is, or with the next if nobody is left for it."""
    done, first = state.done, state.head[0]
    if anyone_affordable(book):
        task = next_turn(book, done, first)
        while task < book.totals[c.TASKS]:
            propose_for(book, state, params, task, draw, available, out)
            if out.head[0] > 0:
                return c.PROPOSED
            if out_for(book, task) > 0:
                return c.WAIT_ANSWERS
            if anyone_missing(book, state, params, task):
                return c.WAIT_WORKERS
            task = next_turn(book, done, task + 1)
    return at_end(book, done, first)


def _absorb(book: Book, state: Any, params: Any, fact: Fact, draw: Draw) -> None:
    """See whether a turn is over; what comes after it is judged by itself."""
    done, head = state.done, state.head
    kind, task = fact.kind, fact.task
    if kind == k.ASKED:
        passed = next_turn(book, done, head[0])
        while passed < task:
            if book.tasks[passed, c.TASK_ANSWERED] > 0 and out_for(book, passed) == 0:
                teach(book, state, params, passed)
                done[passed] = 1
            passed = next_turn(book, done, passed + 1)
    elif kind == k.ANSWER and done[task] == 1:
        judge(book, state, params, task, fact.worker, int(fact.value))
    elif kind == k.CLOSED and done[task] == 0:
        if book.tasks[task, c.TASK_ANSWERED] > 0:
            teach(book, state, params, task)
        done[task] = 1
    elif kind in (k.ANSWER, k.EXPIRED, k.DECLINED, k.LEFT):
        turn = next_turn(book, done, head[0])
        heard = turn < book.totals[c.TASKS] and book.tasks[turn, c.TASK_ANSWERED] > 0
        if heard and out_for(book, turn) == 0 and is_complete(book, state, params, turn):
            teach(book, state, params, turn)
            done[turn] = 1
    head[0] = next_turn(book, done, head[0])


def turn_kernels(label: str, *steps: Any) -> Kernels:
    """Make the kernels of a policy out of five functions, which bear these names.

    Parameters
    ----------
    propose_for : ``(book, state, params, task, draw, available, out)``
        Proposes whom to ask about a task now, if there is somebody.
    anyone_missing : ``(book, state, params, task) -> bool``
        Whether somebody whom the money is enough for may still be asked about a task.
    is_complete : ``(book, state, params, task) -> bool``
        Whether a task with answers, none of them out, is done.
    teach : ``(book, state, params, task)``
        Learns from all answers to a task that is done.
    judge : ``(book, state, params, task, worker, option)``
        Learns from an answer that came after that.
    """
    names = {each.__name__: each for each in steps}
    return Kernels(
        bind(_choose, label, inline=True, **names), bind(_absorb, label, inline=True, **names)
    )


@dataclass(frozen=True)
class InTurnPolicy(LabelPolicy, Settles):
    """Base of those that take tasks one after the other and say when one is done."""

    axes: ClassVar[Axes] = {"task": "done", "worker": "shown"}

    def turn(self, state: Any, ledger: Ledger) -> int:
        """The task whose turn it is; the number of tasks if none is left."""
        return int(next_turn(ledger.book, state.done, int(state.head[0])))

    def settled(self, problem: Problem, state: Any, ledger: Ledger) -> Array:
        """The tasks whose turn is over."""
        return state.done[: ledger.total(c.TASKS)] == 1
