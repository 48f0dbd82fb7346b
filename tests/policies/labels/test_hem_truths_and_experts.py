"""hem with truths and experts: what they teach, and what is asked beside them."""

from __future__ import annotations

import pytest

from askwise import Worker
from askwise.core.choices import Done, Wait
from askwise.policies.labels.hem.beliefs import GOLD
from tests.policies.folded import state_of
from tests.policies.labels.campaigns import all_numbers, campaign_of, run, vet


@pytest.mark.parametrize("before", [True, False], ids=["expert first", "ordinary first"])
def test_who_comes_back_with_another_trust_is_counted_by_it(before: bool) -> None:
    campaign = campaign_of([Worker("w0", 1, trusted=before), Worker("w1", 50)], 4)
    for _ in range(2):
        campaign.tell(campaign.ask(workers=["w0"])[0].id, "yes")
    campaign.leave("w0")
    campaign.add(workers=[Worker("w0", 1, trusted=not before)])
    state = all_numbers(campaign).beliefs
    # Both answers count in full now, or not at all any more.
    assert state.totals[0].sum() == pytest.approx(2.0 if before else 0.0)
    assert (state.counts >= 0.0).all()
    campaign.truth("t0", "no")
    assert isinstance(run(campaign, lambda task, worker: "no")[1], Done)
    all_numbers(campaign)
    assert campaign.answers()[0].value == "no"


def test_a_free_expert_is_asked_also_where_everybody_is_free() -> None:
    campaign = campaign_of([Worker("w0", 0), vet(price=0)], 2, budget=None)
    assert campaign.ask()[0].worker == "vet"


@pytest.mark.parametrize("repeat", [False, True])
def test_nobody_is_asked_what_an_expert_is_being_asked(repeat: bool) -> None:
    staff = [Worker("w0", 1), Worker("w1", 1), vet(), vet("prof")]
    campaign = campaign_of(staff, 3, repeat=repeat)
    batch = campaign.ask(9)
    assert [(each.task, each.worker) for each in batch] == [
        ("t0", "vet"), ("t1", "vet"), ("t2", "vet"),
    ]  # fmt: skip
    assert campaign.ask() == Wait("answers")
    campaign.decline(batch[0].id)
    assert campaign.ask()[0].task == "t0"


def test_all_workers_are_experts_and_one_answer_a_task_is_enough() -> None:
    campaign = campaign_of([vet(), vet("prof")], 3)
    asked, end = run(campaign, lambda task, worker: "no")
    assert len(asked) == 3
    assert end == Done("target")
    assert [answer.confidence for answer in campaign.answers()] == [1.0] * 3


def test_a_truth_overrules_an_expert_and_counts_once() -> None:
    campaign = campaign_of([Worker("w0", 1), vet()], 2)
    campaign.tell(campaign.ask(workers=["w0"])[0].id, "yes")
    campaign.tell(campaign.ask(workers=["vet"])[0].id, "yes")
    campaign.truth("t0", "no")
    campaign.truth("t0", "no")
    state = all_numbers(campaign)
    assert state.beliefs.sides[0, GOLD] == 1.0
    # Who agreed with the expert was wrong.
    assert state.beliefs.counts[0].tolist() == [[0.0, 1.0], [0.0, 0.0]]
    assert (campaign.answers()[0].value, campaign.answers()[0].confidence) == ("no", 1.0)


def test_an_expert_who_contradicts_a_truth_changes_nothing() -> None:
    campaign = campaign_of([Worker("w0", 1), vet()], 2)
    (work,) = campaign.ask(workers=["vet"])
    campaign.truth("t0", "no")
    campaign.tell(work.id, "yes")
    assert campaign.answers()[0].value == "no"
    assert state_of(campaign).beliefs.known[0] == 1


def test_answers_to_a_closed_task_and_its_truth_teach_about_those_who_gave_them() -> None:
    campaign = campaign_of(2, 2)
    batch = campaign.ask(2)
    campaign.close("t0")
    campaign.truth("t0", "no")
    for work in batch:
        campaign.tell(work.id, "yes")
    state = all_numbers(campaign).beliefs
    assert state.totals[:2, 0, 1].tolist() == [1.0, 1.0]
    assert {task for task, _ in run(campaign, lambda task, worker: "no")[0]} == {"t1"}


def test_no_gold_is_asked_for_where_all_truths_are_known() -> None:
    campaign = campaign_of(14, "aa", budget=1000)
    run(campaign, lambda task, worker: ("no", "yes")[int(worker[1:]) % 2])
    campaign.truth("t0", "yes")
    assert [need.tasks for need in campaign.status().needs_gold] == [("t1",)]
    campaign.truth("t1", "yes")
    assert campaign.status().needs_gold == ()
