"""Payouts and bonuses in snapshots, in archives and in logs from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from askwise import Campaign
from askwise.campaign.archiving import archive, bring_back
from askwise.campaign.checking import LogCheck
from askwise.campaign.state import CampaignState
from askwise.core.errors import AskwiseError, InvalidAnswer
from askwise.core.events import Event, Kind
from askwise.store import SqliteStore
from askwise.testing.sessions import spec_of_campaign
from tests.campaign.paid import NOON, answer, campaign_of


def test_payouts_and_bonuses_survive_a_snapshot() -> None:
    campaign = campaign_of()
    answer(campaign, "ann", 2)
    campaign.bonus("bob", 1, "Thanks.", by="bo")
    campaign.pay("ann", 1, by="bo")
    with campaign.reading() as state:
        ledger = state.ledger
        restored = CampaignState.restore(state.spec, state.snapshot()).ledger
    assert restored.given == ledger.given
    assert restored.given.last_paid == {0: "2026-11-18"}
    assert restored.arrays()["workers"].tolist() == ledger.arrays()["workers"].tolist()


def test_an_archive_brings_payouts_back(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    store = SqliteStore(tmp_path / "store.sqlite")
    campaign = campaign_of(store=store, name="pay")
    answer(campaign, "ann", 2)
    campaign.bonus("bob", 1, "Thanks.", by="bo")
    campaign.pay_all(by="bo", reference="r")
    campaign.stop()
    before = campaign.payments(), campaign.payouts(), campaign.bonuses()
    archive(store, "pay", tmp_path, NOON)
    bring_back(store, tmp_path / "pay.parquet")
    again = Campaign.open(store, "pay")
    assert (again.payments(), again.payouts(), again.bonuses()) == before


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (Event(Kind.BONUS, worker="ann", price=21_000_000), "does not have the money"),
        (Event(Kind.BONUS, worker="ann", price=0), "the amount is 0"),
        (Event(Kind.PAID, worker="ann"), "the amount is None"),
        (Event(Kind.PAID, worker="eve", price=1), "eve"),
        (Event(Kind.PAID, price=1), "does not follow"),
    ],
)
def test_a_log_from_elsewhere_is_refused_if_its_payments_can_not_be(event: Event, why: str) -> None:
    check = LogCheck(spec_of_campaign(campaign_of()))
    with pytest.raises((ValueError, AskwiseError, AssertionError), match=why):
        check.take(Event(event.kind, 1, worker=event.worker, price=event.price))


def test_an_invalid_day_is_an_error_of_its_own() -> None:
    with pytest.raises(InvalidAnswer, match="give the day as 2026-11-18"):
        campaign_of().pay("ann", by="bo", on="yesterday")
