"""Events as rows of a table: four columns, and the rest as JSON."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import lru_cache
from itertools import islice
from operator import attrgetter
from typing import Any, NamedTuple

from askwise.core.event_columns import (
    CHUNK,
    EventColumns,
    event_of,
    lines_of,
    parsed,
)
from askwise.core.events import MONEY, Event, Kind
from askwise.core.money import from_micro
from askwise.store import errors
from askwise.store.json_text import json_encoder

_COLUMNS = ("seq", "kind", "time", "key")
_KINDS = {kind.name: kind for kind in Kind}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_BODY = tuple(field.name for field in fields(Event) if field.name not in _COLUMNS)
_body_of = attrgetter(*_BODY)

encode = json_encoder()
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
        if not isinstance(event.key, str | None):
            raise errors.unstorable(
                f"key of event {number} is {event.key!r}: give a string or None", "key"
            )
        kind = _NAMES[event.kind]
        try:
            body, time = encode(_body(event)), float(event.time)
            (event.key or "").encode()
        except (TypeError, ValueError) as error:
            raise errors.unstorable(
                f"event {number} ({kind}) can't be kept: {error}; give text, finite "
                "numbers, lists and dicts"
            ) from error
        if not math.isfinite(time):
            raise errors.unstorable(f"time of event {number} is {time}: give a finite one", "time")
        rows.append(EventRow(number, kind, time, event.key, body))
    return rows


def _body(event: Event) -> dict[str, Any]:
    """What ``to_json`` writes of an event, without the columns, in a third of the time."""
    raw = {
        name: value for name, value in zip(_BODY, _body_of(event), strict=True) if value is not None
    }
    for name in MONEY:
        if name in raw:
            raw[name] = _written(raw[name])
    if event.rows is not None:
        raw["rows"] = [[row.task, row.worker, row.count, row.propensity] for row in event.rows]
    return raw


@lru_cache(maxsize=1024)
def _written(micro: int) -> str:
    return str(from_micro(micro))


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


def columns_of(rows: Sequence[EventRow]) -> EventColumns:
    """Turn rows of consecutive events into columns.

    Examples
    --------
    >>> columns_of([EventRow(8, "PAUSED", 1.5, None, "{}")]).last
    8
    """
    if not rows:
        return EventColumns.of([])
    assert rows[-1][0] == rows[0][0] + len(rows) - 1, "the log has a gap"
    kinds = [_KINDS[row[1]] for row in rows]
    text = lines_of([row[4] for row in rows])
    return EventColumns(rows[0][0], kinds, text, [row[2] for row in rows])


class JoinedRows(NamedTuple):
    """This many consecutive events as a database joins them: each column one text.

    ``long`` counts bodies that were left out as the database may not hold all of them in one text.
    """

    size: int
    long: int
    seqs: str | None
    kinds: str | None
    bodies: bytes | str | None

    def columns(self, after: int) -> EventColumns | None:
        """The events that follow number ``after``; None if they can't be told from the text."""
        if self.long or self.seqs is None or self.kinds is None or self.bodies is None:
            return None
        text = self.bodies.encode() if isinstance(self.bodies, str) else bytes(self.bodies)
        # Databases promise an order for some ways of joining only, and a body might have lines.
        import numpy as np  # who reads a log as events does without

        in_order = np.array_equal(
            np.fromstring(self.seqs, np.int64, sep=","), after + 1 + np.arange(self.size)
        )
        if not in_order or text.count(b"\n") != self.size - 1:
            return None
        kinds = [_KINDS[kind] for kind in self.kinds.split(",")]
        return EventColumns(after + 1, kinds, text + b"\n")


def put_together(parts: Sequence[EventColumns]) -> EventColumns:
    """Columns, each of which follows on the one before, as one; times are left out."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return EventColumns.of([])
    kinds = [kind for part in parts for kind in part.kinds]
    return EventColumns(parts[0].first, kinds, b"".join(part.text for part in parts))
