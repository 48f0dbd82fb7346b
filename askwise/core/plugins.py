"""Entries of other distributions, found by entry points; what is broken is told and left out."""

import dataclasses
import inspect
import logging
import os
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, EntryPoint, distributions, entry_points
from typing import Any

log = logging.getLogger(__name__)

_told: set[str] = set()
"""What is come across again and again and told once."""


_PathState = tuple[tuple[str, int | None], ...]

_kept: tuple[_PathState, dict[str, list[EntryPoint]]] = ((), {})
"""The entry points by group, and the state of the path they were read in."""


def points_of(group: str) -> list[EntryPoint]:
    """The entry points of a group, in an order that does not depend on the path."""
    global _kept
    # To read the lists of all distributions takes tens of milliseconds, and every store that is
    # opened asks for its scheme: so they are read again only after the path has changed.
    state = _path_state()
    kept = _kept[1] if _kept[0] == state else {}
    if group not in kept:
        try:
            points = list(entry_points(group=group))
        except Exception:  # one list that can't be read hides all the others
            return _ordered(_readable_points(group))
        kept = {**kept, group: _ordered(points)}
        _kept = (state, kept)
    return list(kept[group])


def _path_state() -> _PathState:
    """The folders of the path, each with the time of its last change (importlib goes by it too)."""
    return tuple((place, _changed(place)) for place in sys.path)


def _changed(place: str) -> int | None:
    try:
        return os.stat(place or ".").st_mtime_ns
    except OSError:
        return None


def _ordered(points: Iterable[EntryPoint]) -> list[EntryPoint]:
    return sorted(points, key=lambda point: (point.name, origin_of(point), point.value))


def origin_of(point: EntryPoint) -> str:
    """The distribution that an entry point is of, with its version."""
    return f"package of {point.value}" if point.dist is None else _package(point.dist)


def load(point: EntryPoint, bases: tuple[type, ...]) -> Any:
    """Import the class that an entry point names; refuses what no registry can hold."""
    entry = point.load()
    if not isinstance(entry, type):
        raise TypeError(f"{point.value} is not a class")
    if bases and not issubclass(entry, bases):
        wanted = " or ".join(sorted(base.__name__ for base in bases))
        raise TypeError(f"{point.value} is not a subclass of {wanted}")
    if inspect.isabstract(entry):
        lacking = ", ".join(sorted(entry.__abstractmethods__))  # type: ignore[attr-defined]
        raise TypeError(f"{point.value} does not define {lacking}")
    if not dataclasses.is_dataclass(entry):
        raise TypeError(f"{point.value} is not a dataclass")
    return entry


def leave_out(trouble: str) -> None:
    """Tell why an entry of another distribution is not there."""
    _tell(f"{trouble}; it is left out")


def _tell(trouble: str) -> None:
    if trouble not in _told:
        _told.add(trouble)
        log.warning("%s", trouble)


def reason(error: BaseException) -> str:
    """What went wrong, in one line.

    Examples
    --------
    >>> reason(ModuleNotFoundError("No module named 'bar'"))
    "ModuleNotFoundError: No module named 'bar'"
    """
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")


def _readable_points(group: str) -> Iterator[EntryPoint]:
    """Go through the distributions one by one, to tell which can't be read."""
    seen = set()
    for distribution in distributions():
        package = _package(distribution)
        name = package.rpartition(" ")[0]
        if name in seen:  # behind another version of it on the path
            continue
        seen.add(name)
        try:
            yield from distribution.entry_points.select(group=group)
        except Exception as error:
            trouble = f"the entry points of {package} could not be read: {reason(error)}"
            _tell(f"{trouble}; whatever it adds is left out")


def _package(distribution: Distribution) -> str:
    try:
        return f"package {distribution.metadata['Name']} {distribution.metadata['Version']}"
    except Exception:  # its metadata is missing or unreadable, which differs between Pythons
        return f"package without metadata at {distribution.locate_file('')}"
