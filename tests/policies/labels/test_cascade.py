"""A cascade in campaigns: who is asked about what, what stands, and how it ends."""

from __future__ import annotations

from typing import Any

import pytest

from askwise import Campaign, Task, Worker
from askwise.core.choices import Done, Wait
from askwise.core.errors import AskwiseError
from askwise.policies import policies
from askwise.policies.labels.cascade import state as s
from tests.policies.folded import state_of
from tests.policies.labels.campaigns import run

SMALL, LARGE, VET = Worker("small", 1), Worker("large", 3), Worker("vet", 20, trusted=True)

LOOSE = {"name": "cascade", "error": 0.4, "confidence": 0.6, "truths": 4}
"""Three tested tasks without an error, out of many, show what it promises."""


def cascade(tasks: Any = 20, workers: Any = (LARGE, VET, SMALL), **more: Any) -> Campaign:
    names = [f"t{at}" for at in range(tasks)] if isinstance(tasks, int) else tasks
    policy = {**LOOSE, **more.pop("policy", {})}
    raw = {"options": ["no", "yes"], "budget": 1000, "seed": 1, "name": "x", **more}
    return Campaign.create(workers=list(workers), tasks=names, policy=policy, **raw)


def always_right(task: str, worker: str) -> str:
    return "yes"


def small_is_right(task: str, worker: str) -> str:
    """The large one never is."""
    return "no" if worker == "large" else "yes"


def asked_by_task(asked: list[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for task, worker in asked:
        found.setdefault(task, []).append(worker)
    return found


def test_a_sample_goes_to_all_and_the_rest_only_to_the_cheapest_who_is_right() -> None:
    campaign = cascade()
    asked, end = run(campaign, always_right)
    by_task = asked_by_task(asked)
    sample = [task for task, who in by_task.items() if who == ["small", "large", "vet"]]
    assert len(sample) == 4
    assert (
        sorted(map(tuple, by_task.values())) == [("small",)] * 16 + [tuple(by_task[sample[0]])] * 4
    )
    assert end == Done("target")
    assert campaign.status().spent == 4 * 24 + 16


def test_nothing_but_the_sample_is_asked_about_before_the_threshold_is_set() -> None:
    asked, _ = run(cascade(), always_right)
    first = asked[: 4 * 3]
    assert len({task for task, _ in first}) == 4
    assert [worker for _, worker in first].count("vet") == 4
    # The trusted come when the judges have been heard.
    assert [worker for _, worker in first[-4:]] == ["vet"] * 4


def test_truths_that_are_told_are_not_bought() -> None:
    campaign = cascade()
    for task in campaign.status().needs_gold[0].tasks:
        campaign.truth(task, "yes")
    asked, end = run(campaign, always_right)
    assert end == Done("target")
    assert [worker for _, worker in asked].count("vet") == 0
    assert [worker for _, worker in asked].count("large") == 4


def test_it_names_the_truths_it_wants_those_of_the_sample_first() -> None:
    campaign = cascade()
    (request,) = campaign.status().needs_gold
    assert (len(request.tasks), request.count, request.why) == (4, 4, "calibration")
    first = campaign.ask()[0]
    assert first.task is not None
    (request,) = campaign.status().needs_gold
    assert request.tasks[0] == first.task
    assert len(set(request.tasks)) == 4
    campaign.tell(first.id, "yes")
    run(campaign, always_right)
    assert campaign.status().needs_gold == ()


def test_judges_who_are_wrong_settle_nothing() -> None:
    campaign = cascade()
    asked, end = run(campaign, lambda task, worker: "yes" if worker == "vet" else "no")
    assert end == Done("target")
    assert [worker for _, worker in asked].count("vet") == 20
    # Not worth asking judges that can settle nothing.
    assert [worker for _, worker in asked].count("small") == 4
    assert {answer.rests_on for answer in campaign.answers()} == {"truth"}


def test_what_judges_settle_is_calibrated_and_what_the_trusted_say_is_the_truth() -> None:
    campaign = cascade()
    run(campaign, always_right)
    answers = campaign.answers()
    assert {answer.value for answer in answers} == {"yes"}
    assert (
        sorted(answer.rests_on or "" for answer in answers) == ["calibrated"] * 16 + ["truth"] * 4
    )
    # All four of the sample are right, by a vote of small: (4 + 2 * 5 / 6) / (4 + 2).
    sure = {answer.confidence for answer in answers if answer.rests_on == "calibrated"}
    assert list(sure) == pytest.approx([(4 + 2 * 5 / 6) / 6])


def test_without_money_for_truths_nothing_stands_and_it_says_so() -> None:
    campaign = cascade(budget=30)
    _, end = run(campaign, always_right)
    assert end == Done("budget")
    assert sorted(answer.rests_on or "" for answer in campaign.answers()) == [""] * 16 + [
        *["agreement"] * 4
    ]


def test_judges_of_one_price_are_one_stage_and_the_surest_tasks_are_settled() -> None:
    panel = [Worker(name, 1) for name in "abc"]
    truth = {f"t{at}": ("no", "yes")[at % 2] for at in range(120)}

    def answer(task: str, worker: str) -> str:
        # On every third task two of three are wrong.
        wrong = worker in "ab" and int(task[1:]) % 3 == 0
        return {"no": "yes", "yes": "no"}[truth[task]] if wrong else truth[task]

    policy = {"truths": 40, "error": 0.1, "confidence": 0.9}
    campaign = cascade(120, (*panel, VET), policy=policy, budget=3000)
    asked, end = run(campaign, answer)
    assert end == Done("target")
    by_task = asked_by_task(asked)
    assert all(who[:3] == ["a", "b", "c"] for who in by_task.values())
    # Where they agree they are right: that is settled, but for the sample.
    escalated = [task for task, who in by_task.items() if who[3:] == ["vet"]]
    assert sum(int(task[1:]) % 3 > 0 for task in escalated) <= 40
    assert sum(int(task[1:]) % 3 == 0 for task in escalated) >= 28
    answers = {each.task: each.value for each in campaign.answers()}
    assert sum(answers[task] != truth[task] for task in truth) <= 12


def test_the_next_stage_is_asked_while_one_is_not_sure_enough() -> None:
    def answer(task: str, worker: str) -> str:
        # The small one says yes to everything; half of that is wrong.
        truth = "yes" if int(task[1:]) % 2 else "no"
        return "yes" if worker == "small" else truth

    campaign = cascade(40, policy={"truths": 12, "error": 0.3, "confidence": 0.9}, seed=2)
    asked, end = run(campaign, answer)
    assert end == Done("target")
    wrong = sum(
        answer.value != ("yes" if int((answer.task or "")[1:]) % 2 else "no")
        for answer in campaign.answers()
    )
    assert wrong <= 12
    whos = set(map(tuple, asked_by_task(asked).values()))
    assert ("small", "large") in whos


@pytest.mark.parametrize("refuse", [Campaign.decline, lambda x, id: x.fail(id, "orders")])
def test_a_task_whose_judge_declines_or_fails_goes_to_the_trusted(refuse: Any) -> None:
    campaign = cascade()
    for task in campaign.status().needs_gold[0].tasks:
        campaign.truth(task, "yes")
    for _ in range(8):
        (each,) = campaign.ask()
        campaign.tell(each.id, "yes")
    (each,) = campaign.ask()
    assert each.worker == "small"
    refuse(campaign, each.id)
    asked, end = run(campaign, always_right)
    assert end == Done("target")
    assert asked_by_task(asked)[each.task or ""] == ["vet"]


def test_tasks_left_by_a_judge_who_is_at_their_limit_go_to_the_trusted() -> None:
    campaign = cascade(workers=(Worker("small", 1, limit=10), VET))
    asked, end = run(campaign, always_right)
    assert end == Done("target")
    by_task = asked_by_task(asked)
    assert sum(who == ["small"] for who in by_task.values()) == 6
    assert sum(who == ["vet"] for who in by_task.values()) == 10


def test_a_judge_who_leaves_is_not_waited_for() -> None:
    campaign = cascade(workers=(SMALL, LARGE, VET))
    for _ in range(14):
        (each,) = campaign.ask()
        campaign.tell(each.id, "yes")
    campaign.leave("small")
    asked, end = run(campaign, always_right)
    assert end == Done("target")
    assert {worker for _, worker in asked} == {"vet"}


def test_tasks_that_come_later_are_put_to_the_trusted() -> None:
    campaign = cascade()
    campaign.tell(campaign.ask()[0].id, "yes")
    campaign.add(tasks=["late"])
    asked, _ = run(campaign, always_right)
    assert asked_by_task(asked)["late"] == ["vet"]


def test_judges_who_join_later_are_not_asked_and_the_trusted_are() -> None:
    campaign = cascade()
    campaign.tell(campaign.ask()[0].id, "yes")
    campaign.add(workers=[Worker("new", "0.5"), Worker("cheaper", 9, trusted=True)])
    asked, _ = run(campaign, always_right)
    assert {worker for _, worker in asked} == {"small", "large", "cheaper"}


def test_without_anybody_trusted_left_judges_are_asked_and_it_ends() -> None:
    campaign = cascade(6)
    campaign.leave("vet")
    asked, end = run(campaign, always_right)
    assert end == Done("tasks")
    assert all(who == ["small", "large"] for who in asked_by_task(asked).values())
    assert {answer.rests_on for answer in campaign.answers()} == {"agreement"}


def test_a_stage_that_a_task_is_not_open_to_is_passed_over() -> None:
    tasks = [Task(f"t{at}", workers=["large", "vet"] if at % 2 else None) for at in range(20)]
    asked, end = run(cascade(tasks), always_right)
    assert end == Done("target")
    assert ("t1", "small") not in asked
    assert {tuple(who) for task, who in asked_by_task(asked).items() if int(task[1:]) % 2} <= {
        ("large",),
        ("large", "vet"),
    }


def test_many_questions_may_be_out_at_once() -> None:
    campaign = cascade()
    for worker, count in (("small", 4), ("large", 4), ("vet", 4), ("small", 16)):
        batch = campaign.ask(limit=50)
        assert [each.worker for each in batch] == [worker] * count
        assert campaign.ask() == Wait("answers")
        for each in reversed(batch):
            campaign.tell(each.id, "yes")
    assert campaign.ask() == Done("target")


def test_it_explains_the_stage_and_the_threshold() -> None:
    campaign = cascade()
    run(campaign, always_right)
    log = [event for event in campaign.log() if event.kind.name == "ASKED"]
    first, last = (campaign.explain(f"x:{event.seq}") for event in (log[0], log[-1]))
    assert (first.purpose, last.purpose) == ("sample", "next judge")
    assert [each.worker for each in last.candidates] == ["small", "large", "vet"]
    small, large, vet = last.candidates
    assert (small.details["stage"], large.details["stage"], vet.details["stage"]) == (1, 2, 3)
    assert small.details["threshold"] == 0.0
    assert (small.details["weight"] or 0) > 0
    assert "threshold" not in first.candidates[0].details


def test_an_end_is_reached_again_after_money_comes() -> None:
    campaign = cascade(budget=40)
    assert run(campaign, always_right)[1] == Done("budget")
    campaign.top_up(200)
    assert run(campaign, always_right)[1] == Done("target")


def test_a_campaign_no_larger_than_the_sample_is_put_to_the_trusted() -> None:
    campaign = cascade(3)
    asked, end = run(campaign, small_is_right)
    assert end == Done("target")
    assert [worker for _, worker in asked].count("vet") == 3


def test_the_threshold_stays_whatever_truths_come_later() -> None:
    campaign = cascade()
    run(campaign, always_right)
    before = state_of(campaign).beliefs
    settled = [answer.task for answer in campaign.answers() if answer.rests_on == "calibrated"]
    for task in settled[:8]:
        campaign.truth(task or "", "no")
    after = state_of(campaign).beliefs
    assert before.threshold[0] == after.threshold[0]
    assert after.meta[s.SAMPLED] == 4


@pytest.mark.parametrize(
    ("policy", "workers", "message"),
    [
        ({"error": 0}, None, "error is 0: give a number between 0 and 1"),
        ({"confidence": 1.5}, None, "confidence is 1.5"),
        ({"truths": 1}, None, "truths is 1: give a whole number from 2"),
        ({"error": 0.05, "confidence": 0.9, "truths": 58}, None, "give 59 or more"),
        ({}, [SMALL, LARGE], "workers lack a worker with trusted=True"),
        ({}, [VET], "workers lack judges"),
    ],
)
def test_what_can_keep_no_promise_is_refused(policy: Any, workers: Any, message: str) -> None:
    with pytest.raises(AskwiseError, match=message):
        cascade(workers=workers or (SMALL, VET), policy=policy)


def test_as_many_truths_as_it_names_are_enough() -> None:
    made: Any = policies.make({"name": "cascade", "error": 0.05, "truths": 59})
    assert (1 - made.error) ** 45 <= 0.1 < (1 - made.error) ** 44


def test_asking_again_and_again_is_refused() -> None:
    with pytest.raises(AskwiseError, match="repeat is True"):
        cascade(repeat=True)


def test_a_judge_who_was_at_their_limit_is_not_heard_again() -> None:
    # Their stage was not heard in full on part of the tasks: those were no fair sample of the rest.
    campaign = cascade(workers=(Worker("small", 1, limit=5), LARGE, VET))
    for task in campaign.status().needs_gold[0].tasks:
        campaign.truth(task, "yes")
    batch = campaign.ask(limit=4)
    for each in batch:
        campaign.tell(each.id, "yes")
    for each in campaign.ask(limit=4):
        campaign.tell(each.id, "yes")
    (fifth,) = campaign.ask()
    assert fifth.worker == "small"
    campaign.expire(fifth.id)
    asked, end = run(campaign, always_right)
    assert end == Done("target")
    assert {worker for _, worker in asked} == {"vet"}
