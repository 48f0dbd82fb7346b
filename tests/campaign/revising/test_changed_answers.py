"""Answers that are changed or taken back after they were given."""

from __future__ import annotations

import pytest

from askwise.core.errors import InvalidAnswer
from tests.campaign.revising.changed import kinds, made, said, told


def test_a_changed_answer_counts_as_if_it_had_been_given_so() -> None:
    campaign = made()
    ids = told(campaign, "t1", ann="cat", bob="cat", cyd="dog")
    assert said(campaign) == ("cat", pytest.approx(2 / 3), 3, "open")
    before = campaign.status()
    campaign.revise(ids["ann"], "dog", rationale="It barks.", reference="a-7", by="eve")
    assert said(campaign) == ("dog", pytest.approx(2 / 3), 3, "open")
    now = campaign.status()
    assert (now.spent, now.reserved, now.answers) == (before.spent, before.reserved, 3)
    found = campaign.assignment(ids["ann"])
    assert (found.state, found.value, found.cost, found.revised) == ("answered", "dog", 1, 1)
    *_, given, event = campaign.log()
    assert event.to_json() | {"time": 0} == {
        "kind": "REVISED",
        "seq": given.seq + 1,
        "time": 0,
        "assignment": int(ids["ann"].rpartition(":")[2]),
        "task": "t1",
        "worker": "ann",
        "value": "dog",
        "rationale": "It barks.",
        "reference": "a-7",
        "by": "eve",
    }


def test_the_last_change_counts() -> None:
    campaign = made()
    ids = told(campaign, "t1", ann="cat")
    for value in ("dog", "cat", "dog"):
        campaign.revise(ids["ann"], value)
        assert said(campaign)[0] == value
    assert campaign.assignment(ids["ann"]).revised == 3


def test_the_same_again_changes_nothing_and_is_not_logged() -> None:
    campaign = made()
    ids = told(campaign, "t1", ann="cat")
    before = campaign.log()
    campaign.revise(ids["ann"], "cat")
    assert campaign.log() == before
    campaign.revise(ids["ann"], "cat", rationale="It purrs.")
    assert kinds(campaign, len(before)) == ["REVISED"]
    assert said(campaign) == ("cat", 1.0, 1, "open")


def test_a_withdrawn_answer_is_paid_and_has_no_vote() -> None:
    campaign = made()
    ids = told(campaign, "t1", ann="cat", bob="dog", cyd="dog")
    campaign.withdraw(ids["bob"], "It was deleted.", by="eve")
    assert said(campaign)[1:] == (0.5, 2, "open")
    status = campaign.status()
    assert (status.answers, status.spent, status.failures) == (2, 3, 1)
    found = campaign.assignment(ids["bob"])
    assert (found.state, found.value, found.cost, found.revised) == ("withdrawn", None, 1, 1)
    (bob,) = (each for each in campaign.payments() if each.worker == "bob")
    assert (bob.paid, bob.answers, bob.failures) == (1, 0, 1)
    before = campaign.log()
    campaign.withdraw(ids["bob"], "Once more.")
    assert campaign.log() == before
    with pytest.raises(InvalidAnswer, match="was withdrawn") as caught:
        campaign.tell(ids["bob"], "cat")
    assert caught.value.reason == "assignment_withdrawn"
    offered = campaign.ask(limit=9, workers=["bob"])
    assert "t1" not in {each.task for each in offered}


def test_a_withdrawn_answer_that_is_revised_counts_again() -> None:
    campaign = made()
    ids = told(campaign, "t1", ann="cat", bob="dog")
    campaign.withdraw(ids["bob"], "It was deleted.")
    campaign.revise(ids["bob"], "cat")
    assert said(campaign) == ("cat", 1.0, 2, "open")
    assert campaign.status().failures == 0
    assert campaign.assignment(ids["bob"]).revised == 2


def test_utilities_are_changed_too_and_nothing_is_a_value() -> None:
    campaign = made(tasks=None, options=None, outcome="utility", policy="uniform")
    batch = campaign.ask(limit=2)
    campaign.tell(batch[0].id, 0.75)
    campaign.tell(batch[1].id, 0.5)
    campaign.revise(batch[0].id, 0)
    assert campaign.status().utility == 0.5
    assert campaign.assignment(batch[0].id).value == 0.0
    campaign.withdraw(batch[1].id, "Not done.")
    assert (campaign.status().utility, campaign.status().spent) == (0.0, 2)


# Tasks that are closed.


def test_a_change_may_close_a_task() -> None:
    campaign = made(stopping={"name": "lead", "lead": 2})
    ids = told(campaign, "t1", ann="cat", bob="dog")
    before = len(campaign.log())
    campaign.revise(ids["ann"], "dog")
    assert kinds(campaign, before) == ["REVISED", "CLOSED"]
    assert said(campaign)[0::3] == ("dog", "confident")


def test_a_closed_task_is_judged_anew_and_stays_closed() -> None:
    campaign = made(stopping={"name": "lead", "lead": 2})
    ids = told(campaign, "t1", ann="cat", bob="cat")
    assert said(campaign)[0::3] == ("cat", "confident")
    before = len(campaign.log())
    campaign.revise(ids["bob"], "dog")
    assert kinds(campaign, before) == ["REVISED", "CLOSED"]
    assert said(campaign)[3] == "low_confidence"
    campaign.revise(ids["ann"], "dog")
    assert said(campaign)[0::3] == ("dog", "confident")
    campaign.revise(ids["ann"], "dog", rationale="Sure.")
    assert kinds(campaign, before + 4) == ["REVISED"], "the verdict is what it was"
    assert "t1" not in {each.task for each in campaign.ask(limit=9)}


def test_a_task_that_was_closed_by_hand_gets_the_answer_of_the_votes() -> None:
    campaign = made()
    ids = told(campaign, "t1", ann="cat", bob="cat", cyd="dog")
    campaign.close("t1")
    campaign.revise(ids["ann"], "dog")
    assert said(campaign) == ("dog", pytest.approx(2 / 3), 3, "closed")
    for worker in ids:
        campaign.withdraw(ids[worker], "All wrong.")
    assert said(campaign)[0::2] == (None, 0)


def test_a_label_that_was_set_by_hand_stays() -> None:
    campaign = made()
    ids = told(campaign, "t1", ann="cat")
    campaign.set_label("t1", "cat", by="eve")
    campaign.revise(ids["ann"], "dog")
    assert said(campaign)[0::3] == ("cat", "labelled")


# What is refused.
