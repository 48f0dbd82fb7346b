"""A stretch of a log as columns: what is folded by the thousand is not made into objects first."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from askwise.core.events import MONEY, Event, Kind, new_event
from askwise.core.money import to_micro

_STRUCTURED = frozenset(("rows", "available", "tasks", "workers"))
"""Fields of an event whose JSON is more than their value, but for money."""

CHUNK = 512
"""Bodies parsed at a time: one call of the parser a chunk, and its dicts die young."""


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
    text : bytes
        Its other fields: JSON in one line for each event, with a newline after each.
    times : sequence of float, optional
        When each happened; folding does not look at it.

    Examples
    --------
    >>> found = EventColumns(8, [Kind.ANSWER], b'{"task":"t","value":1.0}\\n')
    >>> found.events()[0].value, len(found), found.last
    (1.0, 1, 8)
    """

    __slots__ = ("_bodies", "_events", "first", "kinds", "text", "times")

    def __init__(
        self,
        first: int,
        kinds: Sequence[Kind],
        text: bytes,
        times: Sequence[float] | None = None,
    ) -> None:
        self.first = first
        self.kinds = kinds
        self.text = text
        self.times = times
        self._bodies: list[str] | None = None
        self._events: Sequence[Event] | None = None

    @classmethod
    def of(cls, events: Sequence[Event]) -> EventColumns:
        """Columns of events that are there already."""
        first = events[0].seq if events else 1
        assert not events or events[-1].seq == first + len(events) - 1, "the log has a gap"
        kinds, times = [event.kind for event in events], [event.time for event in events]
        made = cls(first, kinds, b"", times)
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

    @property
    def bodies(self) -> list[str]:
        """The fields of each event, as JSON; only where ``held`` is false."""
        if self._bodies is None:
            self._bodies = self.text.decode().split("\n")[:-1]
        return self._bodies

    def last_of(self, kind: Kind) -> int:
        """Sequence number of the last event of a kind; 0 if there is none."""
        at = len(self.kinds) - self.kinds[::-1].index(kind) - 1 if kind in self.kinds else -1
        return 0 if at < 0 else self.first + at

    def cut(self, begin: int, end: int) -> EventColumns:
        """The events from place ``begin`` to before ``end``, counted from the first."""
        if begin == 0 and end >= len(self):
            return self
        times = None if self.times is None else self.times[begin:end]
        text = b"" if self.held else lines_of(self.bodies[begin:end])
        part = EventColumns(self.first + begin, self.kinds[begin:end], text, times)
        if self._events is not None:
            part._events = self._events[begin:end]
        return part

    def events(self) -> Sequence[Event]:
        """The events as objects; those that came without a time have the time 0."""
        if self._events is not None:
            return self._events
        made: list[Event] = []
        for begin in range(0, len(self), CHUNK):
            some = parsed(self.bodies[begin : begin + CHUNK])
            for at, body in enumerate(some, begin):
                time = 0.0 if self.times is None else self.times[at]
                made.append(event_of(self.kinds[at], self.first + at, time, None, body))
        return made


def lines_of(bodies: Iterable[str]) -> bytes:
    """JSON objects as the text of columns: in JSON a newline is a blank."""
    return "".join([each.replace("\n", " ") + "\n" for each in bodies]).encode()


def parsed(bodies: Sequence[str]) -> list[dict[str, Any]]:
    """Parse JSON objects, all in one call of the parser."""
    return json.loads(f"[{','.join(bodies)}]")


def event_of(kind: Kind, seq: int, time: float, key: str | None, body: dict[str, Any]) -> Event:
    """An event of its fields as ``Event.to_json`` writes them; ``body`` is used up."""
    if _STRUCTURED.isdisjoint(body):
        # What nearly every event is: as Event.from_json, in half the time.
        for name in MONEY:
            if name in body:
                body[name] = micro(body[name])
        return new_event(kind, seq, time, key, **body)
    return Event.from_json({"kind": kind.name, "seq": seq, "time": time, "key": key, **body})


@lru_cache(maxsize=1024)
def micro(text: str) -> int:
    """An amount of money as it is written in a log, in micro-units."""
    return to_micro(Decimal(text), "price")
