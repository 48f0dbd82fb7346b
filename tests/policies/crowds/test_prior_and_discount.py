"""What crowds showed on other questions (prior), and how answers fade (discount), by hand."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from askwise.core.draws import Draw, beta
from tests.policies.crowds.polls import Desk, ask, asked_crowds, hear, noisy, poll, say


def seen(campaign):
    """Answers and gap of each crowd as the policy sees them on the question that is next."""
    assignment = ask(campaign)
    found = campaign.explain(assignment.id).candidates
    campaign.expire(assignment.id)
    return {
        each.worker: (each.details["answers"], each.details["gap"])
        for each in sorted(found, key=lambda each: each.worker)
    }


def after_a_question(policy, a, b, options="xy", rule=None, **parameters):
    """One question closed after these answers of a and b, the next one added."""
    stopping = rule or {"name": "fixed", "n": len(a + b)}
    campaign = poll({"name": policy, **parameters}, options=options, stopping=stopping)
    say(campaign, "b", b)
    say(campaign, "a", a)
    campaign.add(tasks=["next"])
    assert campaign.answers()[0].outcome != "open"
    return campaign


def test_a_record_enters_as_votes_of_its_right_share():
    # x wins. a was right in three of four: worth two answers, 1.5 for its leader, .5 against:
    # a gap of .5. b was right in four of four: 2 to 0.
    campaign = after_a_question("virt-ucb", "xxyx", "xxxx", prior=2.0)
    assert seen(campaign) == {"a": (2.0, 0.5), "b": (2.0, 1.0)}
    assignment = ask(campaign)
    assert assignment.worker == "b"
    index = {each.worker: each.index for each in campaign.explain(assignment.id).candidates}
    assert index == pytest.approx({"a": 0.5 + 1 / math.sqrt(2), "b": 1 + 1 / math.sqrt(2)})


def test_a_record_is_worth_no_more_than_its_answers():
    campaign = after_a_question("virt-ucb", "xxyx", "xxx", prior=100.0)
    assert seen(campaign) == {"a": (4.0, 0.5), "b": (3.0, 1.0)}


def test_votes_on_the_question_come_on_top():
    # a: record 3 to 1, worth four; it says y, y, x: 2 + 3 to 1 + 1 of seven.
    campaign = after_a_question("virt-ucb", "xxyx", "xxx", prior=100.0)
    say(campaign, "a", "yyx")
    answers, gap = seen(campaign)["a"]
    assert answers == 7.0
    assert gap == pytest.approx(3 / 7)


def test_a_record_below_chance_counts_as_chance():
    # b was right in one of four: taken as one in two.
    campaign = after_a_question("virt-ucb", "xxxxx", "yxyy", prior=4.0)
    assert seen(campaign) == {"a": (4.0, 1.0), "b": (4.0, 0.0)}


def test_a_record_of_three_options_is_spread_over_the_wrong_ones():
    # a: half right, worth four: 2, 1, 1: a gap of a quarter. b: none right: a third each.
    campaign = after_a_question("virt-ucb", "xxxxyyzz", "yz", "xyz", prior=4.0)
    found = seen(campaign)
    assert found["a"] == pytest.approx((4.0, 0.25))
    assert found["b"] == pytest.approx((2.0, 0.0))


def test_records_add_up_over_questions():
    campaign = poll(
        {"name": "virt-ucb", "prior": 50.0}, tasks=["p"], stopping={"name": "fixed", "n": 3}
    )
    for number, (a, b) in enumerate([("xx", "y"), ("yy", "y"), ("y", "xx")]):
        say(campaign, "a", a)
        say(campaign, "b", b)
        campaign.add(tasks=[f"t{number}"])
    # a was right with 2 of 2, 2 of 2 and 0 of 1; b with 0 of 1, 1 of 1, 2 of 2.
    assert Desk(campaign).beliefs.shown[:2].tolist() == [[5, 4], [4, 3]]
    found = seen(campaign)
    assert found["a"] == pytest.approx((5.0, 0.6))
    assert found["b"] == pytest.approx((4.0, 0.5))


def test_a_crowd_without_a_record_comes_first():
    campaign = after_a_question("virt-ucb", "xxx", "xxx", prior=5.0)
    campaign.add(workers=[{"id": "c", "price": 40}])
    assert ask(campaign).worker == "c"


@pytest.mark.parametrize(
    "rule",
    [
        {"name": "gap", "quality": 100, "horizon": 7},
        {"name": "gap", "quality": 100, "cap": 7},
    ],
    ids=["low_confidence", "over_budget"],
)
def test_questions_that_end_without_confidence_leave_no_record(rule):
    campaign = after_a_question("virt-ucb", "xxxx", "xxy", rule=rule, prior=5.0)
    assert campaign.answers()[0].outcome in ("low_confidence", "over_budget")
    assert seen(campaign) == {"a": (0.0, None), "b": (0.0, None)}


def test_a_question_closed_by_hand_leaves_no_record():
    campaign = poll({"name": "virt-ucb", "prior": 5.0})
    say(campaign, "a", "xxx")
    campaign.close("q")
    campaign.add(tasks=["next"])
    assert seen(campaign) == {"a": (0.0, None), "b": (0.0, None)}


def test_the_truth_leaves_no_record():
    campaign = poll({"name": "virt-ucb", "prior": 5.0}, tasks=["p", "q"])
    say(campaign, "a", "xx")
    campaign.truth("p", "x")
    assert Desk(campaign).beliefs.shown[:2].tolist() == [[0, 0], [0, 0]]


def test_without_prior_nothing_is_learned_from_other_questions():
    campaign = after_a_question("virt-ucb", "xxx", "xyx")
    assert seen(campaign) == {"a": (0.0, None), "b": (0.0, None)}
    assert ask(campaign).worker == "a"


def test_virt_thompson_draws_with_the_record_as_votes():
    # a: 3 of 4 right, worth two, and y, y, x here: Beta(1 + 1.5 + 2, 1 + .5 + 1).
    campaign = after_a_question("virt-thompson", "xxyx", "xxx", prior=2.0)
    say(campaign, "a", "yyx")
    found = Desk(campaign).indices("a", 20, task=1)
    assert found == [2 * beta(Draw(11, 12, at), 0, 4.5, 2.5) - 1 for at in range(20)]


def test_virt_thompson_draws_three_options_with_the_record_as_votes():
    # a: half right, worth four: 2 for its leader (y here), 1 for the others.
    campaign = after_a_question("virt-thompson", "xxyyxxzz", "xxx", "xyz", prior=4.0)
    say(campaign, "a", "y")
    drawn = np.sort(np.random.default_rng(1).dirichlet([2, 4, 2], size=50_000), axis=1)
    found = Desk(campaign).indices("a", 400, task=1)
    gaps = drawn[:, -1] - drawn[:, -2]
    assert stats.ks_2samp(found, gaps).statistic < 1.95 / math.sqrt(400)


def test_the_log_of_a_question_does_not_depend_on_others_without_prior():
    def surveyed(tasks):
        campaign = poll("virt-ucb", (1, 2, 1), "xyz", tasks)
        asked = Counter()
        for _ in range(50 * len(tasks)):
            each = ask(campaign)
            k = asked[each.worker, each.task]
            asked[each.worker, each.task] += 1
            campaign.tell(each.id, noisy(5, each.worker, str(each.task), k, [0.5, 0.3, 0.2], "xyz"))
        return campaign

    alone, among = surveyed(["q"]), surveyed(["p", "q", "r"])
    assert asked_crowds(alone, "q") == asked_crowds(among, "q")
    assert len(set(asked_crowds(alone))) == 3


def test_counts_fade_at_each_new_answer_to_the_question():
    # a: x, y; b: y; a: x, each halving what was before. a: x 1/8 + 1 and y 1/4; b: y 1/2.
    campaign = poll({"name": "virt-ucb", "discount": 0.5})
    for crowd, answer in ("ax", "ay", "by", "ax"):
        say(campaign, crowd, answer)
    found = seen(campaign)
    assert found["a"] == pytest.approx((1.375, (1.125 - 0.25) / 1.375))
    assert found["b"] == pytest.approx((0.5, 1.0))
    assignment = ask(campaign)
    index = {each.worker: each.index for each in campaign.explain(assignment.id).candidates}
    assert index["b"] == pytest.approx(1 + 1 / math.sqrt(0.5))


def test_answers_to_other_questions_fade_nothing():
    campaign = poll({"name": "virt-ucb", "discount": 0.5}, tasks=["p", "q"])
    say(campaign, "a", "xy")
    for _ in range(3):
        campaign.tell(ask(campaign, "b").id, "x")
        campaign.tell(ask(campaign, "b").id, "x")
    # p and q have four answers each. Of p: a's x is worth an eighth, b's 1 + 1/2 + 1/4.
    found = seen(campaign)
    assert found == {"a": (0.125, 1.0), "b": (1.75, 1.0)}


def test_what_is_out_does_not_fade():
    campaign = poll({"name": "virt-ucb", "discount": 0.5})
    ask(campaign, "a")
    say(campaign, "b", "xxx")
    assignment = ask(campaign)
    details = {each.worker: each for each in campaign.explain(assignment.id).candidates}
    assert details["a"].details["out"] == 1.0
    assert details["a"].index == 1.0


def test_virt_thompson_draws_with_faded_votes():
    # a: x, then y, then x at a half: x 1/4 + 1, y 1/2.
    campaign = poll({"name": "virt-thompson", "discount": 0.5})
    say(campaign, "a", "xyx")
    found = Desk(campaign).indices("a", 20)
    assert found == [2 * beta(Draw(11, 12, at), 0, 2.25, 1.5) - 1 for at in range(20)]


def test_a_record_is_of_votes_that_did_not_fade():
    campaign = after_a_question("virt-ucb", "xxyx", "xxx", prior=100.0, discount=0.5)
    assert seen(campaign)["a"] == (4.0, 0.5)


def test_a_discount_finds_the_new_best_crowd_after_a_drift():
    # For 200 answers a says x at .9 and b is blind; then it is the other way round.
    def asked_after_the_drift(discount, seed):
        campaign = poll({"name": "virt-ucb", "discount": discount})
        source = random.Random(seed)
        for k in range(260):
            each = ask(campaign)
            good = "a" if k < 200 else "b"
            right = source.random() < (0.9 if each.worker == good else 0.5)
            campaign.tell(each.id, "x" if right else "y")
        return asked_crowds(campaign)[200:].count("b")

    for seed in range(2):
        whole, fading = (asked_after_the_drift(discount, seed) for discount in (1.0, 0.95))
        # Without discount a's gap of .8 melts slowly.
        assert fading > 40 > 30 > whole


def test_a_discount_forgets_nobody_for_good():
    # However good a is, the bonus of b grows as its answers fade.
    campaign = poll({"name": "virt-ucb", "discount": 0.9})
    assert set(hear(campaign, "xy" + "x" * 100)[-30:]) == {"a", "b"}
