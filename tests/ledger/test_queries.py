"""The book's kernels against a model in plain Python that looks at everything anew."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise import Worker
from askwise.core.events import Event, Kind, PlanRow
from askwise.core.problem import UNLIMITED, make_problem
from askwise.ledger import columns as c
from askwise.ledger import queries
from askwise.ledger.ledger import Ledger
from askwise.ledger.proposals import fault, new_proposal, propose

NAMES = {
    c.WAIT_ANSWERS: "wait answers",
    c.WAIT_WORKERS: "wait workers",
    c.DONE_BUDGET: "done budget",
    c.DONE_LIMITS: "done limits",
    c.DONE_TASKS: "done tasks",
}


@dataclass
class Model:
    """Assignments as (task, worker, status) and nothing that could be stale."""

    repeat: bool
    budget: int
    prices: list[int]
    limits: list[int]
    joined: list[bool]
    closed: list[bool]
    work: list[list[Any]] = field(default_factory=list)

    def count(self, status: set[str], task: int | None = None, worker: int | None = None) -> int:
        return sum(
            (task is None or task == t) and (worker is None or worker == w) and s in status
            for t, w, s in self.work
        )

    def asked(self, worker: int) -> int:
        return self.count({"out", "settled"}, worker=worker)

    def free(self) -> int:
        used = [self.prices[w] for _, w, status in self.work if status in ("out", "settled")]
        return self.budget - sum(used)

    def before(self, task: int, worker: int) -> bool:
        return self.count({"out", "settled", "declined"}, task, worker) > 0

    def tasks_for(self, worker: int) -> list[int]:
        open_tasks = [task for task, closed in enumerate(self.closed) if not closed]
        return [task for task in open_tasks if self.repeat or not self.before(task, worker)]

    def next_task(self, worker: int) -> int:
        load = {"out", "settled"}
        order = sorted((self.count(load, task), task) for task in self.tasks_for(worker))
        return order[0][1] if order else -1

    def room(self, worker: int, money: int) -> int:
        if not self.joined[worker]:
            return 0
        most = self.limits[worker] - self.asked(worker)
        if self.prices[worker]:
            most = min(most, money // self.prices[worker])
        tasks = len(self.tasks_for(worker))
        return max(0, min(most, tasks if not self.repeat else (UNLIMITED if tasks else 0)))

    def idle(self, available: list[int]) -> str:
        """Why nobody on offer can be asked."""
        here = [worker for worker, there in enumerate(self.joined) if there]
        if all(self.closed):
            return "done tasks"
        if any(self.room(worker, self.free()) and not available[worker] for worker in here):
            return "wait workers"
        if self.count({"out"}):
            return "wait answers"
        if not here:
            return "wait workers"
        left = [worker for worker in here if self.asked(worker) < self.limits[worker]]
        if any(self.tasks_for(worker) for worker in left):
            return "done budget"
        return "done limits" if len(left) < len(here) else "done tasks"


class Both:
    """The ledger and the model, moved together."""

    def __init__(self, tasks: int, prices: list[int], limits: list[int], repeat: bool) -> None:
        workers = [
            Worker(f"w{at}", price, limit)
            for at, (price, limit) in enumerate(zip(prices, limits, strict=True))
        ]
        self.problem = make_problem(
            workers=workers,
            tasks=[f"t{at}" for at in range(tasks)],
            outcome="utility",
            budget=40,
            repeat=repeat,
        )
        self.ledger = Ledger(self.problem, spare=1)
        micro = [1_000_000 * price for price in prices]
        self.model = Model(
            repeat, 40_000_000, micro, list(limits), [True] * len(prices), [False] * tasks
        )
        self.seqs: list[int] = []

    def apply(self, kind: Kind, **fields: Any) -> int:
        seq = self.ledger.seq + 1
        self.ledger.apply(Event(kind, seq=seq, **fields))
        return seq

    def ask(self, worker: int) -> None:
        task = self.model.next_task(worker)
        if task < 0 or not self.model.room(worker, self.model.free()):
            return
        self.apply(Kind.DECIDED, rows=(PlanRow(f"w{worker}"),))
        price = self.model.prices[worker]
        seq = self.apply(Kind.ASKED, task=f"t{task}", worker=f"w{worker}", price=price)
        self.seqs.append(seq)
        self.model.work.append([task, worker, "out"])

    def finish(self, number: int, status: str) -> None:
        out = [at for at, (_, _, now) in enumerate(self.model.work) if now == "out"]
        if not out:
            return
        at = out[number % len(out)]
        _, worker, _ = self.model.work[at]
        kinds = {"settled": Kind.ANSWER, "expired": Kind.EXPIRED, "declined": Kind.DECLINED}
        value = 0.5 if status == "settled" else None
        self.apply(kinds[status], assignment=self.seqs[at], worker=f"w{worker}", value=value)
        self.model.work[at][2] = status

    def close(self, task: int) -> None:
        if not self.model.closed[task]:
            self.apply(Kind.CLOSED, task=f"t{task}", outcome="closed")
            self.model.closed[task] = True

    def add(self) -> None:
        self.apply(Kind.ADDED, tasks=({"id": f"t{len(self.model.closed)}"},))
        self.model.closed.append(False)

    def leave(self, worker: int) -> None:
        if self.model.joined[worker]:
            self.apply(Kind.LEFT, worker=f"w{worker}")
            self.model.joined[worker] = False

    def move(self, action: int, number: int) -> None:
        workers, tasks = len(self.model.prices), len(self.model.closed)
        if action < 5:
            self.ask(number % workers)
        elif action < 8:
            self.finish(number, ("settled", "expired", "declined")[action - 5])
        elif action == 8:
            self.close(number % tasks)
        elif action == 9:
            self.add()
        else:
            self.leave(number % workers)

    def compare(self) -> None:
        book, model = self.ledger.book, self.model
        assert queries.money_left(book.totals) == model.free()
        for task in range(len(model.closed)):
            load = model.count({"out", "settled"}, task)
            assert book.tasks[task, c.TASK_ASKED] == load
            assert book.tasks[task, c.TASK_ANSWERED] == model.count({"settled"}, task)
        for worker in range(len(model.prices)):
            for task in range(len(model.closed)):
                assert queries.asked_before(book, task, worker) == model.before(task, worker)
            assert queries.next_task(book, worker) == model.next_task(worker)
            assert queries.has_task(book, worker) == bool(model.tasks_for(worker))
            left = queries.tasks_left(book, worker)
            due = len(model.tasks_for(worker))
            assert left == (due if not model.repeat else (UNLIMITED if due else 0))
            for money in (0, 2_999_999, 3_000_000, model.free()):
                assert queries.room(book, worker, money) == model.room(worker, money)
        nobody = np.zeros(len(model.prices), np.int8)
        assert NAMES[int(queries.idle(book, nobody))] == model.idle(nobody.tolist())
        everyone = np.array(model.joined, np.int8)
        if not any(model.room(worker, model.free()) for worker in range(len(model.prices))):
            assert NAMES[int(queries.idle(book, everyone))] == model.idle(everyone.tolist())


moves = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 50)), max_size=30)


@given(
    st.integers(1, 6),
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 6)), min_size=1, max_size=4),
    st.booleans(),
    moves,
)
def test_the_book_agrees_with_a_model_that_counts_anew(
    tasks: int, workers: list[tuple[int, int]], repeat: bool, script: list[tuple[int, int]]
) -> None:
    both = Both(tasks, [price for price, _ in workers], [limit for _, limit in workers], repeat)
    both.compare()
    for action, number in script:
        both.move(action, number)
        both.compare()


def test_the_open_task_asked_least_comes_first_and_of_equals_the_first() -> None:
    both = Both(3, [1, 1], [9, 9], repeat=False)
    for _ in range(3):
        both.ask(0)
    # t0, t1, t2 once each; for w1 they are equal: the first.
    assert [task for task, _, _ in both.model.work] == [0, 1, 2]
    assert queries.next_task(both.ledger.book, 0) == -1
    assert queries.next_task(both.ledger.book, 1) == 0
    both.close(0)
    assert queries.next_task(both.ledger.book, 1) == 1


def test_a_declined_task_is_not_put_to_that_worker_again_and_an_expired_one_is() -> None:
    both = Both(1, [1, 1], [9, 9], repeat=False)
    both.ask(0)
    both.finish(0, "expired")
    assert queries.next_task(both.ledger.book, 0) == 0
    both.ask(0)
    both.finish(0, "declined")
    assert queries.next_task(both.ledger.book, 0) == -1
    assert queries.next_task(both.ledger.book, 1) == 0
    assert not queries.has_task(both.ledger.book, 0)


def test_many_tasks_are_found_in_a_large_tournament() -> None:
    both = Both(130, [0], [UNLIMITED], repeat=False)
    for _ in range(130):
        both.ask(0)
    assert [task for task, _, _ in both.model.work] == list(range(130))


# Whatever a policy proposes.


def proposal(*rows: tuple[int, int, int, float]) -> Any:
    out = new_proposal(max(1, len(rows)))
    for row in rows:
        propose(out, *row)
    return out


@pytest.mark.parametrize(
    ("rows", "due"),
    [
        ([], c.EMPTY),
        ([(-1, 0, 1, 1.0)], c.FINE),
        ([(-1, 0, 1, np.nan)], c.FINE),
        ([(-1, 0, 4, 1.0), (-1, 2, 3, 1.0)], c.FINE),
        ([(-1, 7, 1, 1.0)], c.ABSENT),
        ([(-1, -1, 1, 1.0)], c.ABSENT),
        ([(-1, 1, 1, 1.0)], c.ABSENT),
        ([(-1, 0, 0, 1.0)], c.OVER_LIMIT),
        ([(-1, 0, 5, 1.0)], c.OVER_LIMIT),
        ([(-1, 0, 2, 1.0), (-1, 0, 3, 1.0)], c.OVER_LIMIT),
        ([(-1, 2, 5, 1.0)], c.OVER_MONEY),
        ([(-1, 0, 4, 1.0), (-1, 2, 4, 1.0)], c.OVER_MONEY),
        ([(-1, 2, 2**40, 1.0)], c.OVER_MONEY),
        ([(0, 0, 2, 1.0)], c.FINE),
        ([(2, 0, 1, 1.0)], c.BAD_TASK),
        ([(1, 0, 1, 1.0)], c.BAD_TASK),
        ([(-1, 0, 1, 0.0)], c.BAD_ODDS),
        ([(-1, 0, 1, 1.5)], c.BAD_ODDS),
        ([(-1, 0, 1, -0.5)], c.BAD_ODDS),
        ([(-1, 0, 1, np.inf)], c.BAD_ODDS),
    ],
)
def test_a_proposal_is_checked_whatever_the_policy(rows: list[Any], due: int) -> None:
    # w0 may be asked four times at 2, w1 has left, w2 costs 10 of the 40 there are; t1 is closed
    # and there is no t2.
    both = Both(2, [2, 1, 10], [4, 9, UNLIMITED], repeat=True)
    both.leave(1)
    both.close(1)
    everyone = np.array([1, 0, 1], np.int8)
    assert fault(both.ledger.book, proposal(*rows), everyone) == due


@pytest.mark.parametrize(
    ("row", "due"),
    [
        ((0, 0, 1, 1.0), c.BAD_TASK),  # they were asked about it
        ((1, 0, 1, 1.0), c.FINE),
        ((1, 0, 2, 1.0), c.BAD_TASK),  # twice at once
        ((-1, 0, 1, 1.0), c.FINE),
        ((-1, 0, 2, 1.0), c.BAD_TASK),  # one task is left for them
        ((-1, 1, 2, 1.0), c.FINE),
    ],
)
def test_a_proposal_may_not_repeat_a_pair(row: Any, due: int) -> None:
    both = Both(2, [2, 1], [4, 9], repeat=False)
    both.ask(0)
    assert fault(both.ledger.book, proposal(row), np.ones(2, np.int8)) == due


def test_a_proposal_for_somebody_not_on_offer_is_a_fault() -> None:
    both = Both(2, [2, 1], [4, 9], repeat=False)
    assert fault(both.ledger.book, proposal((-1, 0, 1, 1.0)), np.array([0, 1], np.int8)) == c.ABSENT
