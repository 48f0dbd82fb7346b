"""What must hold when something odd happens beside a campaign or inside a call."""

from __future__ import annotations

import decimal
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
import pytest

from askwise import Batch, Campaign, Done, Wait, Worker
from askwise.campaign import writer
from askwise.core.errors import AskwiseError, Conflict, InvalidProblem, PolicyFault, StoreError
from askwise.core.money import from_micro, to_micro
from askwise.ledger import transitions
from askwise.ledger.proposals import Proposal, new_proposal, propose
from askwise.policies import Policy
from askwise.policies.bounded.common import State
from askwise.store.memory.store import MemoryStore

TWO = [Worker("a", 1), Worker("b", 1)]


def utility(policy: Any = "uniform", **more: Any) -> Campaign:
    raw: dict[str, Any] = {"workers": TWO, "outcome": "utility", "budget": 10, "seed": 1, **more}
    return Campaign.create(policy=policy, **raw)


def test_a_snapshot_that_fails_does_not_fail_the_write(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoRoom(MemoryStore):
        def save(self, *_: Any) -> None:
            raise StoreError("the disk is full")

    monkeypatch.setattr(writer, "FIRST_SNAPSHOT", 2)
    campaign = utility(store=NoRoom())
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    campaign.tell(batch[0].id, 0.5)
    assert campaign.status().answers == 1


def test_a_fold_that_was_interrupted_is_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    one = utility(store=store, name="x")
    other = Campaign.open(store, "x")
    assert other.status().pending == 0
    batch = one.ask()
    assert isinstance(batch, Batch)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(transitions, "advance", interrupted)
        with pytest.raises(KeyboardInterrupt):
            other.status()
    assert other.status() == one.status()
    other.tell(batch[0].id, 0.3)
    assert one.status().answers == 1


@pytest.fixture
def coarse_decimals() -> Iterator[None]:
    with decimal.localcontext() as context:
        context.prec = 4
        yield


@pytest.mark.usefixtures("coarse_decimals")
def test_money_does_not_depend_on_the_callers_decimal_precision() -> None:
    assert to_micro("1234.5678", "price") == 1_234_567_800
    assert from_micro(1_234_567_800) == Decimal("1234.5678")
    campaign = utility(workers=[Worker("a", "1234.5678")], budget="50000")
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    campaign.tell(batch[0].id, 0.5)
    campaign.top_up("1000.1234")
    assert str(campaign.status().spent) == "1234.5678"
    assert str(campaign.status().budget) == "51000.1234"


@pytest.mark.parametrize(
    "amount",
    ["1.0000000000000000000000000000000001", "1e-2000000", "1e999999", 10**5000, "0.0000001"],
    ids=["34 decimals", "tiny", "huge", "longer than Python writes", "seven decimals"],
)
def test_an_amount_that_does_not_fit_is_refused_whatever_its_size(amount: Any) -> None:
    with pytest.raises(InvalidProblem):
        to_micro(amount, "price")


def test_numpy_numbers_are_money_too() -> None:
    assert Worker("a", np.float64(1.5)).price == Decimal("1.5")
    assert Worker("a", np.int64(3)).price == 3  # type: ignore[arg-type]


class Blind(Policy):
    """Proposes any task for the first worker, whether there is one or not."""

    name: ClassVar[str] = "blind"
    notes: ClassVar[tuple[str, ...]] = ("blind",)

    def start(self, problem: Any, ledger: Any) -> State:
        return State(np.zeros((1, 4)), np.zeros(4, np.int64))

    def choose(self, *_: Any) -> Proposal:
        out = new_proposal(1)
        propose(out, -1, 0, 1, 1.0)
        return out

    def absorb(self, *_: Any) -> None:
        return None


def test_a_policy_that_asks_about_nothing_is_stopped() -> None:
    campaign = utility(Blind(), tasks=["t"])
    assert isinstance(campaign.ask(), Batch)
    before = campaign.log()
    with pytest.raises(PolicyFault):
        campaign.ask()
    assert campaign.log() == before


@pytest.mark.parametrize("policy", ["thompson-knapsack", "knowledge-gradient", "bounded-kube"])
def test_whoever_declines_is_passed_over_until_somebody_has_answered(policy: str) -> None:
    campaign = utility(policy)
    declined = 0
    while isinstance(batch := campaign.ask(), Batch):
        if batch[0].worker == "a":
            declined += 1
            campaign.decline(batch[0].id)
            # Named, he may be asked again; among all he is not.
            again = campaign.ask()
            assert not isinstance(again, Batch) or again[0].worker == "b"
            if isinstance(again, Batch):
                campaign.tell(again[0].id, 0.5)
        else:
            campaign.tell(batch[0].id, 0.5)
        assert declined < 20
    assert isinstance(batch, Wait | Done)
    assert campaign.status().spent == 10
    assert campaign.payments()[0].answers == 0


def test_a_decliner_is_asked_again_when_he_is_named() -> None:
    campaign = utility("thompson-knapsack", workers=[Worker("a", 1)])
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    campaign.decline(batch[0].id)
    assert campaign.ask() == Wait("workers")
    assert isinstance(campaign.ask(workers=["a"]), Batch)


def test_one_number_is_one_request_however_it_is_typed() -> None:
    campaign = utility()
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    campaign.tell(batch[0].id, 1, key="k")
    campaign.tell(batch[0].id, 1.0, key="k")
    campaign.tell(batch[0].id, np.float32(1), key="k")
    with pytest.raises(Conflict):
        campaign.tell(batch[0].id, 0.5, key="k")


def test_a_campaign_without_tasks_has_none_to_close() -> None:
    with pytest.raises(Conflict, match="no tasks to close"):
        utility().close(None)  # type: ignore[arg-type]


def test_whoever_rejoins_without_a_rating_has_none() -> None:
    campaign = utility(workers=[Worker("a", 1, rating=0.9, rating_weight=50), Worker("b", 1)])
    campaign.leave("a")
    campaign.add(workers=[Worker("a", 1)])
    state = campaign._writer.current()
    assert state.ledger.book.ratings[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "fields",
    [
        {"workers": 5},
        {"workers": Worker("a", 1)},
        {"tasks": "abc"},
        {"tasks": 5},
        {"outcome": None, "options": 5, "tasks": ["t"]},
        {"outcome": 5},
        {"outcome": ["utility"]},
        {"outcome": {"low": -1e308, "high": 1e308}},
        {"outcome": {"high": 10**400}},
        {"clock": 5},
        {"budget": [1]},
        {"repeat": "no"},
        {"lease": 10**400},
        {"aggregation": ""},
        {"mechanism": {}},
        {"workers": [{"id": "a", "price": 1, "rating": 10**400}]},
    ],
)
def test_odd_input_is_refused_by_name(fields: dict[str, Any]) -> None:
    with pytest.raises(AskwiseError) as caught:
        utility(**fields)
    assert caught.value.field


@pytest.mark.parametrize(
    "policy",
    [
        {"name": "bounded-kube", "bonus": "x"},
        {"name": "bounded-kube", "raw_bonus": "no"},
        {"name": "uniform", 5: 1},
        object(),
        {"name": "bounded-epsilon-first", "carry": 1},
    ],
)
def test_an_odd_policy_is_refused_by_name(policy: Any) -> None:
    with pytest.raises(AskwiseError) as caught:
        utility(policy)
    assert caught.value.field


@pytest.mark.parametrize("workers", [[1], [None, "a"], [["a"]], 5, "a"])
def test_odd_offers_are_refused(workers: Any) -> None:
    with pytest.raises(AskwiseError):
        utility().ask(workers=workers)


def test_odd_leavers_are_refused() -> None:
    for worker in (None, ["a"], "nobody"):
        with pytest.raises(AskwiseError):
            utility().leave(worker)  # type: ignore[arg-type]


def test_an_answer_after_the_closing_is_paid_and_changes_nothing() -> None:
    campaign = utility(tasks=["t"])
    batch = campaign.ask(limit=2)
    assert isinstance(batch, Batch)
    campaign.tell(batch[0].id, 0.2)
    campaign.close("t")
    closed = campaign.answers()[0]
    assert (closed.value, closed.outcome) == (0.2, "closed")
    campaign.tell(batch[1].id, 0.9)
    assert campaign.answers()[0].value == 0.2
    assert campaign.status().spent == 2
