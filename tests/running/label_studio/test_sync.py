"""What is submitted in Label Studio becomes answers, and what is asked becomes open tasks."""

from __future__ import annotations

import time
from unittest.mock import Mock

import pytest

from askwise import Campaign, Worker
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.events import Kind
from askwise.sources.label_studio import TASK, LabelStudioUnreachable
from tests.running.label_studio.scene import WORKERS, Scene


def test_tasks_come_closed_and_are_opened_for_one_answer_at_a_time() -> None:
    scene = Scene(tasks=4, slots=2)
    scene.look()
    out = {each.task for each in scene.campaign.assignments()}
    assert len(scene.campaign.assignments()) == 6
    assert scene.overlaps() == {f"t{at}": int(f"t{at}" in out) for at in range(4)}


def test_a_second_look_changes_nothing() -> None:
    scene = Scene()
    scene.look()
    log, overlaps = len(scene.campaign.log()), scene.overlaps()
    before = len(scene.server.seen)
    scene.restart().whole()
    assert (len(scene.campaign.log()), scene.overlaps()) == (log, overlaps)
    assert all(each.startswith("GET") for each in scene.server.seen[before:])


def test_agreement_closes_a_task_and_doubt_opens_it_for_another() -> None:
    scene = Scene(tasks=2)
    scene.look()
    for who, first, second in (("ann", "yes", "yes"), ("ben", "yes", "no")):
        scene.annotate(who, "t0", first)
        scene.annotate(who, "t1", second)
        scene.look()
    assert scene.overlaps() == {"t0": 2, "t1": 3}
    assert scene.next("cem") == "t1"
    scene.annotate("cem", "t1", "no")
    scene.look()
    assert scene.overlaps() == {"t0": 2, "t1": 3}
    assert [answer.value for answer in scene.campaign.answers()] == ["yes", "no"]
    assert scene.campaign.over() is not None
    assert str(scene.campaign.status().spent) == "0.25"


def test_what_nobody_asked_for_waits_until_somebody_does() -> None:
    scene = Scene(tasks=2, budget="0.10", stopping="quorum(quorum=1, of=3)")
    scene.look()
    marks = [scene.annotate(who, "t0", "yes") for who in ("ann", "ben")]
    scene.look()
    assert len(scene.answers()) == 1
    assert list(scene.untaken().values()) == ["unasked"]
    assert set(scene.untaken()) < set(marks)


def test_annotations_from_before_the_campaign_are_taken_as_they_are_wanted() -> None:
    old = Scene(tasks=2)
    old.look()
    for who in WORKERS.values():
        old.annotate(who, "t0", "yes")
    scene = Scene(tasks=2, project=old.project)
    scene.server = old.server
    scene.restart().whole()
    assert len(scene.answers()) == 2
    assert str(scene.campaign.status().spent) == "0.1"
    assert [answer.outcome for answer in scene.campaign.answers()] == ["confident", "open"]
    assert list(scene.untaken().values()) == ["task_closed"]
    assert scene.overlaps() == {"t0": 3, "t1": 1}


def test_the_budget_is_never_exceeded_and_what_it_refuses_is_said() -> None:
    scene = Scene(tasks=1, budget="0.10", stopping="quorum(quorum=3, of=3)")
    scene.look()
    said = (("ann", "yes"), ("ben", "no"), ("cem", "no"))
    marks = [scene.annotate(who, "t0", value) for who, value in said]
    scene.look()
    status = scene.campaign.status()
    assert (str(status.spent), len(scene.answers())) == ("0.1", 2)
    assert len(set(scene.untaken()) & set(marks)) == 1
    scene.campaign.top_up("0.05")
    scene.look()
    assert len(scene.answers()) == 3
    assert scene.untaken() == {}


def test_a_worker_with_a_higher_price_is_not_paid_more_than_the_budget_has() -> None:
    prices = {"ann": "0.05", "ben": "1", "cem": "0.05"}
    workers = [Worker(id, price, kind="person") for id, price in prices.items()]
    scene = Scene(tasks=1, workers=workers, budget="0.12", slots=1)
    scene.look()
    mark = scene.annotate("ben", "t0", "yes")
    scene.look()
    assert scene.answers() == []
    assert scene.untaken() == {mark: "over_budget"}
    scene.annotate("ann", "t0", "yes")
    scene.look()
    assert scene.answers() == [("t0", "ann", "yes")]


def test_a_task_that_was_deleted_comes_back_and_its_answers_stay() -> None:
    scene = Scene(tasks=1)
    scene.look()
    scene.annotate("ann", "t0", "yes")
    scene.look()
    scene.http("admin").delete(f"/api/tasks/{scene.place('t0')}/")
    scene.look()
    assert scene.kinds(Kind.WITHDRAWN) == []
    assert scene.overlaps() == {"t0": 1}
    scene.annotate("ann", "t0", "no")  # Label Studio does not know that they had it
    scene.annotate("ben", "t0", "no")
    scene.look()
    assert scene.kinds(Kind.REVISED) == [("t0", "ann", "no")]
    assert scene.answers() == [("t0", "ann", "yes"), ("t0", "ben", "no")]


def test_a_task_that_was_imported_twice_is_removed_again() -> None:
    scene = Scene(tasks=1)
    scene.look()
    rows = [{"data": dict(scene.server.tasks[scene.place("t0")]["data"])}]
    scene.http("admin").post(f"/api/projects/{scene.project}/import", json=rows)
    scene.look()
    assert [each["data"][TASK] for each in scene.server.tasks.values()] == ["t0"]


def test_tasks_and_projects_of_others_are_left_alone() -> None:
    scene = Scene(tasks=1)
    owner = scene.http("admin")
    other = owner.post("/api/projects/", json={"title": "other", "label_config": "<View/>"}).json()
    owner.post(f"/api/projects/{other['id']}/import", json=[{"data": {"text": "theirs"}}])
    scene.look()
    mine = max(scene.server.projects)
    owner.post(f"/api/projects/{mine}/import", json=[{"data": {"text": "theirs too"}}])
    before = [dict(each) for each in scene.server.tasks.values() if TASK not in each["data"]]
    scene.look()
    after = [dict(each) for each in scene.server.tasks.values() if TASK not in each["data"]]
    assert before == after
    assert scene.server.projects[other["id"]]["label_config"] == "<View/>"


def test_a_policy_that_hands_nothing_over_needs_a_project_for_each() -> None:
    with pytest.raises(InvalidProblem, match="round-robin"):
        Scene(policy="round-robin")
    assert Scene(policy="round-robin", one_project_per_worker=True).look().counts.done["asked"]


def test_a_project_that_is_not_there_is_an_error() -> None:
    with pytest.raises(InvalidParameter, match="no such project"):
        Scene(project=77).look()


def test_verdicts_and_labels_are_written_once_and_follow_the_campaign() -> None:
    workers = [Worker("judge", "0", kind="model")]
    workers += [Worker(id, "0.05", kind="person") for id in WORKERS.values()]
    scene = Scene(tasks=1, workers=workers, show_verdicts=True)
    (asked,) = scene.campaign.ask(1, ["judge"])
    scene.campaign.tell(asked.id, "yes")
    scene.look()

    def written() -> dict[str, str]:
        return {
            each["model_version"]: each["result"][0]["value"]["choices"][0]
            for each in scene.server.predictions.values()
        }

    assert written() == {"judge": "yes"}
    assert scene.server.projects[scene.project]["model_version"] == "judge"
    mark = scene.annotate("ann", "t0", "yes")
    scene.look()
    assert written() == {"judge": "yes", "askwise/agreement": "yes"}
    assert len(scene.server.predictions) == 2
    scene.campaign.set_label("t0", "no", by="owner")
    scene.edit(mark, "no")
    scene.look()
    assert written() == {"judge": "yes", "askwise/by_hand": "no"}


def test_with_a_project_for_each_askwise_decides_who_answers() -> None:
    scene = Scene(tasks=4, slots=1, one_project_per_worker=True)
    scene.look()
    for each in scene.campaign.assignments():
        project = scene.sync.board.projects[each.worker]
        owns = scene.next(each.worker, project)
        first = min(scene.campaign.assignments(), key=lambda out: (out.task != each.task, out.id))
        # Of two who are asked about one task, the second sees it after the first has answered.
        assert owns == (each.task if first.worker == each.worker else None)
    chosen = scene.campaign.assignments()[0]
    project = scene.sync.board.projects[chosen.worker]
    scene.annotate(chosen.worker, chosen.task or "", "yes", project)
    scene.look()
    assert scene.answers() == [(chosen.task, chosen.worker, "yes")]
    assert scene.sync.counts.done["handed_over"] == 0


def test_a_lease_is_renewed_while_a_task_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(tasks=1, slots=1, lease=100.0)
    scene.look()
    assert scene.kinds(Kind.RENEWED) == []
    later = time.time() + 60
    monkeypatch.setattr("askwise.running.label_studio.sync.time.time", lambda: later)
    scene.look()
    assert len(scene.kinds(Kind.RENEWED)) == len(scene.campaign.assignments()) == 3


def test_a_lease_of_a_gold_question_is_renewed_though_its_task_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screening = {"qualify": 5, "rate": 0.1}
    scene = Scene(tasks=30, slots=2, lease=100.0, screening=screening, one_project_per_worker=True)
    for at in range(20):
        scene.campaign.truth(f"t{at}", "yes")
    scene.look()
    gold = {each.id for each in scene.campaign.assignments()}
    assert len(gold) == 6
    later = time.time() + 60
    monkeypatch.setattr("askwise.running.label_studio.sync.time.time", lambda: later)
    scene.look()
    assert len(scene.kinds(Kind.RENEWED)) == 6


@pytest.mark.parametrize("own", [False, True])
def test_how_often_all_tasks_are_put_in_order_does_not_grow_with_their_number(
    own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders: list[int] = []
    for tasks in (4, 12):
        scene = Scene(tasks=tasks, slots=tasks, one_project_per_worker=own)
        scene.look()
        counted = Mock(wraps=sorted)
        monkeypatch.setattr("askwise.running.label_studio.board.sorted", counted, raising=False)
        scene.look()
        orders.append(counted.call_count)
    assert orders[0] == orders[1] > 0


def test_a_question_that_is_settled_elsewhere_meanwhile_need_not_be_given_back() -> None:
    scene = Scene(tasks=1, slots=1)
    other = Campaign.open(scene.store, "mails")

    def settle_elsewhere() -> None:
        if other.answers()[0].outcome != "open":
            for each in other.assignments():
                other.decline(each.id)

    scene.look()
    first, second, last = (each.worker for each in scene.campaign.assignments())
    for who in (first, second):
        scene.annotate(who, "t0", "yes")
    scene.restart(hold=settle_elsewhere).whole()
    assert [who for _, who, _ in scene.kinds(Kind.DECLINED)] == [last]
    assert scene.campaign.over() is not None


def test_a_server_that_does_not_answer_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("askwise.sources.label_studio.api.FIRST_PAUSE", 0.0)
    scene = Scene(tasks=1)
    scene.look()
    scene.annotate("ann", "t0", "yes")
    scene.server.down = True
    log = len(scene.campaign.log())
    with pytest.raises(LabelStudioUnreachable):
        scene.look()
    assert len(scene.campaign.log()) == log
    scene.server.down = False
    scene.look()
    assert scene.answers() == [("t0", "ann", "yes")]
