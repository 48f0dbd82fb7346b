"""The ledger: what folding an event does, and how much memory it takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from askwise import Worker
from askwise.core.errors import UnknownName
from askwise.core.events import Event, Kind, PlanRow
from askwise.core.labels import Label
from askwise.core.problem import make_problem
from askwise.ledger import columns as c
from askwise.ledger import queries
from askwise.ledger.arrivals import queue_of
from askwise.ledger.ledger import Ledger


class Log:
    """Folds events and numbers them."""

    def __init__(self, **raw: Any) -> None:
        self.ledger = Ledger(make_problem(**raw))
        self.events: list[Event] = []

    def add(self, kind: Kind, **fields: Any) -> int:
        event = Event(kind, seq=len(self.events) + 1, **fields)
        self.events.append(event)
        self.ledger.apply(event)
        return event.seq

    def ask(self, worker: str, task: str | None = None, count: int = 1) -> int:
        self.add(Kind.DECIDED, rows=(PlanRow(worker, task, count),))
        price = self.ledger.workers[self.ledger.worker_at(worker)].micro
        return self.add(Kind.ASKED, worker=worker, task=task, price=price)

    def money(self) -> tuple[int, int, int]:
        """Spent, held, planned; in whole units."""
        totals = (c.SPENT, c.HELD, c.PLANNED)
        spent, held, planned = (self.ledger.total(column) // 1_000_000 for column in totals)
        return spent, held, planned


def units() -> Log:
    return Log(workers=[Worker("a", 2, limit=5), Worker("b", 3)], outcome="utility", budget=50)


def votes() -> Log:
    return Log(
        workers=[Worker("a", 2), Worker("b", 3)],
        tasks=["t", "u"],
        options=["no", "yes"],
        budget=50,
    )


def test_a_decision_reserves_asking_holds_and_an_answer_spends() -> None:
    log = units()
    seq = log.ask("a", count=3)
    assert log.money() == (0, 2, 4)
    assert log.ledger.reserved == 6_000_000
    log.add(Kind.ANSWER, assignment=seq, worker="a", value=0.5, price=2_000_000)
    assert log.money() == (2, 0, 4)
    assert queries.money_left(log.ledger.book.totals) == 48_000_000


def test_a_new_decision_takes_the_place_of_the_old_one() -> None:
    log = units()
    log.ask("a", count=3)
    log.add(Kind.DECIDED, rows=(PlanRow("b", None, 2),))
    assert log.money() == (0, 2, 6)


@pytest.mark.parametrize("kind", [Kind.EXPIRED, Kind.DECLINED])
def test_what_is_released_is_free_again(kind: Kind) -> None:
    log = units()
    seq = log.ask("a")
    log.add(kind, assignment=seq, worker="a")
    assert log.money() == (0, 0, 0)
    assert log.ledger.total(c.PENDING) == 0
    assert log.ledger.book.workers[0, c.ASKED] == 0


def test_a_late_answer_is_spent_and_counted_again() -> None:
    log = units()
    seq = log.ask("a")
    log.add(Kind.EXPIRED, assignment=seq, worker="a")
    log.add(Kind.ANSWER, assignment=seq, worker="a", value=0.5, price=2_000_000)
    assert log.money() == (2, 0, 0)
    assert log.ledger.book.workers[0, [c.ASKED, c.ANSWERED]].tolist() == [1, 1]
    assert log.ledger.total(c.PENDING) == 0


@pytest.mark.parametrize(("cost", "spent"), [(0, 0), (1, 1), (9, 9)])
def test_an_answer_is_spent_at_what_was_booked_for_it(cost: int, spent: int) -> None:
    log = units()
    seq = log.ask("a", count=3)
    paid = {"price": cost * 1_000_000, "cost": cost * 1_000_000}
    log.add(Kind.ANSWER, assignment=seq, worker="a", value=0.5, **paid)
    assert log.money() == (spent, 0, 4)
    assert log.ledger.book.assignments[0, c.COST] == cost * 1_000_000
    assert log.ledger.book.workers[0, c.PAID] == cost * 1_000_000


@pytest.mark.parametrize("late", [False, True])
def test_a_failure_is_spent_uses_a_place_and_leaves_no_vote(late: bool) -> None:
    log = units()
    seq = log.ask("a", count=5)
    if late:
        log.add(Kind.EXPIRED, assignment=seq, worker="a")
    paid = {"price": 1_000_000, "cost": 1_000_000, "why": "refused"}
    log.add(Kind.FAILED, assignment=seq, worker="a", **paid)
    # Four of the plan are left under the limit of five.
    assert log.money() == (1, 0, 8)
    row = log.ledger.book.workers[0]
    columns = [c.ASKED, c.ANSWERED, c.REFUSED, c.FAILURES, c.LIMIT]
    assert row[columns].tolist() == [0, 0, 1, 1, 4]
    assert row[[c.PAID, c.FAILURE_COST]].tolist() == [1_000_000, 1_000_000]
    assert log.ledger.failures == {0: {"refused": 1}}
    assert log.ledger.passed_over == {0}


def test_to_policies_a_failure_is_a_refusal() -> None:
    log = votes()
    seq = log.ask("a", "t")
    event = Event(
        Kind.FAILED, seq=seq + 1, assignment=seq, worker="a", task="t", why="error", price=0, cost=0
    )
    fact = log.ledger.apply(event)
    assert (fact.kind, fact.task, fact.worker) == (Kind.DECLINED, 0, 0)
    assert not queries.may_put(log.ledger.book, 0, 0)


def test_whoever_leaves_loses_what_is_planned_and_keeps_what_is_out() -> None:
    log = units()
    log.ask("a", count=3)
    log.add(Kind.LEFT, worker="a")
    assert log.money() == (0, 2, 0)
    assert queries.room(log.ledger.book, 0, 50_000_000) == 0


def test_whoever_comes_back_keeps_their_count_and_brings_a_new_price() -> None:
    log = units()
    seq = log.ask("a")
    log.add(Kind.LEFT, worker="a")
    log.add(Kind.JOINED, workers=({"id": "a", "price": "7", "limit": 4},))
    # What is out was promised 2; three more at 7 are left under the new limit.
    assert log.money() == (0, 2, 0)
    assert queries.room(log.ledger.book, 0, 50_000_000) == 3
    log.add(Kind.ANSWER, assignment=seq, worker="a", value=0.5, price=2_000_000)
    assert log.money() == (2, 0, 0)
    assert log.ledger.total(c.WORKERS) == 2


def test_whoever_comes_back_without_a_rating_has_none() -> None:
    log = Log(workers=[Worker("a", 1, rating=0.9, rating_weight=5)], outcome="utility", budget=50)
    log.add(Kind.LEFT, worker="a")
    log.add(Kind.JOINED, workers=({"id": "a", "price": "1"},))
    assert log.ledger.book.ratings[0, c.WEIGHT] == 0.0


def test_ratings_are_scaled_to_the_range() -> None:
    log = Log(
        workers=[Worker("a", 1, rating=5, rating_weight=3)],
        outcome={"kind": "utility", "low": -10, "high": 10},
        budget=50,
    )
    assert log.ledger.book.ratings[0].tolist() == [0.75, 3.0]


def test_closing_a_task_drops_what_is_planned_for_it() -> None:
    log = votes()
    log.add(Kind.DECIDED, rows=(PlanRow("a", "t"), PlanRow("b", "u"), PlanRow("b", None)))
    assert log.money() == (0, 0, 8)
    log.add(Kind.CLOSED, task="t", outcome="closed")
    assert log.money() == (0, 0, 6)
    log.add(Kind.CLOSED, task="u", outcome="closed")
    assert log.money() == (0, 0, 0)
    assert log.ledger.total(c.OPEN) == 0


def test_votes_truth_and_closings_are_kept_by_task() -> None:
    log = votes()
    seq = log.ask("a", "u")
    log.add(Kind.ANSWER, assignment=seq, task="u", worker="a", value="yes", price=2_000_000)
    log.add(Kind.TRUTH, task="u", value="no")
    log.add(Kind.CLOSED, task="u", value="yes", outcome="confident", confidence=0.9)
    assert log.ledger.book.votes[:2].tolist() == [[0, 0], [0, 1]]
    assert log.ledger.book.tasks[:2, c.TRUTH].tolist() == [-1, 0]
    assert log.ledger.closings == {1: (Label(1.0, 0.9, "agreement"), "confident")}


def test_tasks_that_are_added_one_by_one_are_queued_as_if_all_were_there() -> None:
    log = Log(workers=[Worker("ann", 1)], tasks=["t0"], options=["no", "yes"], budget=99)
    for at in range(1, 11):
        log.ask("ann", f"t{at - 1}")
        log.add(Kind.ADDED, tasks=({"id": f"t{at}"},))
        if at == 4:
            log.add(Kind.CLOSED, task="t2")
        book = log.ledger.book
        assert book.queue.tolist() == queue_of(book.tasks, at + 1).tolist()
    assert book.queue[1] == 10


def test_money_pauses_and_the_end_are_kept() -> None:
    log = units()
    log.ask("a", count=3)
    log.add(Kind.TOPPED_UP, price=5_000_000)
    assert log.ledger.total(c.BUDGET) == 55_000_000
    log.add(Kind.PAUSED)
    assert log.ledger.total(c.PAUSED) == 1
    log.add(Kind.RESUMED)
    assert log.ledger.total(c.PAUSED) == 0
    log.add(Kind.STOPPED)
    assert log.ledger.total(c.STOPPED) == 1
    assert log.money() == (0, 2, 0)


def test_a_name_that_is_not_there_is_answered_with_the_nearest() -> None:
    log = votes()
    with pytest.raises(UnknownName, match=r"worker 'aa' is not in this campaign.*'a'"):
        log.ledger.worker_at("aa")
    with pytest.raises(UnknownName, match="task 'tt' is not in this campaign"):
        log.ledger.task_at("tt")


@pytest.mark.parametrize("made", [units, votes])
def test_a_restored_ledger_goes_on_like_the_first(made: Any) -> None:
    log = made()
    task = "t" if log.ledger.problem.tasks else None
    value = "yes" if task else 0.25
    seq = log.ask("a", task, count=1)
    log.add(Kind.ANSWER, assignment=seq, task=task, worker="a", value=value, price=2_000_000)
    log.add(Kind.JOINED, workers=({"id": "c", "price": "1"},))
    log.ask("c", task)
    first = log.ledger
    again = Ledger.restore(first.problem, first.arrays(), first.names())
    later = Event(Kind.LEFT, seq=len(log.events) + 1, worker="a")
    for ledger in (first, again):
        ledger.apply(later)
    for name, array in first.arrays().items():
        np.testing.assert_array_equal(array, again.arrays()[name], err_msg=name)
    assert first.names() == again.names()


def bytes_of(ledger: Ledger) -> int:
    return sum(array.nbytes for array in ledger.book)


def test_memory_grows_with_answers_tasks_and_workers_and_never_with_pairs() -> None:
    # 1000 tasks times 1000 workers would be a million cells; an answer has 72 + 24 bytes and at
    # most a cell of 48, and doubling may leave half of an array spare.
    log = Log(
        workers=[Worker(f"w{at}", 1) for at in range(1000)],
        tasks=[f"t{at}" for at in range(1000)],
        options=["no", "yes"],
        budget=100_000,
    )
    empty = bytes_of(log.ledger)
    assert empty < 400 * (1000 + 1000)
    for at in range(3000):
        seq = log.ask(f"w{at % 1000}", f"t{(at * 7 + at // 1000) % 1000}")
        log.add(Kind.ANSWER, assignment=seq, worker=f"w{at % 1000}", value="no", price=1_000_000)
    assert bytes_of(log.ledger) - empty < 2 * 144 * 3000 + 10_000
