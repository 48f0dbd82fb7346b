"""Certificates in worlds that are made to deceive (beyond 002)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.core.checks import between, whole
from askwise.core.errors import InvalidParameter
from askwise.figures import Row
from askwise.lab.experiment import Cell, Experiment, Figure, experiments
from askwise.lab.papers.labels.studies.certificates import (
    AGAIN,
    MEASURES,
    Labelled,
    audit,
    most_often,
    too_often,
)
from askwise.lab.results import measured_row

WORLDS = (
    "a third wrong together",
    "scores that rank backwards",
    "just too many wrong",
    "thirty tasks",
    "ties everywhere",
    "no error",
    "all wrong",
)


@experiments.register("certify-worlds")
@dataclass(frozen=True)
class CertifyWorlds(Experiment):
    """Certificates where labels and scores are made to deceive.

    Parameters
    ----------
    worlds : names
        Which worlds.
    errors : numbers
        Shares of wrong labels that are allowed.
    confidence : number
        How sure the statements are.
    audits : int
        The most audits of a draw.
    again : int
        Draws that are made again where more certificates are false than are allowed; 0 for none.
    """

    worlds: tuple[str, ...] = WORLDS
    errors: tuple[float, ...] = (0.05, 0.1, 0.2)
    confidence: float = 0.9
    audits: int = 100
    again: int = 2000

    reps: ClassVar[int] = 300
    chunk: ClassVar[int] = 50
    title: ClassVar[str] = "Certificates in worlds that deceive (beyond 002)"
    reproduces: ClassVar[str] = "beyond 002"
    summary: ClassVar[str] = (
        "A certificate must hold whatever the labels are: where workers are wrong together and "
        "sure of it, where the surest labels are the worst, where a set has just one wrong label "
        "too many, where there are few labels, or all have the same score."
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "false",
            "share of wrong labels allowed",
            "share of draws",
            "Draws after which more labels are wrong than the certificate says; 95% intervals.",
        ),
    )

    def __post_init__(self) -> None:
        for name in self.worlds:
            if name not in WORLDS:
                raise InvalidParameter(
                    f"worlds has {name!r}: give some of {', '.join(WORLDS)}", field="worlds"
                )
        for error in self.errors:
            between(error, "errors", 0, 1)
        between(self.confidence, "confidence", 0, 1)
        whole(self.audits, "audits", least=1)
        whole(self.again, "again", least=0)

    def cells(self) -> list[Cell]:
        """Each world with each error."""
        return [Cell(world, error) for world in self.worlds for error in self.errors]

    def sample(self, cell: Cell, seed: int, replication: int) -> Array:
        """A draw from a world, and one with escalation."""
        found = [self._draw(cell, seed, replication, escalate) for escalate in (False, True)]
        return np.array(found, np.float64).ravel()

    def _draw(self, cell: Cell, seed: int, replication: int, escalate: bool) -> list[float]:
        number = seed * 1_000_003 + replication
        labelled = world_of(cell.panel, cell.x, number)
        came = audit(
            labelled,
            error=cell.x,
            confidence=self.confidence,
            audits=self.audits,
            seed=number,
            escalate=escalate,
        )
        return [came.kept / len(labelled.wrong), came.false, came.audits]

    def rows(self, cell: Cell, samples: Array, seed: int) -> list[Row]:
        """Means over the draws, and over draws made again where too many were false."""
        found = []
        for at, series in enumerate(("certificate", "with escalation")):
            of: dict[str, Any] = {"panel": cell.panel, "series": series, "x": cell.x}
            for column, metric in enumerate(MEASURES):
                values = samples[:, 3 * at + column]
                found.append(measured_row(values, **of, metric=metric))
                if metric == "false" and self.again and too_often(values, self.confidence):
                    anew = [
                        self._draw(cell, seed, len(samples) + n, bool(at))[column]
                        for n in range(self.again)
                    ]
                    found.append(measured_row(np.array(anew), **of, metric=metric + AGAIN))
        return found

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """The most often that a certificate was false."""
        if not rows:
            return []
        return [
            f"A certificate is false in {most_often(rows)}; {1 - self.confidence:.0%} are allowed."
        ]


def world_of(name: str, error: float, number: int) -> Labelled:
    """Labels and scores of a world that deceives."""
    rng = np.random.default_rng(number)
    tasks = 30 if name == "thirty tasks" else 600
    scores = rng.random(tasks)
    order = np.argsort(-scores)
    wrong = np.zeros(tasks, bool)
    if name == "a third wrong together":
        wrong[rng.permutation(tasks)[: tasks // 3]] = True
        scores = np.where(wrong, 0.99, scores)
    elif name == "scores that rank backwards":
        wrong[order[: int(1.2 * error * tasks)]] = True
    elif name in ("just too many wrong", "thirty tasks"):
        # Enough in the first set to make the statement about it false, and none elsewhere.
        first = (tasks + 1) // 2
        wrong[rng.choice(order[:first], int(error * first + 1e-9) + 1, replace=False)] = True
    elif name == "ties everywhere":
        wrong[rng.permutation(tasks)[: int(error * tasks + 1e-9) + 1]] = True
        scores = np.ones(tasks)
    elif name == "all wrong":
        wrong[:] = True
    return Labelled(wrong, scores, np.full(tasks, 0.99))
