"""Labels set by hand: they win, can be changed, and are facts of the log like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.campaign.state import CampaignState
from askwise.core.errors import AskwiseError, Conflict
from askwise.core.event_columns import EventColumns
from askwise.core.events import Event, Kind
from askwise.ledger import Ledger
from askwise.ledger.stretches import StretchReader
from askwise.testing.referee import Referee
from askwise.testing.sessions import spec_of_campaign
from tests.schemas import faults


def campaign_of(**more: Any) -> Campaign:
    given: dict[str, Any] = {
        "workers": [Worker(name, 1) for name in ("a", "b", "c")],
        "tasks": ["t1", "t2"],
        "options": ["no", "yes"],
        "policy": "random-pairs",
        "stopping": {"name": "fixed", "n": 3},
        "seed": 1,
    }
    return Campaign.create(**{**given, **more})


def answer_all(campaign: Campaign, value: Any = "yes") -> None:
    while batch := campaign.ask():
        for each in batch:
            campaign.tell(each.id, value)


def about(campaign: Campaign, task: str = "t1") -> Any:
    return next(each for each in campaign.answers() if each.task == task)


def test_a_label_wins_over_the_answer_that_a_task_was_closed_with() -> None:
    campaign = campaign_of()
    answer_all(campaign)
    before = about(campaign)
    assert (before.value, before.confidence, before.decided_by) == ("yes", 1.0, None)
    campaign.set_label("t1", "no", by="ann", why="The tail is a fox's.")
    after = about(campaign)
    assert (after.value, after.confidence, after.rests_on) == ("no", None, None)
    assert (after.outcome, after.decided_by, after.count) == ("labelled", "ann", 3)
    assert about(campaign, "t2").decided_by is None
    event = campaign.log()[-1]
    assert (event.kind, event.task, event.value) == (Kind.LABELLED, "t1", "no")
    assert (event.by, event.why) == ("ann", "The tail is a fox's.")
    assert faults("event", event.to_json()) == []
    assert faults("answers", [each.to_json() for each in campaign.answers()]) == []
    assert Event.from_json(event.to_json()) == event


def test_a_label_can_be_set_again_and_the_last_one_counts() -> None:
    campaign = campaign_of()
    answer_all(campaign)
    for value, by in (("no", "ann"), ("yes", "bob"), ("no", "bob")):
        campaign.set_label("t1", value, by=by)
        assert (about(campaign).value, about(campaign).decided_by) == (value, by)
    assert [event.kind for event in campaign.log()][-3:] == [Kind.LABELLED] * 3


def test_nobody_is_asked_about_a_task_whose_label_was_set() -> None:
    campaign = campaign_of(stopping=None)
    campaign.set_label("t1", "no", by="ann")
    kinds = [event.kind for event in campaign.log()]
    assert kinds == [Kind.CLOSED, Kind.LABELLED]
    assert campaign.status().settled == 1
    answer_all(campaign)
    assert {event.task for event in campaign.log() if event.kind == Kind.ASKED} == {"t2"}


def test_a_label_that_is_a_truth_is_told_as_one() -> None:
    campaign = campaign_of()
    answer_all(campaign)
    campaign.set_label("t1", "no", by="ann", truth=True)
    found = about(campaign)
    assert (found.value, found.confidence, found.rests_on) == ("no", 1.0, "truth")
    assert [event.kind for event in campaign.log()][-2:] == [Kind.TRUTH, Kind.LABELLED]
    campaign.set_label("t1", "no", by="bob", truth=True)
    assert campaign.log()[-2].kind == Kind.LABELLED, "a truth is told once"
    end = len(campaign.log())
    with pytest.raises(Conflict) as refused:
        campaign.set_label("t1", "yes", by="ann", truth=True)
    assert (refused.value.reason, refused.value.field) == ("truth_known", "value")
    assert len(campaign.log()) == end, "nothing is half done"
    campaign.set_label("t1", "yes", by="ann")
    assert (about(campaign).value, about(campaign).rests_on) == ("yes", None)


def test_a_truth_told_about_a_closed_task_is_its_answer() -> None:
    campaign = campaign_of()
    answer_all(campaign)
    assert about(campaign).value == "yes"
    campaign.truth("t1", "no")
    found = about(campaign)
    assert (found.value, found.confidence, found.rests_on) == ("no", 1.0, "truth")


def test_a_policy_decides_as_if_no_label_had_been_set_on_a_closed_task() -> None:
    logs = []
    for labelled in (False, True):
        campaign = campaign_of(policy="hem", tasks=["t1", "t2", "t3"], stopping=None)
        campaign.close("t1")
        if labelled:
            campaign.set_label("t1", "no", by="ann")
        answer_all(campaign)
        logs.append(
            [
                (event.kind, event.task, event.worker)
                for event in campaign.log()
                if event.kind != Kind.LABELLED
            ]
        )
    assert logs[0] == logs[1]


def test_a_retry_sets_a_label_once() -> None:
    campaign = campaign_of()
    for _ in range(2):
        campaign.set_label("t1", "no", by="ann", key="k")
    assert len(campaign.log()) == 2


def test_utilities_are_labelled_with_numbers() -> None:
    campaign = campaign_of(options=None, outcome="utility", policy="uniform", stopping=None)
    campaign.set_label("t1", 1, by="ann")
    assert about(campaign).value == 1.0
    with pytest.raises(AskwiseError) as refused:
        campaign.set_label("t1", 0.5, by="ann", truth=True)
    assert refused.value.field == "value"


@pytest.mark.parametrize(
    ("given", "field", "reason"),
    [
        ({"task": "t9"}, "task", "unknown_task"),
        ({"value": "maybe"}, "value", "invalid_value"),
        ({"value": 1}, "value", "invalid_value"),
        ({"by": ""}, "by", "invalid_value"),
        ({"by": None}, "by", "invalid_value"),
        ({"by": "x" * 201}, "by", "invalid_value"),
        ({"why": "x" * 2001}, "why", "invalid_value"),
        ({"why": 7}, "why", "invalid_value"),
    ],
)
def test_what_is_wrong_is_named(given: dict[str, Any], field: str, reason: str) -> None:
    campaign = campaign_of()
    with pytest.raises(AskwiseError) as refused:
        campaign.set_label(**{"task": "t1", "value": "yes", "by": "ann", **given})
    assert (refused.value.field, refused.value.reason) == (field, reason)
    assert campaign.log() == []


def test_units_of_work_have_no_labels() -> None:
    campaign = campaign_of(
        tasks=None, options=None, outcome="utility", policy="uniform", stopping=None, budget=9
    )
    with pytest.raises(Conflict) as refused:
        campaign.set_label("t1", 0.5, by="ann")
    assert refused.value.reason == "no_tasks"


# The log.


def labelled_campaign(store: Any = "memory") -> Campaign:
    campaign = campaign_of(store=store, name="mail", policy="hem")
    answer_all(campaign)
    campaign.set_label("t1", "no", by="ann")
    campaign.set_label("t2", "no", by="bob", why="Both.", truth=True)
    campaign.set_label("t1", "yes", by="ann", why="On reflection.")
    return campaign


def test_a_campaign_that_is_opened_again_has_its_labels(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'a.db'}"
    campaign = labelled_campaign(address)
    again = Campaign.open(address, "mail")
    assert again.answers() == campaign.answers()
    assert again.status() == campaign.status()


def test_a_snapshot_keeps_labels_and_one_without_any_is_read() -> None:
    campaign = labelled_campaign()
    with campaign.reading() as state:
        ledger = state.ledger
        restored = CampaignState.restore(state.spec, state.snapshot())
    assert restored.ledger.labels == ledger.labels
    assert restored.ledger.names() == ledger.names()
    names = ledger.names().replace('"labels"', '"other"')
    assert Ledger.restore(ledger.problem, ledger.arrays(), names).labels == {}


@pytest.mark.parametrize("held", [True, False])
def test_a_long_stretch_is_folded_as_one_by_one(held: bool) -> None:
    campaign = labelled_campaign()
    events, spec = campaign.log(), spec_of_campaign(campaign)
    columns = EventColumns.of(events) if held else campaign.store.columns("mail", 0, len(events))
    ledger = Ledger(spec.problem)
    reader = StretchReader(ledger, {note: at for at, note in enumerate(spec.policy.notes)})
    stretch = reader.read(columns)
    one_by_one = Ledger(spec.problem)
    for event in events:
        one_by_one.apply(event)
    assert ledger.labels == one_by_one.labels
    assert [line[0] for line in stretch.lines.tolist()] == [int(event.kind) for event in events]


def test_the_referee_follows() -> None:
    campaign = labelled_campaign()
    referee = Referee(spec_of_campaign(campaign).problem)
    for event in campaign.log():
        referee.see(event)
