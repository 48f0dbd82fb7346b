"""Policies that answers do not change: rand-rr, non-adaptive, round-robin (004, section 4.3)."""

from __future__ import annotations

import pytest

from askwise import Campaign
from askwise.core.choices import Batch, Done, Wait
from askwise.policies import policies
from tests.policies.crowds.polls import Desk, ask, asked_crowds, assert_close, hear, poll

MANY = 1000


def propensities(campaign, *crowds, many=60):
    """Who is asked under which propensity; all is taken back."""
    found = {}
    for _ in range(many):
        assignment = ask(campaign, *crowds)
        campaign.expire(assignment.id)
        assert found.setdefault(assignment.worker, assignment.propensity) == assignment.propensity
    return found


def test_crowds_are_drawn_by_one_over_their_price():
    # 1, 1/2, 1/4: four, two and one in seven.
    campaign = poll("rand-rr", (1, 2, 4))
    due = {"a": 4 / 7, "b": 2 / 7, "c": 1 / 7}
    assert propensities(campaign) == pytest.approx(due)
    assert_close(Desk(campaign).frequencies(MANY), list(due.values()), MANY)


def test_answers_do_not_change_the_draws():
    one, other = (poll("rand-rr", (1, 2, 1), "xyz", ["p", "q"]) for _ in range(2))
    assert hear(one, "x" * 60) == hear(other, "xyz" * 20)


def test_the_same_is_spent_on_all_crowds_in_the_mean():
    # Of 40 campaigns of 50 asks each, crowd by crowd: 2000 draws with probability 3/4 and 1/4.
    asked = "".join(
        asked_crowds(batch_of(poll("rand-rr", (1, 3), seed=seed), 50)) for seed in range(40)
    )
    # Five deviations of a binomial: 5 * sqrt(2000 * 3/16) = 97.
    assert abs(asked.count("a") - 1500) < 97


def batch_of(campaign: Campaign, many: int) -> Campaign:
    assert isinstance(campaign.ask(limit=many), Batch)
    return campaign


@pytest.mark.parametrize(
    ("crowds", "due"),
    [
        (("a", "c"), {"a": 4 / 5, "c": 1 / 5}),
        (("b", "c"), {"b": 2 / 3, "c": 1 / 3}),
        (("c",), {"c": 1.0}),
    ],
)
def test_chances_are_renormalised_over_those_who_are_there(crowds, due):
    assert propensities(poll("rand-rr", (1, 2, 4)), *crowds) == pytest.approx(due)


def test_chances_are_renormalised_over_those_who_can_be_paid_or_have_room():
    assert propensities(poll("rand-rr", (1, 2, 4), budget=3)) == pytest.approx(
        {"a": 2 / 3, "b": 1 / 3}
    )
    limited = poll("rand-rr", (1, 2, 4), limits={"a": 1})
    ask(limited, "a")
    assert propensities(limited) == pytest.approx({"b": 2 / 3, "c": 1 / 3})


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("prices", "due"),
    [
        ((0, 1), {"a": 4 / 5, "b": 1 / 5}),
        ((0, 0, 5), {"a": 4 / 9, "b": 4 / 9, "c": 1 / 9}),
        ((0, 0), {"a": 0.5, "b": 0.5}),
    ],
)
def test_what_is_free_is_drawn_as_if_it_cost_a_quarter_of_the_cheapest(prices, due):
    campaign = poll("rand-rr", prices)
    found = propensities(campaign, many=300)
    assert found == pytest.approx({crowd: due[crowd] for crowd in found})
    assert set(found) >= {"a"}
    # The paid one among them, when it alone is there.
    assert ask(campaign, "abc"[len(prices) - 1]).propensity == 1.0


def test_chances_are_exact_at_the_ends_of_the_range_of_prices():
    found = propensities(poll("rand-rr", ("0.000001", 1_000_000_000)), "b")
    assert found == {"b": 1.0}


def test_crowds_are_drawn_by_their_shares():
    campaign = poll({"name": "non-adaptive", "shares": {"c": 1, "a": 6, "b": 3}}, (7, 1, 2))
    due = {"a": 0.6, "b": 0.3, "c": 0.1}
    assert propensities(campaign) == pytest.approx(due)
    assert_close(Desk(campaign).frequencies(MANY), list(due.values()), MANY)


def test_without_shares_all_are_drawn_equally_newcomers_too():
    campaign = poll("non-adaptive", (1, 5, 9))
    assert propensities(campaign) == pytest.approx(dict.fromkeys("abc", 1 / 3))
    campaign.add(workers=[{"id": "d", "price": 3}])
    assert propensities(campaign) == pytest.approx(dict.fromkeys("abcd", 1 / 4))


def test_crowds_without_a_share_are_drawn_evenly_when_no_other_can_be_asked():
    campaign = poll({"name": "non-adaptive", "shares": {"a": 2, "b": 0}}, (1, 1, 1))
    assert propensities(campaign) == {"a": 1.0}
    assert propensities(campaign, "b", "c") == {"b": 0.5, "c": 0.5}
    campaign.add(workers=[{"id": "d", "price": 3}])
    assert propensities(campaign) == {"a": 1.0}
    assert propensities(campaign, "b", "d") == {"b": 0.5, "d": 0.5}


def test_shares_are_renormalised_over_those_who_are_there():
    campaign = poll({"name": "non-adaptive", "shares": {"a": 6, "b": 3, "c": 1}}, (1, 1, 1))
    assert propensities(campaign, "b", "c") == {"b": 0.75, "c": 0.25}
    campaign.leave("a")
    assert propensities(campaign) == {"b": 0.75, "c": 0.25}
    campaign.add(workers=[{"id": "a", "price": 9}])
    assert propensities(campaign) == pytest.approx({"a": 0.6, "b": 0.3, "c": 0.1})


def test_an_unknown_crowd_in_the_shares_is_named():
    with pytest.raises(Exception, match=r"'bb', which is not a worker") as caught:
        poll({"name": "non-adaptive", "shares": {"a": 1, "bb": 1}})
    assert getattr(caught.value, "field", None) == "shares"


@pytest.mark.parametrize("small", [1e-300, 5e-324, 1e-9])
def test_shares_may_be_very_unequal(small):
    campaign = poll({"name": "non-adaptive", "shares": {"a": 1.0, "b": small}})
    assert ask(campaign).worker == "a"
    assert ask(campaign, "b").propensity == 1.0


@pytest.mark.filterwarnings("ignore:overflow")
def test_shares_may_be_very_large():
    campaign = poll({"name": "non-adaptive", "shares": {"a": 1e308, "b": 1e308}})
    assert ask(campaign).propensity == 0.5


def test_shares_are_taken_as_they_are_when_the_campaign_is_created():
    shares = {"a": 1.0}
    campaign = poll({"name": "non-adaptive", "shares": shares})
    shares["b"] = 1e9
    assert campaign.spec["policy"]["shares"] == {"a": 1.0}
    assert propensities(campaign) == {"a": 1.0}


def test_policies_with_shares_can_be_compared_and_kept_in_sets():
    one, other = (policies.make({"name": "non-adaptive", "shares": {"a": 1}}) for _ in range(2))
    assert one == other
    assert len({one, other}) == 1


def test_crowds_take_turns_on_each_question():
    campaign = poll("round-robin", (1, 9, 4), tasks=["p", "q"])
    batch = campaign.ask(limit=12)
    assert isinstance(batch, Batch)
    assert [(each.task, each.worker) for each in batch] == [
        (task, crowd) for crowd in "abcabc" for task in "pq"
    ]
    assert {each.propensity for each in batch} == {1.0}


def test_turns_do_not_depend_on_answers():
    assert hear(poll("round-robin", (1, 1, 1)), "xyyxxyxyy") == "abcabcabc"


def test_who_is_away_is_passed_over_and_the_others_take_turns():
    campaign = poll("round-robin", (1, 1, 1))
    for crowd in "acac":
        assert ask(campaign, "a", "c").worker == crowd


def test_who_was_away_catches_up_on_the_question():
    # a and c were asked twice each; b, asked least, has two turns of its own.
    campaign = poll("round-robin", (1, 1, 1))
    for _ in range(4):
        ask(campaign, "a", "c")
    assert [ask(campaign).worker for _ in range(5)] == ["b", "b", "a", "b", "c"]


def test_a_turn_that_expired_is_taken_again():
    campaign = poll("round-robin")
    first = ask(campaign)
    campaign.expire(first.id)
    assert [ask(campaign).worker for _ in range(3)] == ["a", "b", "a"]


def test_a_crowd_at_its_limit_or_beyond_the_money_is_passed_over():
    campaign = poll("round-robin", (1, 3, 1), limits={"a": 2}, budget=9)
    # a b c (5 spent), a (6): now at its limit; b costs 3: 9; nothing left.
    assert hear(campaign, "xxxxx") == "abcab"
    assert campaign.ask() == Done("budget")


@pytest.mark.parametrize("policy", ["round-robin", "rand-rr", "non-adaptive"])
def test_nobody_there_is_waited_for(policy):
    campaign = poll(policy)
    assert campaign.ask(workers=[]) == Wait("workers")
    campaign.leave("a")
    campaign.leave("b")
    assert campaign.ask() == Wait("workers")
