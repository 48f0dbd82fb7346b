"""What a set costs, what is reachable and assured, and a price for misses."""

from __future__ import annotations

import itertools
import math

import pytest

from askwise.core.choices import Done, Wait
from askwise.policies.assured.common import EXPLORED, UNREACHED
from askwise.policies.assured.sets import error_probability
from tests.policies.assured.campaigns import SURE, beliefs, campaign_of, decisions, tell, who


def test_a_set_is_asked_as_a_whole_or_not_at_all():
    policy = {"name": "ccb-fixed", "alpha": 0.12, "rounds": 0, "qualities": (0.8, 0.8, 0.8, 0.6)}
    campaign = campaign_of(policy, budget="5")
    batch = campaign.ask(4)
    assert len(batch) == 3
    assert campaign.ask() == Wait("answers")
    tell(campaign, batch)
    assert campaign.ask() == Done("budget")
    campaign.top_up(1)
    assert len(campaign.ask(4)) == 3


def test_epsilon_t_greedy_does_without_exploring_where_the_money_is_short():
    campaign = campaign_of(
        {"name": "epsilon-t-greedy", "alpha": 0.2}, workers=3, prices=[1, 5, 5], budget="13"
    )
    tell(campaign, campaign.ask(3))
    campaign.truth("t0", "yes")
    assert who(campaign.ask(3)) == [("t1", "w0")]


# What is reachable and assured.


def test_two_workers_who_cannot_reach_the_target_are_both_asked_and_it_says_so():
    campaign = campaign_of(
        {"name": "ccb-fixed", "rounds": 0, "qualities": (0.8, 0.7)}, workers=2, tasks=1
    )
    batch = campaign.ask(4)
    tell(campaign, batch)
    assert decisions(campaign) == [("unreachable", "t0", ["w0", "w1"])]
    (answer,) = campaign.answers()
    assert answer.outcome == "target_not_reachable"
    assert answer.assured_error == pytest.approx(1 - 0.8 * 0.7)


def test_a_pool_that_turns_out_too_weak_is_asked_as_a_whole_and_counted():
    campaign = campaign_of({"name": "ccb-ns", "alpha": 0.1, "mu": 0.9}, workers=2, tasks=40)
    for task in range(40):
        for at, each in enumerate(campaign.ask(2)):
            campaign.tell(each.id, "yes" if (task + at) % 2 else "no")
        if task < 39:
            campaign.truth(f"t{task}", "yes")
    tally = beliefs(campaign).tally
    assert decisions(campaign)[-1] == ("unreachable", "t39", ["w0", "w1"])
    assert tally[UNREACHED] > 0
    assert tally[EXPLORED] + tally[UNREACHED] == 40
    outcomes = {answer.outcome for answer in campaign.answers()}
    assert outcomes == {"everyone_asked", "target_not_reachable"}


def test_what_is_planned_with_a_range_is_checked_and_reachable_by_alpha():
    # Five of .8 err at .058: beyond .05, within .1.
    campaign = campaign_of(
        {"name": "ccb-ns", "alpha": 0.1, "xi": 0.05, "floor": 0.8, "mu": 0.9, "bounds": "paper"},
        workers=5,
        tasks=400,
    )
    for task in range(400):
        batch = campaign.ask(5)
        if decisions(campaign)[-1][0] != "explore":
            break
        for at, each in enumerate(batch):
            campaign.tell(each.id, "yes" if (task + at) % 5 else "no")
        campaign.truth(f"t{task}", "yes")
    note, _, asked = decisions(campaign)[-1]
    assert (note, len(asked)) == ("exploit", 5)


def test_answers_say_what_is_assured_and_by_which_error():
    campaign = campaign_of(
        {"name": "ccb-fixed", "alpha": 0.4, "error": "hoeffding-linear(epsilon=0.5)", **SURE},
        prices=[9, 1, 1, 1],
        tasks=2,
    )
    batch = campaign.ask(4)
    opened, other = campaign.answers()
    assert (opened.outcome, other.outcome) == ("open", "open")
    tell(campaign, batch)
    done = campaign.answers()[0]
    q = [SURE["qualities"][int(each.worker[1:])] for each in batch]
    assert done.outcome == "assured"
    assert done.assured_error == pytest.approx(math.exp(-0.5 * sum(2 * each - 1 for each in q)))
    assert done.majority_error == pytest.approx(error_probability("majority", q))


def test_epsilon_t_greedy_assures_nothing():
    campaign = campaign_of("epsilon-t-greedy", tasks=1)
    tell(campaign, campaign.ask(4))
    (answer,) = campaign.answers()
    assert (answer.outcome, answer.assured_error) == ("open", None)


def test_where_a_record_refutes_the_floor_only_the_record_counts():
    campaign = campaign_of({"name": "ccb-s", "mu": 0.9, "bounds": "paper"}, workers=2, tasks=60)
    for task in range(50):
        first, second = campaign.ask(2)
        campaign.tell(first.id, "yes")
        campaign.tell(second.id, "no")
        campaign.truth(f"t{task}", "yes")
    explained = campaign.explain(campaign.ask(1)[0].id)
    able, wrong = explained.candidates
    assert able.details["lower"] > 0.5
    assert wrong.details["upper"] < 0.5
    assert wrong.details["lower"] == 0.0
    assert wrong.index is None
    assert able.details["mean"] == 1.0
    assert able.details["count"] == 50.0


# A price for misses.


def test_with_a_price_for_misses_nobody_is_asked_where_nobody_is_worth_it():
    campaign = campaign_of({"name": "ccb-ns", "miss": 1.0}, prices=[2, 2, 3, 3])
    assert campaign.ask() == Done("worthless")


def test_with_a_price_for_misses_the_optimistic_set_is_asked_as_it_is():
    campaign = campaign_of({"name": "ccb-ns", "miss": 100.0}, prices=[2, 1, 3, 3])
    # By the upper bounds, 1 each, one worker never errs.
    batch = campaign.ask(4)
    assert who(batch) == [("t0", "w1")]
    tell(campaign, batch, "no")
    campaign.truth("t0", "yes")
    everyone = campaign_of({"name": "ccb-s", "miss": 100.0}, prices=[2, 1, 3, 3])
    assert len(everyone.ask(4)) == 4


def test_with_a_price_for_misses_exploration_ends_when_the_error_is_known_well_enough():
    policy = {"name": "ccb-ns", "miss": 100.0, "alpha": 0.3, "xi": 0.1, "mu": 0.9}
    campaign = campaign_of(policy, prices=[1, 3, 3, 3], tasks=60)
    for task in itertools.count():
        batch = campaign.ask(1)
        if decisions(campaign)[-1][0] == "exploit":
            break
        tell(campaign, batch)
        campaign.truth(f"t{task}", "yes")
    assert decisions(campaign)[-1] == ("exploit", f"t{task}", ["w0"])

    def radius(k):
        # Of k answers that are all right the mixture is 1 / (k + 1), the likelihood q**k.
        return 1.0 - (0.9 / 4 / (k + 1)) ** (1 / k)

    # Always right, they err at .3 + .1 at most by their lower bound, and not a task earlier.
    assert radius(task) <= 0.4 < radius(task - 1)
