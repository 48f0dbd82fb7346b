"""IEThresh: bounds and batches step by step, by hand and against the algorithm as printed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from askwise import Worker
from askwise.core.choices import Done, Wait
from askwise.core.errors import InvalidParameter
from askwise.policies import policies
from tests.policies.folded import state_of
from tests.policies.labels.campaigns import campaign_by_letters, names


def iethresh(**parameters):
    return {"name": "iethresh", **parameters}


def bounds(campaign):
    state = state_of(campaign)
    scores = state.scores(np.ones(len(state.ledger.workers), np.int8))
    return {score.worker: score.index for score in scores}


def tell(campaign, batch, said):
    for work in batch:
        campaign.tell(work.id, said[work.worker])


def upper(rewards, error=0.05):
    n = len(rewards)
    critical = stats.t.ppf(1 - error / 2, n - 1)
    return np.mean(rewards) + critical * np.std(rewards, ddof=1) / math.sqrt(n)


def test_a_run_by_hand():
    campaign = campaign_by_letters(iethresh(threshold=0.9), "abcd", 4)
    first = campaign.ask(9)
    assert [(work.worker, work.propensity) for work in first] == [(one, 1.0) for one in "abcd"]
    assert campaign.ask() == Wait("answers")
    tell(campaign, first, {"a": "+", "b": "+", "c": "+", "d": "-"})
    second = campaign.ask(9)
    assert names(second) == list("abcd")
    tell(campaign, second, {"a": "+", "b": "-", "c": "-", "d": "-"})
    # Rewards: a 1 0, b 1 1, c 1 1, d 0 1. UI of one half: .5 + 12.706 * .7071 / 1.4142 = 6.853.
    assert bounds(campaign) == pytest.approx({"a": 6.853, "b": 1, "c": 1, "d": 6.853}, abs=1e-3)
    third = campaign.ask(9)
    assert names(third) == ["a", "d"]
    # A tie rewards nobody: a 1 0 0, d 0 1 0: mean 1/3, t = 4.303, s = .5774.
    tell(campaign, third, {"a": "+", "d": "-"})
    tied = 1 / 3 + 4.3027 * 0.57735 / math.sqrt(3)
    assert bounds(campaign) == pytest.approx({"a": tied, "b": 1, "c": 1, "d": tied}, abs=1e-3)
    fourth = campaign.ask(9)
    assert names(fourth) == ["a", "d"]
    tell(campaign, fourth, {"a": "+", "d": "+"})
    assert campaign.ask() == Done("target")


@pytest.mark.parametrize(("threshold", "options"), [(0.8, 2), (0.97, 2), (0.9, 3)])
def test_a_whole_run_is_the_algorithm_as_printed(threshold, options):
    rng = np.random.default_rng(options)
    tasks, workers = 25, 6
    truth = rng.integers(options, size=tasks)
    right = rng.random((tasks, workers)) < rng.uniform(0.4, 0.95, workers)
    table = np.where(right, truth[:, None], rng.integers(options, size=(tasks, workers)))
    letters = "xyz"[:options]
    everyone = [f"w{at}" for at in range(workers)]
    campaign = campaign_by_letters(
        iethresh(threshold=threshold, error=0.1), everyone, tasks, letters
    )
    rewards = [[] for _ in range(workers)]
    for task in range(tasks):
        due = list(range(workers))
        if task >= 2:
            high = [upper(each, 0.1) for each in rewards]
            due = [at for at in due if high[at] >= threshold * max(high)]
        batch = campaign.ask(20)
        assert {work.task for work in batch} == {f"t{task}"}
        assert sorted(names(batch)) == [everyone[at] for at in due]
        tell(campaign, batch, {everyone[at]: letters[table[task, at]] for at in due})
        votes = np.bincount([table[task, at] for at in due], minlength=options)
        tied = (votes == votes.max()).sum() > 1
        for at in due:
            rewards[at].append(int(not tied and table[task, at] == votes.argmax()))
    assert campaign.ask() == Done("target")


def test_handed_out_one_by_one_the_batch_is_the_same():
    said = {"a": "+", "b": "+", "c": "-"}
    campaign = campaign_by_letters("iethresh", "abc", 3)
    asked = []
    while not isinstance(batch := campaign.ask(), Done):
        asked.append((batch[0].task, batch[0].worker))
        tell(campaign, batch, said)
    rounds = [("t0", one) for one in "abc"] + [("t1", one) for one in "abc"]
    assert asked == [*rounds, ("t2", "a"), ("t2", "b")]


def test_who_joins_later_is_asked_until_they_have_two_rewards():
    campaign = campaign_by_letters("iethresh", "abc", 6)
    said = {"a": "+", "b": "+", "c": "-", "d": "-"}
    for _ in range(2):
        tell(campaign, campaign.ask(9), said)
    campaign.add(workers=[Worker("d", 1)])
    batches = []
    for _ in range(3):
        batches.append(sorted(names(batch := campaign.ask(9))))
        tell(campaign, batch, said)
    assert batches == [["a", "b", "d"], ["a", "b", "d"], ["a", "b"]]


def test_short_money_cuts_a_batch_by_the_highest_bounds():
    staff = [Worker("a", 1), Worker("b", 1), Worker("c", 2), Worker("d", 1)]
    campaign = campaign_by_letters(iethresh(threshold=0.0), staff, 4, budget=12)
    tell(campaign, campaign.ask(9), {"a": "+", "b": "+", "c": "+", "d": "-"})
    tell(campaign, campaign.ask(9), {"a": "+", "b": "+", "c": "-", "d": "+"})
    # 2 are left. Bounds: c and d 6.85, a and b 1. c takes all.
    batch = campaign.ask(9)
    assert [(work.task, work.worker) for work in batch] == [("t2", "c")]
    tell(campaign, batch, {"c": "+"})
    assert campaign.ask() == Done("budget")


def test_a_task_whose_batch_all_expired_is_asked_again():
    campaign = campaign_by_letters("iethresh", "ab", 2)
    batch = campaign.ask(9)
    for work in batch:
        campaign.expire(work.id)
    again = campaign.ask(9)
    assert {work.task for work in again} == {"t0"}
    # One of two answers is enough once the other is declined.
    campaign.tell(again[0].id, "+")
    campaign.decline(again[1].id)
    assert {work.task for work in campaign.ask(9)} == {"t1"}


def test_an_absent_member_of_the_batch_is_waited_for():
    campaign = campaign_by_letters("iethresh", "ab", 2)
    tell(campaign, campaign.ask(9, workers=["a"]), {"a": "+"})
    assert campaign.ask(9, workers=["a"]) == Wait("workers")
    campaign.leave("b")
    assert {work.task for work in campaign.ask(9)} == {"t1"}


@pytest.mark.parametrize(("parameter", "value"), [("threshold", 1.5), ("error", 0.0)])
def test_a_bad_parameter_is_named(parameter, value):
    with pytest.raises(InvalidParameter, match=f"{parameter} is"):
        policies.make(iethresh(**{parameter: value}))
