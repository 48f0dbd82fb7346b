"""lp-thompson and glr-directed against searches and simulations in NumPy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from askwise.core.choices import Batch
from tests.policies.crowds.polls import Desk, ask, asked_crowds, assert_close, noisy, poll, say

CHOICES = 250
"""Few: kernels called from Python run plain unless they were compiled before."""


def believing(policy, votes, prices=None, **more):
    """A desk where crowds have given so many votes (thousands of them at no cost)."""
    options = "wxyz"[: len(votes[0])]
    campaign = poll(policy, prices or (1,) * len(votes), options, **more)
    names = "abcd"[: len(votes)]
    for crowd in names:
        say(campaign, crowd, options[0])
    desk = Desk(campaign)
    desk.suppose(dict(zip(names, votes, strict=True)))
    return desk


def simplex(crowds, steps):
    ways = itertools.product(range(steps + 1), repeat=crowds - 1)
    found = np.array([(*way, steps - sum(way)) for way in ways if sum(way) <= steps])
    return found / steps


def best_mixtures(responses, prices, steps=60):
    """Of each table of responses the mixture with most gap per root of price, on a grid."""
    mus = simplex(len(prices), steps)
    mixed = np.sort(np.einsum("mk,ikn->imn", mus, responses), axis=2)
    worth = (mixed[:, :, -1] - mixed[:, :, -2]) / np.sqrt(mus @ np.array(prices, float))
    return mus[worth.argmax(axis=1)]


def sampled(votes, rng, size):
    """Response distributions of all crowds from Dirichlet(1 + votes)."""
    return np.stack([rng.dirichlet(1 + np.array(row), size=size) for row in votes], axis=1)


@pytest.mark.parametrize(
    ("shares", "prices"),
    [
        # Lemma 6 with eps = .1; then unevenly (a quarter of a, three quarters of b).
        ([[0.5, 0.4, 0.1], [0.5, 0.1, 0.4]], (1, 1)),
        ([[0.5, 0.4, 0.1], [0.5, 0.2, 0.3]], (1, 1)),
        ([[0.5, 0.4, 0.1], [0.5, 0.2, 0.3]], (9, 1)),
        ([[0.5, 0.4, 0.1], [0.5, 0.1, 0.4], [0.4, 0.3, 0.3]], (1, 2, 1)),
        ([[0.8, 0.2], [0.65, 0.35]], (1, 1)),
        ([[0.8, 0.2], [0.65, 0.35]], (10, 1)),
    ],
)
def test_with_overwhelming_votes_lp_thompson_draws_from_the_best_mixture(shares, prices):
    desk = believing("lp-thompson", [[round(p * 10**7) for p in row] for row in shares], prices)
    due = best_mixtures(np.array([shares]), prices, steps=120)[0]
    assert_close(desk.frequencies(CHOICES), due, CHOICES)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("votes", "prices"),
    [
        ([[0, 0, 0], [0, 0, 0]], (1, 1)),
        ([[6, 4, 1], [5, 1, 5]], (1, 1)),
        ([[3, 2, 0], [1, 2, 4], [2, 2, 2]], (1, 3, 2)),
    ],
)
def test_lp_thompson_is_as_frequent_as_a_simulation_of_it(votes, prices):
    desk = believing("lp-thompson", votes, prices)
    responses = sampled(votes, np.random.default_rng(1), 6000)
    due = best_mixtures(responses, prices, 40).mean(axis=0)
    # The grid of a 40th moves a mean share by far less than it is wide.
    assert_close(desk.frequencies(CHOICES), due, CHOICES)


def test_lp_thompson_finds_the_best_mixture_of_those_who_are_there():
    # All together d alone would do; without it a quarter of a and three quarters of b.
    shares = [[0.5, 0.4, 0.1], [0.5, 0.2, 0.3], [0.4, 0.35, 0.25], [0.9, 0.05, 0.05]]
    desk = believing("lp-thompson", [[round(p * 10**7) for p in row] for row in shares])
    assert desk.frequencies(40)["d"] == 1.0
    assert_close(desk.frequencies(CHOICES, absent="d"), [0.25, 0.75, 0.0, 0.0], CHOICES)


def distance(p, top, axis=-1):
    """The least divergence of p from a distribution with an option on top, over all poolings.

    The nearest gives some options, that one among them, the mean of what they have.
    """
    p = np.moveaxis(np.asarray(p, float), axis, -1)
    options = p.shape[-1]
    others = [at for at in range(options) if at != top]
    best = np.full(p.shape[:-1], np.inf)
    for many in range(options):
        for some in itertools.combinations(others, many):
            pool = [top, *some]
            q = p.copy()
            q[..., pool] = p[..., pool].mean(axis=-1, keepdims=True)
            with np.errstate(divide="ignore", invalid="ignore"):
                terms = np.where(p > 0, p * np.log(p / q), 0.0)
            feasible = (q <= q[..., [top]] + 1e-15).all(axis=-1)
            best = np.where(feasible, np.minimum(best, terms.sum(axis=-1)), best)
    return best


def race(votes):
    """The two options that explain all crowds' votes best."""
    votes = np.array(votes, float)
    totals = votes.sum(axis=1)
    shares = votes / np.maximum(totals, 1)[:, None]
    found = [(distance(shares, y) * totals).sum() for y in range(votes.shape[1])]
    return sorted(range(votes.shape[1]), key=lambda y: found[y])[:2]


def drifts(responses, first, second, prices):
    """How fast the margin between two options moves per price, crowd by crowd."""
    moved = np.abs(distance(responses, second) - distance(responses, first))
    return moved / np.array(prices, float)


def test_the_distance_by_hand():
    # From (.5, .3, .2) the nearest with the second on top is (.4, .4, .2); with the third on
    # top all three are pooled, as (.5 + .2) / 2 is above .3.
    p = [0.5, 0.3, 0.2]
    assert distance(p, 0) == 0
    assert distance(p, 1) == pytest.approx(0.5 * math.log(0.5 / 0.4) + 0.3 * math.log(0.3 / 0.4))
    assert distance(p, 2) == pytest.approx(0.5 * math.log(0.5 / 0.35) + 0.2 * math.log(0.2 / 0.35))


@pytest.mark.parametrize(
    ("shares", "prices"),
    [
        ([[0.5, 0.4, 0.1], [0.5, 0.1, 0.4]], (1, 1)),
        ([[0.4, 0.5, 0.1], [0.2, 0.5, 0.3]], (1, 1)),
        ([[0.4, 0.5, 0.1], [0.2, 0.5, 0.3]], (1, 9)),
        ([[0.2, 0.35, 0.45], [0.2, 0.2, 0.6], [0.05, 0.4, 0.55]], (1, 3, 1)),
        ([[0.3, 0.7], [0.4, 0.6]], (1, 1)),
        ([[0.3, 0.7], [0.4, 0.6]], (5, 1)),
    ],
)
def test_with_overwhelming_votes_glr_directed_asks_for_the_largest_drift_per_price(shares, prices):
    votes = [[round(p * 10**7) * (at + 1) for p in row] for at, row in enumerate(shares)]
    desk = believing("glr-directed", votes, prices)
    first, second = race(votes)
    best = "abc"[int(drifts(np.array(shares), first, second, prices).argmax())]
    assert {desk.chosen(number) for number in range(20)} == {best}


@pytest.mark.parametrize(
    ("votes", "prices"),
    [
        ([[6, 4, 1], [5, 2, 5]], (1, 1)),
        ([[3, 2, 0], [1, 2, 4], [2, 4, 2]], (1, 3, 2)),
        ([[2, 6], [5, 3]], (1, 2)),
    ],
)
def test_glr_directed_is_as_frequent_as_a_simulation_of_it(votes, prices):
    desk = believing("glr-directed", votes, prices)
    responses = sampled(votes, np.random.default_rng(2), 60_000)
    best = drifts(responses, *race(votes), prices).argmax(axis=1)
    due = np.bincount(best, minlength=len(prices)) / len(best)
    assert_close(desk.frequencies(CHOICES), due, CHOICES)


@pytest.mark.parametrize("policy", ["lp-thompson", "glr-directed"])
def test_neither_states_a_propensity_nor_asks_who_is_away(policy):
    campaign = poll(policy, (1, 2, 1), "xyz", ["p", "q"])
    for k in range(30):
        assignment = ask(campaign, "b", "c") if k % 2 else ask(campaign)
        assert assignment.propensity is None
        assert k % 2 == 0 or assignment.worker in "bc"
        campaign.tell(assignment.id, noisy(2, assignment.worker, "q", k, [0.5, 0.3, 0.2], "xyz"))


@pytest.mark.parametrize("policy", ["lp-thompson", "glr-directed"])
def test_the_truth_is_not_looked_at(policy):
    plain, told = (poll(policy, (1, 1, 2), "xyz") for _ in range(2))
    told.truth("q", "z")
    for k in range(25):
        for campaign in (plain, told):
            campaign.tell(ask(campaign).id, "xyxz"[k % 4])
    assert asked_crowds(plain) == asked_crowds(told)


def with_records(policy, options, leader):
    """a has always been right, b half the time; on the next question b said one option."""
    campaign = poll(
        {"name": policy, "prior": 20.0}, options=options, stopping={"name": "fixed", "n": 24}
    )
    say(campaign, "a", options[0] * 12)
    say(campaign, "b", (options[0] + options[1]) * 6)
    campaign.add(tasks=["next"])
    say(campaign, "b", leader * 3)
    return Desk(campaign)


@pytest.mark.parametrize("options", ["xy", "xyz"])
@pytest.mark.parametrize("policy", ["virt-thompson", "lp-thompson"])
def test_a_record_counts_the_same_whatever_option_leads(policy, options):
    many = 100
    found = [with_records(policy, options, leader).frequencies(many) for leader in options]
    # a, always right before, is asked nearly always.
    assert min(each["a"] for each in found) > 0.9


@pytest.mark.parametrize(
    "options",
    ["xy", "xyz"],
)
def test_a_record_counts_the_same_for_glr_directed_whatever_option_leads(options):
    many = 100
    found = [with_records("glr-directed", options, leader).frequencies(many) for leader in options]
    # With x leading a is asked in 99 of 100, with y or z leading never.
    assert min(each["a"] for each in found) > 0.9


@pytest.mark.parametrize(
    "policy",
    [
        "lp-thompson",
        "glr-directed",
    ],
)
def test_of_two_unknown_crowds_the_dear_one_is_asked_less(policy):
    for options in ("xy", "xyz"):
        assert Desk(poll(policy, (1, 100), options)).frequencies(100)["b"] < 0.25


def test_questions_with_answers_out_go_on():
    for policy in ("lp-thompson", "glr-directed"):
        campaign = poll(policy, (1, 1, 2), "xyz", ["p", "q"])
        batch = campaign.ask(limit=9)
        assert isinstance(batch, Batch)
        assert [each.task for each in batch] == ["p", "q"] * 4 + ["p"]
