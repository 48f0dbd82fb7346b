"""hem: what it learns, whom it asks, when it buys an expert, when it asks for gold."""

from __future__ import annotations

import numpy as np
import pytest

from askwise import Campaign, Worker
from askwise.core.choices import Done
from askwise.core.draws import Draw
from askwise.core.errors import InvalidParameter
from askwise.lab.simulate import simulate
from askwise.lab.worlds import Recording
from askwise.ledger import columns as c
from askwise.policies import policies
from askwise.policies.labels.hem.beliefs import HEARD, SINCE
from tests.policies.folded import state_of
from tests.policies.labels.campaigns import campaign_of, run


def crowd(seed, tasks, chances, contexts=None, **more):
    """Everybody's answers to tasks of two classes; chances by context and worker."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=tasks)
    places = np.zeros(tasks, np.int64) if contexts is None else np.asarray(contexts)
    right = rng.random((tasks, np.shape(chances)[1])) < np.asarray(chances)[places]
    labels = np.where(right, truth[:, None], 1 - truth[:, None])
    return Recording.complete(labels, truth, 2, places)


def one_coin(workers):
    """Each worker is good in one of three contexts."""
    return [[0.9 if at % 3 == context else 0.6 for at in range(workers)] for context in range(3)]


def accuracy_of(policy, recording, budget, **more):
    problem = recording.problem(budget)
    outcome = simulate(policy, problem, recording.answering(), seed=1, **more)
    labels = policy.labels(problem, outcome.state, outcome.ledger, range(recording.tasks), None)
    answers = np.array([-1 if label.value is None else label.value for label in labels])
    return recording.accuracy(answers), outcome


def test_a_newcomer_is_believed_two_to_one_and_agreement_adds_up():
    campaign = campaign_of(tasks=1)
    (work,) = campaign.ask()
    campaign.tell(work.id, "yes")
    # Four right and two wrong beforehand; both classes alike.
    (answer,) = campaign.answers()
    assert answer.value == "yes"
    first = state_of(campaign).beliefs.posterior[0]
    assert first[1] == pytest.approx(2 / 3)
    (work,) = campaign.ask()
    campaign.tell(work.id, "yes")
    second = state_of(campaign).beliefs.posterior[0]
    # The second worker has shown nothing yet: the odds double again.
    assert second[1] == pytest.approx(4 / 5)


def test_a_task_is_pursued_until_it_is_fairly_sure_and_then_the_next_begun():
    campaign = campaign_of(workers=9, tasks=3)
    asked, _ = run(campaign, lambda task, worker: "yes", most=8)
    order = [task for task, _ in asked]
    # |log-odds| + .1 a answer: .69 + .1, 1.39 + .2, 2.08 + .3 is above 2.2: three answers.
    assert order[:4] == ["t0", "t0", "t0", "t1"]


def test_a_small_budget_begins_with_the_least_sure():
    campaign = campaign_of(workers=5, tasks=4, budget=4)
    asked, end = run(campaign, lambda task, worker: "yes")
    assert [task for task, _ in asked] == ["t0", "t1", "t2", "t3"]
    assert end == Done("budget")


def test_soft_counts_are_those_of_the_posteriors_after_every_answer():
    recording = crowd(3, 12, [[0.9, 0.7, 0.6, 0.8]] * 2, [0, 1] * 6)
    problem = recording.problem(29)
    policy = policies.make("hem")
    outcome = simulate(policy, problem, recording.answering(), seed=1)
    state, book = outcome.state, outcome.ledger.book
    assert state.meta[SINCE] > 0, "a fit has just counted anew"
    counts, totals = np.zeros_like(state.counts), np.zeros_like(state.totals)
    for task in state.order[: state.meta[HEARD]]:
        cell = book.tasks[task, c.FIRST_CELL]
        while cell >= 0:
            worker = book.cells[cell, c.CELL_WORKER]
            row = state.skill_of[recording.contexts[task], worker] - 1
            for option in range(2):
                votes = book.cells[cell, c.VOTES + option]
                counts[row, :, option] += votes * state.posterior[task]
                totals[worker, :, option] += votes * state.posterior[task]
            cell = book.cells[cell, c.NEXT_CELL]
    np.testing.assert_allclose(state.counts, counts, atol=1e-12)
    np.testing.assert_allclose(state.totals, totals, atol=1e-12)
    assert len(counts) >= outcome.ledger.total(c.CELLS)


def test_it_finds_who_is_right_in_which_context():
    contexts = np.arange(120) % 3
    chances = [
        [0.9 if worker % 3 == context else 0.6 for worker in range(9)] for context in range(3)
    ]
    recording = crowd(5, 120, chances, contexts)
    found, outcome = accuracy_of(policies.make("hem"), recording, 5 * 120)
    assert found > 0.85
    given = outcome.ledger.book.assignments[: 5 * 120]
    good = given[:, 1] % 3 == contexts[given[:, 0]]
    # The second half of the answers goes to those who know.
    assert good[300:].mean() > 0.45


def test_a_target_ends_the_campaign_with_money_left():
    campaign = campaign_of(workers=9, tasks=5, policy={"name": "hem", "target": 0.2})
    asked, end = run(campaign, lambda task, worker: "yes")
    assert end == Done("target")
    assert 5 < len(asked) < 45
    assert all(answer.confidence >= 0.8 for answer in campaign.answers())
    assert campaign.status().left > 0


def test_a_task_whose_truth_is_known_is_not_asked_about_and_teaches():
    campaign = campaign_of(workers=4, tasks=3, budget=8)
    campaign.truth("t0", "no")
    asked, _ = run(campaign, lambda task, worker: "yes")
    assert {task for task, _ in asked} == {"t1", "t2"}
    answers = {answer.task: answer for answer in campaign.answers()}
    assert (answers["t0"].value, answers["t0"].confidence) == ("no", 1.0)


def test_an_expert_is_bought_where_he_tells_more_for_his_price():
    for price, bought in ((2, True), (50, False)):
        staff = [Worker("w0", 1), Worker("w1", 1), Worker("vet", price, trusted=True)]
        campaign = campaign_of(staff, tasks=3)
        (work,) = campaign.ask()
        assert (work.worker == "vet") == bought
        campaign.tell(work.id, "yes")
        if bought:
            state = state_of(campaign).beliefs
            assert state.posterior[0].tolist() == [0.0, 1.0]
            assert state.known[0] == 2


def test_prices_are_weighed_against_what_an_answer_tells():
    staff = [Worker("dear", 3), Worker("cheap", 1)]
    campaign = campaign_of(staff, tasks=3)
    assert campaign.ask()[0].worker == "cheap"


CAMPS = [[0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1, 0.1], [0.95, 0.9, 0.9, 0.55, 0.55, 0.6, 0.6, 0.6]]
"""In the first context most agree on what is wrong; those who do not are the best elsewhere."""


def test_it_asks_for_gold_where_answers_cannot_tell_who_is_right():
    contexts = np.repeat([0, 1], 40)
    recording = crowd(11, 80, CAMPS, contexts)
    problem = recording.problem(400)
    policy = policies.make("hem")
    outcome = simulate(policy, problem, recording.answering(), seed=1)
    needs = policy.needs_gold(problem, outcome.state, outcome.ledger, Draw(1, 2, 0))
    assert {need.why for need in needs} == {"side"}
    named = {need.context: need.tasks for need in needs}
    assert "c0" in named
    assert 1 <= len(named["c0"]) <= 3
    assert all(recording.contexts[int(task[1:])] == 0 for task in named["c0"])


def test_gold_settles_it_and_the_request_goes_away():
    contexts = np.repeat([0, 1], 40)
    recording = crowd(11, 80, CAMPS, contexts)
    raw = recording.problem(480).to_json()
    campaign = Campaign.create(**raw, policy="hem", seed=1, name="hem")
    world = {
        (f"t{t}", f"w{w}"): f"o{label}"
        for t, w, label in zip(recording.task, recording.worker, recording.label, strict=True)
    }
    run(campaign, lambda task, worker: world[task, worker], most=400)
    before = campaign.status().needs_gold
    assert before
    for need in before:
        for task in need.tasks:
            campaign.truth(task, f"o{recording.truth[int(task[1:])]}")
    run(campaign, lambda task, worker: world[task, worker], most=80)
    assert not campaign.status().needs_gold
    answers = {answer.task: answer.value for answer in campaign.answers()}
    right = [answers[f"t{at}"] == f"o{recording.truth[at]}" for at in range(80)]
    assert np.mean(right) > 0.8


def test_an_expert_settles_a_context_by_himself():
    contexts = np.repeat([0, 1], 40)
    chances = [[*row, 1.0] for row in CAMPS]
    recording = crowd(11, 80, chances, contexts)
    prices = (1,) * 8 + (12,)
    recording = Recording(**{**recording.__dict__, "prices": prices, "trusted": (8,)})
    alone, _ = accuracy_of(policies.make("hem"), crowd(11, 80, CAMPS, contexts), 600)
    found, outcome = accuracy_of(policies.make("hem"), recording, 600)
    asked = outcome.ledger.book.assignments[: outcome.answers]
    assert 1 <= (asked[:, 1] == 8).sum() < 30
    assert found > 0.75
    assert alone < 0.6


def test_two_hundred_questions_at_once_cost_a_few_points_at_most():
    contexts = np.arange(300) % 3
    chances = [
        [0.9 if worker % 3 == context else 0.6 for worker in range(12)] for context in range(3)
    ]
    recording = crowd(7, 300, chances, contexts)
    policy = policies.make("hem")
    one, _ = accuracy_of(policy, recording, 1500)
    many, outcome = accuracy_of(policy, recording, 1500, window=200)
    assert outcome.answers == 1500
    # Two standard errors of a difference of accuracies near .93 on 300 tasks are .04.
    assert many > one - 0.05


def test_a_target_of_one_is_refused():
    with pytest.raises(InvalidParameter, match="target"):
        policies.make({"name": "hem", "target": 1.0})
