"""What is submitted in Label Studio becomes answers, and what is asked becomes open tasks."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from unittest.mock import Mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

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


class Killed(BaseException):
    """It was killed here."""


class Fuse:
    """Kills after so many steps."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def __call__(self, *_: object) -> None:
        self.left -= 1
        if self.left == 0:
            raise Killed


@settings(max_examples=12, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=4, max_size=4))
@example([3, 9, 20, 40])
def test_killed_anywhere_no_answer_is_lost_or_paid_twice(kills: list[int]) -> None:
    scene = Scene(tasks=3, slots=1)
    given: Counter[tuple[str, str]] = Counter()
    for steps in [*kills, 0, 0, 0, 0]:
        fuse = Fuse(steps)
        scene.server.guard = fuse
        with contextlib.suppress(Killed):
            scene.restart(hold=fuse).whole()
        scene.server.guard = lambda what: None
        for who in WORKERS.values() if scene.server.projects else ():
            task = scene.next(who)
            if task is not None:
                scene.annotate(who, task, "yes")
                given[task, who] += 1
    scene.restart().whole()
    assert Counter((task, who) for task, who, _ in scene.answers()) == given
    assert set(given.values()) == {1}
    assert scene.overlaps() == {"t0": 2, "t1": 2, "t2": 2}
    assert str(scene.campaign.status().spent) == "0.3"
    assert scene.campaign.over() is not None
    assert len(scene.server.projects) == 1
