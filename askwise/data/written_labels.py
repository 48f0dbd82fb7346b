"""Labels and workers, as they are written to files."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from askwise.data.columns import write_columns


def write_answers(
    path: str | os.PathLike[str],
    tasks: Sequence[str],
    labels: Sequence[str],
    confidence: Sequence[float],
    rests_on: Sequence[str] | None = None,
    scores: Sequence[float] | None = None,
) -> Path:
    """Write a table ``task,label,confidence``; the ending of the path names the format.

    If it is said on what confidences rest, a column ``rests_on`` follows; if labels have scores to
    rank them by, ``score``.
    """
    return write_columns(path, answer_columns(tasks, labels, confidence, rests_on, scores))


def answer_columns(
    tasks: Sequence[str],
    labels: Sequence[str],
    confidence: Sequence[float],
    rests_on: Sequence[str] | None = None,
    scores: Sequence[float] | None = None,
) -> dict[str, Sequence[Any]]:
    """The columns of such a table, or of some of its rows."""
    shown = [round(float(each), 9) for each in confidence]
    columns: dict[str, Sequence[Any]] = {"task": tasks, "label": labels, "confidence": shown}
    if rests_on is not None:
        columns["rests_on"] = rests_on
    if scores is not None:
        columns["score"] = [round(float(each), 9) for each in scores]
    return columns


def write_workers(
    path: str | os.PathLike[str],
    workers: Sequence[str],
    answers: Sequence[int],
    measures: Mapping[str, Sequence[float]],
) -> Path:
    """Write a table ``worker,answers,quality,low,high`` and what else is measured of workers."""
    shown = {name: [round(float(each), 9) for each in column] for name, column in measures.items()}
    counts = [int(each) for each in answers]
    return write_columns(path, {"worker": workers, "answers": counts, **shown})
