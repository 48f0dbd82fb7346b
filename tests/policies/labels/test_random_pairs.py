"""Random pairs: uniform over all pairs that may be asked."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from askwise import Campaign, Task, Worker
from askwise.core.choices import Done
from askwise.core.draws import Draw
from tests.policies.folded import state_of

MANY = 1000
FEW = 300
CLOSE = 5.0
"""In standard deviations; draws are fixed."""


def pairs_drawn(campaign, absent=(), many=MANY):
    """How often each pair is drawn, and the propensities that were stated."""
    state = state_of(campaign)
    spec, ledger = state.spec, state.ledger
    here = np.array([worker.id not in absent for worker in ledger.workers], np.int8)
    drawn, stated = Counter(), set()
    for number in range(many):
        choice = spec.policy.choose(spec.problem, state.beliefs, ledger, Draw(5, 6, number), here)
        drawn[ledger.task_id(choice.rows[0, 0]), ledger.workers[choice.rows[0, 1]].id] += 1
        stated.add(float(choice.odds[0]))
    return drawn, stated


def assert_uniform(drawn, stated, pairs):
    many, chance = sum(drawn.values()), 1.0 / len(pairs)
    assert stated == {chance}
    assert set(drawn) == set(pairs)
    margin = CLOSE * (chance * (1.0 - chance) / many) ** 0.5
    for pair in pairs:
        assert drawn[pair] / many == pytest.approx(chance, abs=margin)


def test_all_pairs_that_may_be_asked_are_equally_likely():
    campaign = Campaign.create(
        workers=[Worker("a", 1), Worker("b", 1), Worker("c", 9), Worker("d", 1, limit=1)],
        tasks=["t1", Task("t2", workers=("a", "d")), "t3", "t4"],
        options=["no", "yes"],
        policy="random-pairs",
        budget=6,
        name="labels",
    )
    for worker in "aabd":
        work = campaign.ask(workers=[worker])[0]
        campaign.tell(work.id, "yes")
    campaign.close("t4")
    asked = {(event.task, event.worker) for event in campaign.log() if event.task}
    # c is too expensive, d at the limit; t4 is closed, and t2 not for b.
    left = [("t1", "a"), ("t2", "a"), ("t3", "a"), ("t1", "b"), ("t3", "b")]
    pairs = [pair for pair in left if pair not in asked]
    assert len(pairs) < 5
    assert_uniform(*pairs_drawn(campaign), pairs)
    assert_uniform(*pairs_drawn(campaign, absent="a"), [pair for pair in pairs if pair[1] == "b"])


def test_a_worker_with_few_of_many_tasks_gets_each_of_them_equally_often():
    # A third of the draws finds neither of a's two tasks in 64 attempts.
    tasks = [Task(f"t{at}", workers=("a",) if at in (17, 99) else ("b",)) for at in range(120)]
    campaign = Campaign.create(
        workers=[Worker("a", 1), Worker("b", 1)],
        tasks=tasks,
        options=["no", "yes"],
        policy="random-pairs",
        name="labels",
    )
    drawn = pairs_drawn(campaign, absent="b", many=FEW)
    assert_uniform(*drawn, [("t17", "a"), ("t99", "a")])


def test_every_pair_is_asked_in_the_end():
    campaign = Campaign.create(
        workers=[Worker("a", 1), Worker("b", 1)],
        tasks=["t1", "t2", "t3"],
        options=["no", "yes"],
        policy="random-pairs",
        name="labels",
    )
    work = campaign.ask(10)
    assert len({(each.task, each.worker) for each in work}) == 6
    assert [each.propensity for each in work] == [1 / left for left in (6, 5, 4, 3, 2, 1)]
    for each in work:
        campaign.tell(each.id, "no")
    assert campaign.ask() == Done("tasks")


def test_scores_say_how_likely_each_worker_is():
    campaign = Campaign.create(
        workers=[Worker("a", 1), Worker("b", 1)],
        tasks=["t1", Task("t2", workers=("a",))],
        options=["no", "yes"],
        policy="random-pairs",
        name="labels",
    )
    found = state_of(campaign).scores(np.ones(2, np.int8))
    assert [each.index for each in found] == pytest.approx([2 / 3, 1 / 3])
