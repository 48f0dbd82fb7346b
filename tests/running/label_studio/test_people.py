"""Who answers in Label Studio: workers of the campaign, and people who join it there."""

from __future__ import annotations

import pytest

from askwise.core.events import Kind
from tests.running.label_studio.scene import WORKERS, Scene


def test_who_answers_is_the_worker_whoever_was_chosen() -> None:
    scene = Scene(tasks=1, slots=1)
    scene.look()
    chosen = {each.worker for each in scene.campaign.assignments()}
    scene.annotate("ann", "t0", "yes")
    scene.look()
    assert scene.answers() == [("t0", "ann", "yes")]
    assert chosen == set(WORKERS.values())
    assert str(scene.campaign.status().spent) == "0.05"


def test_a_question_is_handed_over_to_the_one_who_answered_it() -> None:
    scene = Scene(tasks=3, slots=1, stopping="quorum(quorum=1, of=1)")
    scene.look()
    (other,) = [each for each in scene.campaign.assignments() if each.worker == "ben"]
    scene.annotate("ann", other.task or "", "yes")
    scene.look()
    assert scene.answers() == [(other.task, "ann", "yes")]
    assert scene.sync.counts.done["handed_over"] == 1
    (answer,) = [event for event in scene.campaign.log() if event.kind == Kind.ANSWER]
    explained = scene.campaign.explain(f"mails:{answer.assignment}")
    assert (explained.purpose, explained.propensity, explained.reproduced) == (
        "handed over",
        None,
        True,
    )


def test_somebody_new_joins_at_the_price_of_the_settings() -> None:
    scene = Scene(tasks=1, names={}, only_workers=False, price="0.07")
    scene.look()
    scene.annotate("ann", "t0", "yes")
    scene.look()
    assert scene.answers() == [("t0", "label-studio-2", "yes")]
    assert str(scene.campaign.status().spent) == "0.07"


def test_who_is_no_worker_is_left_alone_where_only_workers_count() -> None:
    scene = Scene(tasks=1, names={"ann@example.org": "ann"})
    scene.look()
    mark = scene.annotate("ben", "t0", "yes")
    scene.look()
    assert scene.answers() == []
    assert scene.untaken() == {mark: "stranger"}


@pytest.mark.parametrize("policy", ["cucb", "epsilon-t-greedy"])
def test_a_policy_that_takes_nobody_in_goes_on_with_those_it_has(
    policy: str, caplog: pytest.LogCaptureFixture
) -> None:
    scene = Scene(tasks=2, policy=policy, only_workers=False, one_project_per_worker=True)
    scene.look()
    scene.look()
    assert scene.sync.counts.done["asked"] > 0
    assert [each.message.split(" ")[0] for each in caplog.records] == ["label-studio-1"]


def test_nobody_joins_a_campaign_that_was_stopped_and_that_ends_nothing() -> None:
    scene = Scene(tasks=1, names={"ann@example.org": "ann"})
    scene.look()
    scene.annotate("ann", "t0", "yes")
    scene.campaign.stop()
    scene.given["only_workers"] = False
    scene.restart().whole()
    assert scene.answers() == [("t0", "ann", "yes")]
