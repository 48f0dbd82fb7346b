"""Annotations in Label Studio that are edited, deleted, skipped or can not be read."""

from __future__ import annotations

import pytest

from askwise.core.events import Kind
from tests.running.label_studio.scene import Scene


def test_an_edit_replaces_the_vote_and_moves_no_money() -> None:
    scene = Scene(tasks=1)
    scene.look()
    mark = scene.annotate("ann", "t0", "yes")
    scene.look()
    spent = scene.campaign.status().spent
    for value in ("no", "yes", "no"):
        scene.edit(mark, value)
        scene.look()
    assert scene.kinds(Kind.REVISED) == [("t0", "ann", each) for each in ("no", "yes", "no")]
    assert scene.campaign.answers()[0].value == "no"
    assert scene.campaign.status().spent == spent


def test_a_deleted_annotation_is_withdrawn_and_a_new_one_counts_again_unpaid() -> None:
    scene = Scene(tasks=1)
    scene.look()
    mark = scene.annotate("ann", "t0", "yes")
    scene.look()
    spent = scene.campaign.status().spent
    scene.delete(mark)
    scene.look()
    assert scene.kinds(Kind.WITHDRAWN) == [("t0", "ann", None)]
    scene.annotate("ann", "t0", "no")
    scene.look()
    assert scene.kinds(Kind.REVISED) == [("t0", "ann", "no")]
    assert scene.campaign.status().spent == spent


def test_a_skip_turns_the_question_down_for_them_alone() -> None:
    scene = Scene(tasks=1, stopping="quorum(quorum=1, of=3)")
    scene.look()
    for who in ("ann", "ben"):
        scene.skip(who, "t0")
        scene.look()
    assert sorted(who for _, who, _ in scene.kinds(Kind.DECLINED)) == ["ann", "ben"]
    assert scene.next("cem") == "t0"
    scene.annotate("cem", "t0", "yes")
    scene.look()
    assert scene.answers() == [("t0", "cem", "yes")]


def test_an_answer_that_is_skipped_later_is_withdrawn() -> None:
    scene = Scene(tasks=1)
    scene.look()
    mark = scene.annotate("ann", "t0", "yes")
    scene.look()
    body = {"was_cancelled": True}
    scene.http("ann").patch(f"/api/annotations/{mark}/", json=body)
    scene.look()
    assert scene.kinds(Kind.WITHDRAWN) == [("t0", "ann", None)]


def test_of_two_annotations_of_one_person_the_last_counts_and_one_is_paid() -> None:
    scene = Scene(tasks=1)
    scene.look()
    first = scene.annotate("ann", "t0", "yes")
    scene.annotate("ann", "t0", "no")
    scene.look()
    assert scene.answers() == [("t0", "ann", "no")]
    scene.edit(first, "yes")
    scene.look()
    assert scene.kinds(Kind.REVISED) == [("t0", "ann", "yes")]
    assert str(scene.campaign.status().spent) == "0.05"
    assert scene.next("ben") == "t0"


@pytest.mark.parametrize("result", [[], [{"from_name": "askwise_answer", "value": 3}], "text"])
def test_an_annotation_without_an_answer_fails_unpaid(result: object) -> None:
    scene = Scene(tasks=1)
    scene.look()
    mark = scene.post("ann", "t0", {"result": result})
    scene.look()
    assert [who for _, who, _ in scene.kinds(Kind.FAILED)] == ["ann"]
    assert scene.untaken() == {mark: "unreadable"}
    assert scene.campaign.status().spent == 0


def test_an_annotation_with_an_unknown_choice_fails_unpaid() -> None:
    scene = Scene(tasks=1)
    scene.look()
    scene.annotate("ann", "t0", "perhaps")
    scene.look()
    assert [who for _, who, _ in scene.kinds(Kind.FAILED)] == ["ann"]


def test_what_was_changed_by_hand_stays_until_the_annotation_is_changed() -> None:
    scene = Scene(tasks=1)
    scene.look()
    mark = scene.annotate("ann", "t0", "yes")
    scene.look()
    (answer,) = [event for event in scene.campaign.log() if event.kind == Kind.ANSWER]
    scene.campaign.revise(f"mails:{answer.assignment}", "no", by="owner")
    scene.look()
    assert scene.campaign.answers()[0].value == "no"
    assert scene.untaken() == {mark: "changed_by_hand"}
    scene.server.annotations[mark]["updated_at"] = "2099-01-01T00:00:00Z"
    scene.look()
    assert scene.campaign.answers()[0].value == "yes"
