"""Times on an axis: where ticks go and what they say, in UTC."""

import math
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from askwise.figures.looks import compact

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0

STEPS = (
    *(1.0, 2.0, 5.0, 10.0, 15.0, 30.0),
    *(each * MINUTE for each in (1, 2, 5, 10, 15, 30)),
    *(each * HOUR for each in (1, 2, 3, 6, 12)),
    *(each * DAY for each in (1, 2, 7, 14, 28, 91, 182)),
)
"""Round lengths of time; years follow."""

_MONTHS = (*("Jan", "Feb", "Mar", "Apr", "May", "Jun"), *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"))
"""Not the locale's: a chart is the same on every machine."""

_LATEST = 253402300799.0
"""The end of the year 9999, beyond which there is no calendar."""


def clock_ticks(first: float, last: float, most: int) -> tuple[list[float], list[str]]:
    """At most this many round times from ``first`` to ``last``, and how to write them.

    Times that no calendar knows are written as numbers of seconds.

    Examples
    --------
    >>> clock_ticks(0, 86400, 4)
    ([0.0, 43200.0, 86400.0], ['1 Jan', '12:00', '2 Jan'])
    """
    step = _step((last - first) / (most + 1))
    while math.floor(last / step) - math.ceil(first / step) >= most:
        step = _step(1.01 * step)
    ticks = [step * at for at in range(math.ceil(first / step), math.floor(last / step) + 1)]
    if not 0 <= first <= last <= _LATEST:
        form = compact(max(abs(first), abs(last)))
        return ticks, [form(tick) for tick in ticks]
    return ticks, [_written(tick, step) for tick in ticks]


def bucket(first: float, last: float) -> tuple[float, npt.NDArray[np.float64], str]:
    """Cut a stretch of time into at most about 30 round pieces: length, edges, its name.

    Examples
    --------
    >>> bucket(90, 600)[2]
    '30 s'
    """
    step = _step((last - first) / 30)
    base = math.floor(first / step) * step
    edges = np.float64(base) + step * np.arange(math.ceil((last - base) / step) + 1)
    units = ((DAY, "day"), (HOUR, "hour"), (MINUTE, "min"), (1.0, "s"))
    size, unit = next(each for each in units if step >= each[0])
    plural = "s" if step != size and unit in ("day", "hour") else ""
    return step, edges, f"{step / size:g} {unit}{plural}"


def moment(time: float) -> str:
    """A time in words.

    Examples
    --------
    >>> moment(0), moment(1e18)
    ('1 Jan 1970 00:00 UTC', 'in the far future')
    """
    if not 0 <= time <= _LATEST:
        return "in the far future" if time > _LATEST else f"at {time:g} s"
    day = datetime.fromtimestamp(time, UTC)
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year} {day:%H:%M} UTC"


def _written(tick: float, step: float) -> str:
    day = datetime.fromtimestamp(tick, UTC)
    if step >= 182 * DAY:
        return f"{_MONTHS[day.month - 1]} {day.year}"
    if tick % DAY == 0:
        return f"{day.day} {_MONTHS[day.month - 1]}"
    return f"{day:%H:%M:%S}" if step < MINUTE else f"{day:%H:%M}"


def _step(least: float) -> float:
    """The smallest round length of at least so much."""
    for step in STEPS:
        if step >= least:
            return step
    years = 10.0 ** math.floor(math.log10(least / (364 * DAY)))
    return 364 * DAY * years * next(m for m in (1, 2, 5, 10, 20) if 364 * DAY * years * m >= least)
