"""Policies of paper 000: truths that come late, losses, departures, money, what is assured."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest

from askwise import Campaign, Task, Worker
from askwise.campaign.state import Engine
from askwise.core.allocation import Allocation
from askwise.core.choices import Batch, Done, Wait
from askwise.core.draws import Draw
from askwise.core.errors import InvalidParameter, InvalidProblem, TooLarge
from askwise.core.events import Kind
from askwise.core.problem import make_problem
from askwise.ledger.ledger import Ledger
from askwise.ledger.proposals import new_proposal
from askwise.policies import policies
from askwise.policies.assured.common import COUNT, EXPLORED, RIGHT, SETTLED, UNREACHED
from askwise.policies.assured.sets import ErrorFunction, cheapest_set, error_probability, errors
from askwise.testing.sessions import spec_of_campaign

SURE = {"rounds": 0, "qualities": (0.9, 0.8, 0.8, 0.7)}
"""ccb-fixed with known qualities: sets are settled at once, and easy to compute by hand."""


def campaign_of(policy, workers=4, tasks=3, prices=None, **more):
    prices = prices or [1] * workers
    return Campaign.create(
        workers=[Worker(f"w{at}", price) for at, price in enumerate(prices)],
        tasks=more.pop("given", None) or [f"t{at}" for at in range(tasks)],
        options=["no", "yes"],
        policy=policy,
        name="assured",
        **more,
    )


def tell(campaign, batch, answer="yes"):
    for each in batch:
        campaign.tell(each.id, answer)


def who(batch):
    return [(each.task, each.worker) for each in batch]


def decisions(campaign):
    return [
        (event.note, event.rows[0].task, [row.worker for row in event.rows])
        for event in campaign.log()
        if event.kind == Kind.DECIDED
    ]


def beliefs(campaign):
    """What the policy knows: the log folded anew."""
    engine = Engine(spec_of_campaign(campaign))
    for event in campaign.log():
        engine.fold(event)
    return engine.beliefs


# Truths.


def test_a_truth_counts_every_answer_whenever_they_come():
    campaign = campaign_of({"name": "ccb-s", "ahead": 3}, tasks=4)
    first, second, third = campaign.ask(4), campaign.ask(4), campaign.ask(4)
    assert {each.task for each in first} == {"t0"}
    assert {each.task for each in third} == {"t2"}
    assert campaign.ask() == Wait("answers")
    # Before any answer, in between, out of order, and for a task never asked.
    campaign.truth("t2", "yes")
    campaign.truth("t3", "no")
    tell(campaign, second, "no")
    campaign.truth("t1", "yes")
    tell(campaign, third)
    tell(campaign, first)
    campaign.truth("t0", "yes")
    workers = beliefs(campaign).workers
    assert workers[:4, COUNT].tolist() == [3, 3, 3, 3]
    assert workers[:4, RIGHT].tolist() == [2, 2, 2, 2]
    # The truth of the last task is known already: its answers count as they come.
    campaign.tell(campaign.ask()[0].id, "no")
    assert beliefs(campaign).workers[:4, COUNT].tolist() == [4, 3, 3, 3]


def test_a_late_answer_counts_once():
    campaign = campaign_of("ccb-s", workers=2)
    first, second = campaign.ask(2)
    campaign.expire(first.id)
    campaign.tell(first.id, "yes")
    campaign.tell(second.id, "yes")
    campaign.truth("t0", "yes")
    assert beliefs(campaign).workers[:2, COUNT].tolist() == [1, 1]
    assert {each.task for each in campaign.ask(2)} == {"t1"}


def test_a_task_whose_truth_never_comes_is_closed_and_teaches_nothing():
    campaign = campaign_of("ccb-ns")
    tell(campaign, campaign.ask(4))
    assert campaign.ask() == Wait("truth")
    campaign.close("t0")
    assert {each.task for each in campaign.ask(4)} == {"t1"}
    assert beliefs(campaign).workers[:, COUNT].sum() == 0
    # Should it come after all, it is learned from.
    campaign.truth("t0", "no")
    assert beliefs(campaign).workers[:4, COUNT].tolist() == [1] * 4
    assert beliefs(campaign).workers[:4, RIGHT].tolist() == [0] * 4


def test_it_waits_for_as_many_truths_as_it_was_told():
    campaign = campaign_of({"name": "ccb-ns", "ahead": 2}, tasks=5)
    for _ in range(2):
        tell(campaign, campaign.ask(4))
    assert campaign.ask() == Wait("truth")
    # Any of the two will do.
    campaign.truth("t1", "yes")
    tell(campaign, campaign.ask(4))
    assert campaign.ask() == Wait("truth")
    campaign.truth("t0", "yes")
    assert isinstance(campaign.ask(4), Batch)


def test_after_exploration_nothing_is_waited_for_and_nothing_learned():
    policy = {"name": "ccb-ns", "alpha": 0.4, "floor": 0.8}
    campaign = campaign_of(policy, prices=[2, 1, 3, 3], tasks=6)
    tell(campaign, campaign.ask(4))
    assert campaign.ask() == Wait("truth")
    campaign.truth("t0", "yes")
    # One worker of at least .8 is enough, and the cheapest is known to be that.
    for task in range(1, 5):
        batch = campaign.ask(1)
        assert who(batch) == [(f"t{task}", "w1")]
        tell(campaign, batch)
        campaign.truth(f"t{task}", "no")
    assert beliefs(campaign).workers[:4, COUNT].tolist() == [1] * 4
    assert beliefs(campaign).tally[[EXPLORED, SETTLED]].tolist() == [1, 1]
    tell(campaign, campaign.ask(1))
    assert campaign.ask() == Done("target")


# Losses.


def test_a_declining_member_is_replaced_by_whom_the_set_needs():
    campaign = campaign_of({"name": "ccb-fixed", "alpha": 0.15, **SURE}, prices=[1, 9, 9, 9])
    (first,) = campaign.ask(1)
    assert first.worker == "w0"
    campaign.decline(first.id)
    # Of the others two of .8 and one of .7 err at .136 together; less won't do.
    assert who(campaign.ask(3)) == [("t0", "w1"), ("t0", "w2"), ("t0", "w3")]
    assert decisions(campaign)[-1] == ("mend", "t0", ["w1", "w2", "w3"])
    assert who(campaign.ask(1)) == [("t1", "w0")]


def test_whoever_let_his_lease_expire_may_be_asked_again():
    campaign = campaign_of({"name": "ccb-fixed", "alpha": 0.15, **SURE}, prices=[1, 9, 9, 9])
    (first,) = campaign.ask(1)
    campaign.expire(first.id)
    assert who(campaign.ask(1)) == [("t0", "w0")]
    # The first answer comes late: the pair was asked again.
    with pytest.raises(Exception, match="asked again"):
        campaign.tell(first.id, "yes")


def test_a_late_answer_makes_mending_superfluous():
    campaign = campaign_of({"name": "ccb-fixed", "alpha": 0.15, **SURE}, prices=[1, 9, 9, 9])
    (first,) = campaign.ask(1)
    campaign.expire(first.id)
    campaign.tell(first.id, "yes")
    assert who(campaign.ask(1)) == [("t1", "w0")]


def test_a_task_for_everybody_goes_on_without_the_one_who_declined():
    campaign = campaign_of("ccb-s", workers=3)
    one, two, three = campaign.ask(3)
    campaign.decline(one.id)
    campaign.expire(two.id)
    again = campaign.ask(3)
    assert who(again) == [("t0", "w1")]
    tell(campaign, [three, *again])
    assert campaign.ask() == Wait("truth")


def test_a_member_who_leaves_before_he_was_asked_is_replaced():
    policy = {"name": "ccb-fixed", "alpha": 0.15, "rounds": 0, "qualities": (0.8, 0.8, 0.8, 0.9)}
    campaign = campaign_of(policy, prices=[1, 1, 1, 9])
    (first,) = campaign.ask(1)
    campaign.leave("w1")
    # The plan's third member is asked, then w3, who with these two errs at .096 at most.
    assert who(campaign.ask(1)) == [("t0", "w2")]
    assert who(campaign.ask(1)) == [("t0", "w3")]
    assert [note for note, *_ in decisions(campaign)] == ["exploit", "mend"]
    assert first.worker == "w0"


def test_when_a_member_has_left_another_set_is_found():
    campaign = campaign_of({"name": "ccb-fixed", "alpha": 0.15, **SURE}, prices=[1, 9, 9, 9])
    tell(campaign, campaign.ask(1))
    campaign.leave("w0")
    assert who(campaign.ask(3)) == [("t1", "w1"), ("t1", "w2"), ("t1", "w3")]
    assert decisions(campaign)[-1][0] == "exploit"


def test_when_a_member_of_the_set_is_at_his_limit_exploration_is_taken_up_again():
    campaign = Campaign.create(
        workers=[Worker("w0", 1, limit=2), Worker("w1", 2), Worker("w2", 3)],
        tasks=[f"t{at}" for at in range(5)],
        options=["no", "yes"],
        policy={"name": "ccb-s", "alpha": 0.4, "floor": 0.5, "mu": 0.9, "bounds": "ucb1"},
    )
    tell(campaign, campaign.ask(3))
    campaign.truth("t0", "yes")
    # UCB1's interval is 1.18 wide after one answer: not known to be enough.
    tell(campaign, campaign.ask(3))
    campaign.truth("t1", "yes")
    assert [note for note, *_ in decisions(campaign)] == ["explore", "explore"]
    assert [each.worker for each in campaign.ask(3)] == ["w1", "w2"]


def test_a_named_task_gets_a_set_of_its_own_and_the_common_one_stands():
    given = [Task("t0"), Task("t1", workers=("w1", "w2", "w3")), Task("t2")]
    campaign = campaign_of(
        {"name": "ccb-fixed", "alpha": 0.15, **SURE}, prices=[1, 9, 9, 9], given=given
    )
    assert len(campaign.ask(9)) == 5
    assert decisions(campaign) == [
        ("exploit", "t0", ["w0"]),
        ("exploit", "t1", ["w1", "w2", "w3"]),
        ("exploit", "t2", ["w0"]),
    ]


def test_a_task_that_nobody_can_be_asked_about_is_passed_over():
    given = [Task("t0", workers=("w0",)), Task("t1")]
    campaign = campaign_of({"name": "ccb-fixed", **SURE}, given=given)
    campaign.leave("w0")
    batch = campaign.ask(4)
    assert {each.task for each in batch} == {"t1"}
    tell(campaign, batch)
    assert campaign.ask() == Done("target")


# Money.


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
    assert campaign.ask() == Done("target")


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

    # Always right, he errs at .3 + .1 at most by his lower bound, and not a task earlier.
    assert radius(task) <= 0.4 < radius(task - 1)


# Error functions of one's own.


@errors.register("assured-test-hundredths")
@dataclass(frozen=True)
class Hundredths(ErrorFunction):
    """The majority's error, rounded up to a whole hundredth."""

    def probability(self, qualities):
        return math.ceil(100 * error_probability("majority", qualities) - 1e-9) / 100


def test_an_error_function_of_ones_own_decides_by_trying_all_sets():
    policy = {"name": "ccb-fixed", "alpha": 0.15, "error": "assured-test-hundredths", **SURE}
    campaign = campaign_of(policy, prices=[9, 1, 1, 1])
    batch = campaign.ask(3)
    due, _, _ = cheapest_set([9, 1, 1, 1], SURE["qualities"], 0.15, Hundredths())
    assert [int(each.worker[1:]) for each in batch] == due == [1, 2, 3]
    tell(campaign, batch)
    answer = campaign.answers()[0]
    assert (answer.outcome, answer.assured_error) == ("assured", 0.14)


@pytest.mark.parametrize(
    "more", [{}, {"solver": "greedy"}, {"miss": 30.0}, {"name": "ccb-s"}, {"ahead": 2}]
)
def test_a_campaign_with_a_function_of_ones_own_runs_to_its_end(more):
    policy = {"name": "ccb-ns", "alpha": 0.3, "floor": 0.7, "error": "assured-test-hundredths"}
    campaign = campaign_of({**policy, **more}, tasks=4)
    for turn in itertools.count():
        choice = campaign.ask(4)
        if isinstance(choice, Done):
            break
        if choice == Wait("truth"):
            campaign.truth(f"t{sum(e.kind == Kind.TRUTH for e in campaign.log())}", "yes")
        elif turn == 0:
            campaign.decline(choice[0].id)
            tell(campaign, choice[1:])
        else:
            tell(campaign, choice)
    assert len({task for note, task, _ in decisions(campaign)}) == 4


def test_too_many_workers_for_a_function_of_ones_own_are_refused_at_the_start():
    with pytest.raises(TooLarge, match=r"workers are 21: .* give at most 20 or solver='greedy'"):
        campaign_of({"name": "ccb-ns", "error": "assured-test-hundredths"}, workers=21)
    campaign_of(
        {"name": "ccb-ns", "error": "assured-test-hundredths", "solver": "greedy"}, workers=21
    )
    assert not policies.make({"name": "ccb-s", "error": "assured-test-hundredths"}).compiles


# Bids.


def test_each_policy_says_for_what_its_allocation_is_proved():
    def allocation(name, **more):
        return policies.make({"name": name, **more}).allocation()

    linear = {"error": "hoeffding-linear"}
    exact = {"solver": "exact"}
    assert allocation("ccb-s", **exact) == Allocation("adaptive", True, "exact", True)
    assert not allocation("ccb-s").monotone
    assert allocation("ccb-s", **linear) == Allocation("adaptive", True, "greedy", False)
    assert allocation("ccb-s", solver="exact", **linear).monotone
    assert allocation("ccb-s", miss=10.0) is None
    assert allocation("ccb-se") == Allocation("adaptive", False, "greedy", False)
    assert allocation("ccb-fixed", **exact) == Allocation("fixed", True, "exact", True)
    assert not allocation("ccb-fixed").monotone
    assert allocation("ccb-fixed", **linear) == Allocation("fixed", True, "greedy", True)
    assert not allocation("ccb-fixed", solver="greedy").monotone
    assert allocation("ccb-fixed", **SURE, **exact) == Allocation("none", True, "exact", True)
    for name in ("ccb-ns", "cucb", "epsilon-t-greedy"):
        assert allocation(name) is None


@pytest.mark.parametrize(
    "how",
    [{"error": "majority", "solver": "exact"}, {"error": "hoeffding-linear(epsilon=0.5)"}],
)
def test_a_critical_bid_is_the_highest_at_which_a_member_stays_in_the_set(how):
    prices = [1.3, 0.9, 1.1, 0.8]
    policy = policies.make({"name": "ccb-fixed", "alpha": 0.3, **how, **SURE})

    def chosen(bids):
        problem = make_problem(
            workers=[Worker(f"w{at}", f"{bid:.6f}") for at, bid in enumerate(bids)],
            tasks=["a"],
            options=["no", "yes"],
        )
        ledger = Ledger(problem)
        state = policy.start(problem, ledger)
        out = policy.choose(problem, state, ledger, Draw(0, 0, 0), np.ones(4, np.int8))
        members = out.rows[: out.head[0], 1].tolist()
        return members, policy.critical_bids(problem, state, ledger, members)

    members, critical = chosen(prices)
    for member, bid in zip(members, critical, strict=True):
        just_below, just_above = list(prices), list(prices)
        just_below[member], just_above[member] = bid / 1e6 - 2e-6, bid / 1e6 + 2e-6
        if math.isinf(bid):
            just_below[member] = 1e6
            assert member in chosen(just_below)[0]
            continue
        assert member in chosen(just_below)[0]
        assert member not in chosen(just_above)[0]


def test_bids_have_no_bearing_on_what_a_fixed_exploration_learns():
    for prices in ([1, 2, 3, 4], [4, 3, 2, 1]):
        campaign = campaign_of({"name": "ccb-fixed", "rounds": 2, "ahead": 2}, prices=prices)
        assert who(campaign.ask(8)) == [(f"t{t}", f"w{w}") for t in range(2) for w in range(4)]
        assert campaign.ask() == Wait("answers")


# What is refused.


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("ccb-ns", {"alpha": 0.5}, "alpha is 0.5: give a number between 0 and 0.5"),
        ("ccb-ns", {"alpha": 0}, "alpha is 0: give a number between 0 and 0.5"),
        ("ccb-ns", {"mu": 1}, "mu is 1: give a number between 0 and 1"),
        ("ccb-ns", {"xi": 0.1}, r"xi is 0.1: give a number from 0, below alpha \(0.1\)"),
        ("ccb-s", {"xi": -0.1}, "xi is -0.1: give a number from 0"),
        ("ccb-s", {"bounds": "wide"}, "bounds is 'wide': give one of paper, ucb1, anytime"),
        ("ccb-s", {"floor": 0.4}, "floor is 0.4: give a number from 0.5, below 1"),
        ("ccb-s", {"floor": 1}, "floor is 1: give a number from 0.5, below 1"),
        ("ccb-s", {"solver": "best"}, "solver is 'best': give one of auto, exact, greedy"),
        ("ccb-s", {"ahead": 0}, "ahead is 0: give a whole number from 1"),
        ("ccb-s", {"error": "majorty"}, "error is 'majorty': .*did you mean 'majority'"),
        ("ccb-s", {"error": 3}, "error is 3: give the name of an error function"),
        ("ccb-s", {"error": "majority(ties=x)"}, r"error is 'majority\(ties=x\)': ties is 'x'"),
        ("ccb-ns", {"miss": 0}, "miss is 0: give an amount of money above 0"),
        ("ccb-ns", {"miss": math.inf}, "miss is inf: give an amount of money above 0"),
        ("ccb-se", {"error": "majority"}, "error is 'majority': policy 'ccb-se' eliminates"),
        ("ccb-se", {"solver": "exact"}, "solver is 'exact': policy 'ccb-se' .* give 'greedy'"),
        ("epsilon-t-greedy", {"explore": -1}, "explore is -1: give a number of 0 or more"),
        ("ccb-fixed", {"rounds": -1}, "rounds is -1: give a whole number from 0"),
        (
            "ccb-fixed",
            {"qualities": [0.9], "rounds": 5},
            "rounds is 5: leave it out, as",
        ),
        ("ccb-fixed", {"qualities": [1.9]}, "qualities is 1.9: give numbers from 0 to 1"),
        ("ccb-fixed", {"qualities": "0.9"}, "qualities is '0.9': give a list of numbers"),
    ],
)
def test_bad_parameters_are_refused_in_one_line(name, parameters, message):
    with pytest.raises(InvalidParameter, match=message) as caught:
        policies.make({"name": name, **parameters})
    assert "\n" not in str(caught.value)
    assert caught.value.field in {*parameters, "rounds"}


def test_problems_that_it_cannot_work_on_are_refused():
    workers = [Worker("ann", 1)]
    with pytest.raises(InvalidProblem, match=r"options are a, b, c: .* takes exactly two"):
        Campaign.create(workers=workers, tasks=["t"], options=list("abc"), policy="ccb-ns")
    with pytest.raises(InvalidProblem, match=r"repeat is true: .* asks each worker once"):
        Campaign.create(
            workers=workers, tasks=["t"], options=list("ab"), repeat=True, policy="ccb-s"
        )
    with pytest.raises(InvalidProblem, match="works on options"):
        Campaign.create(workers=workers, outcome="utility", budget=1, policy="cucb")
    with pytest.raises(InvalidProblem, match="workers is empty"):
        Campaign.create(workers=[], tasks=["t"], options=list("ab"), policy="ccb-ns")
    with pytest.raises(InvalidParameter, match="qualities has 2 numbers for 1 workers"):
        Campaign.create(
            workers=workers,
            tasks=["t"],
            options=list("ab"),
            policy={"name": "ccb-fixed", "rounds": 0, "qualities": [0.9, 0.8]},
        )


def test_room_for_a_proposal_is_all_that_choosing_writes():
    policy = policies.make("ccb-s")
    problem = make_problem(workers=[Worker("a", 1)], tasks=["t"], options=["no", "yes"])
    ledger = Ledger(problem)
    state = policy.start(problem, ledger)
    before = [array.tobytes() for array in (*state, *ledger.book)]
    out = new_proposal(1)
    policy.kernels.choose(
        ledger.book, state, policy.params(), Draw(0, 0, 0), np.ones(1, np.int8), out
    )
    assert out.head.tolist() == [1, 0]
    assert [array.tobytes() for array in (*state, *ledger.book)] == before
