"""An annotation is one answer, and is paid once."""

from __future__ import annotations

from typing import Any

import pytest

from askwise import Worker
from askwise.core.errors import InvalidProblem
from askwise.core.events import Kind
from tests.running.label_studio.scene import FORM, Scene

REPEATING: dict[str, Any] = {
    "tasks": 1,
    "repeat": True,
    "policy": "b-kube",
    "stopping": "quorum(quorum=9, of=17)",
    "slots": 1,
    "one_project_per_worker": True,
}


@pytest.mark.parametrize("kind", [None, "crowd"])
def test_workers_who_may_be_asked_again_about_a_task_are_refused(kind: Any) -> None:
    with pytest.raises(InvalidProblem, match=r"worker 'ann' .* kind 'person'") as refused:
        Scene(workers=[Worker("ann", "0.05", kind=kind)], **REPEATING)
    assert refused.value.field == "workers"


def test_a_crowd_that_answers_elsewhere_is_no_matter_of_label_studio() -> None:
    workers = [Worker("ann", "0.05", kind="person"), Worker("elsewhere", "0.05", kind="crowd")]
    Scene(workers=workers, **REPEATING).look()


@pytest.mark.parametrize("skipped", [False, True])
def test_who_joins_later_and_may_be_asked_again_is_left_out(skipped: bool) -> None:
    scene = Scene(workers=[Worker("cem", "0.05", kind="person")], **REPEATING)
    # They join when the two sides are in step already, as one who may be asked again.
    scene.campaign.add(workers=[Worker("ann", "0.05")])
    scene.look()
    body = {"result": FORM.result("yes"), "was_cancelled": skipped}
    mark = scene.post("ann", "t0", body)
    scene.look()
    assert scene.kinds(Kind.ANSWER, Kind.DECLINED) == []
    assert "ann" not in {each.worker for each in scene.campaign.assignments()}
    assert scene.untaken() == {mark: "stranger"}


def test_an_annotation_is_paid_once_though_its_author_gets_another_name() -> None:
    scene = Scene(tasks=1, names={}, only_workers=False, stopping="quorum(quorum=3, of=5)")
    scene.look()
    mark = scene.annotate("ann", "t0", "yes")
    scene.look()
    scene.given["workers"] = {"ann@example.org": "ann"}
    scene.restart().whole()
    assert scene.answers() == [("t0", "label-studio-2", "yes")]
    assert scene.untaken() == {mark: "annotation_used"}
