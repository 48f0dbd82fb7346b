"""Campaigns in counts: the same as those of which every answer is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise import Worker
from askwise.core.choices import Done
from askwise.core.compiling import in_plain_python
from askwise.core.money import MICRO
from askwise.core.problem import Problem, Task
from askwise.lab.papers.assured import counting
from askwise.lab.papers.assured.counting import Counted, from_rows, is_a_walk, simulate_counts
from askwise.lab.papers.assured.studies.common import Terms, contender
from askwise.lab.simulate import Outcome, simulate
from askwise.lab.worlds.assured import OPTIONS, AssuredWorld, WorkerPool, paper_pool
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger

LABELS = (
    "ccb-ns",
    "ccb-ns(floor=2/3)",
    "ccb-ns(bounds=anytime)",
    "ccb-ns(bounds=ucb1)",
    "ccb-ns(error=majority)",
    "ccb-ns(error=majority,miss=30)",
    "ccb-ns(truth=audited,audits=0.5,alarm=0.4,error=majority)",
    "ccb-s",
    "ccb-s(miss=20)",
    "ccb-se",
    "ccb-se(error=majority)",
    "ccb-fixed(rounds=4)",
    "cucb",
    "cucb(bounds=ucb1)",
    "multiple-pull-ucb(pulls=2)",
    "epsilon-t-greedy(explore=3)",
)

POINTERS_OF_TASKS = [c.TASK_LAST, c.FIRST_CELL, c.VOICE]


def same_to_the_last_bit(kept: Outcome, counted: Counted) -> None:
    """Everything but the rows of answers, and what points to them."""
    assert counted.ended == kept.ended
    assert (counted.answers, counted.spent) == (kept.answers, kept.spent)
    assert counted.ledger.seq == kept.ledger.seq
    for name, beliefs in kept.state._asdict().items():
        np.testing.assert_array_equal(getattr(counted.state, name), beliefs, err_msg=name)
    book, counts = kept.ledger.book, counted.ledger.book
    people, number = kept.ledger.total(c.WORKERS), kept.ledger.total(c.TASKS)
    totals, workers, tasks = book.totals.copy(), book.workers.copy(), book.tasks.copy()
    totals[[c.ASSIGNMENTS, c.CELLS]] = 0
    workers[:people, c.LAST] = -1
    tasks[:number, POINTERS_OF_TASKS] = -1
    rows = book.totals[c.PLAN_ROWS]
    for name, ours, theirs in (
        ("totals", counts.totals, totals),
        ("workers", counts.workers, workers),
        ("tasks", counts.tasks, tasks),
        ("queue", counts.queue, book.queue),
        ("votes", counts.votes, book.votes),
        ("plan", counts.plan[:rows], book.plan[:rows]),
        ("odds", counts.odds[:rows], book.odds[:rows]),
    ):
        np.testing.assert_array_equal(ours, theirs, err_msg=name)
    for ours, theirs in zip(by_task(counted), by_task(from_rows(kept)), strict=True):
        assert ours == theirs


def by_task(counted: Counted) -> list[list[int]]:
    sets, own = counted.sets()
    assert len({tuple(each) for each in sets}) == len(sets)
    return [sets[at].tolist() for at in own]


@st.composite
def campaigns(draw: st.DrawFn) -> tuple[Any, Problem, AssuredWorld]:
    size, tasks = draw(st.integers(1, 7)), draw(st.integers(1, 14))
    costs = draw(st.lists(st.integers(0, 5), min_size=size, max_size=size))
    qualities = draw(st.lists(st.floats(0.4, 1.0), min_size=size, max_size=size))
    pool = WorkerPool(np.array(costs) * MICRO, np.array(qualities))
    least = min(costs) * MICRO
    budget = draw(st.none() | st.integers(max(1, least), max(1, sum(costs) * tasks * MICRO)))
    share = draw(st.sampled_from([0.0, 0.3]))
    world = pool.answering(draw(st.integers(0, 99)), 0, tasks, share, on_hard=0.3)
    alpha, mu = draw(st.sampled_from([0.1, 0.3, 0.45])), draw(st.sampled_from([0.05, 0.9]))
    terms = Terms(alpha, draw(st.sampled_from([0.0, alpha / 2])), mu)
    policy = contender(draw(st.sampled_from(LABELS)), terms)
    return policy, pool.problem(tasks, budget=budget), world


@pytest.mark.parametrize("label", LABELS)
def test_every_label_names_a_policy(label: str) -> None:
    assert contender(label, Terms(0.1, 0.05, 0.05)).name == label.partition("(")[0]


@given(campaigns(), st.integers(0, 9))
def test_counts_are_those_of_a_campaign_of_which_every_answer_is_kept(
    campaign: tuple[Any, Problem, AssuredWorld], seed: int
) -> None:
    policy, problem, world = campaign
    assert is_a_walk(policy, Ledger(problem))
    kept = simulate(policy, problem, world, seed=seed)
    same_to_the_last_bit(kept, simulate_counts(policy, problem, world, seed=seed))


@pytest.mark.parametrize("label", ["ccb-ns(floor=2/3)", "epsilon-t-greedy(explore=3)"])
def test_sets_find_room_however_many_there_are(label: str, monkeypatch: Any) -> None:
    pool = paper_pool(np.random.default_rng(5), 22)
    problem, world = pool.problem(40), pool.answering(5, 0, 40)
    policy = contender(label, Terms(0.45, 0.2, 0.9))
    monkeypatch.setattr(counting, "ROOM", 0)
    counted = simulate_counts(policy, problem, world, seed=5)
    # At first there is room for everybody twice.
    assert len(counted.members) > 44
    same_to_the_last_bit(simulate(policy, problem, world, seed=5), counted)


def limited(limit: int) -> Problem:
    workers = tuple(Worker(f"w{at}", 1, limit=limit) for at in range(4))
    return Problem(workers=workers, tasks=tuple(Task(f"t{at}") for at in range(6)), options=OPTIONS)


def test_where_somebody_reaches_a_limit_every_answer_is_kept() -> None:
    pool = WorkerPool(np.full(4, MICRO), np.full(4, 0.9))
    policy, world = contender("ccb-s", Terms(0.3, 0.0, 0.5)), pool.answering(1, 0, 6)
    assert is_a_walk(policy, Ledger(limited(6)))  # type: ignore[arg-type]
    assert not is_a_walk(policy, Ledger(limited(5)))  # type: ignore[arg-type]
    kept = simulate(policy, limited(5), world, seed=1)
    found = simulate_counts(policy, limited(5), world, seed=1)
    assert kept.ended == found.ended == Done("limits")
    assert by_task(found) == by_task(from_rows(kept)) == [[0, 1, 2, 3]] * 5 + [[]]


def test_a_policy_that_goes_ahead_of_the_truth_takes_the_long_way() -> None:
    pool = WorkerPool(np.full(4, MICRO), np.full(4, 0.9))
    problem, world = pool.problem(6), pool.answering(1, 0, 6)
    policy = contender("ccb-s(ahead=2)", Terms(0.3, 0.0, 0.5))
    assert not is_a_walk(policy, Ledger(problem))  # type: ignore[arg-type]
    found = simulate_counts(policy, problem, world, seed=1)
    assert found.answers == simulate(policy, problem, world, seed=1).answers


def test_one_set_for_all_tasks_is_written_down_once() -> None:
    pool = WorkerPool(np.full(3, MICRO), np.full(3, 0.9))
    policy = contender("ccb-s", Terms(0.1, 0.05, 0.01))
    found = simulate_counts(policy, pool.problem(5), pool.answering(1, 0, 5), seed=1)
    # Five tasks teach too little to leave anybody out.
    assert found.members.tolist() == [0, 1, 2]
    assert found.firsts.tolist() == [0] * 5
    assert found.ledger.book.workers[:3, c.PAID].tolist() == [5 * MICRO] * 3


@pytest.mark.compiled
@pytest.mark.checked
@pytest.mark.slow
@pytest.mark.parametrize("label", LABELS)
def test_compiled_counts_are_those_of_plain_python(label: str, monkeypatch: Any) -> None:
    pool = paper_pool(np.random.default_rng(7), 33)
    problem, world = pool.problem(120), pool.answering(7, 0, 120)
    policy = contender(label, Terms(0.4, 0.1, 0.5))
    kept = simulate(policy, problem, world, seed=7)
    same_to_the_last_bit(kept, simulate_counts(policy, problem, world, seed=7))
    plain = in_plain_python(counting.count_campaign)
    monkeypatch.setattr(counting, "_compiled", lambda: plain)
    same_to_the_last_bit(kept, simulate_counts(policy, problem, world, seed=7))
