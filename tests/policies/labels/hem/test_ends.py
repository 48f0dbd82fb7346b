"""hem with a target: what it calls done, by which fit, and which truths it asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from askwise import Campaign, Worker
from askwise.core.choices import Done, Wait
from askwise.policies.labels.hem.confidence import confidence_in
from askwise.policies.labels.hem.state import CAUTIOUS, MAPPED, SINCE, VOICES, WHOLE
from tests.policies.folded import state_of
from tests.policies.labels.campaigns import all_numbers, campaign_of, run


def with_target(workers: Any = 9, tasks: Any = 30, target: float = 0.2, **more: Any) -> Campaign:
    more = {"budget": 1000, **more}
    return campaign_of(workers, tasks, {"name": "hem", "target": target}, **more)


class World:
    """Answers that are right with some chance, the same whenever they are asked for."""

    def __init__(self, seed: int, tasks: int, accuracy: float = 0.8) -> None:
        rng = np.random.default_rng(seed)
        self.truth = rng.integers(2, size=tasks)
        self.right = rng.random((tasks, 20)) < accuracy

    def true(self, task: int) -> str:
        return ("no", "yes")[self.truth[task]]

    def __call__(self, task: str, worker: str) -> str:
        at = int(task[1:])
        return ("no", "yes")[int(self.truth[at] ^ (not self.right[at, int(worker[1:])]))]


# The end.


def test_without_truths_a_target_ends_in_agreement_with_money_left() -> None:
    campaign = with_target(tasks=5)
    asked, end = run(campaign, lambda task, worker: "yes")
    assert end == Done("agreement")
    assert 5 < len(asked) < 45
    assert all(answer.confidence >= 0.8 for answer in campaign.answers())
    assert {answer.rests_on for answer in campaign.answers()} == {"agreement"}
    assert campaign.status().left > 0


@pytest.mark.parametrize(("target", "end"), [(0.05, Wait("workers")), (0.2, Done("target"))])
def test_a_task_with_one_answer_is_done_only_if_one_error_in_ten_may_be_made(
    target: float, end: Done | Wait
) -> None:
    # One of two workers is always right, as thirty truths show.
    campaign = with_target(2, 60, target)
    for task in range(30):
        campaign.truth(f"t{task}", "yes")
    while batch := campaign.ask(1, ["w0"]):
        campaign.tell(batch[0].id, "yes")
    assert batch == end
    state = state_of(campaign)
    beliefs, book = state.beliefs, state.ledger.book
    assert beliefs.given[:60].tolist() == [1] * 60
    assert max(confidence_in(book, beliefs, task) for task in range(60)) == 0.9
    beliefs.meta[CAUTIOUS] = 0
    assert min(confidence_in(book, beliefs, task) for task in range(60)) > 0.95


@pytest.mark.parametrize("told", [0, 9, 10, 12])
def test_ten_truths_of_answered_tasks_make_a_target_of_agreement(told: int) -> None:
    world = World(3, 30, 0.97)
    campaign = with_target()
    for task in range(told):
        campaign.truth(f"t{task}", world.true(task))
    _, end = run(campaign, world)
    state = state_of(campaign).beliefs
    assert state.meta[MAPPED] == told, "all of them were asked about in their turn"
    assert end == Done("target" if told >= 10 else "agreement")
    rests_on = {answer.rests_on for answer in campaign.answers()} - {"truth"}
    assert rests_on == {"calibrated" if told >= 10 else "agreement"}


def test_truths_of_tasks_that_nobody_answered_calibrate_nothing() -> None:
    campaign = with_target(3, 14, 0.4, budget=14)
    run(campaign, lambda task, worker: "yes", most=4)
    answered = {answer.task for answer in campaign.answers() if answer.value is not None}
    for task in range(14):
        if f"t{task}" not in answered:
            campaign.truth(f"t{task}", "yes")
    assert state_of(campaign).beliefs.meta[MAPPED] < 10
    rests_on = {answer.rests_on for answer in campaign.answers() if answer.task in answered}
    assert rests_on == {"agreement"}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("target", [0.0, 0.001])
def test_with_a_target_known_tasks_are_asked_about_no_more_than_others(target: float) -> None:
    found = []
    for seed in (6, 7):
        world = World(seed, 60)
        campaign = with_target(9, 60, target, budget=180)
        for task in range(0, 60, 3):
            campaign.truth(f"t{task}", world.true(task))
        asked, _ = run(campaign, world)
        found.append(sum(int(task[1:]) % 3 == 0 for task, _ in asked) / 20)
    known = sum(found) / 2
    # Without a target they are test questions, and nobody asks about them afterwards.
    assert known == pytest.approx(3.0, abs=0.5) if target else known > 3.5


def test_truths_told_after_the_end_turn_agreement_into_a_target() -> None:
    world = World(5, 40, 0.97)
    campaign = with_target(9, 40)
    _, end = run(campaign, world)
    assert end == Done("agreement")
    for task in range(20):
        campaign.truth(f"t{task}", world.true(task))
    _, end = run(campaign, world)
    assert end == Done("target")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))]
)
@pytest.mark.parametrize("told", [0, 15])
def test_what_is_reported_is_what_was_decided_by(seed: int, told: int) -> None:
    world = World(seed, 30, 0.85)
    campaign = with_target(9, 30, 0.15)
    for task in range(told):
        campaign.truth(f"t{task}", world.true(task))
    _, end = run(campaign, world)
    state = state_of(campaign)
    beliefs, book = state.beliefs, state.ledger.book
    assert (beliefs.meta[SINCE], beliefs.meta[WHOLE]) == (0, 1)
    reported = {str(answer.task): answer for answer in campaign.answers()}
    done = 0
    for task in range(30):
        answer = reported[f"t{task}"]
        if beliefs.known[task]:
            assert answer.confidence == 1.0
            continue
        assert answer.confidence == pytest.approx(confidence_in(book, beliefs, task), abs=1e-12)
        if beliefs.keys[task] == np.inf and book.tasks[task, 1] < 9:
            assert answer.confidence >= 0.85
            done += 1
    assert done >= (5 if told else 10)
    if end.why in ("target", "agreement"):
        assert min(answer.confidence for answer in reported.values()) >= 0.85


def test_an_end_right_after_a_short_fit_is_decided_by_a_whole_one() -> None:
    # The 30th answer brings a fit of six rounds, and with it the last task reaches the target.
    campaign = with_target(9, 4, 0.001)
    for at in range(30):
        campaign.tell(campaign.ask()[0].id, "yes")
        if at < 29:
            assert state_of(campaign).beliefs.meta[WHOLE] == 0
    assert state_of(campaign).beliefs.meta[SINCE] == 0
    for task in range(4):
        campaign.close(f"t{task}")
    assert state_of(campaign).beliefs.meta[WHOLE] == 1


def test_a_task_that_everyone_was_asked_about_and_that_is_not_sure_is_no_target_reached() -> None:
    campaign = with_target(6, 8)
    sides = {"w0": "no", "w1": "no", "w2": "no"}
    asked, end = run(
        campaign, lambda task, worker: "yes" if task != "t0" else sides.get(worker, "yes")
    )
    assert sum(task == "t0" for task, _ in asked) == 6
    unsure = [answer.task for answer in campaign.answers() if answer.confidence < 0.8]
    assert unsure == ["t0"]
    assert end == Done("tasks")


def test_a_task_that_only_those_who_left_could_answer_is_no_target_reached() -> None:
    campaign = with_target(6, 3)
    campaign.leave("w5")
    sides = {"w0": "no", "w1": "no"}
    _, end = run(campaign, lambda task, worker: "yes" if task != "t0" else sides.get(worker, "yes"))
    assert end == Done("tasks")


@pytest.mark.parametrize("gone", [False, True], ids=["limit", "left"])
def test_an_unsettled_task_that_nobody_is_left_for_is_not_called_settled(gone: bool) -> None:
    campaign = campaign_of([Worker("w0", 1, limit=2)], 4)
    campaign.truth("t0", "no")
    for _ in range(2):
        campaign.tell(campaign.ask()[0].id, "no")
    if gone:
        campaign.leave("w0")
    assert campaign.ask() == (Wait("workers") if gone else Done("limits"))


def test_a_vote_of_20_to_20_is_believed_with_seven_in_ten_at_most() -> None:
    campaign = campaign_of(40, 2, budget=80)
    run(campaign, lambda task, worker: ("no", "yes")[(int(worker[1:]) + int(task[1:])) % 2])
    assert max(answer.confidence for answer in campaign.answers()) <= 0.7
    all_numbers(campaign)


# Families.


def test_five_prompts_of_one_model_say_less_than_five_workers() -> None:
    found = []
    for family in (None, "one"):
        staff = [Worker(f"w{at}", 1, kind="model", family=family) for at in range(5)]
        campaign = campaign_of(staff, 6, budget=30)
        run(campaign, lambda task, worker: ("no", "yes")[int(task[1:]) % 2])
        posterior = state_of(campaign).beliefs.posterior[:6]
        assert posterior.argmax(axis=1).tolist() == [0, 1] * 3
        sure = [answer.confidence for answer in campaign.answers()]
        found.append(np.array([posterior.max(axis=1), sure]))
    assert (found[1] < found[0]).all()


def test_a_family_is_one_voice_also_between_fits() -> None:
    staff = [Worker(f"w{at}", 1, family="one" if at < 3 else None) for at in range(5)]
    campaign = campaign_of(staff, 2, budget=10)
    for name, heard in (("w0", 1), ("w1", 1), ("w3", 2), ("w2", 2), ("w4", 3)):
        campaign.tell(campaign.ask(1, [name])[0].id, "yes")
        state = state_of(campaign).beliefs
        assert (state.meta[VOICES], state.meta[SINCE] > 0) == (heard, True)


def test_a_fit_hears_a_family_once_as_each_answer_does() -> None:
    staff = [Worker(f"w{at}", 1, family="one" if at < 4 else None) for at in range(5)]
    campaign = campaign_of(staff, 20, budget=100)
    heard = []
    for at in range(35):
        campaign.tell(campaign.ask(1, [f"w{at % 5}"])[0].id, "yes")
        heard.append(int(state_of(campaign).beliefs.meta[VOICES]))
    assert heard[4:] == [2] * 31


# Which truths it asks for.


def test_truths_that_would_make_a_target_a_probability_are_50_drawn_at_random() -> None:
    campaign = with_target(3, 80)
    (need,) = campaign.status().needs_gold
    assert (need.why, need.context, len(set(need.tasks))) == ("calibration", None, 50)
    assert list(need.tasks) != sorted(need.tasks, key=lambda task: int(task[1:]))
    run(campaign, lambda task, worker: "yes", most=20)
    after = [each for each in campaign.status().needs_gold if each.why == "calibration"]
    assert [each.tasks for each in after] == [need.tasks], "answers have no say in it"


def test_the_request_shrinks_as_truths_come_in_and_goes_away() -> None:
    campaign = with_target(3, 80)
    (first,) = campaign.status().needs_gold
    for told in range(1, 51):
        campaign.truth(first.tasks[told - 1], "yes")
        needs = campaign.status().needs_gold
        assert [list(need.tasks) for need in needs] == (
            [list(first.tasks[told:])] if told < 50 else []
        )


def test_fewer_tasks_than_truths_wanted_are_all_asked_for() -> None:
    (need,) = with_target(3, 8).status().needs_gold
    assert sorted(need.tasks) == [f"t{task}" for task in range(8)]


def test_without_a_target_no_truths_are_asked_for_to_calibrate() -> None:
    assert campaign_of(3, 80).status().needs_gold == ()
