"""What an experiment is, and the registry of experiments."""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter, nearest
from askwise.core.registry import Registry, split_outside_brackets
from askwise.figures import ReferenceRow, Row


@dataclass(frozen=True)
class Cell:
    """One point of an experiment: a panel and an x; further fields as the experiment needs."""

    panel: str
    x: float


@dataclass(frozen=True)
class Figure:
    """How an experiment's rows are drawn."""

    metric: str
    x_label: str
    y_label: str
    caption: str
    kind: Literal["line", "bars"] = "line"
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Experiment(ABC):
    """A simulation whose parameters are the fields of the dataclass.

    ``sample`` computes one replication of one cell, from the seed alone, so that replications
    can run anywhere and in any order and the numbers are the same.
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    reproduces: ClassVar[str] = ""
    reps: ClassVar[int] = 200
    chunk: ClassVar[int] = 20
    """Replications computed at a time by one job."""
    figures: ClassVar[tuple[Figure, ...]] = ()
    axes: ClassVar[Mapping[str, str]] = {}
    """What x is for metrics that no figure shows, where it is not what the first figure has."""
    not_kept: ClassVar[str] = ""
    """Why the documentation keeps no results of it, where it means not to: a sentence."""
    ours: ClassVar[tuple[str, ...]] = ()
    """Names of policies beyond the paper, drawn bolder."""

    @abstractmethod
    def cells(self) -> Sequence[Cell]:
        """The points to compute."""

    def sample(self, cell: Any, seed: int, replication: int) -> Array:
        """All measurements of one replication, as one flat array of fixed meaning."""
        raise NotImplementedError

    def samples(self, cell: Any, seed: int, first: int, last: int) -> Array:
        """Those of replications ``first`` to ``last`` (exclusive), one row each."""
        return np.array([self.sample(cell, seed, each) for each in range(first, last)])

    @abstractmethod
    def rows(self, cell: Any, samples: Array, seed: int) -> list[Row]:
        """Summarise the samples of one cell (one row per replication)."""

    def paper_rows(self) -> Sequence[ReferenceRow]:
        """What the paper reports, where it can be read."""
        return ()

    def x_label(self, metric: str) -> str:
        """What the horizontal axis is for a metric."""
        shown = {figure.metric: figure.x_label for figure in self.figures}
        return {**self.axes, **shown}.get(metric, self.figures[0].x_label)

    def drawn_as_reference(self, row: Row) -> bool:
        """Whether a row is drawn as a dashed line (a bound) rather than as a series."""
        return False

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """Where and why the results differ from the paper."""
        return []


experiments: Registry[Experiment] = Registry(
    "experiment", "askwise.lab.papers", group="askwise.lab.studies"
)
"""All experiments by name."""


def with_settings(name: str, settings: Mapping[str, str]) -> Experiment:
    """Build an experiment with parameters given as text, as ``--set key=value`` gives them."""
    entry = experiments.get(name)
    known = {field.name: field for field in dataclasses.fields(entry)}
    read: dict[str, Any] = {}
    for key, text in settings.items():
        if key not in known:
            raise InvalidParameter(
                f"experiment {name!r} has no parameter {key!r}: {nearest(key, known)}", field=key
            )
        read[key] = _read(key, text, known[key].default)
    return entry(**read)


def _joined(parts: Sequence[str], known: Sequence[Any]) -> Iterator[str]:
    """Put parts together that are one known value with commas, the longest there is.

    Examples
    --------
    >>> list(_joined(["tied", "three options", "tied"], ["three options", "three options, tied"]))
    ['tied', 'three options, tied']
    """
    at = 0
    while at < len(parts):
        ends = (end for end in range(len(parts), at, -1) if ", ".join(parts[at:end]) in known)
        end = next(ends, at + 1)
        yield ", ".join(parts[at:end])
        at = end


def _read(key: str, text: str, default: Any) -> Any:
    """Read text as what the default is: a number, a list of them, or a word."""
    try:
        if isinstance(default, tuple):
            parts = [part.strip() for part in split_outside_brackets(text) if part.strip()]
            if not parts:
                raise InvalidParameter(f"{key} is empty: give at least one value", field=key)
            kind = type(default[0]) if default else str
            return tuple(kind(part) for part in _joined(parts, default))
        if isinstance(default, int) and not isinstance(default, bool):
            return int(text)
        if isinstance(default, float):
            return float(text)
    except ValueError:
        raise InvalidParameter(
            f"{key} is {text!r}: give a value like the default, {default!r}", field=key
        ) from None
    return text
