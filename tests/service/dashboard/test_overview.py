"""What is worked out for those who watch a campaign: once for all, at leisure, and rightly."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from askwise.campaign import Campaign, views
from askwise.campaign.views import Timeline
from askwise.core.choices import Batch
from askwise.core.problem import Worker
from askwise.service.dashboard import overview
from askwise.service.dashboard.facts import Facts, copied, facts_of
from askwise.service.dashboard.fragments import draw
from askwise.service.dashboard.overview import Overviews
from askwise.service.open_campaigns import OpenCampaigns
from askwise.store import MemoryStore
from tests.clock import Clock


@pytest.fixture
def campaigns() -> Iterator[OpenCampaigns]:
    made = OpenCampaigns(MemoryStore(), sweep=60)
    yield made
    made.close()


def create(campaigns: OpenCampaigns, **fields: object) -> Campaign:
    given = {
        "workers": [Worker("ann", "0.10"), Worker("bob", "0.10"), Worker("carol", "0.10")],
        "tasks": [f"t{at}" for at in range(10)],
        "options": ["yes", "no"],
        "budget": "10",
        "policy": "random-pairs",
        "stopping": {"name": "lead", "lead": 2},
        "seed": 1,
    }
    Campaign.create(store=campaigns.store, name="cats", **{**given, **fields})  # type: ignore[arg-type]
    return campaigns.get("cats")


def work(campaign: Campaign, answers: int) -> None:
    for at in range(answers):
        batch = campaign.ask()
        if not isinstance(batch, Batch):
            return
        campaign.tell(batch[0].id, "no" if at % 4 == 0 else "yes")


def test_facts_are_those_of_the_campaign(campaigns: OpenCampaigns) -> None:
    campaign = create(campaigns)
    work(campaign, 20)
    facts = Overviews(campaigns).facts("cats")
    with campaign.reading() as state:
        answers = views.answers(state)
        assert facts.answers == answers
        assert facts.workers == views.workers(state, answers, campaign.paces())
        assert facts.outcomes == views.outcomes(answers)
        assert facts.contested == views.contested(state, answers, 10)
        assert facts.seq == state.seq


def test_a_copy_stays_as_it_was_while_the_campaign_goes_on(campaigns: OpenCampaigns) -> None:
    campaign = create(campaigns, policy="optkg")
    work(campaign, 12)
    with campaign.reading() as state:
        still = copied(state)
        before = still.snapshot()
        assert before == state.snapshot()
    work(campaign, 8)
    campaign.add(tasks=["more"], workers=[Worker("dave", "0.10")])
    campaign.truth("t1", "yes")
    assert still.snapshot() == before
    assert [answer.task for answer in views.answers(still)] == [f"t{at}" for at in range(10)]


def test_a_busy_campaign_is_worked_out_and_drawn_once_a_while(
    campaigns: OpenCampaigns, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(0.0)
    campaign = create(campaigns, tasks=[f"t{at}" for at in range(200)])
    overviews = Overviews(campaigns, clock)
    worked, drawn = [], []

    def working(*given: Any) -> Facts:
        worked.append(1)
        return facts_of(*given)

    monkeypatch.setattr(overview, "facts_of", working)
    for _ in range(100):
        work(campaign, 1)
        overviews.charts("cats", lambda facts, series: drawn.append(1))
        clock.now += 0.05
    # Five seconds: at 0, 1, 2, 3 and 4 the numbers, at 0, 2 and 4 the charts.
    assert (len(worked), len(drawn)) == (5, 3)
    overviews.close()


def test_a_glance_is_always_of_now(campaigns: OpenCampaigns) -> None:
    campaign = create(campaigns)
    overviews = Overviews(campaigns, Clock(0.0))
    assert overviews.glance("cats").last is None
    for number in range(1, 4):
        work(campaign, 1)
        seen = overviews.glance("cats")
        assert seen.status == campaign.status()
        assert seen.status.answers == number
        assert seen.last == campaign.log()[-1].time
    campaign.stop()
    assert overviews.glance("cats").status.why == "stopped"
    overviews.close()


def test_the_bidding_of_a_campaign_that_was_stopped_is_not_open(campaigns: OpenCampaigns) -> None:
    campaign = create(
        campaigns,
        workers=[Worker(name, 5) for name in ("ann", "bob", "cleo", "dan")],
        policy={"name": "ccb-fixed", "qualities": [0.8] * 4, "alpha": 0.15, "solver": "exact"},
        mechanism={"name": "clarke", "c_max": 20},
        stopping=None,
        budget=None,
    )
    overviews = Overviews(campaigns)
    assert overviews.glance("cats").bidding
    campaign.stop()
    assert not overviews.glance("cats").bidding
    overviews.close()


def test_the_series_are_those_of_the_whole_log_read_in_pieces(
    campaigns: OpenCampaigns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "PIECE", 3)
    monkeypatch.setattr(overview, "PIECES", 2)
    monkeypatch.setattr(overview, "PATIENCE", 0.01)
    campaign = create(campaigns)
    overviews = Overviews(campaigns)
    with campaign.reading() as state:
        whole = Timeline(state.spec.problem)
    for _ in range(3):
        work(campaign, 5)
        while overviews.series("cats")[0] < campaign.status().seq:
            pass
        whole.take(campaign.log(whole.seq))
        assert overviews.series("cats")[1].to_json() == whole.series().to_json()
    overviews.close()


def test_charts_are_drawn_without_any_lock_of_the_campaign(campaigns: OpenCampaigns) -> None:
    campaign = create(campaigns)
    work(campaign, 6)
    overviews = Overviews(campaigns)

    def drawing(facts: Facts, series: object) -> int:
        writer = threading.Thread(target=work, args=(campaign, 1))
        writer.start()
        writer.join(60)
        return campaign.status().answers

    assert overviews.charts("cats", drawing)[1] == 7
    overviews.close()


def test_the_charts_of_a_campaign_hold_its_numbers(campaigns: OpenCampaigns) -> None:
    campaign = create(campaigns)
    work(campaign, 12)
    overviews = Overviews(campaigns)
    series, facts = overviews.series("cats")[1], overviews.facts("cats")
    made = draw(facts, series, overviews.forecast("cats"))
    assert "Money over time: 1.2 spent" in made["money"]
    assert "Answers over time: 12" in made["answers"]
    assert "10 tasks by outcome" in made["outcomes"]
    assert "ann" in made["workers"]
    assert all("style=" not in made[name] for name in ("money", "outcomes", "workers"))
    overviews.close()


def test_closing_ends_what_is_under_way_and_later_looks_still_work(
    campaigns: OpenCampaigns,
) -> None:
    campaign = create(campaigns)
    overviews = Overviews(campaigns)
    overviews.warm()
    overviews.close()
    work(campaign, 3)
    assert overviews.facts("cats").seq == campaign.status().seq
