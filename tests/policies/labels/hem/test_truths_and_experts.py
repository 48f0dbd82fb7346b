"""hem with truths and experts: what they teach, and what is asked beside them."""

from __future__ import annotations

from collections import Counter

import pytest

from askwise import Campaign, Worker
from askwise.core.choices import Batch, Done, Wait
from askwise.core.events import Kind
from askwise.policies.labels.hem.state import GOLD
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
    # Two tasks with a truth each, by which their answers are judged now; or no answer that counts.
    assert state.totals[0].tolist() == ([6.0, 6.0] if before else [0.0, 0.0])
    assert state.alone[0].tolist() == [0.0, 0.0]
    if not before:
        # And no trace of them in a label.
        assert state.given[:2].tolist() == [0, 0]
        assert state.blind[:2].ravel().tolist() == pytest.approx([0.5] * 4)
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
    batch = campaign.ask(3, ["vet", "prof"])
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


@pytest.mark.parametrize("first", [True, False], ids=["truth first", "expert first"])
def test_a_truth_overrules_an_expert_and_counts_once(first: bool) -> None:
    campaign = campaign_of([Worker("w0", 1), vet()], 2)
    campaign.tell(campaign.ask(workers=["w0"])[0].id, "yes")
    (work,) = campaign.ask(workers=["vet"])
    if first:
        campaign.truth("t0", "no")
    campaign.tell(work.id, "yes")
    campaign.truth("t0", "no")
    campaign.truth("t0", "no")
    state = all_numbers(campaign)
    assert state.beliefs.known[0] == 1
    assert state.beliefs.sides[0, GOLD] == 1.0
    # Who agreed with the expert was wrong, which counts three times.
    assert state.beliefs.totals[0].tolist() == [0.0, 3.0]
    assert state.beliefs.wrong[0].tolist() == [0.0, 3.0]
    assert state.beliefs.seen[0].tolist() == [3.0, 0.0]
    assert (campaign.answers()[0].value, campaign.answers()[0].confidence) == ("no", 1.0)


def test_answers_to_a_closed_task_and_its_truth_teach_about_those_who_gave_them() -> None:
    campaign = campaign_of(2, 2)
    batch = campaign.ask(2)
    campaign.close("t0")
    campaign.truth("t0", "no")
    for work in batch:
        campaign.tell(work.id, "yes")
    state = all_numbers(campaign).beliefs
    assert state.wrong[:2].tolist() == [[0.0, 3.0]] * 2
    assert {task for task, _ in run(campaign, lambda task, worker: "no")[0]} == {"t1"}


def test_no_gold_is_asked_for_where_all_truths_are_known() -> None:
    campaign = campaign_of(14, "aa", budget=1000)
    run(campaign, lambda task, worker: ("no", "yes")[int(worker[1:]) % 2])
    campaign.truth("t0", "yes")
    for need in campaign.status().needs_gold:
        assert need.tasks == ("t1",)
    campaign.truth("t1", "yes")
    assert campaign.status().needs_gold == ()


def test_a_truth_told_late_counts_three_times_for_all_who_answered() -> None:
    campaign = campaign_of(3, 1, budget=3)
    run(campaign, lambda task, worker: "no" if worker == "w2" else "yes")
    campaign.truth("t0", "no")
    state = all_numbers(campaign).beliefs
    assert state.totals[:3].tolist() == [[0.0, 3.0], [0.0, 3.0], [3.0, 3.0]]
    assert campaign.answers()[0].rests_on == "truth"


# Test questions.


def always_yes(task: str, worker: str) -> str:
    return "yes"


def known_tasks_put_in(campaign: Campaign) -> list[tuple[str, str]]:
    """Which known tasks were put to whom."""
    known: set[str] = set()
    found = []
    for event in campaign.log():
        if event.kind == Kind.TRUTH:
            known.add(str(event.task))
        elif event.kind == Kind.ASKED and str(event.task) in known:
            found.append((str(event.task), str(event.worker)))
    return found


def campaign_with_truths(
    workers: int = 3, tasks: int = 60, known: int = 20, budget: int = 400
) -> Campaign:
    campaign = campaign_of(workers, tasks, budget=budget)
    for task in range(known):
        campaign.truth(f"t{task}", ("no", "yes")[task % 2])
    return campaign


@pytest.mark.parametrize("handed_out", [1, 5, 90])
def test_workers_are_tested_on_known_tasks_first_and_15_times_at_the_most(handed_out: int) -> None:
    campaign = campaign_with_truths()
    asked: list[tuple[str, str]] = []
    while isinstance(batch := campaign.ask(handed_out), Batch) and len(asked) < 100:
        asked += [(str(each.task), each.worker) for each in batch]
        for each in batch:
            campaign.tell(each.id, "yes")
    tests = known_tasks_put_in(campaign)
    # Those that are out count too.
    assert Counter(worker for _, worker in tests) == {"w0": 15, "w1": 15, "w2": 15}
    assert asked[: len(tests)] == tests, "before any other question"


def test_few_workers_on_many_tasks_are_tested_on_a_twentieth_of_all_answers() -> None:
    campaign = campaign_with_truths(2, 800, 60, budget=1600)
    run(campaign, always_yes, most=100)
    assert Counter(worker for _, worker in known_tasks_put_in(campaign)) == {"w0": 40, "w1": 40}


@pytest.mark.parametrize(
    ("known", "budget", "most", "answers"), [(20, 600, 60, [4] * 15), (3, 120, 5, [1, 2, 2])]
)
def test_known_tasks_get_as_many_answers_as_others_in_turn_and_then_those_with_the_fewest(
    known: int, budget: int, most: int, answers: list[int]
) -> None:
    campaign = campaign_with_truths(4, 120, known, budget)
    run(campaign, always_yes, most=most)
    put = Counter(task for task, _ in known_tasks_put_in(campaign))
    assert sorted(put.values()) == answers


def test_nobody_is_tested_once_tasks_are_no_longer_pursued() -> None:
    campaign = campaign_of(3, 60, budget=60)
    run(campaign, always_yes, most=10)
    for task in range(20):
        campaign.truth(f"t{task}", "yes")
    run(campaign, always_yes)
    assert known_tasks_put_in(campaign) == []


def test_nobody_is_tested_where_no_task_is_left_to_ask_about() -> None:
    assert campaign_with_truths(tasks=4, known=4).ask() == Done("target")


def test_a_known_task_that_is_closed_is_no_test_question() -> None:
    campaign = campaign_with_truths(known=3)
    campaign.close("t1")
    run(campaign, always_yes, most=20)
    assert {task for task, _ in known_tasks_put_in(campaign)} == {"t0", "t2"}


def test_who_fails_tests_is_asked_less() -> None:
    def answer(task: str, worker: str) -> str:
        right = ("no", "yes")[int(task[1:]) % 2]
        return "no" if worker == "w0" else right

    campaign = campaign_with_truths(tasks=100, budget=200)
    asked, _ = run(campaign, answer)
    after = [worker for _, worker in asked[45:]]
    assert after.count("w0") < min(after.count("w1"), after.count("w2")) / 2


def test_an_expert_is_bought_where_they_tell_more_for_their_price() -> None:
    for price, bought in ((1, True), (50, False)):
        campaign = campaign_of([Worker("w0", 1), Worker("w1", 1), vet(price=price)], 3)
        (work,) = campaign.ask()
        assert (work.worker == "vet") == bought
        campaign.tell(work.id, "yes")
        if bought:
            state = state_of(campaign).beliefs
            assert state.posterior[0].tolist() == [0.0, 1.0]
            assert state.known[0] == 2
