"""What mechanisms take, and what they refuse."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, ClassVar

import pytest

from askwise.core.allocation import Allocation
from askwise.core.errors import AskwiseError, InvalidParameter, InvalidProblem
from askwise.core.registry import from_label, label_of, spec_of
from askwise.mechanisms import mechanisms
from askwise.policies import Policy, TakesBids
from askwise.policies.bounded.benchmarks import Uniform
from tests.mechanisms.cheapest import Cheapest, make, resampling

SEALED = ("clarke", "critical-bid", "fixed-exploration", "self-resampling")


@pytest.mark.parametrize("name", SEALED)
@pytest.mark.parametrize("amount", ["20.50", Decimal("20.5"), 20.5])
def test_the_highest_bid_is_money_in_any_form(name: str, amount: Any) -> None:
    made: Any = mechanisms.make({"name": name, "c_max": amount})
    assert made.c_max == "20.5"
    assert made.highest == 20_500_000


@pytest.mark.parametrize("name", SEALED)
def test_a_mechanism_survives_json_and_its_label(name: str) -> None:
    made = mechanisms.make({"name": name, "c_max": 20})
    assert mechanisms.make(json.loads(json.dumps(spec_of(made)))) == made
    assert mechanisms.make(from_label(label_of(made))) == made
    assert label_of(made) == f"{name}(c_max=20)"


def test_an_instance_is_taken_as_it_is() -> None:
    made = mechanisms.make(resampling(0.25))
    assert mechanisms.make(made) is made


@pytest.mark.parametrize("name", SEALED)
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "c_max is missing"),
        ({"c_max": 0}, "c_max is 0: give an amount above 0"),
        ({"c_max": -1}, "c_max is -1: give an amount of 0 or more"),
        ({"c_max": "lots"}, "c_max is 'lots'"),
        ({"c_max": "0.0000001"}, "at most six decimals"),
        ({"c_max": 10**10}, "c_max is too large"),
        ({"c_max": True}, "c_max is True"),
    ],
    ids=str,
)
def test_a_bad_highest_bid_is_refused(name: str, given: dict[str, Any], words: str) -> None:
    with pytest.raises(AskwiseError, match=words) as caught:
        mechanisms.make({"name": name, **given})
    assert caught.value.field == "c_max"


def test_the_name_alone_is_not_enough() -> None:
    with pytest.raises(InvalidParameter, match="c_max is missing: mechanism 'clarke' needs"):
        make("clarke")


@pytest.mark.parametrize("gamma", [0, 1, -0.1, 1.5, float("nan"), "often", None, True])
def test_the_chance_of_resampling_is_between_0_and_1(gamma: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"gamma is .*: give a number between 0 and 1"):
        mechanisms.make({"name": "self-resampling", "c_max": 20, "gamma": gamma})


def test_a_bonus_beyond_all_money_is_refused_at_once() -> None:
    mechanisms.make({"name": "self-resampling", "c_max": 10**7, "gamma": 0.01})
    with pytest.raises(InvalidParameter, match="exceeds 1000000000; give a larger gamma") as caught:
        mechanisms.make({"name": "self-resampling", "c_max": 10**7, "gamma": 0.0099})
    assert caught.value.field == "gamma"


def test_a_price_above_the_highest_bid_is_refused_by_name() -> None:
    with pytest.raises(InvalidProblem) as caught:
        make(resampling(c_max="12.5"))
    assert str(caught.value) == (
        "price of worker 'dev' is 13: it is their first bid, and c_max is 12.5"
    )
    assert caught.value.field == "price"
    make(resampling(c_max=13))


def test_a_bid_above_the_highest_bid_is_refused_by_name() -> None:
    campaign = make(resampling())
    with pytest.raises(InvalidProblem) as caught:
        campaign.bid("bob", "20.000001")
    assert str(caught.value) == (
        "amount is 20.000001: a bid of worker 'bob' may be c_max, 20, at most"
    )
    assert caught.value.field == "amount"
    assert campaign.log() == []
    campaign.bid("bob", 20)


class Unproved(Cheapest):
    """One that says nothing of how it chooses."""

    name: ClassVar[str] = "unproved"

    def allocation(self) -> None:
        return None


class Silent(Uniform, TakesBids):
    """One that does not say up to which bid it would choose a worker."""

    name: ClassVar[str] = "silent"

    def allocation(self) -> Allocation:
        return Allocation("fixed", True, "exact", monotone=True)


@pytest.mark.parametrize("name", SEALED)
def test_a_policy_of_which_nothing_is_proved_is_refused(name: str) -> None:
    with pytest.raises(InvalidProblem) as caught:
        make({"name": name, "c_max": 20}, Unproved())
    assert str(caught.value).startswith(
        f"mechanism {name!r} is not proved truthful with policy 'unproved': nothing is proved of "
        "how its choices depend on bids; use 'ccb-"
    )
    assert str(caught.value).endswith(", or mechanism 'pay-price'")
    assert caught.value.field == "mechanism"
    with pytest.raises(InvalidProblem, match="nothing is proved of how its choices depend on bids"):
        make({"name": name, "c_max": 20}, Uniform())


def test_a_policy_that_names_no_critical_bids_is_refused_where_they_are_paid() -> None:
    with pytest.raises(InvalidProblem, match="does not say up to which bid a worker is chosen"):
        make({"name": "fixed-exploration", "c_max": 20}, Silent())


@pytest.mark.parametrize(
    ("name", "policy", "why"),
    [
        (
            "self-resampling",
            Cheapest(exploration="adaptive", minimiser="greedy", monotone=False),
            "unless it solves exactly a lower bid may bring less work, as a loser's bid can change "
            "who is chosen and so when exploration ends; use 'ccb-s' or 'ccb-fixed' with "
            "solver 'exact'",
        ),
        (
            "self-resampling",
            Cheapest(
                exploration="adaptive", minimiser="greedy", monotone=False, explores_all=False
            ),
            "a lower bid may bring a worker less work; use 'ccb-s' or 'ccb-fixed' with solver",
        ),
        ("clarke", Cheapest(minimiser="greedy"), "its set may not be the cheapest"),
        ("clarke", Cheapest(exploration="fixed"), "it learns the qualities"),
        ("clarke", Cheapest(monotone=False), "a lower bid may bring a worker less work"),
        ("critical-bid", Cheapest(minimiser="exact"), "mechanism 'clarke' pays for the cheapest"),
        (
            "critical-bid",
            Cheapest(exploration="adaptive", minimiser="greedy"),
            "mechanism 'fixed-exploration' pays for that",
        ),
        ("fixed-exploration", Cheapest(), "it explores nothing, because the qualities are known"),
        ("fixed-exploration", Cheapest(exploration="adaptive"), "how long it explores depends"),
        (
            "fixed-exploration",
            Cheapest(exploration="fixed", explores_all=False),
            "a lower bid may bring a worker less work",
        ),
    ],
)
def test_what_is_not_proved_is_refused_in_a_line_that_says_why(
    name: str, policy: Policy, why: str
) -> None:
    with pytest.raises(InvalidProblem) as caught:
        make({"name": name, "c_max": 20}, policy)
    assert why in str(caught.value)
    assert "; use 'ccb-" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("self-resampling", Cheapest(exploration="adaptive")),
        ("self-resampling", Cheapest(exploration="fixed", minimiser="greedy")),
        ("clarke", Cheapest()),
        ("critical-bid", Cheapest(minimiser="greedy")),
        ("fixed-exploration", Cheapest(exploration="fixed")),
        ("fixed-exploration", Cheapest(exploration="fixed", minimiser="greedy")),
    ],
)
def test_what_is_proved_is_taken(name: str, policy: Policy) -> None:
    make({"name": name, "c_max": 20}, policy)


def test_a_promise_is_in_words() -> None:
    for name in mechanisms.names():
        entry = mechanisms.get(name)
        assert entry.promise.startswith("Truthful" if entry.truthful else "Promises nothing")
        assert entry.truthful == entry.bidding == (name in SEALED)
