"""Flags of workers and comments of requesters: on record, and no part of what is decided."""

from __future__ import annotations

from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.campaign.state import CampaignState
from askwise.campaign.views import answers
from askwise.campaign.views.review import review
from askwise.core.errors import AskwiseError, Conflict
from askwise.core.events import Event, Kind
from askwise.ledger import Ledger
from askwise.testing.referee import Referee
from askwise.testing.sessions import spec_of_campaign
from tests.schemas import faults


def campaign_of(**more: Any) -> Campaign:
    given: dict[str, Any] = {
        "workers": [Worker(name, 1) for name in ("a", "b", "c")],
        "tasks": ["t1", "t2"],
        "options": ["no", "yes"],
        "policy": "random-pairs",
        "budget": 10,
        "seed": 1,
    }
    return Campaign.create(**{**given, **more})


def flag_next(campaign: Campaign, why: str = "There is no picture.") -> Any:
    (asked,) = campaign.ask()
    campaign.flag(asked.id, why)
    return asked


def test_a_flag_takes_the_question_back_and_says_why() -> None:
    campaign = campaign_of()
    asked = flag_next(campaign)
    flagged, declined = campaign.log()[-2:]
    assert (flagged.kind, declined.kind) == (Kind.FLAGGED, Kind.DECLINED)
    assert (flagged.task, flagged.worker) == (asked.task, asked.worker)
    assert (flagged.why, flagged.assignment) == ("There is no picture.", declined.assignment)
    assert faults("event", flagged.to_json()) == []
    assert Event.from_json(flagged.to_json()) == flagged
    assert campaign.status().reserved == 0
    assert campaign.assignment(asked.id).state == "declined"
    while batch := campaign.ask():
        for each in batch:
            assert (each.task, each.worker) != (asked.task, asked.worker)
            campaign.tell(each.id, "yes")


def test_a_question_is_flagged_once() -> None:
    campaign = campaign_of()
    asked = flag_next(campaign)
    end = len(campaign.log())
    with pytest.raises(Conflict) as refused:
        campaign.flag(asked.id, "Again.")
    assert refused.value.reason == "assignment_declined"
    assert len(campaign.log()) == end


@pytest.mark.parametrize("why", ["", "  ", "x" * 2001, None])
def test_a_flag_needs_a_reason(why: Any) -> None:
    campaign = campaign_of()
    (asked,) = campaign.ask()
    with pytest.raises(AskwiseError) as refused:
        campaign.flag(asked.id, why)
    assert (refused.value.field, refused.value.reason) == ("why", "invalid_value")


def test_units_of_work_are_declined_and_not_flagged() -> None:
    campaign = campaign_of(tasks=None, options=None, outcome="utility", policy="uniform")
    asked = campaign.ask()[0]
    with pytest.raises(Conflict) as refused:
        campaign.flag(asked.id, "No.")
    assert refused.value.reason == "no_tasks"
    with pytest.raises(Conflict):
        campaign.comment("t1", "Odd.", by="ann")


def test_comments_are_on_record_and_change_nothing() -> None:
    campaign = campaign_of()
    before = campaign.answers()
    campaign.comment("t1", "Look at the tail.", by="ann")
    event = campaign.log()[-1]
    assert (event.kind, event.task) == (Kind.COMMENTED, "t1")
    assert (event.text, event.by) == ("Look at the tail.", "ann")
    assert faults("event", event.to_json()) == []
    assert campaign.answers() == before
    for given in ({"task": "t9"}, {"text": " "}, {"by": ""}):
        with pytest.raises(AskwiseError) as refused:
            campaign.comment(**{"task": "t1", "text": "Odd.", "by": "ann", **given})
        assert refused.value.field == next(iter(given))


def queued(campaign: Campaign) -> list[Any]:
    with campaign.reading() as state:
        found = answers(state)
        return [found[at].task for at in review(state, found, "flagged").tolist()]


def test_the_queue_has_the_most_flagged_first_until_a_label_is_set() -> None:
    campaign = campaign_of()
    while batch := campaign.ask():
        for each in batch:
            if each.task == "t2" or each.worker == "a":
                campaign.flag(each.id, "Unclear.")
            else:
                campaign.tell(each.id, "yes")
    assert queued(campaign) == ["t2", "t1"]
    campaign.set_label("t2", "no", by="ann")
    assert queued(campaign) == ["t1"]


def test_remarks_survive_a_snapshot_and_the_referee_follows() -> None:
    campaign = campaign_of(policy="hem")
    flag_next(campaign)
    campaign.comment("t1", "Odd.", by="ann")
    campaign.comment("t1", "Very.", by="ann")
    with campaign.reading() as state:
        ledger = state.ledger
        restored = CampaignState.restore(state.spec, state.snapshot()).ledger
    assert (restored.flags, restored.comments) == (ledger.flags, ledger.comments)
    assert [len(seqs) for seqs in ledger.comments.values()] == [2]
    assert Ledger.restore(ledger.problem, ledger.arrays(), ledger.names()).names() == ledger.names()
    referee = Referee(spec_of_campaign(campaign).problem)
    for event in campaign.log():
        referee.see(event)
