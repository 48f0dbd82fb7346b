"""How many answers a worker gives in an hour of work."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from askwise.core.events import Event, Kind
from askwise.core.json_types import Positive, Quantity
from askwise.core.jsonable import Jsonable

LATEST = 5_000
"""Events at the end of the log from which the pace is taken."""

BREAK = 600.0
"""Seconds between two answers that count as a break beyond this."""


@dataclass(frozen=True, slots=True)
class WorkerPace(Jsonable):
    """How fast a worker has answered recently.

    Attributes
    ----------
    answers : int
        The answers that it is computed from.
    since : float
        When the first of them came, in seconds since 1970.
    until : float
        When the last of them came.
    answers_an_hour : float or None
        Answers in an hour of work: what lies between two answers counts as work up to ten minutes.
        None with fewer than two, or if they came at the same moment.
    """

    answers: Positive
    since: float
    until: float
    answers_an_hour: Quantity | None


def worker_pace(events: Iterable[Event], worker: str) -> WorkerPace | None:
    """The pace of a worker in a stretch of the log; None if they did not answer in it.

    An answer counts if its question is in the stretch too.
    """
    asked: set[int] = set()
    times: list[float] = []
    for event in events:
        if event.kind == Kind.ASKED and event.worker == worker:
            asked.add(event.seq)
        elif event.kind == Kind.ANSWER and event.assignment in asked:
            times.append(event.time)
    if not times:
        return None
    gaps = (after - before for before, after in itertools.pairwise(times))
    worked = sum(min(max(gap, 0.0), BREAK) for gap in gaps)
    return WorkerPace(
        answers=len(times),
        since=times[0],
        until=times[-1],
        answers_an_hour=(len(times) - 1) * 3600.0 / worked if worked > 0 else None,
    )
