"""How long workers take for an answer, from the times in the log."""

import statistics
import threading
from collections import deque

from askwise.core.event_columns import EventColumns, parsed
from askwise.core.events import Kind
from askwise.store import Store

FEWEST = 5
"""Answers below which nothing is said of a worker's pace."""

RECENT = 100
"""Answers of a worker that their pace is worked out from, the latest."""

WINDOW = 50_000
"""Events of a long log that are looked at, the latest."""


class Paces:
    """Seconds that workers take for an answer: the median of their latest answers.

    An answer takes from when its question was handed out, or from the worker's answer before it if
    that came later: somebody who holds three questions works on one at a time. The median leaves
    out breaks and questions that were left lying, as long as they are less than half of all.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begin(0)

    def _begin(self, seq: int) -> None:
        self.seq = seq
        self._asked: dict[int, float] = {}
        """When each question was handed out that was neither answered nor given back."""
        self._last: dict[str, float] = {}
        """When each worker answered last."""
        self._taken: dict[str, deque[float]] = {}

    def catch_up(self, store: Store, name: str, seq: int) -> None:
        """Read what is new in a campaign's log, up to an event."""
        with self._lock:
            if self.seq >= seq:
                return
            columns = store.columns(name, self.seq, seq, timed=True) if self.seq else None
            if columns is None or columns.last_of(Kind.RENAMED):
                # What was read before may have a name that is in no log any more.
                self._begin(max(0, seq - WINDOW))
                columns = store.columns(name, self.seq, seq, timed=True)
            self.take(columns)

    def take(self, columns: EventColumns) -> None:
        """Take in events that follow those before; the columns have their times."""
        assert columns.times is not None
        wanted = [at for at, kind in enumerate(columns.kinds) if kind in _ABOUT]
        if columns.held:
            events = columns.events()
            told = [(events[at].assignment, events[at].worker) for at in wanted]
        else:
            bodies = parsed([columns.bodies[at] for at in wanted])
            told = [(body.get("assignment"), body.get("worker")) for body in bodies]
        for at, (assignment, worker) in zip(wanted, told, strict=True):
            kind, time, seq = columns.kinds[at], columns.times[at], columns.first + at
            if kind == Kind.ASKED:
                self._asked[seq] = time
                continue
            begun = self._asked.pop(assignment or 0, None)
            if kind == Kind.ANSWER and worker is not None:
                if begun is not None:
                    taken = self._taken.setdefault(worker, deque(maxlen=RECENT))
                    taken.append(max(0.0, time - max(begun, self._last.get(worker, begun))))
                self._last[worker] = time
        if len(columns):
            self.seq = columns.last

    def seconds(self, worker: str) -> float | None:
        """Seconds that a worker takes for an answer; None before five of them."""
        with self._lock:
            taken = self._taken.get(worker, ())
            return statistics.median(taken) if len(taken) >= FEWEST else None


_ABOUT = frozenset((Kind.ASKED, Kind.ANSWER, Kind.EXPIRED, Kind.DECLINED, Kind.FAILED))
