"""Every mechanism in the registry keeps the contract, with every policy that it goes with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar
from unittest import mock

import pytest

from askwise.core.draws import Draw
from askwise.core.errors import AskwiseError
from askwise.core.problem import Problem
from askwise.core.registry import label_of
from askwise.ledger import vectors
from askwise.ledger.ledger import Ledger
from askwise.mechanisms import Mechanism, Quote, mechanisms
from askwise.mechanisms.pay_price import PayPrice
from askwise.policies import Policy, TakesBids, policies
from askwise.testing import mechanisms as suite
from askwise.testing.mechanisms import CHECKS, SCENE, Check

CHOICES = (
    {},
    {"solver": "exact"},
    {"error": "hoeffding-linear", "solver": "greedy"},
    {"qualities": (0.9, 0.7, 0.8, 0.6, 0.95), "solver": "exact"},
    {"qualities": (0.9,) * 5, "error": "hoeffding-linear", "solver": "greedy"},
)
"""How those that take bids may solve, and what they may know."""


def make(name: str) -> Mechanism:
    try:
        return mechanisms.make(name)
    except AskwiseError:
        return mechanisms.make({"name": name, "c_max": 20})


def fitting(mechanism: Mechanism) -> list[Policy]:
    """The policies, of those that take bids and one more, for which it is proved."""
    found = []
    bidding = [name for name in policies.names() if issubclass(policies.get(name), TakesBids)]
    for name in ("uniform", *bidding):
        for choice in CHOICES:
            try:
                policy = policies.make({"name": name, "rounds": 2, **choice})
            except AskwiseError:
                try:
                    policy = policies.make({"name": name, **choice})
                except AskwiseError:
                    continue
            try:
                mechanism.check(SCENE.problem(), policy)
            except AskwiseError:
                continue
            found.append(policy)
    return found


PAIRS = [(make(name), policy) for name in mechanisms.names() for policy in fitting(make(name))]


def test_every_mechanism_goes_with_some_policy() -> None:
    assert {mechanism.name for mechanism, _ in PAIRS} == set(mechanisms.names())


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("mechanism", "policy"), PAIRS, ids=label_of)
def test_a_mechanism_keeps_the_contract(mechanism: Mechanism, policy: Policy, check: Check) -> None:
    check(mechanism, policy)


@dataclass(frozen=True)
class Careless(PayPrice):
    """Pays what is asked for, but for one mistake."""

    name: ClassVar[str] = "careless"
    bidding: ClassVar[bool] = True
    truthful: ClassVar[bool] = False

    def quote(self, problem: Problem, ledger: Ledger, draw: Draw) -> list[Quote]:
        bids = vectors.prices(ledger).tolist()
        return [
            Quote(worker.id, bid, bid, bid)
            for worker, bid in zip(ledger.workers, bids, strict=True)
        ]


class Stingy(Careless):
    """Pays a micro-unit less than the bid."""

    def quote(self, problem: Problem, ledger: Ledger, draw: Draw) -> list[Quote]:
        return [each._replace(price=each.bid - 1) for each in super().quote(problem, ledger, draw)]


class Forgetful(Careless):
    """Quotes all but the last."""

    def quote(self, problem: Problem, ledger: Ledger, draw: Draw) -> list[Quote]:
        return super().quote(problem, ledger, draw)[:-1]


class Rash(Careless):
    """Promises truthful bids with any policy."""

    truthful: ClassVar[bool] = True


class Wordless(Careless):
    """Gives no reason."""

    why: ClassVar[str] = ""


@pytest.mark.parametrize(
    ("mistake", "check"),
    [
        (Stingy, suite.every_bid_is_quoted_and_nobody_below_it),
        (Forgetful, suite.every_bid_is_quoted_and_nobody_below_it),
        (Rash, suite.a_promise_of_truth_is_not_made_for_any_policy),
        (Wordless, suite.payments_add_up_to_the_log),
    ],
)
def test_a_mistake_is_found(mistake: type[Careless], check: Check) -> None:
    uniform = policies.make("uniform")
    with mock.patch.dict(mechanisms._entries, {"careless": Careless}):
        suite.check_mechanism(Careless(), uniform)
    with (
        mock.patch.dict(mechanisms._entries, {"careless": mistake}),
        pytest.raises(AssertionError),
    ):
        check(mistake(), uniform)
