"""Whole arrays say what the ledger's queries say one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.choices import Done
from askwise.core.events import Kind
from askwise.ledger import columns as c
from askwise.ledger import queries, vectors
from askwise.ledger.ledger import Ledger
from askwise.ledger.proposals import ask_one, fault
from askwise.policies import policies
from askwise.testing.scenes import LABELS, MIXED, MIXED_VOTES, POLL, REPEATED, TASKS, UNITS, VOTES
from askwise.testing.sessions import play

SCENES = (TASKS, LABELS, REPEATED, POLL, VOTES, UNITS, MIXED, MIXED_VOTES)


def sizes(ledger: Ledger) -> tuple[int, int]:
    return ledger.total(c.TASKS), ledger.total(c.WORKERS)


@given(
    st.sampled_from(SCENES),
    st.lists(st.integers(0, 2**16), max_size=40),
)
def test_rooms_and_masks_are_what_queries_say_one_by_one(scene, script) -> None:  # type: ignore[no-untyped-def]
    policy = policies.make("random-pairs" if scene is LABELS else "uniform")
    ledger = play(policy, scene, script).state.ledger
    book, money = ledger.book, vectors.money_left(ledger)
    tasks, workers = sizes(ledger)
    rooms = [queries.room(book, worker, money) for worker in range(workers)]
    assert vectors.rooms(ledger).tolist() == rooms
    everyone = np.ones(workers, np.int8)
    legal = np.zeros((tasks, workers), np.bool_)
    for task in range(tasks):
        for worker in range(workers):
            legal[task, worker] = fault(book, ask_one(worker, task), everyone) == c.FINE
    assert vectors.may_ask_pairs(ledger).tolist() == legal.tolist()
    for task in range(tasks):
        assert vectors.may_be_asked(ledger, task).tolist() == legal[task].tolist()
    for worker in range(workers):
        assert vectors.may_ask(ledger, worker).tolist() == legal[:, worker].tolist()


def test_counts_are_those_of_the_log() -> None:
    session = play(policies.make("random-pairs"), LABELS, [1, 20, 300, 4000, 5, 60, 700] * 4)
    ledger = session.state.ledger
    answers = [event for event in session.log if event.kind == Kind.ANSWER]
    asked = [event for event in session.log if event.kind == Kind.ASKED]
    assert vectors.answered(ledger).sum() == vectors.votes(ledger).sum() == len(answers) > 0
    assert vectors.asked(ledger).sum() == vectors.asked_about(ledger).sum() <= len(asked)
    assert vectors.pending(ledger) == (vectors.asked(ledger) - vectors.answered(ledger)).sum()
    calls = [event for event in session.log if event.kind in (Kind.ANSWER, Kind.FAILED)]
    assert vectors.failures(ledger).sum() == len(calls) - len(answers)
    assert vectors.paid(ledger).sum() == sum(event.price or 0 for event in calls)
    there = [ledger.workers[at].id for at in np.flatnonzero(vectors.joined(ledger))]
    assert set(there) == session.referee.joined
    assert [w.trusted for w in ledger.workers] == vectors.trusted(ledger).tolist()
    assert vectors.prices(ledger).tolist() == [worker.micro for worker in ledger.workers]
    names = {number: name for name, number in ledger.contexts.items()}
    kinds = [names[number] for number in vectors.contexts(ledger).tolist()]
    assert kinds == [task.context for task in ledger.tasks]


def test_the_ledger_can_not_be_written_to_by_way_of_a_vector() -> None:
    ledger = play(policies.make("uniform"), TASKS, []).state.ledger
    for vector in (vectors.prices, vectors.asked_about, vectors.votes, vectors.truths):
        with pytest.raises(ValueError, match="read-only"):
            vector(ledger)[0] = 7
    assert ledger.book.workers.flags.writeable


def test_where_nobody_can_be_asked_it_says_why() -> None:
    session = play(policies.make("uniform"), VOTES, [])
    session.finish()
    ledger = session.state.ledger
    choice = vectors.nobody(ledger, np.ones(sizes(ledger)[1], np.int8))
    assert isinstance(choice, Done)
    assert choice == session.ask()
