"""Events and their JSON."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.events import Event, Kind, PlanRow, new_event
from askwise.core.money import LARGEST
from askwise.testing.stores import sample_events

names = st.text(min_size=1, max_size=20)
numbers = st.floats(allow_nan=False, allow_infinity=False)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | numbers | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
rows = st.builds(
    PlanRow,
    worker=names,
    task=st.none() | names,
    count=st.integers(1, 2**40),
    propensity=st.none() | st.floats(0, 1, exclude_min=True),
)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


events = st.builds(
    Event,
    kind=st.sampled_from(Kind),
    seq=st.integers(0, 2**50),
    time=numbers,
    key=maybe(names),
    decision=maybe(st.integers(0, 2**50)),
    assignment=maybe(st.integers(0, 2**50)),
    task=maybe(names),
    worker=maybe(names),
    value=maybe(numbers | names),
    propensity=maybe(st.floats(0, 1, exclude_min=True)),
    price=maybe(st.integers(0, LARGEST)),
    expires=maybe(numbers),
    note=maybe(names),
    outcome=maybe(names),
    confidence=maybe(st.floats(0, 1)),
    cost=maybe(st.integers(0, LARGEST)),
    over_ceiling=maybe(st.booleans()),
    why=maybe(names),
    probabilities=maybe(st.dictionaries(names, st.floats(0, 1), max_size=3)),
    rationale=maybe(names),
    reference=maybe(names),
    rows=maybe(st.lists(rows, max_size=3).map(tuple)),
    available=maybe(st.lists(names, max_size=3).map(tuple)),
    tasks=maybe(st.lists(st.dictionaries(names, plain, max_size=3), max_size=2).map(tuple)),
    workers=maybe(st.lists(st.dictionaries(names, plain, max_size=3), max_size=2).map(tuple)),
)


@given(events)
def test_an_event_comes_back_from_its_json(event: Event) -> None:
    assert Event.from_json(json.loads(json.dumps(event.to_json(), allow_nan=False))) == event


@given(events)
def test_an_event_made_quickly_is_one_like_any_other(event: Event) -> None:
    fields = {each.name: getattr(event, each.name) for each in dataclasses.fields(Event)}
    made = new_event(**fields)
    assert type(made) is Event
    assert made == event
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.seq = 3  # type: ignore[misc]


def test_an_event_made_quickly_has_no_other_fields() -> None:
    with pytest.raises(TypeError, match="colour"):
        new_event(Kind.PAUSED, 1, 0.0, None, colour="red")


def test_one_event_of_every_kind_comes_back_from_its_json() -> None:
    for event in sample_events():
        assert Event.from_json(json.loads(json.dumps(event.to_json()))) == event


def test_the_json_has_kinds_by_name_money_as_strings_and_nothing_that_is_not_set() -> None:
    event = Event(Kind.ASKED, seq=3, time=1.5, decision=0, worker="a", price=50_000)
    assert event.to_json() == {
        "kind": "ASKED",
        "seq": 3,
        "time": 1.5,
        "decision": 0,
        "worker": "a",
        "price": "0.05",
    }


def test_a_plan_is_written_compactly() -> None:
    event = Event(Kind.DECIDED, rows=(PlanRow("a", None, 2, 0.5),), available=("a",))
    assert event.to_json()["rows"] == [[None, "a", 2, 0.5]]
    assert event.to_json()["available"] == ["a"]


def test_the_numbers_of_kinds_do_not_change() -> None:
    # They are in stored logs. A new kind has a number that none had before.
    first = """
        DECIDED ASKED ANSWER TRUTH EXPIRED DECLINED CLOSED ADDED JOINED LEFT BID QUOTED PAID
        TOPPED_UP PAUSED RESUMED STOPPED DRAWN FAILED RENEWED LABELLED FLAGGED COMMENTED
        BONUS WARNED SUSPENDED REINSTATED QUALIFIED
    """
    later = "ARCHIVED UNARCHIVED RETITLED RENAMED REVISED WITHDRAWN"
    numbers = dict(zip(first.split(), range(1, 29), strict=True))
    numbers |= dict(zip(later.split(), range(30, 36), strict=True))
    assert {name: int(Kind[name]) for name in numbers} == numbers
    assert len(Kind) == len(Kind.__members__)


def test_an_event_shows_what_is_set_with_its_kind_by_name_and_money_as_decimals() -> None:
    event = Event(Kind.ANSWER, seq=4, time=2.5, worker="ann", value="yes", price=50_000)
    assert repr(event) == (
        "Event(kind=ANSWER, seq=4, time=2.5, worker='ann', value='yes', price=Decimal('0.05'))"
    )
    assert event.price == 50_000
