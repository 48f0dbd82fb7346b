"""A timeline says at every event what the ledger says."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from askwise import Batch
from askwise.campaign.views.timeline import MOST_POINTS, Timeline
from askwise.core.errors import Conflict
from askwise.core.event_columns import EventColumns
from askwise.core.events import Event, Kind, PlanRow
from askwise.core.money import NO_CAP
from askwise.core.problem import Problem, Task, Worker
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.policies import policies
from askwise.store.event_rows import columns_of, pack
from askwise.testing import sessions
from askwise.testing.scenes import scenes_for
from tests.mechanisms.cheapest import Cheapest, known, make

PLAYED = {
    "bounded-epsilon-first": 25,
    "uniform": 25,
    **dict.fromkeys(("bounded-kube", "thompson-knapsack", "trialsourcing"), 8),
    **dict.fromkeys(("random-pairs", "bbta", "optkg", "virt-ucb", "ccb-s"), 8),
}
"""Policies and how many scripts each plays: the first two plan far ahead and leave tasks open."""

UNITS = Problem((Worker("a", "0.00001"),), utility=(0.0, 1.0), budget=100, repeat=True)


def agree(timeline: Timeline, ledger: Ledger) -> None:
    budget, bonuses = ledger.total(c.BUDGET), ledger.total(c.BONUSES)
    assert timeline.seq == ledger.seq
    assert timeline.answers == ledger.total(c.ANSWERS)
    assert timeline.spent == ledger.total(c.SPENT) + bonuses
    assert timeline.reserved == ledger.reserved
    assert timeline.budget == (None if budget == NO_CAP else budget + bonuses)
    assert timeline.closed == len(ledger.closings)


def follow(problem: Problem, log: list[Event]) -> Timeline:
    """Feed a log event by event, beside a ledger."""
    ledger, timeline = Ledger(problem), Timeline(problem)
    for event in log:
        ledger.apply(event)
        timeline.take([event])
        agree(timeline, ledger)
    return timeline


def ticking(count: int) -> list[Event]:
    """A log in which money comes in, a micro-unit a second."""
    return [Event(Kind.TOPPED_UP, seq=at, time=float(at), price=1) for at in range(1, count + 1)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PLAYED)
def test_it_equals_the_ledger_at_every_event(name: str) -> None:
    @settings(max_examples=PLAYED[name])
    @given(script=st.lists(st.integers(0, 5000), max_size=60), number=st.integers(0, 20))
    def played(script: list[int], number: int) -> None:
        policy = policies.make(name)
        scenes = scenes_for(policy)
        session = sessions.play(policy, scenes[number % len(scenes)], script)
        follow(session.state.spec.problem, session.log)

    played()


def test_prices_that_a_mechanism_sets_are_followed() -> None:
    with known():
        campaign = make(
            {"name": "fixed-exploration", "c_max": 20}, Cheapest(rounds=2, exploration="fixed")
        )
        campaign.bid("dev", 4)
        while isinstance(batch := campaign.ask(limit=3), Batch):
            for each in batch:
                campaign.tell(each.id, "yes" if each.worker in ("ann", "dev") else "no")
        assert any(event.kind == Kind.QUOTED for event in campaign.log())
        follow(sessions.spec_of_campaign(campaign).problem, campaign.log())


def test_what_is_planned_beyond_the_tasks_that_are_left_is_given_up() -> None:
    tasks = (Task("t"), Task("u"), Task("v", workers=("b",)))
    problem = Problem((Worker("a", 5), Worker("b", 3)), tasks, utility=(0, 1), budget=10**9)
    log = [
        Event(Kind.DECIDED, rows=(PlanRow("a", count=2), PlanRow("b", count=3))),
        Event(Kind.ASKED, worker="a", task="t", price=5_000_000),
        Event(Kind.DECLINED, worker="a", task="t", assignment=2),
        Event(Kind.CLOSED, task="u", outcome="closed"),
        Event(Kind.CLOSED, task="v", outcome="closed"),
        Event(Kind.CLOSED, task="t", outcome="closed"),
    ]
    timeline = follow(problem, [replace(event, seq=at) for at, event in enumerate(log, 1)])
    # 2 x 5 and 3 x 3; one of a's is asked, declined, and then u is left for them; then nothing:
    # t they have declined. Of b's go those for u, v and t.
    assert timeline.series().reserved.tolist() == [
        each * 1_000_000 for each in (0, 19, 19, 14, 6, 3, 0)
    ]


@given(st.lists(st.integers(1, 400), max_size=30), st.integers(0, 3000))
@settings(max_examples=20)
def test_the_series_does_not_depend_on_how_the_log_was_cut(cuts: list[int], count: int) -> None:
    log = ticking(count)
    whole, parts = Timeline(UNITS), Timeline(UNITS)
    whole.take(log)
    at = 0
    for cut in cuts:
        parts.take(log[at : at + cut])
        parts.series()
        at += cut
    parts.take(log)
    for one, other in zip(
        whole.series().to_json().values(), parts.series().to_json().values(), strict=True
    ):
        assert one == other


def test_a_long_log_leaves_few_points_and_the_last_is_exact() -> None:
    timeline = Timeline(UNITS, created=0.5)
    timeline.take(ticking(20_001))
    series = timeline.series()
    assert MOST_POINTS / 2 < len(series.times) <= MOST_POINTS + 1
    assert series.budget is not None
    assert (series.times[0], series.budget[0]) == (0.5, 100)
    assert (series.times[-1], series.budget[-1]) == (20_001, 20_101)
    # What was kept is exact, and evenly spaced but for the last.
    assert (series.budget[1:] == 100 + series.times[1:]).all()
    assert len(set((series.times[2:-1] - series.times[1:-2]).tolist())) == 1


def test_before_the_first_event_there_is_nothing() -> None:
    series = Timeline(UNITS, created=5.0).series()
    assert [len(column) for column in (series.times, series.answers, series.spent)] == [0, 0, 0]
    assert Timeline(Problem((Worker("a", 1),), utility=(0, 1), repeat=True)).series().budget is None


def test_a_clock_that_goes_back_stands_still() -> None:
    timeline = Timeline(UNITS)
    for at, time in enumerate((10.0, 30.0, 20.0, 40.0), 1):
        timeline.take([Event(Kind.PAUSED, seq=at, time=time)])
    assert timeline.series().times.tolist() == [10, 10, 30, 30, 40]


def test_what_was_seen_is_passed_over_and_a_gap_is_refused() -> None:
    timeline, log = Timeline(UNITS), ticking(9)
    timeline.take(log[:4])
    timeline.take(log[2:6])
    assert (timeline.seq, timeline.budget) == (6, 106)
    with pytest.raises(Conflict, match="read the log after 6"):
        timeline.take(log[7:])
    assert timeline.seq == 6


@cache
def played_and_topped_up() -> tuple[Problem, list[Event]]:
    policy = policies.make("random-pairs")
    session = sessions.play(policy, scenes_for(policy)[-1], range(40))
    end = len(session.log)
    more = [Event(Kind.TOPPED_UP, end + at, time=float(at), price=1) for at in range(1, 1200)]
    return sessions.spec_of_campaign(session.campaign).problem, [*session.log, *more]


@pytest.mark.usefixtures("plain_loops")
@given(st.lists(st.integers(1, 400), max_size=12), st.sampled_from(["text", "events"]))
@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_columns_come_to_what_events_come_to(cuts: list[int], how: str) -> None:
    problem, log = played_and_topped_up()
    whole, parts = Timeline(problem), Timeline(problem)
    whole.take(log)
    at = 0
    for cut in [*cuts, len(log)]:
        some = log[max(0, at - 3) : at + cut]
        columns = EventColumns.of(some)
        if how == "text":
            columns = columns_of(pack(some, some[0].seq - 1))
        parts.take_columns(columns)
        at = min(len(log), at + cut)
    assert parts.series().to_json() == whole.series().to_json()
    assert (parts.began, parts.now, parts.seq) == (whole.began, whole.now, whole.seq)
    asked = [event.seq for event in log if event.kind == Kind.ASKED]
    assert parts.settled(asked) == whole.settled(asked)
    assert parts.ledger.names() == whole.ledger.names()
