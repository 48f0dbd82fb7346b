"""hem where a context may be the wrong way round: truths it asks for, experts it buys."""

from __future__ import annotations

import numpy as np

from askwise import Campaign
from askwise.core.draws import Draw
from askwise.lab.simulate import simulate
from askwise.lab.worlds import Recording
from askwise.ledger import columns as c
from askwise.policies import policies
from tests.policies.labels.campaigns import run
from tests.policies.labels.hem.test_hem import accuracy_of, crowd

CAMPS = [[0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1, 0.1], [0.95, 0.9, 0.9, 0.75, 0.75, 0.75, 0.75, 0.75]]
"""In the first context most agree on what is wrong; those who do not are the best elsewhere."""

CONTEXTS = np.repeat([0, 1], 40)


def test_it_asks_for_truths_where_answers_cannot_tell_who_is_right() -> None:
    asked = []
    for seed in (10, 11, 12):
        recording = crowd(seed, 80, CAMPS, CONTEXTS)
        problem = recording.problem(400)
        policy = policies.make("hem")
        outcome = simulate(policy, problem, recording.answering(), seed=1)
        needs = policy.needs_gold(problem, outcome.state, outcome.ledger, Draw(1, 2, 0))
        asked.append({need.why for need in needs})
        for need in needs:
            assert 1 <= len(need.tasks) <= 3
            kinds = {f"c{recording.contexts[int(task[1:])]}" for task in need.tasks}
            assert kinds == {need.context}
    # By luck those who are right may be heard first, and the context is taken the right way round.
    assert asked.count({"side"}) >= 2


def test_truths_settle_it_and_the_request_goes_away() -> None:
    recording = crowd(12, 80, CAMPS, CONTEXTS)
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


def test_an_expert_settles_a_context() -> None:
    recording = crowd(11, 80, [[*row, 1.0] for row in CAMPS], CONTEXTS)
    prices = (1,) * 8 + (12,)
    recording = Recording(**{**recording.__dict__, "prices": prices, "trusted": (8,)})
    found, outcome = accuracy_of(policies.make("hem"), recording, 600)
    asked = outcome.ledger.book.assignments[: outcome.answers, c.WORKER]
    assert 1 <= (asked == 8).sum() < 40
    assert found > 0.8
