"""Events as rows of a table: four columns, and the rest as JSON."""

import json
import math
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from askwise.core.event_columns import CHUNK, EventColumns, event_of, parsed
from askwise.core.events import Event, Kind
from askwise.store import errors

_COLUMNS = ("seq", "kind", "time", "key")
_KINDS = {kind.name: kind for kind in Kind}

encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
"""Write JSON in as few characters as it takes."""


class EventRow(NamedTuple):
    """One event. ``body`` is its JSON without the columns."""

    seq: int
    kind: str
    time: float
    key: str | None
    body: str


def pack(events: Sequence[Event], expected_seq: int) -> list[EventRow]:
    """Turn events that follow on ``expected_seq`` into rows.

    Raises
    ------
    StoreError
        A sequence number is out of line, or an event can't be written as JSON.

    Examples
    --------
    >>> pack([Event(Kind.ANSWER, seq=8, time=1.5, task="t", value=1.0)], 7)
    [EventRow(seq=8, kind='ANSWER', time=1.5, key=None, body='{"task":"t","value":1.0}')]
    """
    rows = []
    for number, event in enumerate(events, expected_seq + 1):
        if event.seq != number:
            raise errors.unstorable(
                f"an event has seq {event.seq!r} where {number} is due: number them from "
                "expected_seq + 1 on without a gap",
                "seq",
            )
        raw = event.to_json()
        for column in _COLUMNS:
            raw.pop(column, None)
        if not isinstance(event.key, str | None):
            raise errors.unstorable(
                f"key of event {number} is {event.key!r}: give a string or None", "key"
            )
        try:
            body, time = encode(raw), float(event.time)
            (event.key or "").encode()
        except (TypeError, ValueError) as error:
            raise errors.unstorable(
                f"event {number} ({event.kind.name}) can't be kept: {error}; give text, finite "
                "numbers, lists and dicts"
            ) from error
        if not math.isfinite(time):
            raise errors.unstorable(f"time of event {number} is {time}: give a finite one", "time")
        rows.append(EventRow(number, event.kind.name, time, event.key, body))
    return rows


def unpack(rows: Iterable[tuple[int, str, float, str | None, str]]) -> list[Event]:
    """Turn rows back into events.

    Examples
    --------
    >>> unpack([(8, "ANSWER", 1.5, None, '{"task":"t","value":1.0}')])[0].value
    1.0
    """
    events: list[Event] = []
    source = iter(rows)
    while chunk := list(islice(source, CHUNK)):
        bodies = parsed([row[4] for row in chunk])
        for (seq, kind, time, key, _), body in zip(chunk, bodies, strict=True):
            events.append(event_of(_KINDS[kind], seq, time, key, body))
    return events


def columns_of(rows: Sequence[tuple[int, str, float, str]]) -> EventColumns:
    """Turn rows without keys, of consecutive events, into columns.

    Examples
    --------
    >>> columns_of([(8, "PAUSED", 1.5, "{}")]).last
    8
    """
    if not rows:
        return EventColumns.of([])
    first, last = rows[0][0], rows[-1][0]
    assert last == first + len(rows) - 1, "the log has a gap"
    kinds = [_KINDS[row[1]] for row in rows]
    return EventColumns(first, kinds, [row[2] for row in rows], [row[3] for row in rows])
