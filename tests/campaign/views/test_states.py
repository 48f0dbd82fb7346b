"""How campaigns and tasks stand: one vocabulary, and no end that the numbers contradict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar
from unittest import mock

import numpy as np
import pytest

from askwise import Campaign, Worker
from askwise.campaign.views import Timeline, forecast
from askwise.core.choices import Done, Wait
from askwise.core.problem import Problem
from askwise.kernels import Array, Draw
from askwise.ledger import Ledger, Proposal
from askwise.ledger import columns as c
from askwise.policies import Settles, policies
from askwise.policies.labels.random_pairs import RandomPairs
from askwise.testing.sessions import spec_of_campaign
from tests.policies.wanting import wanting


def campaign_of(policy: Any, tasks: int = 8, workers: int = 5, **more: Any) -> Campaign:
    return Campaign.create(
        workers=[Worker(f"w{at}", 1) for at in range(workers)],
        tasks=[f"t{at}" for at in range(tasks)],
        options=["no", "yes"],
        policy=policy,
        seed=1,
        **more,
    )


def finish(campaign: Campaign, value: str = "yes") -> Any:
    while batch := campaign.ask():
        for each in batch:
            campaign.tell(each.id, value)
    return batch


def test_the_state_of_a_campaign_is_one_of_four_words() -> None:
    campaign = campaign_of("random-pairs", tasks=1, workers=1)
    assert (campaign.status().state, campaign.status().why) == ("running", None)
    campaign.pause()
    assert (campaign.status().state, campaign.status().why) == ("paused", None)
    campaign.resume()
    (asked,) = campaign.ask()
    assert (campaign.status().state, campaign.status().why) == ("running", None)
    campaign.tell(asked.id, "yes")
    end = campaign.ask()
    assert isinstance(end, Done)
    assert (campaign.status().state, campaign.status().why) == ("done", end.why)
    campaign.pause()
    assert (campaign.status().state, campaign.status().why) == ("paused", end.why)
    campaign.resume()
    campaign.add(tasks=["another"])
    assert (campaign.status().state, campaign.status().why) == ("running", None)
    campaign.ask()
    campaign.stop()
    assert campaign.status().pending == 1
    assert (campaign.status().state, campaign.status().why) == ("stopped", "stopped")


def test_tasks_at_their_target_are_settled_though_no_rule_closed_them() -> None:
    campaign = campaign_of({"name": "hem", "target": 0.2}, budget=1000)
    assert campaign.status().settled == 0
    assert finish(campaign) == Done("agreement")
    status = campaign.status()
    assert (status.state, status.why) == ("done", "agreement")
    assert (status.settled, status.open_tasks) == (8, 8)
    assert {each.outcome for each in campaign.answers()} == {"sure_enough"}


def test_settled_tasks_are_counted_one_by_one() -> None:
    campaign = campaign_of("random-pairs", tasks=4)
    campaign.close("t0")
    campaign.truth("t1", "yes")
    campaign.truth("t0", "yes")
    assert campaign.status().settled == 2


def test_without_a_target_nothing_is_sure_enough() -> None:
    campaign = campaign_of("hem", tasks=3, workers=2)
    end = finish(campaign)
    assert end not in (Done("target"), Done("agreement"))
    assert campaign.status().settled == 0
    assert {each.outcome for each in campaign.answers()} == {"open"}


ENDS: dict[str, Any] = {
    "hem": {"name": "hem", "target": 0.2},
    "strict hem": {"name": "hem", "target": 0.001},
    "iethresh": "iethresh",
    "crowdsense": "crowdsense",
}


@pytest.mark.parametrize("value", ["one", "mixed"])
@pytest.mark.parametrize("policy", list(ENDS))
def test_a_target_is_reached_only_if_every_task_is_settled(policy: str, value: str) -> None:
    campaign = campaign_of(ENDS[policy], tasks=6, workers=4, budget=1000)
    at = 0
    while batch := campaign.ask():
        for each in batch:
            at += 1
            campaign.tell(each.id, "yes" if value == "one" or at % 3 else "no")
    status = campaign.status()
    assert isinstance(batch, Done)
    assert (status.state, status.why) == ("done", batch.why)
    if batch.why in ("target", "agreement"):
        assert status.settled == status.tasks
        assert {each.outcome for each in campaign.answers()} == {"sure_enough"}
    else:
        assert "sure_enough" not in {
            each.outcome for each in campaign.answers() if each.confidence == 0.5
        }


@dataclass(frozen=True)
class Hasty(RandomPairs, Settles):
    """Says that the target is reached after one answer."""

    name: ClassVar[str] = "hasty"

    def choose(
        self, problem: Problem, state: Any, ledger: Ledger, draw: Draw, available: Array
    ) -> Proposal | Wait | Done:
        if ledger.total(c.ANSWERS):
            return Done("target")
        return super().choose(problem, state, ledger, draw, available)

    def settled(self, problem: Problem, state: Any, ledger: Ledger) -> Array:
        return np.asarray(ledger.book.tasks[: ledger.total(c.TASKS), c.TASK_ANSWERED] > 0)


def test_a_policy_that_calls_the_target_reached_too_early_is_not_believed() -> None:
    with mock.patch.dict(policies._entries, {"hasty": Hasty}):
        campaign = campaign_of("hasty", tasks=300)
        assert finish(campaign) == campaign.over() == Done("tasks")
        status = campaign.status()
        assert (status.why, status.settled, status.tasks) == ("tasks", 1, 300)
        for task in campaign.answers():
            if task.outcome == "open":
                campaign.close(str(task.task))
        assert campaign.over() == Done("target")
        assert campaign.status().settled == 300


def test_a_policy_that_can_not_tell_tasks_apart_is_taken_at_its_word() -> None:
    with wanting():
        campaign = campaign_of("wanting", tasks=4)
        assert finish(campaign) == Done("agreement")
        assert campaign.status().settled == 4


def forecast_of(campaign: Campaign) -> Any:
    timeline = Timeline(spec_of_campaign(campaign).problem, created=0.0)
    timeline.take(campaign.log())
    with campaign.reading() as state:
        return forecast(timeline, state)


def test_a_forecast_minds_the_target() -> None:
    now = 0.0
    campaign = campaign_of(
        {"name": "hem", "target": 0.2}, tasks=40, workers=9, budget=1000, clock=lambda: now
    )
    found = []
    while batch := campaign.ask():
        now += 60.0
        campaign.tell(batch[0].id, "yes")
        found.append(forecast_of(campaign))
    assert batch == Done("agreement")
    assert found[:19] == [None] * 19, "fewer than 20 answers tell nothing"
    assert found[-1] is None, "the campaign is done"
    half = found[len(found) // 2]
    assert half.why == "work"
    # All that may be asked are 360 answers; the target takes a fraction of them.
    assert half.ends < 240 * 60.0
    assert abs(half.ends - now) < 0.5 * now
