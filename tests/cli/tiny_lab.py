"""A tiny experiment, for programs that run the lab: it can wait at a given point for Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.figures import Row
from askwise.lab.experiment import Cell, Experiment, Figure, experiments
from askwise.lab.results import mean_row


@experiments.register("tiny")
@dataclass(frozen=True)
class Tiny(Experiment):
    """Numbers that depend on seed and replication only."""

    title: ClassVar[str] = "A tiny experiment"
    summary: ClassVar[str] = "Nothing is asked."
    reps: ClassVar[int] = 3
    figures: ClassVar[tuple[Figure, ...]] = (Figure("share", "budget", "share", "Caption"),)

    series: tuple[str, ...] = ("a", "b")
    wait: str = ""
    marker: str = ""

    def cells(self) -> list[Cell]:
        """Two points."""
        return [Cell("", 1.0), Cell("", 2.0)]

    def sample(self, cell: Cell, seed: int, replication: int) -> Array:
        """A draw a series; replication 1 may wait."""
        if replication == 1:
            self._wait_at("simulating")
        return np.random.default_rng([seed, replication, int(cell.x)]).random(len(self.series))

    def rows(self, cell: Cell, samples: Array, seed: int) -> list[Row]:
        """Means."""
        return [
            mean_row(samples[:, at], series=name, x=cell.x, metric="share")
            for at, name in enumerate(self.series)
        ]

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """Called while the files are written."""
        self._wait_at("writing")
        return []

    def _wait_at(self, point: str) -> None:
        if self.wait == point:
            Path(self.marker).touch()
            time.sleep(60)
