"""VirtThompson: its samples and its choices against numerical probabilities."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest
from scipy import integrate, stats

from askwise.core.choices import Batch
from askwise.core.draws import Draw, beta, gamma
from tests.policies.crowds.polls import (
    Desk,
    ask,
    asked_crowds,
    assert_close,
    noisy,
    poll,
    say,
    votes_of,
)

MANY = 500
FAR = 1.95 / math.sqrt(MANY)
"""Kolmogorov-Smirnov at the level .001; the draws are fixed."""

CHOICES = 200
"""Few: kernels called from Python run plain unless they were compiled before."""


def beliefs(answers, options="xy"):
    """Beta(1 + max, 1 + min) of a crowd's votes: algorithm 2."""
    votes = votes_of(answers, options)
    return stats.beta(1 + max(votes), 1 + min(votes))


def chance_of_first(one, other, price, other_price):
    """P(f(s) > f(t)): a gap above 0 counts per root of price, one below times it."""
    root = math.sqrt(other_price / price)

    def at(s):
        gap = 2 * s - 1
        return one.pdf(s) * other.cdf((1 + (gap * root if gap > 0 else gap / root)) / 2)

    return sum(integrate.quad(at, *ends, epsabs=1e-8)[0] for ends in ((0, 0.5), (0.5, 1)))


@pytest.mark.parametrize(
    ("a", "b", "prices"),
    [
        ("", "", (1, 1)),
        ("xxxy", "xyxy", (1, 1)),
        ("yyxyy", "", (1, 1)),
        ("xxxy", "yyyyyy", (1, 4)),
        ("xxy", "xyxy", ("0.10", "0.03")),
    ],
)
def test_choices_are_as_frequent_as_the_betas_say(a, b, prices):
    campaign = poll("virt-thompson", prices)
    say(campaign, "a", a)
    say(campaign, "b", b)
    due = chance_of_first(beliefs(a), beliefs(b), *map(float, prices))
    assert_close(Desk(campaign).frequencies(CHOICES), [due, 1 - due], CHOICES)


@pytest.mark.parametrize("answers", ["", "x", "y", "xyyy", "xxxxxy"])
def test_an_index_is_a_draw_from_the_beta_of_the_crowds_own_votes(answers):
    campaign = poll("virt-thompson", (4, 1))
    say(campaign, "a", answers)
    say(campaign, "b", "yyyyyyyy")
    # a costs four times the cheapest: a gap above 0 is halved, one below doubled.
    indices = np.array(Desk(campaign).indices("a", MANY))
    drawn = (1 + np.where(indices > 0, 2 * indices, indices / 2)) / 2
    assert stats.kstest(drawn, beliefs(answers).cdf).statistic < FAR


def test_by_accuracy_an_index_is_the_draw_itself_per_root_of_price():
    campaign = poll({"name": "virt-thompson", "reward": "accuracy"}, (4, 1))
    say(campaign, "a", "xyyy")
    drawn = 2 * np.array(Desk(campaign).indices("a", MANY))
    assert stats.kstest(drawn, beliefs("xyyy").cdf).statistic < FAR


def test_the_shape_of_the_beta_is_exact():
    campaign = poll("virt-thompson", (1, 1))
    say(campaign, "b", "xyyxyyy")
    due = [2 * beta(Draw(11, 12, number), 1, 6.0, 3.0) - 1 for number in range(20)]
    assert Desk(campaign).indices("b", 20) == due


@pytest.mark.parametrize("options", ["xy", "xyz"])
def test_the_crowd_with_the_largest_index_is_asked(options):
    campaign = poll("virt-thompson", (1, 2, 1), options)
    say(campaign, "a", "xxy")
    say(campaign, "b", "xxxxyx")
    desk = Desk(campaign)
    indices = np.array([desk.indices(crowd, 60) for crowd in "abc"])
    assert [desk.chosen(at) for at in range(60)] == ["abc"[at] for at in indices.argmax(axis=0)]


def test_samples_of_crowds_and_rounds_are_independent():
    campaign = poll("virt-thompson")
    desk = Desk(campaign)
    one, other = desk.indices("a", MANY), desk.indices("b", MANY)
    for left, right in ((one, other), (one[1:], one[:-1]), (other[1:], one[:-1])):
        # A correlation of independent samples is normal with deviation 1/sqrt(n).
        assert abs(np.corrcoef(left, right)[0, 1]) < 4 / math.sqrt(MANY)


def dirichlet_gaps(answers, options, rng, size):
    votes = np.array(votes_of(answers, options))
    drawn = np.sort(rng.dirichlet(1 + votes, size=size), axis=1)
    return drawn[:, -1] - drawn[:, -2]


@pytest.mark.parametrize(
    ("said", "prices"),
    [
        (("", "", ""), (1, 1, 1)),
        (("xxyz", "yyyy", "zz"), (1, 1, 1)),
        (("xxxxyz", "yz", "xyxyx"), (3, 1, 2)),
    ],
)
def test_three_options_are_drawn_from_dirichlets(said, prices):
    campaign = poll("virt-thompson", prices, "xyz")
    for crowd, answers in zip("abc", said, strict=True):
        say(campaign, crowd, answers)
    rng = np.random.default_rng(4)
    size = 200_000
    indices = [
        dirichlet_gaps(answers, "xyz", rng, size) / math.sqrt(price)
        for answers, price in zip(said, prices, strict=True)
    ]
    due = np.bincount(np.argmax(indices, axis=0), minlength=3) / size
    assert_close(Desk(campaign).frequencies(CHOICES), due, CHOICES)


def test_the_shape_of_the_dirichlet_is_exact():
    campaign = poll("virt-thompson", (1, 1), "xyz")
    say(campaign, "b", "xyyzyxy")
    for number, found in enumerate(Desk(campaign).indices("b", 20)):
        # Of each crowd and option its own stretch of the draws.
        drawn = [
            gamma(Draw(11, 12, number), 64 * (3 + at), a) for at, a in enumerate((3.0, 5.0, 2.0))
        ]
        first, second, _ = sorted(drawn, reverse=True)
        assert found == pytest.approx((first - second) / sum(drawn), abs=1e-12)


def test_a_gap_of_four_options_is_that_of_the_drawn_distribution():
    campaign = poll("virt-thompson", options="wxyz")
    say(campaign, "a", "wwwxxy")
    due = dirichlet_gaps("wwwxxy", "wxyz", np.random.default_rng(5), 100_000)
    found = Desk(campaign).indices("a", MANY)
    # Two samples: 1.95 * sqrt(1/n + 1/m) at the level .001.
    assert stats.ks_2samp(found, due).statistic < 1.95 * math.sqrt(1 / MANY + 1 / 100_000)


def surveyed(seed, names):
    """Crowds answer the first or second of the names, the same whatever the names are."""
    campaign = poll("virt-thompson", (1, 2, 1), "xy", ["p", "q"])
    chances = {"a": [0.7, 0.3], "b": [0.4, 0.6], "c": [0.5, 0.5]}
    asked: Counter[tuple[str, str]] = Counter()
    source = random.Random(seed)
    for _ in range(40):
        batch = campaign.ask(limit=source.randint(1, 3))
        assert isinstance(batch, Batch)
        for each in batch:
            who = each.worker, str(each.task)
            campaign.tell(each.id, noisy(seed, *who, asked[who], chances[each.worker], names))
            asked[who] += 1
    return campaign


@pytest.mark.parametrize("seed", range(3))
def test_which_option_is_which_makes_no_difference(seed):
    straight, turned = surveyed(seed, "xy"), surveyed(seed, "yx")
    assert asked_crowds(straight) == asked_crowds(turned)
    assert [each.value for each in straight.answers()] != [each.value for each in turned.answers()]


def test_it_never_learns_which_option_is_right():
    plain, told = (poll("virt-thompson", (1, 1, 2)) for _ in range(2))
    for k in range(40):
        if k == 5:
            told.truth("q", "y")
        for campaign in (plain, told):
            assignment = ask(campaign)
            campaign.tell(assignment.id, noisy(8, assignment.worker, "q", k, [0.7, 0.3], "xy"))
    assert asked_crowds(plain) == asked_crowds(told)


@pytest.mark.parametrize("answers", ["", "xyxy"])
def test_of_two_crowds_equally_in_doubt_the_dear_one_is_asked_less(answers):
    # Unknown: the dear one alone has a gap in 1 of 4 cases; where both or neither have one, it is
    # the better in P(U / 10 > V) = 1/20: .275. Two answers for each option: about the same.
    campaign = poll("virt-thompson", (1, 100))
    say(campaign, "a", answers)
    say(campaign, "b", answers)
    due = chance_of_first(beliefs(answers), beliefs(answers), 1, 100)
    assert due == pytest.approx(0.725, abs=1e-6 if not answers else 0.02)
    assert_close(Desk(campaign).frequencies(CHOICES), [due, 1 - due], CHOICES)


def test_of_two_crowds_equally_in_doubt_about_three_options_the_dear_one_is_asked_less():
    campaign = poll("virt-thompson", (1, 100), "xyz")
    assert Desk(campaign).frequencies(CHOICES)["b"] < 0.2


def test_answers_that_are_out_are_no_votes():
    campaign = poll("virt-thompson")
    say(campaign, "a", "xxy")
    before = Desk(campaign).indices("a", 50)
    ask(campaign, "a")
    assert Desk(campaign).indices("a", 50) == before


def test_no_propensity_is_stated():
    campaign = poll("virt-thompson", options="xyz")
    for answer in "xyz":
        assignment = ask(campaign)
        assert assignment.propensity is None
        campaign.tell(assignment.id, answer)
    best = campaign.explain(assignment.id).candidates[0]
    assert best.worker == assignment.worker


def test_an_absent_crowd_is_not_drawn():
    campaign = poll("virt-thompson", (1, 1, 1))
    say(campaign, "a", "xxxxxx")
    due = chance_of_first(beliefs(""), beliefs(""), 1, 1)
    found = Desk(campaign).frequencies(CHOICES, absent="a")
    assert_close(found, [0.0, due, 1 - due], CHOICES)
