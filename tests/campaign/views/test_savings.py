"""What a campaign saves against a fixed number of answers."""

from __future__ import annotations

from decimal import Decimal

import pytest

from askwise import Batch, Campaign, Worker
from askwise.campaign import views
from askwise.core.errors import InvalidParameter
from askwise.ledger import columns as c
from tests.campaign.views.voting import state_of, votes


def ruled(told: int) -> Campaign:
    """Ten tasks, closed at a lead of two of up to five answers, of which so many are given."""
    campaign = Campaign.create(
        workers=[Worker(f"w{at}", at + 1) for at in range(5)],
        tasks=[f"t{at}" for at in range(10)],
        options=("no", "yes"),
        budget=1000,
        policy="random-pairs",
        stopping={"name": "lead", "lead": 2, "horizon": 5},
        seed=3,
    )
    for at in range(told):
        batch = campaign.ask()
        if not isinstance(batch, Batch):
            break
        campaign.tell(batch[0].id, ("no", "yes")[at % 7 == 0])
    return campaign


def test_savings_are_against_a_fixed_number_for_every_settled_task() -> None:
    campaign = ruled(15)
    state = state_of(campaign)
    rows = state.ledger.book.tasks[:10]
    closed = rows[:, c.CLOSED] == 1
    assert 0 < closed.sum() < 10
    found = views.savings(state)
    assert found is not None
    most = int(rows[closed, c.TASK_ANSWERED].max())
    cost = int(rows[closed, c.TASK_SPENT].sum())
    assert (found.fixed, found.tasks) == (most, closed.sum())
    assert found.answers == rows[closed, c.TASK_ANSWERED].sum()
    assert found.cost == Decimal(cost) / 1_000_000
    price = campaign.status().spent / 15
    assert float(found.fixed_cost) == pytest.approx(
        most * float(price) * int(closed.sum()), abs=1e-6
    )
    assert found.saved == found.fixed_cost - found.cost
    assert found.share == pytest.approx(float(found.saved / found.fixed_cost))
    assert found.why == "closed tasks; fixed number: the most answers that a closed task took"
    # One answer each would have been cheaper, and that is said.
    given = views.savings(state, fixed=1)
    assert given is not None
    assert given.saved < 0
    assert given.why == "closed tasks; fixed number: as given"


def test_open_tasks_count_once_nothing_will_close_them() -> None:
    campaign = ruled(15)
    before = views.savings(state_of(campaign), 5)
    campaign.stop()
    after = views.savings(state_of(campaign), 5)
    assert before is not None
    assert after is not None
    assert after.tasks == sum(each.count > 0 for each in campaign.answers()) > before.tasks
    assert after.why.startswith("answered tasks")


def test_without_a_rule_what_is_answered_is_settled() -> None:
    campaign = votes({"a": {"t": "yes", "u": "no"}, "b": {"t": "yes"}})
    assert views.savings(state_of(campaign)) is None
    found = views.savings(state_of(campaign), 3)
    assert found is not None
    assert (found.tasks, found.answers, str(found.saved)) == (2, 3, "0.3")


def test_nothing_settled_saves_nothing() -> None:
    assert views.savings(state_of(ruled(0))) is None
    assert views.savings(state_of(ruled(0)), 3) is None
    units = Campaign.create(workers=[Worker("a", 1)], outcome="utility", policy="uniform", budget=3)
    assert views.savings(state_of(units), 3) is None
    with pytest.raises(InvalidParameter, match="fixed is 0"):
        views.savings(state_of(ruled(0)), 0)
