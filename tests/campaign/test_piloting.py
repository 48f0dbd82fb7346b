"""A pilot puts drawn tasks to all its workers before the policy decides anything."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from askwise import Batch, Campaign, Done, Task, Wait, Worker
from askwise.core.errors import InvalidProblem
from askwise.core.events import Event, Kind
from tests.campaign.certified import said_by, truth_of
from tests.campaign.piloted import ANN, GPT, JUDGES, MINI, TASKS, create, run
from tests.mechanisms.cheapest import Cheapest, known


def of_kind(campaign: Campaign, kind: Kind) -> list[Event]:
    return [event for event in campaign.log() if event.kind == kind]


def drawn_by(campaign: Campaign) -> list[str]:
    (drawn,) = of_kind(campaign, Kind.DRAWN)
    assert drawn.draw is not None
    assert drawn.note == "pilot"
    return list(drawn.draw["tasks"])


def pairs(batch: object) -> list[tuple[str | None, str]]:
    assert isinstance(batch, Batch)
    return [(each.task, each.worker) for each in batch]


def test_every_drawn_task_is_put_to_every_model_before_the_policy_decides() -> None:
    campaign = create()
    run(campaign)
    tasks = drawn_by(campaign)
    assert len(tasks) == len(set(tasks)) == 8
    asked = [(event.task, event.worker) for event in of_kind(campaign, Kind.ASKED)]
    assert asked[:24] == [(task, judge) for task in tasks for judge in ("gpt", "mini", "owl")]
    notes = [event.note for event in of_kind(campaign, Kind.DECIDED)]
    assert Counter(notes)["pilot"] == 24
    assert set(notes[:24]) == {"pilot"}
    assert "pilot" not in notes[24:]


def test_a_question_handed_over_to_a_worker_of_the_pilot_does_not_end_it() -> None:
    campaign = create()
    (given,) = campaign.ask(1, ["gpt"])
    taken = campaign.hand_over(given.id, "mini")
    batch = campaign.ask(limit=500)
    # What was handed over is the other's question, and is put to the one it was taken from again.
    assert len(batch) == 23
    assert (taken.task, "mini") not in pairs(batch)
    assert (taken.task, "gpt") in pairs(batch)
    assert campaign.ask() == Wait("answers")
    assert Campaign.open(campaign.store, campaign.name).ask() == Wait("answers")


def test_one_ask_hands_out_no_more_than_the_pilot_and_the_policy_waits_for_its_answers() -> None:
    campaign = create()
    batch = campaign.ask(limit=500)
    assert len(batch) == 24
    assert campaign.ask() == Wait("answers")
    assert isinstance(batch, Batch)
    for each in batch:
        campaign.tell(each.id, said_by(each.worker, each.task or ""))
    assert len(campaign.ask(limit=500)) > 0
    assert of_kind(campaign, Kind.DECIDED)[-1].note == "drawn"


def test_a_question_states_how_probable_its_task_was() -> None:
    campaign = create()
    for task in TASKS[:10]:
        campaign.truth(task, truth_of(task))
    batch = campaign.ask(limit=500)
    assert isinstance(batch, Batch)
    # Four of the ten with a truth, and four of the thirty others.
    stated = {each.task: each.propensity for each in batch}
    assert sorted(map(float, stated.values())) == pytest.approx([4 / 30] * 4 + [4 / 10] * 4)  # type: ignore[arg-type]
    assert all((task in TASKS[:10]) == (odds == 0.4) for task, odds in stated.items())


def test_pilot_decisions_are_explained() -> None:
    campaign = create()
    run(campaign, limit=5)
    for event in of_kind(campaign, Kind.ASKED)[:24:7]:
        found = campaign.explain(f"cats:{event.seq}")
        assert (found.purpose, found.reproduced) == ("pilot", True)
        assert [each.worker for each in found.candidates] == ["gpt", "mini", "owl"]
        assert "pilot" in found.rule


def test_a_worker_who_is_away_is_asked_later_and_holds_nobody_up() -> None:
    campaign = create()
    here = ["gpt", "mini", "ann"]
    for _ in range(16):
        (each,) = campaign.ask(workers=here)
        campaign.tell(each.id, said_by(each.worker, each.task or ""))
    report = campaign.pilot()
    assert (report.done, report.waiting, report.policy_decides) == (16, 8, False)
    (first,) = campaign.ask(workers=here)
    assert of_kind(campaign, Kind.DECIDED)[-1].note == "drawn"
    campaign.tell(first.id, "no")
    tasks = drawn_by(campaign)
    batch = campaign.ask(limit=50, workers=["owl"])
    assert pairs(batch) == [(task, "owl") for task in tasks]
    # The policy has begun: it does not wait for what is out of the pilot.
    assert len(campaign.ask(workers=["gpt"])) == 1


def test_somebody_who_is_not_of_the_pilot_is_asked_by_the_policy_at_any_time() -> None:
    campaign = create()
    assert pairs(campaign.ask(workers=["ann"]))[0][1] == "ann"
    assert of_kind(campaign, Kind.DRAWN) == []
    assert len(campaign.ask(limit=50)) == 24
    assert pairs(campaign.ask(workers=["ann"]))[0][1] == "ann"
    assert campaign.ask() == Wait("answers")


def test_a_pilot_runs_to_the_end_of_its_campaign() -> None:
    campaign = create(budget="1")
    assert run(campaign, limit=4) == Done("budget")
    assert campaign.over() == Done("budget")
    report = campaign.pilot()
    assert (report.phase, report.done, report.waiting) == ("done", 24, 0)


def test_a_rule_closes_no_task_of_the_pilot_before_all_its_questions_are_answered() -> None:
    campaign = create(stopping={"name": "quorum", "quorum": 2, "of": 3})
    for count in range(24):
        (each,) = campaign.ask()
        campaign.tell(each.id, "yes")
        # Two votes are a quorum; the third question about a task was asked nevertheless.
        assert len(of_kind(campaign, Kind.CLOSED)) == (count + 1) // 3
    assert campaign.pilot().skipped == 0


def test_verdicts_that_were_put_off_are_taken_before_the_policy_decides() -> None:
    campaign = create(stopping={"name": "fixed", "n": 2})
    batch = campaign.ask(limit=100)
    assert isinstance(batch, Batch)
    for each in batch:
        if each.worker != "owl":
            campaign.tell(each.id, "yes")
    for each in campaign.assignments("owl"):
        campaign.fail(each.id, "error")
    # A failure ends a question and brings no verdict: the last answer was two failures ago.
    assert of_kind(campaign, Kind.CLOSED) == []
    campaign.ask()
    closed = of_kind(campaign, Kind.CLOSED)
    assert sorted(event.task or "" for event in closed) == sorted(drawn_by(campaign))
    assert campaign.log()[closed[-1].seq].kind == Kind.DECIDED


def test_verdicts_do_not_wait_for_workers_who_have_left() -> None:
    campaign = create(stopping={"name": "fixed", "n": 1})
    (first,) = campaign.ask(workers=["gpt"])
    campaign.tell(first.id, "yes")
    for worker in ("gpt", "mini", "owl"):
        campaign.leave(worker)
    assert of_kind(campaign, Kind.CLOSED) == []
    (other,) = campaign.ask()
    assert [event.task for event in of_kind(campaign, Kind.CLOSED)] == [first.task]
    assert other.task != first.task


def test_a_task_that_somebody_else_settles_skips_the_questions_it_still_has() -> None:
    campaign = create(stopping={"name": "fixed", "n": 2}, tasks=TASKS[:5], pilot=5)
    here = ["gpt"]
    for _ in range(5):
        (each,) = campaign.ask(workers=here)
        campaign.tell(each.id, "yes")
    # Each has one answer of the pilot; ann's is the second, and no part of it.
    (each,) = campaign.ask(workers=["ann"])
    campaign.tell(each.id, "yes")
    assert [event.task for event in of_kind(campaign, Kind.CLOSED)] == [each.task]
    report = campaign.pilot()
    assert (report.done, report.skipped, report.waiting) == (5, 2, 8)
    skipped = {worker.id: worker.skipped for worker in report.workers}
    assert skipped == {"gpt": 0, "mini": 1, "owl": 1}
    batch = campaign.ask(limit=100, workers=["mini", "owl"])
    assert each.task not in [task for task, _ in pairs(batch)]
    assert len(pairs(batch)) == 8


def test_what_expires_is_asked_again_and_what_fails_or_is_declined_is_not() -> None:
    clock = [0.0]
    campaign = create(lease=60, clock=lambda: clock[0])
    batch = campaign.ask(limit=3)
    assert isinstance(batch, Batch)
    one, other, third = batch
    campaign.fail(one.id, "orders", "0.01")
    campaign.decline(other.id)
    clock[0] = 61.0
    rest = campaign.ask(limit=100)
    assert (third.task, third.worker) in pairs(rest)
    assert len(pairs(rest)) == 22
    report = campaign.pilot()
    assert (report.done, report.waiting, report.paid) == (2, 22, Decimal("0.01"))
    by_name = {each.id: each for each in report.workers}
    assert (by_name[one.worker].failures, by_name[one.worker].flips) == ({"orders": 1}, 1)
    assert by_name[other.worker].declined == 1


def test_a_worker_out_of_reach_of_a_task_is_not_asked_about_it() -> None:
    named = [Task("only-owl", workers=["owl"]), Task("only-ann", workers=["ann"])]
    campaign = create(tasks=[*named, *TASKS[:6]], pilot=8)
    batch = campaign.ask(limit=100)
    assert sorted(drawn_by(campaign)) == sorted(["only-owl", *TASKS[:6]])
    assert len(pairs(batch)) == 1 + 3 * 6
    assert ("only-owl", "owl") in pairs(batch)


def test_limits_of_workers_are_kept() -> None:
    workers = [replace(GPT, limit=3), MINI]
    campaign = create(workers=workers, budget="1")
    run(campaign)
    report = campaign.pilot()
    assert {each.id: each.answers for each in report.workers} == {"gpt": 3, "mini": 8}
    assert report.waiting == 5


def test_a_pilot_that_costs_more_than_a_third_of_the_budget_is_cut_and_says_so() -> None:
    # A task costs 0.04 at the prices of the three: a third of 1 pays for 8 of them.
    campaign = create(budget="1", pilot=30)
    before = campaign.status().pilot
    assert before is not None
    assert (before.phase, before.cut, before.drawn) == ("waiting", "budget", 0)
    assert before.statement.startswith("The pilot has not begun: 8 tasks are to be put to 3")
    run(campaign)
    found = campaign.status().pilot
    assert found is not None
    assert (found.wanted, found.drawn, found.cut) == (30, 8, "budget")
    assert found.statement == (
        "Done: 24 of 24 questions about 8 tasks. 30 tasks were asked for: more would cost "
        "more than a third of the budget."
    )


def test_a_pilot_takes_no_more_tasks_than_there_are() -> None:
    campaign = create(tasks=TASKS[:6], pilot=10)
    campaign.ask()
    found = campaign.status().pilot
    assert found is not None
    assert (found.drawn, found.cut, found.questions) == (6, "tasks", 18)


BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "four tasks": ({"pilot": 4}, "pilot.tasks", "from 5"),
    "a word": ({"pilot": "many"}, "pilot.tasks", "whole number"),
    "true": ({"pilot": True}, "pilot.tasks", "whole number"),
    "no number": ({"pilot": {"workers": ["gpt"]}}, "pilot.tasks", "missing"),
    "an unknown field": ({"pilot": {"task": 8}}, "pilot.task", "tasks"),
    "a stranger": ({"pilot": {"tasks": 8, "workers": ["gtp"]}}, "pilot.workers", "'gpt'"),
    "nobody": ({"pilot": {"tasks": 8, "workers": []}}, "pilot.workers", "at least one"),
    "twice": ({"pilot": {"tasks": 8, "workers": ["gpt", "gpt"]}}, "pilot.workers", "each once"),
    "no model": ({"workers": [ANN]}, "pilot.workers", "kind 'model'"),
    "too few tasks": ({"tasks": TASKS[:4]}, "pilot.tasks", "has 4 tasks"),
    "too little money": ({"budget": "0.59"}, "pilot.workers", "a third of the budget"),
    "a cap below the pilot": (
        {"stopping": {"name": "lead", "cap": "0.03"}, "workers": JUDGES},
        "pilot.workers",
        "cap",
    ),
    "utilities": ({"options": None, "outcome": "utility", "policy": "random"}, "pilot", "utility"),
    "an auditor": (
        {
            "workers": [*JUDGES, replace(ANN, trusted=True)],
            "certify": {"error": 0.3, "confidence": 0.9, "by": ["ann"], "share": 0.5},
            "pilot": {"tasks": 8, "workers": ["ann"]},
        },
        "pilot.workers",
        "audits",
    ),
    "a crowd": (
        {"workers": [*JUDGES, Worker("mob", 1, kind="crowd")], "repeat": True,
         "policy": "b-kube", "stopping": "lead", "pilot": {"tasks": 8, "workers": ["mob"]}},
        "pilot.workers",
        "crowd",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_a_pilot_that_can_not_be_is_refused_with_its_field(what: str) -> None:
    changes, field, words = BAD[what]
    with pytest.raises(InvalidProblem, match=words) as refused:
        create(**changes)
    assert refused.value.field == field


def test_a_pilot_does_not_go_with_sealed_bids() -> None:
    with known(), pytest.raises(InvalidProblem, match="takes bids") as refused:
        create(mechanism={"name": "clarke", "c_max": 20}, policy=Cheapest())
    assert refused.value.field == "pilot"


def test_just_enough_money_makes_a_pilot_of_five() -> None:
    campaign = create(budget="0.6")
    campaign.ask()
    assert len(drawn_by(campaign)) == 5
