"""hem and bbta while workers and tasks come and go, pairs repeat and sizes are extreme."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise import Campaign, Task, Worker
from askwise.campaign.state import CampaignState
from askwise.core.choices import Batch, Done
from askwise.core.errors import AskwiseError, PolicyFault
from askwise.ledger import columns as c
from askwise.policies.labels.hem.ranking import PURSUING, SPREADING
from askwise.policies.labels.hem.state import MODE
from askwise.testing.sessions import spec_of_campaign
from tests.policies.folded import state_of
from tests.policies.labels.campaigns import BOTH, all_numbers, campaign_of, run, vet


@pytest.mark.parametrize("policy", ["hem", "bbta", {"name": "bbta", "explore": 0}], ids=str)
def test_a_newcomer_is_asked_about_a_task_that_everyone_else_has_at_hand(policy: Any) -> None:
    campaign = campaign_of(1, 1, policy)
    campaign.ask()
    campaign.add(workers=[Worker("new", 1)])
    (work,) = campaign.ask()
    assert (work.task, work.worker) == ("t0", "new")


@pytest.mark.parametrize("policy", ["hem", "bbta", {"name": "bbta", "explore": 0}], ids=str)
def test_a_task_added_to_a_new_context_is_asked_about(policy: Any) -> None:
    campaign = campaign_of(2, "aa", policy)
    run(campaign, lambda task, worker: "yes")
    for number in range(20):
        campaign.add(tasks=[Task(f"n{number}", context=f"new {number}")])
    asked, end = run(campaign, lambda task, worker: "no")
    assert {task for task, _ in asked} == {f"n{number}" for number in range(20)}
    assert end == Done("tasks")
    all_numbers(campaign)


def test_room_for_contexts_to_come_has_no_say_in_how_common_classes_are() -> None:
    campaign = campaign_of(3, "ab")
    campaign.add(tasks=[Task("n", context="new")])
    run(campaign, lambda task, worker: "yes")
    beliefs = state_of(campaign).beliefs
    assert len(beliefs.shares) > 3
    assert beliefs.occurs == pytest.approx(np.exp(beliefs.shares[:3]).sum(axis=0))


def test_tasks_that_are_out_are_ranked_anew_when_all_are_to_get_an_answer() -> None:
    campaign = campaign_of(5, 4, budget=10)
    campaign.ask(5)
    state = state_of(campaign).beliefs
    assert state.meta[MODE] == SPREADING
    # Each that is out adds .1 + .7; before, those with the most were pursued.
    out = [sum(work.task == f"t{at}" for work in campaign.assignments()) for at in range(4)]
    assert state.keys[:4] == pytest.approx([0.8 * each if each else -1.0 for each in out])


def test_a_target_that_others_have_reached_does_not_hide_that_money_is_short() -> None:
    campaign = campaign_of(1, 2, {"name": "hem", "target": 0.4}, budget=1)
    asked, end = run(campaign, lambda task, worker: "yes")
    assert (asked, end) == ([("t0", "w0")], Done("budget"))


# Pairs that may repeat.


def test_exploration_asks_each_worker_once_also_where_pairs_may_repeat() -> None:
    campaign = campaign_of(2, "aabb", "bbta", repeat=True, budget=30)
    asked, end = run(campaign, lambda task, worker: "yes" if worker == "w0" else "no")
    assert asked[:4] == [("t0", "w0"), ("t0", "w1"), ("t2", "w0"), ("t2", "w1")]
    assert {task for task, _ in asked[4:]} == {"t1", "t3"}
    assert end == Done("budget")


def test_where_all_tasks_are_explored_and_pairs_may_repeat_it_goes_on_with_them() -> None:
    campaign = campaign_of(2, "ab", "bbta", repeat=True, budget=9)
    asked, end = run(campaign, lambda task, worker: "yes")
    assert len(asked) == 9
    assert end == Done("budget")


@pytest.mark.parametrize("policy", BOTH)
def test_hundreds_of_answers_to_one_task_leave_numbers(policy: str) -> None:
    campaign = campaign_of(2, 1, policy, repeat=True, budget=250)
    run(campaign, lambda task, worker: "yes", most=200)
    all_numbers(campaign)
    assert campaign.answers()[0].value == "yes"
    assert campaign.answers()[0].confidence == pytest.approx(1.0)
    assert run(campaign, lambda task, worker: "no")[1] == Done("budget")
    all_numbers(campaign)


def test_many_workers_who_agree_leave_numbers() -> None:
    campaign = campaign_of(60, 1, budget=60, options=["a", "b", "c"])
    assert len(run(campaign, lambda task, worker: "b")[0]) == 60
    all_numbers(campaign)


# Extremes.


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.parametrize(
    ("workers", "tasks", "more"),
    [
        (1, 1, {"budget": 1}),
        (1, 9, {}),
        (9, 1, {}),
        ([Worker("a", 0), Worker("b", 0)], 3, {"budget": None}),
        ([Worker("a", 0), Worker("b", 0)], 3, {"budget": 0}),
        ([Worker("a", 0), Worker("b", 5)], 3, {"budget": 7}),
        (3, "abcdefghi", {}),
        (3, 6, {"options": [f"o{at}" for at in range(9)] + ["no", "yes"]}),
        (3, 20, {"budget": 7}),
        ([Worker(f"w{at}", 10**9) for at in range(3)], 2, {"budget": 10**9}),
    ],
    ids=lambda each: str(each)[:30],
)
def test_extremes_end_properly(policy: str, workers: Any, tasks: Any, more: Any) -> None:
    campaign = campaign_of(workers, tasks, policy, **more)
    asked, end = run(campaign, lambda task, worker: ("no", "yes")[sum(map(ord, task + worker)) % 2])
    assert isinstance(end, Done)
    assert len(asked) == len(set(asked))
    assert all_numbers(campaign).ledger.reserved == 0


def test_a_large_budget_times_many_workers_does_not_wrap_round() -> None:
    campaign = campaign_of(10_000, 2, budget=10**9)
    assert state_of(campaign).beliefs.meta[MODE] == PURSUING


SCRIPTS = st.lists(st.integers(0, 4000), max_size=40)


@pytest.mark.parametrize("policy", ["hem", {"name": "hem", "target": 0.1}, "bbta"], ids=str)
@given(script=SCRIPTS, repeat=st.booleans(), cut=st.integers(0, 40))
@settings(max_examples=settings().max_examples // 3)
def test_whatever_happens_there_are_numbers_an_end_and_a_faithful_snapshot(
    policy: Any, script: list[int], repeat: bool, cut: int
) -> None:
    """Asks, answers, truths, experts who become ordinary, contexts and workers that come later."""
    campaign = campaign_of(
        [Worker("w0", 1), Worker("w1", 2, limit=6), vet("w2", 3)], "ab", policy, repeat=repeat
    )
    again = CampaignState(spec_of_campaign(campaign))
    for at, number in enumerate(script):
        try:
            move(campaign, number % 9, number // 9)
        except PolicyFault:
            raise
        except AskwiseError:
            pass
        if at == cut:
            state = state_of(campaign)
            again = CampaignState.restore(state.spec, state.snapshot())
    state = all_numbers(campaign)
    for event in campaign.log(after=again.seq):
        again.fold(event)
    kept = state.spec.policy.used(state.beliefs, state.ledger)
    for name, array in state.spec.policy.used(again.beliefs, again.ledger).items():
        np.testing.assert_array_equal(array, kept[name], err_msg=name)
    if state.spec.policy.name == "hem":
        check_counts(state)
    for each in campaign.assignments():
        campaign.tell(each.id, "yes")
    here = [worker.id for worker in state.ledger.workers]
    for _ in range(300):
        choice = campaign.ask(4, here)
        if not isinstance(choice, Batch):
            break
        for each in choice:
            campaign.tell(each.id, ("no", "yes")[len(each.id) % 2])
    assert isinstance(choice, Done) or campaign.status().workers == 0, choice
    all_numbers(campaign)


def check_counts(state: CampaignState) -> None:
    """Nothing but the facts counts: counts are those of all answers by the posteriors."""
    beliefs, book = state.beliefs, state.ledger.book
    expected = {
        name: np.zeros_like(getattr(beliefs, name))
        for name in ("shown", "totals", "right", "seen", "wrong", "alone", "errors")
    }
    options = beliefs.posterior.shape[1]
    for task in range(len(state.ledger.tasks)):
        q, votes = beliefs.posterior[task], []
        cell = book.tasks[task, c.FIRST_CELL]
        while cell >= 0:
            worker = book.cells[cell, c.CELL_WORKER]
            if book.workers[worker, c.TRUSTED] == 0:
                said = book.cells[cell, c.VOTES : c.VOTES + options]
                votes += [(worker, int(a)) for a in np.repeat(np.arange(options), said)]
            cell = book.cells[cell, c.NEXT_CELL]
        amount = 3.0 if beliefs.known[task] else float(len(votes) > 1)
        for worker, a in votes:
            if amount == 0.0:
                expected["alone"][worker, a] += 1.0
                continue
            row = beliefs.skill_of[book.tasks[task, c.CONTEXT], worker] - 1
            for where in (expected["shown"][row], expected["totals"][worker]):
                where += [amount * q[a], amount]
            expected["right"][worker, a] += amount * q[a]
            expected["seen"][worker] += amount * q
            expected["wrong"][worker, a] += amount * (1.0 - q[a])
            for true in range(options):
                if true != a:
                    expected["errors"][true, [a, true]] += amount * q[true]
    for name, table in expected.items():
        np.testing.assert_allclose(getattr(beliefs, name), table, rtol=0, atol=1e-6, err_msg=name)


def move(campaign: Campaign, which: int, number: int) -> None:
    """One thing that may happen."""
    out = campaign.assignments()
    tasks = [answer.task for answer in campaign.answers()]
    if which in (0, 1):
        campaign.ask(1 + number % 5)
    elif which in (2, 3) and out:
        campaign.tell(out[number % len(out)].id, ("no", "yes")[number % 2])
    elif which == 4:
        campaign.truth(str(tasks[number % len(tasks)]), ("no", "yes")[number // 7 % 2])
    elif which == 5 and out:
        (campaign.expire, campaign.decline)[number % 2](out[number % len(out)].id)
    elif which == 6:
        campaign.leave(f"w{number % 5}")
    elif which == 7:
        campaign.add(workers=[Worker(f"w{number % 5}", 1 + number % 3, trusted=number % 2 == 0)])
    elif which == 8 and number % 3:
        campaign.add(tasks=[Task(f"n{number}", context=f"c{number % 4}")])
    elif which == 8:
        campaign.close(str(tasks[number % len(tasks)]))
