"""What a campaign says about itself at a glance: which truths it wants, and what for."""

from __future__ import annotations

from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.campaign.views import NeedsGold, Status
from askwise.core.choices import Done
from askwise.policies import GoldRequest
from tests.policies.wanting import wanting
from tests.schemas import faults


def campaign_of(**more: Any) -> Campaign:
    return Campaign.create(
        workers=[Worker("a", 1)],
        tasks=[f"t{at}" for at in range(60)],
        options=["no", "yes"],
        policy="wanting",
        seed=1,
        **more,
    )


def test_truths_for_calibration_are_counted_down_and_named_as_they_come_in() -> None:
    with wanting():
        campaign = campaign_of()
        (need,) = campaign.status().needs_gold
        assert (need.why, need.count, len(need.tasks), need.context) == ("calibration", 50, 3, None)
        told, second, third = need.tasks
        campaign.truth(told, "yes")
        (need,) = campaign.status().needs_gold
        assert (need.count, need.tasks[:2]) == (49, (second, third))
        assert need.tasks[2] not in (told, second, third)


def test_a_campaign_that_is_sure_by_agreement_alone_ends_so_and_says_what_it_wants() -> None:
    with wanting():
        campaign = campaign_of()
        while batch := campaign.ask():
            for each in batch:
                campaign.tell(each.id, "yes")
        assert batch == Done("agreement")
        assert campaign.over() == Done("agreement")
        assert batch.to_json() == {"status": "done", "why": "agreement"}
        raw = campaign.status().to_json()
        assert Status.from_json(raw) == campaign.status()
        assert faults("status", raw) == []
        assert faults("ask", batch.to_json()) == []


def test_without_a_count_as_many_truths_are_wanted_as_tasks_are_named() -> None:
    need = NeedsGold.of(GoldRequest("birds", ["t1", "t2"], "side"))
    assert need == NeedsGold("birds", ("t1", "t2"), "side", 2)


@pytest.mark.parametrize("policy", ["uniform", "hem"])
def test_a_campaign_that_has_not_begun_wants_nothing(policy: str) -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1)], tasks=["t"], options=["no", "yes"], policy=policy
    )
    assert campaign.status().needs_gold == ()
