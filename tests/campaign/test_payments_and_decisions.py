"""Payouts and bonuses are no part of deciding: policies do not see them, forecasts do."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from askwise import Done, Worker
from askwise.campaign.views import Timeline, forecast
from askwise.core.events import Event, Kind
from askwise.policies import policies
from askwise.testing.scenes import scenes_for
from askwise.testing.sessions import comparable, play, spec_of_campaign, start
from tests.campaign.paid import campaign_of

TOLD = ("hem", "optkg", "bounded-epsilon-first", "virt-ucb", "knowledge-gradient")


@pytest.mark.parametrize("name", TOLD)
def test_payouts_change_no_decision(name: str) -> None:
    policy = policies.make(name)
    scene = scenes_for(policy)[0]
    plain, paying = (start(policy, scene, seed=3) for _ in range(2))
    for _ in range(12):
        more = plain.step()
        assert paying.step() == more
        if any(paying.referee.owed(worker) for worker in paying.referee.order):
            paying.campaign.pay_all(by="bo")
            paying.catch_up()
        if not more:
            break
    kept = [event for event in comparable(paying.log) if event.kind != Kind.PAID]
    assert [decision_of(event) for event in kept] == [
        decision_of(event) for event in comparable(plain.log)
    ]
    assert len(kept) < len(paying.log)


def decision_of(event: Event) -> tuple[Any, ...]:
    return (event.kind, event.decision, event.task, event.worker, event.rows, event.propensity)


@pytest.mark.parametrize("name", TOLD)
def test_a_bonus_at_any_time_leaves_a_campaign_that_ends_within_its_budget(name: str) -> None:
    policy = policies.make(name)
    session = start(policy, scenes_for(policy)[0], seed=2)
    for _ in range(30):
        more = session.step()
        left = session.state.ledger.unspent
        if left > 0 and session.referee.budget is not None:
            session.campaign.bonus("w0", Decimal(left // 9 + 1) / 10**6, "Thanks.", by="bo")
            session.catch_up()
        if not more:
            break
    assert isinstance(session.finish().ask(), Done)
    assert session.referee.bonuses.total() > 0


def test_the_moves_of_the_contract_include_payouts_and_bonuses() -> None:
    policy = policies.make("random-pairs")
    session = play(policy, scenes_for(policy)[0], range(0, 700, 3))
    assert {Kind.PAID, Kind.BONUS} <= {event.kind for event in session.log}


def test_a_forecast_goes_by_what_calls_cost_and_minds_what_bonuses_have_taken() -> None:
    now = [1000.0]
    campaign = campaign_of(
        workers=[Worker("ann", 1)],
        tasks=[f"t{at}" for at in range(200)],
        budget=100,
        clock=lambda: now[0],
    )
    for _ in range(20):
        (asked,) = campaign.ask()
        now[0] += 10.0
        campaign.tell(asked.id, "yes")
    campaign.bonus("ann", 40, "Thanks.", by="bo")
    timeline = Timeline(spec_of_campaign(campaign).problem)
    timeline.take(campaign.log())
    with campaign.reading() as state:
        found = forecast(timeline, state)
    assert found is not None
    # 20 answers at 1 in 200 seconds, and 40 of the 100 are left: 400 seconds.
    assert (found.spent_an_hour, found.money_ends) == (360, now[0] + 400.0)
    assert timeline.series().spent[-1] == 60_000_000
