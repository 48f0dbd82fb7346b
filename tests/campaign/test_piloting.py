"""A pilot puts drawn tasks to all its workers before the policy decides anything."""

from __future__ import annotations

from collections import Counter

import pytest

from askwise import Batch, Campaign, Done, Wait
from askwise.core.events import Event, Kind
from tests.campaign.certified import said_by, truth_of
from tests.campaign.piloted import TASKS, create, run


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
