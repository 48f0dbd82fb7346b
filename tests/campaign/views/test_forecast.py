"""When a campaign is said to end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from askwise import Batch, Campaign, Worker
from askwise.campaign.views import Timeline, forecast
from askwise.ledger import queries
from askwise.testing.sessions import spec_of_campaign


class Paced:
    """A campaign with an answer a minute, at a price of 2."""

    def __init__(self, **more: Any) -> None:
        self.now = 0.0
        raw: dict[str, Any] = {
            "workers": [Worker("a", 2), Worker("b", 2)],
            "outcome": "utility",
            "policy": "uniform",
            "budget": 1000,
        }
        self.campaign = Campaign.create(seed=1, clock=lambda: self.now, **{**raw, **more})
        self.timeline = Timeline(spec_of_campaign(self.campaign).problem, created=0.0)

    def answer(self, times: int, value: Any = 0.5, every: float = 60.0) -> None:
        for _ in range(times):
            batch = self.campaign.ask()
            assert isinstance(batch, Batch)
            self.now += every
            self.campaign.tell(batch[0].id, value)

    def forecast(self, now: float | None = None) -> Any:
        self.timeline.take(self.campaign.log(after=self.timeline.seq))
        with self.campaign.reading() as state:
            return forecast(self.timeline, state, now)


def test_money_ends_at_the_pace_of_late() -> None:
    paced = Paced()
    assert paced.forecast() is None
    paced.answer(10, every=3600.0)
    paced.answer(100)
    found = paced.forecast()
    # The last 110 // 5 = 22 answers came in 22 minutes; 780 are left, 2 a minute.
    assert found.answers == 22
    assert found.now - found.since == pytest.approx(22 * 60)
    assert found.answers_an_hour == pytest.approx(60)
    assert found.spent_an_hour == 120
    assert found.money_ends - found.now == pytest.approx(390 * 60)
    assert (found.work_ends, found.ends, found.why) == (None, found.money_ends, "money")
    assert found.spent == 1000
    # While nobody answers, the end moves away.
    later = paced.forecast(paced.now + 22 * 60)
    assert later.ends - later.now == pytest.approx(780 * 60)
    assert json.loads(json.dumps(found.to_json()))["spent"] == "1000"


def test_the_beginning_is_not_counted_before_the_first_answer() -> None:
    paced = Paced()
    paced.now = 10 * 86400.0
    paced.campaign.pause()
    paced.campaign.resume()
    paced.answer(20)
    assert paced.forecast().answers_an_hour == pytest.approx(60)


def test_nothing_moves_while_paused_stopped_or_over() -> None:
    paced = Paced(budget=44)
    paced.answer(20)
    paced.campaign.pause()
    assert paced.forecast() is None
    paced.campaign.resume()
    assert paced.forecast() is not None
    paced.answer(2)
    assert paced.forecast() is None
    other = Paced()
    other.answer(20)
    other.campaign.stop()
    assert other.forecast() is None


def test_answers_that_came_at_one_moment_have_no_pace() -> None:
    paced = Paced()
    paced.answer(20, every=0.0)
    assert paced.forecast() is None
    assert paced.forecast(60.0).answers_an_hour == pytest.approx(1200)


def test_before_twenty_answers_there_is_no_forecast() -> None:
    paced = Paced()
    paced.answer(19)
    assert paced.forecast() is None
    paced.answer(1)
    assert paced.forecast().answers == 20


def test_work_ends_when_the_tasks_are_closed() -> None:
    paced = Paced(
        outcome=None,
        options=["no", "yes"],
        tasks=[f"t{at}" for at in range(50)],
        policy="random-pairs",
        stopping={"name": "fixed", "n": 1},
        budget=None,
    )
    paced.answer(20, "yes")
    found = paced.forecast()
    assert (found.work_ends - found.now, found.why) == (pytest.approx(30 * 60), "work")
    assert (found.money_ends, found.spent) == (None, 100)


def test_without_a_rule_work_ends_when_all_is_asked() -> None:
    paced = Paced(
        outcome=None,
        options=["no", "yes"],
        tasks=[f"t{at}" for at in range(30)],
        policy="random-pairs",
        workers=[Worker("a", 2), Worker("b", 2, limit=12)],
    )
    paced.answer(20, "yes")
    found = paced.forecast()
    assert found.work_ends - found.now == pytest.approx((30 + 12 - 20) * 60)
    for at in range(10):
        paced.campaign.close(f"t{at}")
    with paced.campaign.reading() as state:
        book = state.ledger.book
    left = sum(int(queries.room(book, worker, 10**15)) for worker in (0, 1))
    assert left < 22
    assert paced.forecast().work_ends - found.now == pytest.approx(left * 60)


def test_among_crowds_a_person_has_as_many_answers_left_as_tasks() -> None:
    fields: dict[str, Any] = {
        "outcome": None,
        "options": ["no", "yes"],
        "tasks": [f"t{at}" for at in range(12)],
        "policy": "round-robin",
    }
    person, crowd = Worker("a", 2, kind="person"), Worker("b", 2, limit=30, kind="crowd")
    paced = Paced(workers=[person, crowd], **fields)
    paced.answer(20, "yes")
    found = paced.forecast()
    assert found.work_ends - found.now == pytest.approx((12 + 30 - 20) * 60)
    endless = Paced(workers=[person, Worker("b", 2)], **fields)
    endless.answer(20, "yes")
    assert endless.forecast().work_ends is None


def test_an_end_out_of_sight_is_none() -> None:
    paced = Paced(budget=None)
    paced.answer(20)
    found = paced.forecast()
    assert (found.ends, found.why, found.spent) == (None, None, None)
    assert found.answers_an_hour == pytest.approx(60)


def test_a_thinned_timeline_gives_nearly_the_same_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    exact, thinned = Paced(), Paced()
    for paced in (exact, thinned):
        paced.answer(300)
    found = exact.forecast()
    monkeypatch.setattr("askwise.campaign.views.timeline.MOST_POINTS", 50)
    rough = thinned.forecast()
    assert len(thinned.timeline.series().times) <= 51
    assert found.answers == 60 <= rough.answers <= 80
    assert rough.answers_an_hour == pytest.approx(found.answers_an_hour, rel=0.05)
