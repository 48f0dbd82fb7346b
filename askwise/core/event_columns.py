"""A stretch of a log as columns: what is folded by the thousand is not made into objects first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from askwise.core.events import MONEY, Event, Kind
from askwise.core.money import to_micro

_STRUCTURED = frozenset(("rows", "available", "tasks", "workers"))
CHUNK = 512
"""Bodies parsed at a time: one call of the parser a chunk, and its dicts die young."""

Chunk = tuple[Sequence[Kind], list[dict[str, Any]]]
"""Kinds and, one for each, the fields as ``Event.to_json`` writes them."""


class EventColumns:
    """Consecutive events of a log, without their keys.

    They are given as columns, or as events where a store has nothing else; the one is made of the
    other when it is asked for.

    Parameters
    ----------
    first : int
        Sequence number of the first event.
    kinds : sequence of Kind
        The kind of each event.
    times : sequence of float
        When each happened.
    bodies : sequence of str
        Its other fields, as JSON.

    Examples
    --------
    >>> found = EventColumns(8, [Kind.ANSWER], [1.5], ['{"task":"t","value":1.0}'])
    >>> found.events()[0].value, len(found), found.last
    (1.0, 1, 8)
    """

    __slots__ = ("_events", "bodies", "first", "kinds", "times")

    def __init__(
        self, first: int, kinds: Sequence[Kind], times: Sequence[float], bodies: Sequence[str]
    ) -> None:
        self.first = first
        self.kinds = kinds
        self.times = times
        self.bodies = bodies
        self._events: Sequence[Event] | None = None

    @classmethod
    def of(cls, events: Sequence[Event]) -> EventColumns:
        """Columns of events that are there already."""
        first = events[0].seq if events else 1
        assert not events or events[-1].seq == first + len(events) - 1, "the log has a gap"
        made = cls(first, [event.kind for event in events], [each.time for each in events], ())
        made._events = events
        return made

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def last(self) -> int:
        """Sequence number of the last event; of the one before the first if there is none."""
        return self.first + len(self.kinds) - 1

    @property
    def held(self) -> bool:
        """Whether the events are held as objects: then to read those is quickest."""
        return self._events is not None

    def cut(self, begin: int, end: int) -> EventColumns:
        """The events from place ``begin`` to before ``end``, counted from the first."""
        part = EventColumns(
            self.first + begin,
            self.kinds[begin:end],
            self.times[begin:end],
            self.bodies[begin:end],
        )
        if self._events is not None:
            part._events = self._events[begin:end]
        return part

    def events(self) -> Sequence[Event]:
        """The events as objects."""
        if self._events is not None:
            return self._events
        made: list[Event] = []
        at = 0
        for kinds, bodies in self.chunks():
            for kind, body in zip(kinds, bodies, strict=True):
                made.append(event_of(kind, self.first + at, self.times[at], None, body))
                at += 1
        return made

    def chunks(self) -> Iterator[Chunk]:
        """Kinds and fields, so many at a time; only where ``held`` is false."""
        for at in range(0, len(self.kinds), CHUNK):
            yield self.kinds[at : at + CHUNK], parsed(self.bodies[at : at + CHUNK])


def parsed(bodies: Sequence[str]) -> list[dict[str, Any]]:
    """Parse JSON objects, all in one call of the parser."""
    found: list[dict[str, Any]] = json.loads(f"[{','.join(bodies)}]")
    return found


def event_of(kind: Kind, seq: int, time: float, key: str | None, body: dict[str, Any]) -> Event:
    """An event of its fields as ``Event.to_json`` writes them; ``body`` is used up."""
    if _STRUCTURED.isdisjoint(body):
        # What nearly every event is: as Event.from_json, in half the time.
        for name in MONEY:
            if name in body:
                body[name] = micro(body[name])
        return Event(kind, seq, time, key, **body)
    return Event.from_json({"kind": kind.name, "seq": seq, "time": time, "key": key, **body})


@lru_cache(maxsize=1024)
def micro(text: str) -> int:
    """An amount of money as it is written in a log, in micro-units."""
    return to_micro(Decimal(text), "price")
