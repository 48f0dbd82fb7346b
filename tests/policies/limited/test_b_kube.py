"""B-KUBE for labelling, step by step and by hand (001, algorithms 1 and 2)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from askwise import Campaign, Done, Task, Wait, Worker
from askwise.core.choices import Assignment, Batch
from askwise.core.errors import AskwiseError
from askwise.lab.simulate import simulate
from askwise.lab.worlds.limited import labellers
from askwise.policies import Score, policies
from askwise.stopping import stopping

NEVER = {"name": "gap", "quality": 1000}

THREE = [Worker("a", 1, limit=4), Worker("b", 2, limit=10), Worker("c", 1, limit=3)]


def labelling(policy: object = "b-kube", **more: Any) -> Campaign:
    return Campaign.create(
        **{
            "workers": THREE,
            "tasks": ["t1", "t2", "t3"],
            "options": ["x", "y"],
            "budget": 12,
            "repeat": True,
            "policy": policy,
            "stopping": NEVER,
            "seed": 1,
            **more,
        }
    )


def ask(campaign: Campaign, *workers: str) -> Assignment:
    batch = campaign.ask(workers=workers or None)
    assert isinstance(batch, Batch), batch
    return batch[0]


def say(campaign: Campaign, worker: str, answer: str) -> None:
    campaign.tell(ask(campaign, worker).id, answer)


def scores(campaign: Campaign) -> dict[str, Score]:
    found = campaign.explain(ask(campaign).id).candidates
    return {each.worker: each for each in found}  # type: ignore[misc]


def odds(script: list[tuple[str, str]], **more: Any) -> dict[str, float | None]:
    """Who is asked after a script under which propensity, over many seeds."""
    found: dict[str, float | None] = {}
    for seed in range(60):
        campaign = labelling(seed=seed, **more)
        for worker, answer in script:
            say(campaign, worker, answer)
        asked = ask(campaign)
        found[asked.worker] = asked.propensity
    return found


FIRST = [("a", "x"), ("b", "x"), ("c", "y")]
"""All three on t1: a and b agree with the vote as it stands after them, c does not."""


def test_everyone_is_asked_once_in_order_on_the_task_in_hand() -> None:
    campaign = labelling()
    asked = []
    for _, answer in FIRST:
        assignment = ask(campaign)
        asked.append((assignment.task, assignment.worker, assignment.propensity))
        campaign.tell(assignment.id, answer)
    assert asked == [("t1", "a", 1.0), ("t1", "b", 1.0), ("t1", "c", 1.0)]


def test_a_worker_against_the_vote_has_no_value_but_their_confidence_term() -> None:
    # p = 1, 1, 0, so v = 1, 1, -1, the last counted as 0. This is iteration 4:
    # sqrt(2 ln 4) = 1.6651. Per price: a 2.6651, b 1.3326, c 1.6651.
    campaign = labelling()
    for worker, answer in FIRST:
        say(campaign, worker, answer)
    found = scores(campaign)
    term = math.sqrt(2 * math.log(4))
    assert {name: each.details["accuracy"] for name, each in found.items()} == {
        "a": 1.0, "b": 1.0, "c": 0.0,
    }  # fmt: skip
    assert {name: each.details["value"] for name, each in found.items()} == {
        "a": 1.0, "b": 1.0, "c": 0.0,
    }  # fmt: skip
    assert found["a"].index == pytest.approx(1 + term)
    assert found["b"].index == pytest.approx((1 + term) / 2)
    assert found["c"].index == pytest.approx(term)


def test_the_plan_is_filled_by_density_and_drawn_from_in_proportion() -> None:
    # 4 of 12 are spent. a has 3 left (3), c has 2 left (2), the last 3 buy one of b.
    assert odds(FIRST) == {"a": 3 / 6, "c": 2 / 6, "b": 1 / 6}


def test_estimates_and_plan_after_two_more_answers() -> None:
    # c now agrees (x 3, y 1): p = 1/2, v = 0. Iteration 5, 2 ln 5 = 3.2189: a and b 2.7941, c
    # sqrt(3.2189 / 2) = 1.2686. Per price a 2.79, b 1.40, c 1.27; 7 left: 3 of a, 2 of b.
    assert odds([*FIRST, ("c", "x")]) == {"a": 3 / 5, "b": 2 / 5}
    # a disagrees (x 3, y 2): p = 1/2. Iteration 6, 2 ln 6 = 3.5835: a and c 1.3386 per price, b
    # (1 + 1.8930) / 2 = 1.4465; 6 left: 3 of b.
    assert odds([*FIRST, ("c", "x"), ("a", "y")]) == {"b": 1.0}


def test_a_smaller_bonus_lets_values_decide() -> None:
    # Without a bonus c is worth nothing and a, b are worth 1 and 1/2 per price: 3 of a, 2 of b,
    # and the last unit of money goes to c all the same, as nothing else fits.
    found = odds(FIRST, policy={"name": "b-kube", "bonus": 0})
    assert found == {"a": 3 / 6, "b": 2 / 6, "c": 1 / 6}


def test_an_answer_that_makes_a_tie_agrees_half_of_the_time() -> None:
    # Over 80 seeds: 40 expected, five standard deviations are 22.
    agreed = 0
    for seed in range(80):
        campaign = labelling(seed=seed)
        say(campaign, "a", "x")
        say(campaign, "b", "y")
        agreed += scores(campaign)["b"].details["accuracy"] == 1.0
    assert 18 <= agreed <= 62


def test_a_truth_that_was_told_judges_in_place_of_the_vote() -> None:
    campaign = labelling()
    say(campaign, "a", "x")
    campaign.truth("t1", "y")
    say(campaign, "b", "y")
    assert scores(campaign)["b"].details["accuracy"] == 1.0


def test_it_stays_on_a_task_until_the_rule_closes_it() -> None:
    # gap at 1: two answers that agree close a task (2 > sqrt 2), one and one does not.
    rule = {"name": "gap", "quality": 1, "smooth": False}
    campaign = labelling(stopping=rule, budget=30, workers=[Worker("a", 1), Worker("b", 1)])
    asked = []
    for answer in ("x", "x", "y", "x", "x", "x", "y"):
        assignment = ask(campaign)
        asked.append(assignment.task)
        campaign.tell(assignment.id, answer)
    # t2: y, x, x is 2 of 3, 1 < sqrt 3; then x: 3 of 4 lead by 2, not above sqrt 4.
    assert asked == ["t1", "t1", "t2", "t2", "t2", "t2", "t2"]


def test_without_repeats_it_moves_on_when_everyone_was_asked() -> None:
    campaign = labelling(repeat=None, budget=30, workers=[Worker("a", 1), Worker("b", 1)])
    asked = []
    while isinstance(batch := campaign.ask(), Batch):
        asked.append((batch[0].task, batch[0].worker))
        campaign.tell(batch[0].id, "x")
    assert isinstance(batch, Done)
    assert [task for task, _ in asked] == ["t1", "t1", "t2", "t2", "t3", "t3"]
    assert len(set(asked)) == 6


def test_who_comes_unasked_works_on_the_first_task_that_is_open_to_them() -> None:
    campaign = labelling(repeat=None, budget=30)
    assert ask(campaign, "a").task == "t1"
    say(campaign, "b", "x")
    assert ask(campaign, "b").task == "t2"
    assert ask(campaign, "c").task == "t1"


def test_a_newcomer_is_tried_at_once_also_on_a_task_that_all_others_had() -> None:
    campaign = labelling(repeat=None, budget=30)
    for worker in "abc":
        say(campaign, worker, "x")
    assert ask(campaign).task == "t2"
    campaign.add(workers=[Worker("d", 1)])
    newcomer = ask(campaign, "d")
    assert (newcomer.task, newcomer.propensity) == ("t1", 1.0)


def test_an_expired_answer_brings_its_task_back() -> None:
    campaign = labelling(repeat=None, budget=30)
    lost = ask(campaign, "a")
    say(campaign, "b", "x")
    say(campaign, "c", "x")
    say(campaign, "b", "x")
    assert ask(campaign, "c").task == "t2"
    campaign.expire(lost.id)
    assert ask(campaign, "a").task == "t1"


def test_a_task_is_put_only_to_those_it_names() -> None:
    tasks = [Task("t1", workers=("b",)), Task("t2")]
    campaign = labelling(tasks=tasks, repeat=None, budget=30)
    assert (ask(campaign).task, ask(campaign, "a").task) == ("t1", "t2")


def test_who_is_on_their_first_answer_is_neither_tried_nor_planned_with() -> None:
    campaign = labelling()
    batch = [ask(campaign) for _ in range(3)]
    assert [each.worker for each in batch] == ["a", "b", "c"]
    assert campaign.ask() == Wait("answers")
    campaign.tell(batch[1].id, "x")
    assert ask(campaign).worker == "b"


def test_accuracies_are_learnt_for_each_context_where_wanted() -> None:
    tasks = [Task("t1", context="birds"), Task("t2", context="cars")]
    rule = {"name": "fixed", "n": 3}
    for by_context, count in ((True, 0.0), (False, 1.0)):
        campaign = labelling(
            {"name": "b-kube", "by_context": by_context}, tasks=tasks, stopping=rule, budget=30
        )
        for worker, answer in FIRST:
            say(campaign, worker, answer)
        assignment = ask(campaign)
        assert assignment.task == "t2"
        found = {each.worker: each for each in campaign.explain(assignment.id).candidates}
        assert found["c"].details["answers"] == count
        # In a new context everyone is tried again.
        assert (assignment.worker == "a" and assignment.propensity == 1.0) or not by_context


def test_estimates_of_the_lab_are_the_agreements_in_its_log() -> None:
    # Folded anew in plain Python: after each answer, whether it is with the larger part of the
    # votes. A tie may count either way, so agreements lie between two counts.
    crowd = labellers(np.random.default_rng(4), 5)
    rule = stopping.make({"name": "gap", "quality": 1.5, "smooth": False})
    policy = policies.make("b-kube")
    done = simulate(
        policy, crowd.problem(20, 30, 60_000_000), crowd.answering(3, 0, 20), rule=rule, seed=3
    )
    book = done.ledger.book
    votes = np.zeros((20, 2), int)
    sure, open_ = np.zeros(5), np.zeros(5)
    for at in range(done.answers):
        task, worker = (int(book.assignments[at, column]) for column in (0, 1))
        said = int(book.marks[at, 0])
        votes[task, said] += 1
        lead = votes[task, said] - votes[task, 1 - said]
        sure[worker] += lead > 0
        open_[worker] += lead == 0
    counted = done.state.beliefs[0, :5]
    assert counted[:, 0].sum() == done.answers
    assert (counted[:, 2] >= sure).all()
    assert (counted[:, 2] <= sure + open_).all()
    assert open_.sum() > 0


def test_with_answers_that_come_late_the_laws_hold() -> None:
    crowd = labellers(np.random.default_rng(4), 5)
    rule = stopping.make({"name": "gap", "quality": 1.0, "smooth": False})
    done = simulate(
        policies.make("b-kube"),
        crowd.problem(20, 6, 25_000_000),
        crowd.answering(3, 0, 20),
        rule=rule,
        seed=3,
        window=4,
    )
    assert isinstance(done.ended, Done)
    assert done.spent <= 25
    assert (done.ledger.book.workers[:5, 3] <= 6).all()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"bonus": -1}, "bonus"),
        ({"bonus": "large"}, "bonus"),
        ({"by_context": 1}, "by_context"),
        ({"inference": "median"}, "inference"),
        ({"inference": 3}, "inference"),
        ({"inference": [[1, 0]]}, "inference"),
        ({"inference": [[1, 0], [0]]}, "inference"),
        ({"inference": [[1, 0], "ab"]}, "inference"),
        ({"inference": [[1, 0], [0, 2]]}, "inference"),
        ({"inference": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}, "inference"),
    ],
)
def test_bad_parameters_are_refused_by_name(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(AskwiseError) as caught:
        labelling({"name": "b-kube", **changes})
    assert caught.value.field == field


def test_free_workers_and_missing_budgets_are_refused() -> None:
    with pytest.raises(AskwiseError, match="price of worker 'a' is 0"):
        labelling(workers=[Worker("a", 0)])
    with pytest.raises(AskwiseError, match="budget is missing"):
        labelling(budget=None)
