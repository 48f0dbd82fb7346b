"""hem: what it learns, whom it asks about what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from askwise import Worker
from askwise.core.choices import Done
from askwise.core.errors import InvalidParameter
from askwise.lab.simulate import Outcome, simulate
from askwise.lab.worlds import Recording
from askwise.ledger import columns as c
from askwise.policies import policies
from tests.policies.folded import state_of
from tests.policies.labels.campaigns import all_numbers, campaign_of, run


def crowd(seed: int, tasks: int, chances: Any, contexts: Any = None, classes: int = 2) -> Recording:
    """Everybody's answers; chances by context and worker."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=tasks)
    places = np.zeros(tasks, np.int64) if contexts is None else np.asarray(contexts)
    right = rng.random((tasks, np.shape(chances)[1])) < np.asarray(chances)[places]
    wrong = (truth[:, None] + 1 + rng.integers(classes - 1, size=right.shape)) % classes
    labels = np.where(right, truth[:, None], wrong)
    return Recording.complete(labels, truth, classes, places)


def accuracy_of(
    policy: Any, recording: Recording, budget: int, **more: Any
) -> tuple[float, Outcome]:
    problem = recording.problem(budget)
    outcome = simulate(policy, problem, recording.answering(), seed=1, **more)
    labels = policy.labels(problem, outcome.state, outcome.ledger, range(recording.tasks), None)
    answers = np.array([-1 if label.value is None else label.value for label in labels])
    return recording.accuracy(answers), outcome


def shares_of(outcome: Outcome, workers: int) -> np.ndarray:
    """How many answers each worker gave."""
    given = outcome.ledger.book.assignments[: outcome.answers, c.WORKER]
    return np.bincount(given, minlength=workers)


# What it learns.


def test_a_newcomer_is_believed_as_the_crowd_is() -> None:
    campaign = campaign_of(tasks=1)
    campaign.tell(campaign.ask()[0].id, "yes")
    # The crowd is right 7 times in 10 beforehand, both classes are alike.
    assert state_of(campaign).beliefs.posterior[0, 1] == pytest.approx(0.7)
    campaign.tell(campaign.ask()[0].id, "yes")
    # Neither has shown anything without this task: .49 to .09.
    assert state_of(campaign).beliefs.posterior[0, 1] == pytest.approx(0.49 / 0.58)


def test_what_nobody_judges_teaches_nothing_about_accuracy() -> None:
    campaign = campaign_of(workers=1, tasks=20)
    run(campaign, lambda task, worker: "yes")
    state = all_numbers(campaign).beliefs
    assert state.totals[0].tolist() == [0.0, 0.0]
    assert state.alone[0].tolist() == [0.0, 20.0]
    np.testing.assert_allclose(state.posterior[:20], [[0.3, 0.7]] * 20)


@pytest.mark.parametrize("seeds", [(4,), pytest.param((4, 5, 6), marks=pytest.mark.slow)])
def test_it_finds_who_is_right_in_which_context(seeds: tuple[int, ...]) -> None:
    contexts = np.arange(120) % 3
    chances = [[0.9 if w % 3 == context else 0.6 for w in range(9)] for context in range(3)]
    good, right = [], []
    for seed in seeds:
        recording = crowd(seed, 120, chances, contexts)
        found, outcome = accuracy_of(policies.make("hem"), recording, 5 * 120)
        right.append(found)
        given = outcome.ledger.book.assignments[300:600]
        good.append(given[:, c.WORKER] % 3 == contexts[given[:, c.TASK]])
    # Three good ones and six others, all of them asked: .91 in the mean, and .026 is the standard
    # error of one run.
    assert np.mean(right) > 0.85
    # By chance it would be a third, give or take .027 in one run.
    assert np.mean(good) > 0.4


@pytest.mark.sampled(1)
@pytest.mark.parametrize("classes", [3, 12])
def test_several_classes_are_found(classes: int) -> None:
    recording = crowd(6, 60, [[0.9, 0.8, 0.7, 0.7, 0.5, 0.4]], classes=classes)
    assert accuracy_of(policies.make("hem"), recording, 240)[0] > 0.8


# Who is asked.


def test_prices_are_weighed_against_what_an_answer_tells() -> None:
    campaign = campaign_of([Worker("dear", 3), Worker("cheap", 1)], tasks=3)
    assert campaign.ask()[0].worker == "cheap"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("share", [0.5, 0.35])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_who_presses_one_button_is_asked_little_more_than_half_as_often_as_others(
    seed: int, share: float
) -> None:
    rng = np.random.default_rng(seed)
    truth = (rng.random(150) < share).astype(int)
    right = rng.random((150, 6)) < 0.78
    labels = np.where(right, truth[:, None], 1 - truth[:, None])
    labels[:, 0] = 0
    recording = Recording.complete(labels, truth, 2, np.zeros(150, np.int64))
    _, outcome = accuracy_of(policies.make("hem"), recording, 400)
    given, mean = shares_of(outcome, 6), outcome.state.lift
    # In six seeds with a share of .35: from .19 to .52 as often.
    assert given[0] < 0.6 * given[1:].mean()
    assert mean[0] < mean[1:6].mean()


def test_a_worker_who_joins_later_is_tried_and_then_ranked_by_what_they_show() -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(2, size=80)

    def answer(task: str, worker: str) -> str:
        chance = {"good": 0.97, "bad": 0.5}.get(worker, 0.75)
        right = np.random.default_rng([int(task[1:]), sum(map(ord, worker))]).random() < chance
        return ("no", "yes")[truth[int(task[1:])] ^ (not right)]

    campaign = campaign_of(4, 80, budget=300)
    run(campaign, answer, most=60)
    campaign.add(workers=[Worker("good", 1), Worker("bad", 1)])
    asked, end = run(campaign, answer)
    assert end == Done("budget")
    given = {name: sum(worker == name for _, worker in asked) for name in ("good", "bad")}
    assert given["good"] > 2 * given["bad"] > 0


def test_who_has_left_is_not_asked_and_what_they_said_counts() -> None:
    campaign = campaign_of(3, 6, budget=12)
    run(campaign, lambda task, worker: "yes", most=4)
    before = state_of(campaign).beliefs.posterior.copy()
    campaign.leave("w0")
    asked, _ = run(campaign, lambda task, worker: "yes")
    assert "w0" not in {worker for _, worker in asked}
    assert (state_of(campaign).beliefs.posterior[:6, 1] >= before[:6, 1] - 0.05).all()


# Which task is next.


def test_a_task_is_pursued_until_it_is_fairly_sure_and_then_the_next_begun() -> None:
    campaign = campaign_of(workers=9, tasks=3)
    asked, _ = run(campaign, lambda task, worker: "yes", most=8)
    # Log-odds and .1 an answer: .85 + .1, 1.69 + .2, 2.54 + .3 and then above 3.
    assert [task for task, _ in asked][:5] == ["t0", "t0", "t0", "t0", "t1"]


def test_a_task_that_stays_unsure_is_pursued_15_times_at_the_most() -> None:
    campaign = campaign_of(workers=40, tasks=4, budget=160)
    sides = {"t0": 0}

    def answer(task: str, worker: str) -> str:
        sides[task] = sides.get(task, 0) + 1
        return ("no", "yes")[sides[task] % 2]

    asked, _ = run(campaign, answer, most=16)
    assert [task for task, _ in asked] == ["t0"] * 15 + ["t1"]


def test_a_small_budget_goes_to_one_answer_a_task_first() -> None:
    campaign = campaign_of(workers=5, tasks=4, budget=4)
    asked, end = run(campaign, lambda task, worker: "yes")
    assert {task for task, _ in asked} == {"t0", "t1", "t2", "t3"}
    assert end == Done("budget")


def test_a_budget_for_an_answer_each_pursues_a_twentieth_of_it() -> None:
    campaign = campaign_of(workers=5, tasks=60, budget=60)
    asked, _ = run(campaign, lambda task, worker: "yes")
    order = [task for task, _ in asked]
    # 3 of 60 go into one task, then each other task has one; nobody has two before all have one.
    assert order[:3] == ["t0"] * 3
    assert len(set(order[3:])) == 57


@pytest.mark.parametrize(
    ("tasks", "within"), [(60, 0.1), pytest.param(120, 0.07, marks=pytest.mark.slow)]
)
def test_a_hundred_questions_at_once_cost_a_few_points_at_most(tasks: int, within: float) -> None:
    contexts = np.arange(tasks) % 3
    chances = [[0.9 if w % 3 == context else 0.6 for w in range(12)] for context in range(3)]
    recording = crowd(7, tasks, chances, contexts)
    policy = policies.make("hem")
    one, _ = accuracy_of(policy, recording, 5 * tasks)
    many, outcome = accuracy_of(policy, recording, 5 * tasks, window=100)
    assert outcome.answers == 5 * tasks
    # Two standard errors of a difference of accuracies near .93 on 120 tasks are .066, on 60 .093.
    assert many > one - within


def test_a_target_of_one_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="target"):
        policies.make({"name": "hem", "target": 1.0})
