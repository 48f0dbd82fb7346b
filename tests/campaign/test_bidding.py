"""Bids, quotes and payments of a running campaign."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from askwise import Batch, Campaign, Done, Worker
from askwise.campaign.spec import Spec
from askwise.campaign.state import CampaignState
from askwise.core.draws import Draw
from askwise.core.errors import Conflict, InvalidProblem, MechanismFault, UnknownName
from askwise.core.events import Event, Kind
from askwise.core.money import from_micro
from askwise.core.problem import Problem
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.mechanisms import Mechanism, Quote
from askwise.store import MemoryStore
from tests.mechanisms.cheapest import NAMES, Cheapest, known, make, resampling

FIXED = {"name": "fixed-exploration", "c_max": 20}
LEARNS = Cheapest(rounds=2, exploration="fixed")
BIDDERS: dict[str, tuple[Any, Cheapest]] = {
    "self-resampling": (resampling(0.5), Cheapest()),
    "clarke": ({"name": "clarke", "c_max": 20}, Cheapest()),
    "critical-bid": ({"name": "critical-bid", "c_max": 20}, Cheapest(minimiser="greedy")),
    "fixed-exploration": (FIXED, LEARNS),
}


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    with known():
        yield


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return MemoryStore() if request.param == "memory" else f"sqlite:///{tmp_path}/file.sqlite"


def kinds(campaign: Campaign) -> list[str]:
    return [event.kind.name for event in campaign.log()]


def finish(campaign: Campaign) -> Done:
    """Ask and answer to the end."""
    while isinstance(batch := campaign.ask(limit=3), Batch):
        for each in batch:
            campaign.tell(each.id, "yes" if each.worker in ("ann", "dev") else "no")
    assert isinstance(batch, Done)
    return batch


def quotes(campaign: Campaign) -> list[Event]:
    return [event for event in campaign.log() if event.kind == Kind.QUOTED]


def ledger_of(campaign: Campaign) -> Ledger:
    return campaign._writer.current().ledger


# Bids.


def test_a_bid_is_a_fact_and_a_later_one_takes_its_place() -> None:
    campaign = make({"name": "clarke", "c_max": 20})
    campaign.bid("dev", "2.5")
    campaign.bid("dev", 4)
    assert [(e.kind, e.worker, e.price) for e in campaign.log()] == [
        (Kind.BID, "dev", 2_500_000),
        (Kind.BID, "dev", 4_000_000),
    ]
    asked = {each.worker for each in _batch(campaign.ask(limit=2))}
    assert asked == {"ann", "dev"}
    quoted = {each["id"]: each["bid"] for each in quotes(campaign)[0].workers or ()}
    assert quoted == {"ann": "3", "bob": "5", "cleo": "8", "dev": "4"}


def _batch(choice: Any) -> Batch:
    assert isinstance(choice, Batch)
    return choice


@pytest.mark.parametrize("name", BIDDERS)
def test_the_first_ask_closes_the_bidding(name: str) -> None:
    mechanism, policy = BIDDERS[name]
    campaign = make(mechanism, policy)
    campaign.bid("ann", 1)
    campaign.ask()
    before = campaign.log()
    with pytest.raises(Conflict, match="bidding closed at the first ask") as caught:
        campaign.bid("ann", 2)
    assert caught.value.field == "amount"
    assert campaign.log() == before


def test_asking_closes_it_even_if_nobody_can_be_asked() -> None:
    campaign = make({"name": "clarke", "c_max": 20}, budget=3)
    assert campaign.ask() == Done("budget")
    assert kinds(campaign) == ["QUOTED"]
    with pytest.raises(Conflict, match="bidding closed"):
        campaign.bid("ann", 1)


def test_a_paused_campaign_still_takes_bids() -> None:
    campaign = make({"name": "clarke", "c_max": 20})
    campaign.pause()
    campaign.ask()
    campaign.bid("dev", 1)
    campaign.resume()
    assert [each.worker for each in _batch(campaign.ask(limit=2))] == ["ann", "dev"]


def test_who_is_not_there_can_not_bid() -> None:
    campaign = make({"name": "clarke", "c_max": 20})
    with pytest.raises(UnknownName, match="worker 'an' is not in this campaign: did you mean"):
        campaign.bid("an", 1)
    campaign.stop()
    with pytest.raises(Conflict, match="stopped"):
        campaign.bid("ann", 1)


def test_without_an_auction_there_are_no_bids() -> None:
    campaign = make("pay-price")
    with pytest.raises(Conflict) as caught:
        campaign.bid("ann", 1)
    assert str(caught.value) == (
        "mechanism 'pay-price' takes no bids: workers have the prices they joined with"
    )
    finish(campaign)
    assert "QUOTED" not in kinds(campaign)
    assert campaign.payments()[0].why == "price per answer"


@pytest.mark.parametrize("amount", ["-1", "much", "0.0000001", None, True])
def test_a_bid_is_money(amount: Any) -> None:
    campaign = make({"name": "clarke", "c_max": 20})
    with pytest.raises(InvalidProblem, match="amount is"):
        campaign.bid("ann", amount)
    assert campaign.log() == []


def test_nobody_joins_after_the_start() -> None:
    campaign = make({"name": "clarke", "c_max": 20})
    with pytest.raises(Conflict, match="accepts nobody new after the start"):
        campaign.add(workers=[Worker("eve", 1)])


def test_no_view_shows_a_bid_before_the_bidding_closes() -> None:
    campaign = make(resampling())
    campaign.bid("ann", "1.234567")
    seen = f"{campaign.payments()} {campaign.status()} {campaign.answers()} {campaign!r}"
    assert "1.234567" not in seen
    assert {each.why for each in campaign.payments()} == {"the bidding is open"}
    campaign.ask()
    assert "1.234567" in campaign.payments()[0].why


# Keys, stores, snapshots.


def test_a_retried_bid_is_no_second_bid(store: Any) -> None:
    campaign = make({"name": "clarke", "c_max": 20}, store=store)
    campaign.bid("dev", 4, key="k")
    campaign.bid("dev", 9)
    campaign.bid("dev", 4, key="k")
    assert len(campaign.log()) == 2
    with pytest.raises(Conflict, match="key 'k' was used for another request"):
        campaign.bid("dev", 5, key="k")
    campaign.ask()
    # Replayed after the close it is answered as it was, and changes nothing.
    campaign.bid("dev", 4, key="k")
    again = Campaign.open(store, "auction")
    again.bid("dev", 4, key="k")
    assert "9" in {each["bid"] for each in quotes(again)[0].workers or ()}


@pytest.mark.parametrize("name", BIDDERS)
def test_wherever_a_campaign_is_left_it_goes_on_the_same(name: str, store: Any) -> None:
    mechanism, policy = BIDDERS[name]
    whole = make(mechanism, policy, store="memory")
    parted = make(mechanism, policy, store=store)
    for campaign in (whole, parted):
        campaign.bid("dev", 4)
    while True:
        choice = whole.ask(limit=2)
        parted = Campaign.open(store, "auction")
        assert parted.ask(limit=2) == choice
        if isinstance(choice, Done):
            break
        for each in _batch(choice):
            whole.tell(each.id, "yes")
            parted = Campaign.open(store, "auction")
            parted.tell(each.id, "yes")
    assert [_plain(event) for event in parted.log()] == [_plain(event) for event in whole.log()]
    assert parted.payments() == whole.payments()


def _plain(event: Event) -> dict[str, Any]:
    raw = event.to_json()
    del raw["time"]
    return raw


@pytest.mark.parametrize("name", BIDDERS)
def test_the_log_folded_anew_is_the_live_state_and_so_is_a_snapshot(name: str) -> None:
    mechanism, policy = BIDDERS[name]
    campaign = make(mechanism, policy)
    campaign.bid("dev", 4)
    finish(campaign)
    live = campaign._writer.current()
    folded = CampaignState(live.spec)
    for event in campaign.log():
        folded.fold(event)
    restored = CampaignState.restore(live.spec, live.snapshot())
    for other in (folded, restored):
        assert other.ledger.names() == live.ledger.names()
        for key, array in live.ledger.arrays().items():
            assert other.ledger.arrays()[key].tolist() == array.tolist(), key
    assert Spec.from_json(live.spec.to_json()) == live.spec


def test_a_snapshot_between_bids_and_the_first_ask_keeps_the_bids() -> None:
    campaign = make(resampling())
    campaign.bid("ann", "1.5")
    state = campaign._writer.current()
    restored = CampaignState.restore(state.spec, state.snapshot())
    assert restored.ledger.book.workers[0, c.BID] == 1_500_000
    assert restored.ledger.total(c.QUOTED) == 0


def test_the_same_seed_gives_the_same_quote_and_another_another() -> None:
    made = []
    for seed in (1, 1, 2):
        campaign = make(resampling(0.5), seed=seed)
        campaign.ask()
        made.append(quotes(campaign)[0].workers)
    assert made[0] == made[1]
    assert made[0] != made[2]


# Quotes and money.


def test_prices_are_quoted_once_or_twice() -> None:
    found = {}
    for name, (mechanism, policy) in BIDDERS.items():
        campaign = make(mechanism, policy)
        assert finish(campaign) == Done("target")
        found[name] = [event.seq for event in quotes(campaign)]
    assert found["self-resampling"] == [1]
    assert found["clarke"] == found["critical-bid"] == [1, 2]
    first, second = found["fixed-exploration"]
    assert first == 1
    decided = [event for event in campaign.log() if event.kind == Kind.DECIDED]
    assert [event.note for event in decided] == ["explore"] * 2 + ["exploit"] * 4
    assert second == decided[2].seq - 1


def test_after_exploration_those_chosen_have_their_critical_bids() -> None:
    campaign = make(FIXED, LEARNS)
    finish(campaign)
    second = quotes(campaign)[1].workers
    # The two cheapest stay so up to the third's bid of 8.
    assert second == (
        {"id": "ann", "bid": "3", "ranked_at": "3", "price": "8"},
        {"id": "bob", "bid": "5", "ranked_at": "5", "price": "8"},
    )
    paid = {each.worker: (each.answers, each.paid, each.why) for each in campaign.payments()}
    learned = "exploration at c_max 20, then critical bid 8 an answer"
    assert paid == {
        "ann": (6, 2 * 20 + 4 * 8, learned),
        "bob": (6, 2 * 20 + 4 * 8, learned),
        "cleo": (2, 40, "c_max 20 an answer"),
        "dev": (2, 40, "c_max 20 an answer"),
    }


def test_what_is_out_keeps_the_price_it_was_asked_at() -> None:
    campaign = make(FIXED, LEARNS)
    first = _batch(campaign.ask(limit=10))
    assert [each.price for each in first] == [20] * 8 + [8, 8]
    for each in first:
        campaign.tell(each.id, "no")
    assert campaign.status().spent == 8 * 20 + 2 * 8


def test_where_a_rival_has_left_the_price_rises() -> None:
    campaign = make({"name": "clarke", "c_max": 20})
    assert [each.price for each in _batch(campaign.ask(limit=2))] == [8, 8]
    campaign.leave("cleo")
    assert [each.price for each in _batch(campaign.ask(limit=2))] == [13, 13]
    campaign.leave("dev")
    assert [each.price for each in _batch(campaign.ask(limit=2))] == [20, 20]


def test_a_rise_that_the_budget_does_not_allow_is_not_made() -> None:
    campaign = make({"name": "clarke", "c_max": 20}, budget=41)
    assert [each.price for each in _batch(campaign.ask(limit=2))] == [8, 8]
    campaign.leave("cleo")
    # 26 would exceed the 25 that are left; 16 do not, and every bid is below 8.
    assert [each.price for each in _batch(campaign.ask(limit=2))] == [8, 8]


@pytest.mark.parametrize("name", BIDDERS)
def test_every_decision_can_be_reproduced(name: str) -> None:
    mechanism, policy = BIDDERS[name]
    campaign = make(mechanism, policy)
    campaign.bid("cleo", 1)
    finish(campaign)
    for event in campaign.log():
        if event.kind == Kind.ASKED:
            assert campaign.explain(f"auction:{event.seq}").reproduced


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    st.sampled_from(sorted(BIDDERS)),
    st.lists(st.integers(0, 20_000_000), min_size=4, max_size=4),
    st.one_of(st.none(), st.integers(20_000_000, 400_000_000)),
    st.integers(0, 2**32),
)
def test_nobody_is_paid_below_their_bid_and_nothing_is_overspent(
    name: str, bids: list[int], budget: int | None, seed: int
) -> None:
    mechanism, policy = BIDDERS[name]
    money = None if budget is None else from_micro(budget)
    campaign = make(mechanism, policy, seed=seed, budget=money, store="memory")
    for worker, bid in zip(NAMES, bids, strict=True):
        campaign.bid(worker, from_micro(bid))
    asked = dict(zip(NAMES, bids, strict=True))
    owed = dict.fromkeys(NAMES, 0)
    while isinstance(batch := campaign.ask(limit=3), Batch):
        ledger = ledger_of(campaign)
        out = sum(each.price for each in campaign.assignments())
        assert from_micro(ledger.total(c.HELD)) == out
        assert campaign.status().reserved >= out
        if budget is not None:
            assert campaign.status().spent + campaign.status().reserved <= from_micro(budget)
        for each in batch:
            assert each.price >= from_micro(asked[each.worker])
            campaign.tell(each.id, "yes")
            owed[each.worker] += int(each.price * 10**6)
    assert batch in (Done("target"), Done("budget"))
    assert {each.worker: each.paid for each in campaign.payments()} == {
        worker: from_micro(sum_) for worker, sum_ in owed.items()
    }
    assert campaign.status().spent == sum((each.paid for each in campaign.payments()), Decimal(0))


def test_a_bonus_that_the_budget_can_not_pay_is_not_asked_for() -> None:
    # The bid is resampled: an answer costs 3 + 17/0.99.
    campaign = make(resampling(0.99), Cheapest(size=1), budget=20, workers=[Worker("ann", 3)])
    assert campaign.ask() == Done("budget")
    campaign.top_up(1)
    (only,) = _batch(campaign.ask(limit=4))
    assert only.price == Decimal("20.171718")


# A mechanism that does not keep what mechanisms promise.


@dataclass(frozen=True)
class Stingy(Mechanism):
    """Pays a micro-unit less than was bid."""

    name: ClassVar[str] = "stingy"
    bidding: ClassVar[bool] = True

    def quote(self, problem: Problem, ledger: Ledger, draw: Draw) -> list[Quote]:
        rows = ledger.book.workers
        return [
            Quote(worker.id, bid, bid, bid - 1)
            for worker, bid in zip(ledger.workers, rows[:, c.BID].tolist(), strict=False)
        ]


def test_a_payment_below_the_bid_is_not_settled() -> None:
    campaign = make(Stingy())
    (first,) = _batch(campaign.ask())
    assert first.price == Decimal("2.999999")
    before = campaign.log()
    with pytest.raises(MechanismFault) as caught:
        campaign.tell(first.id, "yes")
    assert str(caught.value) == (
        "mechanism 'stingy' would pay worker 'ann' 2.999999 for an answer, below their bid of 3; "
        "nothing was settled"
    )
    assert campaign.log() == before
    assert campaign.status().spent == 0
