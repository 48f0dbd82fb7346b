"""Payouts of what is owed, and bonuses: on record, and within the budget."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import pytest

from askwise import Batch, Campaign, Worker
from askwise.core.errors import AskwiseError, Conflict, OverBudget
from askwise.core.events import Event, Kind
from askwise.core.problem import Problem
from askwise.ledger import Ledger
from askwise.mechanisms import mechanisms
from askwise.mechanisms.base import Owed
from askwise.mechanisms.pay_price import PayPrice
from tests.campaign.paid import EUROS, NOON, answer, campaign_of, of
from tests.schemas import faults


def test_what_was_paid_is_owed_no_more() -> None:
    campaign = campaign_of()
    answer(campaign, "ann", 3)
    payout = campaign.pay("ann", "2.25", by="bo", reference="SEPA 4711", on="2026-11-17")
    assert (payout.worker, payout.amount, payout.on) == ("ann", Decimal("2.25"), "2026-11-17")
    assert (payout.reference, payout.by, payout.time) == ("SEPA 4711", "bo", NOON)
    ann = of(campaign, "ann")
    assert (ann.paid, ann.earned, ann.paid_out, ann.owed) == (3, 3, Decimal("2.25"), Decimal(".75"))
    assert (ann.answers_since, ann.last_paid, ann.overpaid) == (0, "2026-11-17", 0)
    event = campaign.log()[-1]
    assert (event.kind, event.worker, event.price) == (Kind.PAID, "ann", 2_250_000)
    assert faults("event", event.to_json()) == []
    assert Event.from_json(event.to_json()) == event
    assert faults("payments", [each.to_json() for each in campaign.payments()]) == []
    assert campaign.payouts() == campaign.payouts("ann") == [payout]
    assert campaign.payouts("bob") == []
    answer(campaign, "bob")
    assert [each.worker for each in campaign.pay_all(by="bo")] == ["ann", "bob"]
    assert [each.owed for each in campaign.payments()] == [0, 0]


def test_a_payout_moves_nothing_in_the_budget() -> None:
    campaign = campaign_of()
    answer(campaign, "ann", 2)
    before = campaign.status()
    campaign.pay("ann", by="bo")
    after = campaign.status()
    assert (after.spent, after.reserved, after.left) == (before.spent, before.reserved, before.left)


def test_a_bonus_is_spent_at_once_and_earned() -> None:
    campaign = campaign_of(options=None, content=EUROS)
    answer(campaign, "ann")
    campaign.bonus("ann", "2.5", "For the hard ones.", by="bo")
    status = campaign.status()
    assert (status.budget, status.spent, status.left) == (20, Decimal("3.5"), Decimal("16.5"))
    ann = of(campaign, "ann")
    assert (ann.paid, ann.bonus, ann.earned, ann.owed) == (1, Decimal("2.5"), *[Decimal("3.5")] * 2)
    assert ann.currency == "EUR"
    (given,) = campaign.bonuses("ann")
    assert (given.amount, given.why, given.by) == (Decimal("2.5"), "For the hard ones.", "bo")
    assert (given.currency, campaign.bonuses("bob")) == ("EUR", [])
    event = campaign.log()[-1]
    assert faults("event", event.to_json()) == []
    assert Event.from_json(event.to_json()) == event


def test_a_bonus_fits_what_is_neither_reserved_nor_kept_back() -> None:
    campaign = campaign_of(budget=5)
    answer(campaign, "ann")
    campaign.ask(workers=["bob"])
    left = campaign.status().left
    assert left == 2
    with pytest.raises(OverBudget) as refused:
        campaign.bonus("ann", "2.000001", "Thanks.", by="bo")
    assert (refused.value.field, refused.value.reason) == ("amount", "over_budget")
    campaign.bonus("ann", 2, "Thanks.", by="bo")
    assert campaign.status().left == 0
    certifying = campaign_of(
        workers=[Worker("ann", 1), Worker("vet", 1, trusted=True)],
        certify={"error": 0.2, "confidence": 0.8, "by": ["vet"], "share": 0.5},
    )
    with pytest.raises(OverBudget):
        certifying.bonus("ann", 11, "Thanks.", by="bo")
    certifying.bonus("ann", 10, "Thanks.", by="bo")


def test_a_bonus_without_a_cap_is_only_counted() -> None:
    campaign = campaign_of(budget=None)
    campaign.bonus("ann", 7, "Thanks.", by="bo")
    answer(campaign, "ann")
    status = campaign.status()
    assert (status.budget, status.spent, status.left) == (None, 8, None)


def test_more_money_and_the_end_of_a_campaign_change_nothing_about_what_is_owed() -> None:
    campaign = campaign_of(budget=2)
    answer(campaign, "ann", 2)
    campaign.top_up(3)
    campaign.leave("ann")
    campaign.stop()
    campaign.bonus("ann", 3, "Thanks.", by="bo")
    assert campaign.pay("ann", by="bo").amount == 5
    assert campaign.status().left == 0


@pytest.mark.parametrize(
    ("given", "field", "reason"),
    [
        ({"worker": "eve"}, "worker", "unknown_worker"),
        ({"worker": ["ann"]}, "worker", "unknown_worker"),
        ({"amount": 0}, "amount", "invalid_amount"),
        ({"amount": -1}, "amount", "invalid_amount"),
        ({"amount": "much"}, "amount", "invalid_amount"),
        ({"amount": "0.0000001"}, "amount", "invalid_amount"),
        ({"amount": "2.000001"}, "amount", "not_owed"),
        ({"worker": "bob"}, "amount", "not_owed"),
        ({"reference": "x" * 501}, "reference", "invalid_value"),
        ({"reference": 7}, "reference", "invalid_value"),
        ({"on": "18.11.2026"}, "on", "invalid_value"),
        ({"on": "20261118"}, "on", "invalid_value"),
        ({"on": "2026-02-30"}, "on", "invalid_value"),
        ({"on": 20261118}, "on", "invalid_value"),
        ({"on": "2026-11-20"}, "on", "invalid_value"),
        ({"by": " "}, "by", "invalid_value"),
        ({"by": None}, "by", "invalid_value"),
    ],
)
def test_a_payout_is_refused_with_the_field_at_fault(
    given: dict[str, Any], field: str, reason: str
) -> None:
    campaign = campaign_of()
    answer(campaign, "ann", 2)
    end = len(campaign.log())
    with pytest.raises(AskwiseError) as refused:
        campaign.pay(**{"worker": "ann", "by": "bo", **given})
    assert (refused.value.field, refused.value.reason) == (field, reason)
    assert len(campaign.log()) == end


@pytest.mark.parametrize(
    ("given", "field", "reason"),
    [
        ({"worker": "eve"}, "worker", "unknown_worker"),
        ({"amount": 0}, "amount", "invalid_amount"),
        ({"amount": "21"}, "amount", "over_budget"),
        ({"why": " "}, "why", "invalid_value"),
        ({"why": "x" * 2001}, "why", "invalid_value"),
        ({"by": ""}, "by", "invalid_value"),
    ],
)
def test_a_bonus_is_refused_with_the_field_at_fault(
    given: dict[str, Any], field: str, reason: str
) -> None:
    campaign = campaign_of()
    with pytest.raises(AskwiseError) as refused:
        campaign.bonus(**{"worker": "ann", "amount": 1, "why": "Thanks.", "by": "bo", **given})
    assert (refused.value.field, refused.value.reason) == (field, reason)
    assert campaign.log() == []


def test_a_day_may_be_a_date_and_tomorrow_where_the_requester_is() -> None:
    campaign = campaign_of()
    answer(campaign, "ann", 2)
    assert campaign.pay("ann", 1, by="bo", on="2026-11-19").on == "2026-11-19"
    assert campaign.pay("ann", "0.5", by="bo", on=date(2026, 11, 2)).on == "2026-11-02"
    assert of(campaign, "ann").last_paid == "2026-11-19"
    assert campaign.pay("ann", by="bo").on == "2026-11-18"


def test_all_are_paid_or_nobody() -> None:
    campaign = campaign_of()
    answer(campaign, "ann", 2)
    answer(campaign, "bob")
    end = len(campaign.log())
    for amounts in ({"ann": 1, "bob": 3}, {"ann": 1, "eve": 1}, {}, [("ann", 1)]):
        with pytest.raises(AskwiseError):
            campaign.pay_all(amounts, by="bo")  # type: ignore[arg-type]
    assert len(campaign.log()) == end
    campaign.pay_all({"bob": 2, "ann": "1.5"}, by="bo", reference="r", on="2026-11-18")
    assert [(each.owed, each.paid_out) for each in campaign.payments()] == [
        (Decimal("0.5"), Decimal("1.5")),
        (0, 2),
    ]
    assert {each.reference for each in campaign.payouts()} == {"r"}


def test_a_retry_returns_the_first_payout_and_pays_nothing() -> None:
    campaign = campaign_of()
    answer(campaign, "ann", 2)
    first = campaign.pay("ann", by="bo", key="k")
    answer(campaign, "ann")
    assert campaign.pay("ann", by="bo", key="k") == first
    assert (of(campaign, "ann").owed, len(campaign.payouts())) == (1, 1)
    with pytest.raises(Conflict) as refused:
        campaign.pay("ann", 1, by="bo", key="k")
    assert refused.value.reason == "key_reused"
    all_of = campaign.pay_all(by="bo", key="all")
    assert campaign.pay_all(by="bo", key="all") == all_of
    campaign.bonus("ann", 1, "Thanks.", by="bo", key="b")
    campaign.bonus("ann", 1, "Thanks.", by="bo", key="b")
    assert of(campaign, "ann").bonus == 1


@pytest.mark.parametrize("kept", ["sqlite", "postgres"])
def test_of_two_who_pay_the_same_worker_at_once_one_is_told_that_nothing_is_owed(
    kept: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/pay.sqlite"
    if kept == "postgres":
        url = request.getfixturevalue("postgres_url")
    answer(campaign_of(store=url, name="pay"), "ann", 2)

    def pay(by: str) -> str:
        try:
            return str(Campaign.open(url, "pay", clock=lambda: NOON).pay("ann", by=by).amount)
        except Conflict as error:
            return str(error)

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(pay, "abcd")) == [
            "2",
            *3 * ["worker 'ann' is owed nothing: they have earned 2 and were paid 2"],
        ]


def test_what_is_due_has_a_row_for_everybody_who_is_owed_something() -> None:
    now = [NOON]
    campaign = campaign_of(clock=lambda: now[0], options=None, content=EUROS)
    assert campaign.due() == []
    answer(campaign, "ann")
    answer(campaign, "bob")
    campaign.pay("ann", by="bo")
    now[0] += 3 * 86400
    answer(campaign, "ann")
    ann, bob = campaign.due()
    assert (ann.owed, ann.answers, ann.since, ann.until) == (1, 1, "2026-11-18", "2026-11-21")
    assert (bob.owed, bob.answers, bob.since, bob.currency) == (2, 1, "2026-11-18", "EUR")
    campaign.pay_all(by="bo")
    assert campaign.due() == []
    campaign.bonus("ann", 1, "Thanks.", by="bo")
    (ann,) = campaign.due()
    assert (ann.owed, ann.answers, ann.since) == (1, 0, "2026-11-21")


@dataclass(frozen=True)
class Regretful(PayPrice):
    """Halves what everybody has earned once there are four answers."""

    name: ClassVar[str] = "regretful"

    def settle(self, problem: Problem, ledger: Ledger) -> list[Owed]:
        found = super().settle(problem, ledger)
        late = sum(each.answers for each in found) >= 4
        return [each._replace(paid=each.paid // 2) if late else each for each in found]


def test_what_is_owed_follows_the_mechanism_and_is_never_negative() -> None:
    with mock.patch.dict(mechanisms._entries, {"regretful": Regretful}):
        campaign = campaign_of(mechanism="regretful")
        answer(campaign, "ann", 3)
        campaign.pay("ann", by="bo")
        answer(campaign, "bob")
        ann, bob = campaign.payments()
        assert (ann.paid, ann.owed, ann.overpaid) == (Decimal("1.5"), 0, Decimal("1.5"))
        assert (bob.paid, bob.owed, bob.overpaid) == (1, 1, 0)
        with pytest.raises(Conflict, match=r"they have earned 1\.5 and were paid 3"):
            campaign.pay("ann", by="bo")
        assert [each.worker for each in campaign.pay_all(by="bo")] == ["bob"]
        # A bonus is set against what was overpaid.
        campaign.bonus("ann", 2, "Sorry.", by="bo")
        assert (of(campaign, "ann").owed, of(campaign, "ann").overpaid) == (Decimal("0.5"), 0)


def test_campaigns_of_units_and_of_bids_pay_too() -> None:
    units = campaign_of(tasks=None, options=None, outcome="utility", policy="uniform")
    answer(units, "bob", value=0.5)
    assert units.pay("bob", by="bo").amount == 2
    bids = campaign_of(
        budget=None,
        workers=[Worker("ann", 1), Worker("bob", 2), Worker("cat", 2)],
        policy={"name": "ccb-fixed", "qualities": [0.8] * 3, "alpha": 0.3, "solver": "exact"},
        mechanism={"name": "clarke", "c_max": 3},
    )
    batch = bids.ask()
    assert isinstance(batch, Batch)
    bids.tell(batch[0].id, "yes")
    # Clarke pays the cheapest what the next one asks for.
    assert bids.pay("ann", by="bo").amount == 2
