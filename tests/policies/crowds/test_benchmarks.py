"""The omniscient benchmarks of 004, section 3: by hand and against a search over a grid."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from askwise import Campaign
from askwise.core.errors import AskwiseError, InvalidParameter
from tests.policies.crowds.polls import Desk, ask, assert_close, poll

BOTH = ("best-crowd", "best-mixture")


def told(policy, truth, prices=None, **more):
    options = "wxyz"[: len(truth[0])]
    return poll({"name": policy, "truth": truth}, prices or (1,) * len(truth), options, **more)


def weights(campaign):
    return Desk(campaign).beliefs.weights[: campaign.status().workers]


def gap(row):
    first, second = sorted(row, reverse=True)[:2]
    return first - second


@pytest.mark.parametrize("seed", range(20))
def test_the_best_crowd_costs_least_per_squared_gap(seed):
    rng = np.random.default_rng(seed)
    crowds, options = int(rng.integers(1, 6)), int(rng.integers(2, 5))
    truth = np.round(rng.dirichlet(np.ones(options), size=crowds), 6)
    truth[:, -1] = 1 - truth[:, :-1].sum(axis=1)
    truth = np.sort(truth, axis=1)[:, ::-1]
    prices = rng.integers(1, 9, size=crowds)
    campaign = told("best-crowd", truth.tolist(), prices.tolist())
    best = min(range(crowds), key=lambda i: prices[i] / gap(truth[i]) ** 2)
    assert [each.worker for each in campaign.ask(limit=3)] == ["abcde"[best]] * 3
    assert ask(campaign).propensity == 1.0


def test_the_best_crowd_by_hand():
    # Gaps .2, .3, .6 at 1, 2, 10: 25, 22.2, 27.8.
    campaign = told("best-crowd", [[0.6, 0.4], [0.65, 0.35], [0.8, 0.2]], (1, 2, 10))
    assert ask(campaign).worker == "b"


def test_equally_good_crowds_go_by_their_number():
    assert ask(told("best-crowd", [[0.6, 0.4], [0.7, 0.3], [0.7, 0.3]])).worker == "b"
    assert ask(told("best-crowd", [[0.5, 0.5], [0.5, 0.5]])).worker == "a"


def test_a_free_crowd_counts_as_a_quarter_of_the_cheapest():
    # .25 / .3^2 = 2.8 against 1 / .6^2 = 2.8: equal at half of the gap.
    assert ask(told("best-crowd", [[0.64, 0.36], [0.8, 0.2]], (0, 1))).worker == "b"
    assert ask(told("best-crowd", [[0.66, 0.34], [0.8, 0.2]], (0, 1))).worker == "a"


def test_the_mixture_of_lemma_6():
    for eps in (0.001, 0.02, 0.1):
        truth = [[0.4 + eps, 0.4, 0.2 - eps], [0.4 + eps, 0.2 - eps, 0.4]]
        assert weights(told("best-mixture", truth)) == pytest.approx([0.5, 0.5])


def test_a_mixture_by_hand():
    # With p of a the runners-up are .4 p + .2 (1 - p) and .1 p + .3 (1 - p): equal at p = 1/4,
    # where the gap is .25; alone a has .1, b has .2.
    campaign = told("best-mixture", [[0.5, 0.4, 0.1], [0.5, 0.2, 0.3]])
    assert weights(campaign) == pytest.approx([0.25, 0.75])
    assert_close(Desk(campaign).frequencies(600), [0.25, 0.75], 600)
    assert sorted({ask(campaign).propensity for _ in range(20)}) == pytest.approx([0.25, 0.75])


def simplex(crowds, steps):
    ways = itertools.product(range(steps + 1), repeat=crowds - 1)
    found = np.array([(*way, steps - sum(way)) for way in ways if sum(way) <= steps])
    return found / steps


@pytest.mark.parametrize("seed", range(8))
def test_no_mixture_on_a_grid_has_more_gap_per_root_of_price(seed):
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(3), size=3)
    truth[:, 0] += 0.4
    truth /= truth.sum(axis=1, keepdims=True)
    prices = rng.integers(1, 5, size=3)
    found = weights(told("best-mixture", truth.tolist(), prices.tolist()))

    def worth(mus):
        mixed = np.sort(mus @ truth, axis=1)
        return (mixed[:, -1] - mixed[:, -2]) / np.sqrt(mus @ prices)

    assert found.sum() == pytest.approx(1)
    assert worth(found[None])[0] >= worth(simplex(3, 60)).max() - 1e-12


def test_with_two_options_the_best_mixture_is_the_best_crowd():
    for prices in ((1, 1, 1), (1, 2, 10), (5, 1, 2)):
        truth = [[0.6, 0.4], [0.65, 0.35], [0.8, 0.2]]
        one, other = (weights(told(policy, truth, prices)) for policy in BOTH)
        assert one.tolist() == other.tolist()


def test_the_right_option_may_have_any_place():
    straight = told("best-mixture", [[0.5, 0.4, 0.1], [0.5, 0.2, 0.3]])
    turned = told("best-mixture", [[0.1, 0.4, 0.5], [0.3, 0.2, 0.5]])
    assert weights(straight) == pytest.approx(weights(turned))


@pytest.mark.parametrize("policy", BOTH)
def test_a_crowd_that_joins_later_is_not_asked(policy):
    campaign = told(policy, [[0.6, 0.4], [0.8, 0.2]])
    campaign.add(workers=[{"id": "c", "price": "0.01"}])
    assert {ask(campaign).worker for _ in range(20)} == {"b"}


@pytest.mark.parametrize("policy", BOTH)
def test_a_crowd_without_a_row_is_not_asked(policy):
    campaign = told(policy, [[0.6, 0.4]], (1, 1, 1))
    assert {ask(campaign).worker for _ in range(20)} == {"a"}


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.parametrize("truth", [[], ()])
def test_without_the_truth_it_is_refused(policy, truth):
    for spec in (policy, {"name": policy, "truth": truth}):
        with pytest.raises(InvalidParameter, match="must be told the truth") as caught:
            poll(spec)
        assert caught.value.field == "truth"


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.parametrize("options", ["xy", "wxyz"])
def test_rows_of_another_length_than_the_options_are_refused(policy, options):
    with pytest.raises(InvalidParameter, match="truth has rows") as caught:
        poll({"name": policy, "truth": [[0.5, 0.3, 0.2]] * 2}, options=options)
    assert caught.value.field == "truth"


NO_DISTRIBUTIONS = [
    [[0.5, 0.6], [0.5, 0.5]],
    [[-0.1, 1.1], [0.5, 0.5]],
    [[math.nan, 0.5], [0.5, 0.5]],
    [[0.5, math.nan], [0.5, 0.5]],
    [[0.5, None], [0.5, 0.5]],
    [[math.inf, 0.5], [0.5, 0.5]],
    [[1.0], [1.0]],
    [[]],
    [0.5, 0.5],
    5,
    True,
]


@pytest.mark.parametrize("truth", NO_DISTRIBUTIONS, ids=str)
def test_rows_that_are_no_distributions_are_refused(truth):
    for policy in BOTH:
        with pytest.raises(InvalidParameter):
            poll({"name": policy, "truth": truth})


@pytest.mark.parametrize("truth", NO_DISTRIBUTIONS, ids=str)
def test_the_refusal_names_the_truth(truth):
    with pytest.raises(InvalidParameter, match="truth") as caught:
        poll({"name": "best-crowd", "truth": truth})
    assert caught.value.field == "truth"


@pytest.mark.parametrize(
    "truth",
    [
        [[0.5, 0.5], [1.0]],
        "abc",
        [["x", "y"]],
        {"a": [0.5, 0.5], "b": [0.5, 0.5]},
    ],
    ids=["ragged", "text", "words", "mapping"],
)
def test_what_is_no_list_of_lists_is_refused(truth):
    with pytest.raises(AskwiseError) as caught:
        poll({"name": "best-crowd", "truth": truth})
    assert caught.value.field == "truth"


def asked_or_refused(policy, truth):
    """Whom 20 asks go to, or the field that is refused."""
    try:
        campaign = poll({"name": policy, "truth": truth})
    except InvalidParameter as error:
        return error.field
    return "".join(sorted({ask(campaign).worker for _ in range(20)}))


def test_an_array_is_taken_or_refused_with_its_name():
    found = asked_or_refused("best-crowd", np.array([[0.6, 0.4], [0.9, 0.1]]))
    assert found in ("b", "truth")


def test_true_and_false_are_no_probabilities():
    with pytest.raises(InvalidParameter):
        poll({"name": "best-crowd", "truth": [[True, False], [True, False]]})


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.parametrize("extra", [1, 20])
def test_more_rows_than_crowds_are_refused_or_ignored(policy, extra):
    truth = [[0.9, 0.1], [0.5, 0.5]] + [[0.6, 0.4]] * extra
    assert asked_or_refused(policy, truth) in ("a", "truth")


@pytest.mark.parametrize("policy", BOTH)
def test_the_truth_is_taken_as_it_is_when_the_campaign_is_created(policy):
    truth = [[0.9, 0.1], [0.5, 0.5]]
    campaign: Campaign = told(policy, truth)
    truth[0], truth[1] = truth[1], truth[0]
    assert campaign.spec["policy"]["truth"] == [[0.9, 0.1], [0.5, 0.5]]
    assert ask(campaign).worker == "a"
