"""What can be taken back: a task, a campaign that is put away, a title."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise import Campaign, Done, Wait, Worker
from askwise.core.errors import AskwiseError, Conflict, UnknownName
from askwise.core.events import Event, Kind
from askwise.testing.referee import Referee
from askwise.testing.sessions import spec_of_campaign
from tests.campaign import certified
from tests.schemas import faults


def campaign_of(**more: Any) -> Campaign:
    raw: dict[str, Any] = {
        "workers": [Worker(name, 1) for name in ("ann", "bob", "eve")],
        "tasks": ["t1", "t2", "t3"],
        "options": ["no", "yes"],
        "policy": "random-pairs",
        "budget": 100,
        "seed": 1,
        "name": "cats",
    }
    return Campaign.create(**{**raw, **more})


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(AskwiseError) as refused:
        act()
    return refused.value.reason


def to_the_end(campaign: Campaign) -> set[str | None]:
    """Answer everything; returns the tasks that were asked about."""
    asked: set[str | None] = set()
    while batch := campaign.ask(5):
        for each in batch:
            asked.add(each.task)
            campaign.tell(each.id, "yes")
    return asked


# Removing a task.


def test_a_removed_task_is_asked_no_more_and_in_no_view() -> None:
    campaign = campaign_of()
    campaign.remove("t2")
    status = campaign.status()
    assert (status.tasks, status.open_tasks, status.settled) == (2, 2, 0)
    assert to_the_end(campaign) == {"t1", "t3"}
    assert [answer.task for answer in campaign.answers()] == ["t1", "t3"]
    assert isinstance(campaign.ask(), Done)
    with campaign.reading() as state:
        assert state.settled().sum() == 1, "to policies it is closed"


def test_what_is_out_of_a_removed_task_is_released_and_not_taken_late() -> None:
    campaign = campaign_of()
    (asked,) = campaign.ask()
    campaign.remove(str(asked.task))
    assert campaign.assignment(asked.id).state == "expired"
    assert (campaign.status().reserved, campaign.status().pending) == (0, 0)
    assert refusal(lambda: campaign.tell(asked.id, "yes")) == "task_removed"
    *_, released, removed = campaign.log()
    assert (released.kind, removed.kind, removed.outcome) == (Kind.EXPIRED, Kind.CLOSED, "removed")
    assert faults("event", removed.to_json()) == []


def test_a_task_that_was_closed_by_hand_can_be_removed_too() -> None:
    campaign = campaign_of()
    campaign.close("t1")
    campaign.remove("t1")
    assert [answer.task for answer in campaign.answers()] == ["t2", "t3"]
    assert campaign.status().open_tasks == 2


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (lambda campaign: campaign.remove("t9"), "unknown_task"),
        (lambda campaign: campaign.remove("t2"), "task_removed"),
        (lambda campaign: campaign.close("t2"), "task_removed"),
        (lambda campaign: campaign.truth("t2", "yes"), "task_removed"),
        (lambda campaign: campaign.set_label("t2", "yes", by="me"), "task_removed"),
        (lambda campaign: campaign.comment("t2", "Why?", by="me"), "task_removed"),
        (lambda campaign: campaign.add(tasks=["t2"]), "task_exists"),
        (lambda campaign: campaign.remove("t1"), "task_answered"),
        (lambda campaign: campaign.remove("t3"), "task_answered"),
    ],
)
def test_what_is_refused_about_tasks_that_are_removed_or_answered(
    act: Callable[[Campaign], None], reason: str
) -> None:
    campaign = campaign_of()
    campaign.remove("t2")
    campaign.set_label("t3", "no", by="me")
    (asked,) = campaign.ask()
    assert asked.task == "t1"
    campaign.tell(asked.id, "yes")
    end = campaign.log()[-1].seq
    assert refusal(lambda: act(campaign)) == reason
    assert campaign.log()[-1].seq == end


def test_a_task_whose_call_was_paid_without_an_answer_stays() -> None:
    campaign = campaign_of()
    (asked,) = campaign.ask()
    campaign.fail(asked.id, "refused", cost="0.5")
    assert refusal(lambda: campaign.remove(str(asked.task))) == "task_answered"


def test_units_of_work_can_not_be_removed() -> None:
    campaign = Campaign.create(
        workers=[Worker("ann", 1)], outcome="utility", budget=3, policy="bounded-epsilon-first"
    )
    assert refusal(lambda: campaign.remove("unit")) == "no_tasks"


def test_a_removed_task_is_neither_audited_nor_escalated() -> None:
    campaign = certified.create(tasks=certified.TASKS[:12], certify={"escalate": True})
    campaign.remove("t0")
    asked: set[str] = set()

    def says(worker: str, task: str) -> str:
        asked.add(task)
        return certified.said_by(worker, task)

    certified.run(campaign, says=says)
    assert asked == set(certified.TASKS[1:12])
    drawn = next(event.draw for event in campaign.log() if event.kind == Kind.DRAWN)
    assert drawn is not None
    assert "t0" not in drawn["tasks"]
    assert refusal(lambda: campaign.remove("t1")) == "task_answered"


def test_removing_twice_with_one_key_is_once() -> None:
    campaign = campaign_of()
    campaign.remove("t1", key="k")
    campaign.remove("t1", key="k")
    assert campaign.status().tasks == 2


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(["ask", "tell", "remove", "close", "add"]), max_size=25))
def test_whatever_is_removed_a_replay_comes_to_the_same(steps: list[str]) -> None:
    campaign = campaign_of()
    for at, step in enumerate(steps):
        task = f"t{at % 4 + 1}"
        with suppress(Conflict, UnknownName):
            if step == "ask":
                campaign.ask(2)
            elif step == "tell" and (out := campaign.assignments()):
                campaign.tell(out[0].id, "yes")
            elif step == "add":
                campaign.add(tasks=[f"n{at}"])
            elif step in ("remove", "close"):
                getattr(campaign, step)(task)
    again = Campaign.open(campaign.store, "cats")
    assert again.status() == campaign.status()
    assert again.answers() == campaign.answers()
    referee = Referee(spec_of_campaign(campaign).problem)
    for event in campaign.log():
        referee.see(event)
    with campaign.reading() as state:
        copied = type(state).restore(state.spec, state.snapshot())
        assert copied.ledger.removed == state.ledger.removed
        assert copied.snapshot() == state.snapshot()


# Putting a campaign away.


def test_an_archived_campaign_can_be_read_and_not_changed() -> None:
    campaign = campaign_of()
    (asked,) = campaign.ask()
    campaign.tell(asked.id, "yes", key="k")
    before = campaign.answers()
    campaign.archive()
    assert campaign.status().archived
    assert campaign.ask() == Wait("resume")
    assert campaign.answers() == before
    end = campaign.log()[-1].seq
    writes: list[Callable[[], None]] = [
        campaign.pause,
        campaign.stop,
        campaign.archive,
        lambda: campaign.close("t1"),
        lambda: campaign.remove("t3"),
        lambda: campaign.add(tasks=["t9"]),
        lambda: campaign.top_up(5),
        lambda: campaign.leave("ann"),
        lambda: campaign.retitle("Dogs"),
        lambda: campaign.truth("t1", "yes"),
        lambda: campaign.set_label("t1", "yes", by="me"),
    ]
    assert {refusal(write) for write in writes} == {"campaign_archived"}
    campaign.tell(asked.id, "yes", key="k")  # a retry, answered as the first time
    assert campaign.log()[-1].seq == end
    assert campaign.store.put_away() == {"cats"}


def test_an_archived_campaign_goes_on_as_it_was() -> None:
    campaign, other = campaign_of(), campaign_of()
    campaign.archive()
    campaign.unarchive()
    assert campaign.store.put_away() == set()
    assert not campaign.status().archived
    assert to_the_end(campaign) == to_the_end(other)
    assert campaign.answers() == other.answers()
    assert refusal(campaign.unarchive) == "campaign_not_archived"


def test_a_campaign_with_questions_out_is_not_archived() -> None:
    campaign = campaign_of()
    campaign.ask()
    assert refusal(campaign.archive) == "assignments_out"


def test_a_snapshot_knows_title_and_archive() -> None:
    campaign = campaign_of()
    campaign.retitle("Cats and dogs")
    campaign.archive()
    with campaign.reading() as state:
        copied = type(state).restore(state.spec, state.snapshot())
    assert (copied.title, copied.ledger.archived) == ("Cats and dogs", True)


# A title.


def test_a_title_can_be_changed_and_taken_back() -> None:
    content = {"question": "A cat?", "options": ["no", "yes"], "title": "Cats"}
    campaign = campaign_of(options=None, content=content)
    titles = [campaign.status().title]
    for title in ("  Cats & dogs ", "Cats & dogs", None):
        campaign.retitle(title)
        titles.append(campaign.status().title)
    assert titles == ["Cats", "Cats & dogs", "Cats & dogs", "Cats"]
    assert [event.text for event in campaign.log()] == ["Cats & dogs", None]
    assert campaign.name == "cats"
    for event in campaign.log():
        assert faults("event", event.to_json()) == []
        assert Event.from_json(event.to_json()) == event


def test_without_a_title_a_campaign_goes_by_its_name() -> None:
    assert campaign_of().status().title is None


@pytest.mark.parametrize("title", ["", "  ", 7, "a\nb", "x" * 201])
def test_a_title_that_is_none_is_refused(title: Any) -> None:
    campaign = campaign_of()
    with pytest.raises(AskwiseError, match="title") as refused:
        campaign.retitle(title)
    assert refused.value.field == "title"
    assert campaign.log() == []
