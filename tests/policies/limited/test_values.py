"""Value contributions (11), decisions (10) and inference functions of paper 001."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise import Campaign, Worker
from askwise.campaign.spec import Spec
from askwise.campaign.state import CampaignState
from askwise.core import draws
from askwise.core.choices import Batch
from askwise.core.draws import Draw
from askwise.core.errors import AskwiseError
from askwise.core.problem import Problem
from askwise.policies import policies
from askwise.policies.limited.b_kube import BKube
from askwise.policies.limited.common import (
    GIVEN,
    MAJORITY,
    POSTERIOR,
    WEIGHTED,
    accuracy,
    contributions,
    value_of,
)

NAMED = (MAJORITY, WEIGHTED, POSTERIOR)


def record(count: int, agreed: int) -> Any:
    return np.array([[float(count), 0.0, float(agreed)]])


def by_name(code: int, answers: Any, options: int) -> Any:
    """The table f(l, l') that a named inference function stands for."""
    same, other = contributions(answers, 0, code, options)
    return np.where(np.eye(options) == 1, same, other)


def expectation(table: Any, p: float) -> float:
    """(11) as it is written: the mean over true labels of the least expected lead."""
    options = len(table)
    least = []
    for true in range(options):
        chances = [p if y == true else (1 - p) / (options - 1) for y in range(options)]
        least.append(
            min(
                sum(chances[y] * (table[true][y] - table[label][y]) for y in range(options))
                for label in range(options)
                if label != true
            )
        )
    return sum(least) / options


@given(
    code=st.sampled_from(NAMED),
    options=st.integers(2, 5),
    count=st.integers(1, 50),
    data=st.data(),
)
@settings(max_examples=150)
def test_values_of_named_functions_are_the_expectation(
    code: int, options: int, count: int, data: st.DataObject
) -> None:
    answers = record(count, data.draw(st.integers(0, count)))
    found = value_of(answers, np.zeros((1, 0, 0)), 0, code, options)
    due = expectation(by_name(code, answers, options), answers[0, 2] / count)
    assert found == pytest.approx(due, abs=1e-12)


@given(options=st.integers(2, 4), count=st.integers(1, 20), data=st.data())
@settings(max_examples=100)
def test_values_of_tables_are_the_expectation(
    options: int, count: int, data: st.DataObject
) -> None:
    row = st.lists(st.floats(0, 1), min_size=options, max_size=options)
    table = np.array(data.draw(st.lists(row, min_size=options, max_size=options)))
    answers = record(count, data.draw(st.integers(0, count)))
    found = value_of(answers, table[None], 0, GIVEN, options)
    assert found == pytest.approx(expectation(table, answers[0, 2] / count), abs=1e-12)


def test_majority_voting_values_a_worker_at_their_lead_over_a_wrong_label() -> None:
    # Two labels: 2p - 1. Three: p - (1 - p) / 2, so .7 - .15.
    nothing = np.zeros((1, 0, 0))
    assert value_of(record(10, 8), nothing, 0, MAJORITY, 2) == pytest.approx(0.6)
    assert value_of(record(10, 2), nothing, 0, MAJORITY, 2) == pytest.approx(-0.6)
    assert value_of(record(10, 7), nothing, 0, MAJORITY, 3) == pytest.approx(0.55)


def test_weights_start_half_way_between_chance_and_always_right() -> None:
    # Two labels, two answers' worth: (8 + 1.5) / (10 + 2); three labels: 2/3 before any answer.
    assert accuracy(record(0, 0), 0, 2) == 0.75
    assert accuracy(record(10, 8), 0, 2) == pytest.approx(9.5 / 12)
    assert accuracy(record(0, 0), 0, 3) == pytest.approx(2 / 3)
    assert contributions(record(0, 0), 0, WEIGHTED, 2) == (0.5, 0.0)
    # Log-odds in units of the largest, log 99: log 3 / log 99.
    assert contributions(record(0, 0), 0, POSTERIOR, 2)[0] == pytest.approx(
        math.log(3) / math.log(99)
    )


def test_an_inference_function_is_never_negative_and_at_most_one() -> None:
    for code, options, count in itertools.product(NAMED, (2, 3, 7), (0, 1, 10, 10_000)):
        for agreed in {0, count // 2, count}:
            same, other = contributions(record(count, agreed), 0, code, options)
            assert 0 <= other <= 1
            assert 0 <= same <= 1 + 1e-12


def test_log_odds_value_those_who_are_reliably_wrong() -> None:
    nothing = np.zeros((1, 0, 0))
    wrong = value_of(record(50, 5), nothing, 0, POSTERIOR, 2)
    assert wrong > 0.2
    assert value_of(record(50, 5), nothing, 0, WEIGHTED, 2) == 0
    assert value_of(record(50, 25), nothing, 0, POSTERIOR, 2) == 0


# Decisions, through campaigns.


def campaign_after(
    script: Sequence[tuple[str, str, str]], policy: dict[str, Any], options: Sequence[str] = "xy"
) -> Campaign:
    """A campaign in which (worker, task, answer) happened, in this order."""
    workers = sorted({worker for worker, _, _ in script})
    tasks = list(dict.fromkeys(task for _, task, _ in script))
    campaign = Campaign.create(
        workers=[Worker(worker, 1) for worker in workers],
        tasks=tasks,
        options=list(options),
        budget=1000,
        policy=policy,
        seed=5,
    )
    for worker, task, answer in script:
        batch = campaign.ask(workers=[worker])
        assert isinstance(batch, Batch)
        assert batch[0].task == task
        campaign.tell(batch[0].id, answer)
    return campaign


def folded(campaign: Campaign) -> CampaignState:
    state = CampaignState(Spec.from_json(json.dumps(campaign.spec)))
    for event in campaign.log():
        state.fold(event)
    return state


def labels_of(campaign: Campaign) -> Any:
    state = folded(campaign)
    policy = state.spec.policy
    tasks = range(len(state.ledger.tasks))
    labels = policy.labels(
        state.spec.problem, state.beliefs, state.ledger, tasks, Draw(1, 2, draws.AGGREGATION)
    )
    return [(label.value, label.confidence) for label in labels]


THREE = [
    *[(worker, "t1", answer) for worker, answer in zip("abc", "xxy", strict=True)],
    *[(worker, "t2", answer) for worker, answer in zip("abc", "xxy", strict=True)],
    *[(worker, "t3", answer) for worker, answer in zip("bca", "xyy", strict=True)],
]
"""a and b agree twice, c stands alone; then b is against c and a."""


def test_a_label_is_the_majority_with_its_share() -> None:
    found = labels_of(campaign_after(THREE, {"name": "b-kube"}))
    assert np.allclose(found, [(0.0, 2 / 3), (0.0, 2 / 3), (1.0, 2 / 3)])


def test_weights_are_those_that_the_record_gives() -> None:
    campaign = campaign_after(THREE, {"name": "b-kube", "inference": "weighted-majority"})
    # t1: a x, b x (.5 each before any answer, so agreed), c y against weights .67 + .67: not.
    # t2: the same. Then a and b have p = (2 + 1.5) / 4 = .875, weight .75; c (0 + 1.5) / 4 = .375
    # has none. t3: b x alone is right, c y adds nothing: not right, a y makes .75 against .8.
    found = labels_of(campaign)
    assert [label for label, _ in found] == [0.0, 0.0, 0.0]
    # b: 3 of 3, (3 + 1.5) / 5 = .9, weight .8. a: 2 of 3, .7, weight .4. c none.
    assert found[2][1] == pytest.approx(0.8 / 1.2)


def test_log_odds_give_the_probability_if_estimates_were_right() -> None:
    script = [("a", "t1", "x"), ("b", "t1", "x")]
    found = labels_of(campaign_after(script, {"name": "b-kube", "inference": "map"}))
    # Each agreed once: p = 2.5 / 3, odds 5 each, 25 together.
    assert np.allclose(found, [(0.0, 25 / 26)])


def test_a_table_may_let_an_answer_speak_for_a_similar_label() -> None:
    # "wolf" speaks for "dog" by three quarters: dog has 1 + 2 * .75, wolf 2, cat 1.
    table = [[1, 0, 0], [0, 1, 0.75], [0, 0, 1]]
    policy = {"name": "b-kube", "inference": table}
    script = [
        (worker, "t1", answer)
        for worker, answer in zip("abcd", ("wolf", "wolf", "dog", "cat"), strict=True)
    ]
    found = labels_of(campaign_after(script, policy, ("cat", "dog", "wolf")))
    assert np.allclose(found, [(1.0, 2.5 / 5.5)])


def test_a_task_without_answers_has_no_label_and_a_truth_is_the_label() -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1)],
        tasks=["t1", "t2"],
        options=["x", "y"],
        budget=9,
        policy="b-kube",
    )
    campaign.truth("t2", "y")
    assert labels_of(campaign) == [(None, None), (1.0, 1.0)]


def test_ties_are_broken_by_the_draw_and_every_label_has_its_turn() -> None:
    script = [("a", "t1", "x"), ("b", "t1", "y")]
    for inference in ("majority", [[1, 0], [0, 1]]):
        campaign = campaign_after(script, {"name": "b-kube", "inference": inference})
        state = folded(campaign)
        found = [
            state.spec.policy.labels(
                state.spec.problem, state.beliefs, state.ledger, [0], Draw(seed, 2, 0)
            )[0]
            for seed in range(60)
        ]
        assert {label.confidence for label in found} == {0.5}
        # 30 expected, five standard deviations are 19.
        assert 11 <= sum(label.value == 1.0 for label in found) <= 49


@dataclass(frozen=True)
class ByTeam(BKube):
    """Gives members of the team full weight and guests half of it."""

    def inference_of(self, problem: Problem, worker: Worker) -> list[list[float]]:
        weight = 1.0 if worker.id.startswith("team") else 0.5
        return [[weight, 0.0], [0.0, weight]]


def test_a_subclass_may_give_every_worker_a_function_of_their_own() -> None:
    policies.names()
    with mock.patch.dict(policies._entries):
        policies.register("by-team")(ByTeam)
        script = [("guest1", "t1", "x"), ("guest2", "t1", "x"), ("team1", "t1", "y")]
        campaign = campaign_after(script, {"name": "by-team"})
        ((_, sure),) = labels_of(campaign)
        assert sure == 0.5
        # Who joins later brings their own.
        campaign.add(workers=[Worker("team2", 1)])
        batch = campaign.ask(workers=["team2"])
        assert isinstance(batch, Batch)
        campaign.tell(batch[0].id, "y")
        assert np.allclose(labels_of(campaign), [(1.0, 2 / 3)])


def test_a_subclass_that_gives_a_table_of_another_size_is_refused() -> None:
    with (
        mock.patch.object(ByTeam, "inference_of", return_value=[[1, 0, 0]] * 3),
        pytest.raises(AskwiseError, match="for worker 'w'"),
    ):
        Campaign.create(
            workers=[Worker("w", 1)], tasks=["t"], options=["x", "y"], budget=9, policy=ByTeam()
        )
