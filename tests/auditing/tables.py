"""Tables of verdicts and answers to try report cards on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from askwise.auditing.ballots import Ballots, Sources, read_ballots

Columns = dict[str, list[str]]


def columns(rows: Iterable[tuple[str, ...]], *names: str) -> Columns:
    """Rows as columns: task, worker, label, and further ones if they are named."""
    every = ("task", "worker", "label", *names)
    given = list(rows)
    return {name: [row[at] for row in given] for at, name in enumerate(every)}


def sheet(by_worker: Mapping[str, str], *, tasks: str = "t") -> Columns:
    """What each worker said of t1, t2, ...: a letter each, ``-`` not asked, ``.`` a failure."""
    return columns(
        (f"{tasks}{at}", worker, "" if label == "." else label)
        for worker, labels in by_worker.items()
        for at, label in enumerate(labels, 1)
        if label != "-"
    )


def ballots(judges: Mapping[str, str], people: Mapping[str, str]) -> Ballots:
    """Both in common codes."""
    return read_ballots(sheet(judges), sheet(people), Sources(), None)


def noisy(
    seed: int, right: Mapping[str, float], *, tasks: int, people: int = 3, labels: str = "ny"
) -> tuple[Columns, Columns]:
    """Judges and people who are right by chance, each with their own; people nine times in ten."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(len(labels), size=tasks)

    def said(chance: float) -> str:
        wrong = (truth + rng.integers(1, len(labels), size=tasks)) % len(labels)
        return "".join(labels[at] for at in np.where(rng.random(tasks) < chance, truth, wrong))

    verdicts = sheet({judge: said(chance) for judge, chance in right.items()})
    return verdicts, sheet({f"p{at}": said(0.9) for at in range(people)})
