"""Labels to certify, and what audits said of them."""

import math
import os

from askwise.core.errors import InvalidProblem
from askwise.data.columns import Columns, read_columns
from askwise.data.task_facts import by_task

TRUTH = "truth"
"""What the confidence of a task rests on whose truth was given."""

SCORES = ("score", "confidence")
"""Columns that say how sure a label is, the first that is there."""


def read_scored(path: str | os.PathLike[str]) -> dict[str, tuple[str, float]]:
    """Read the columns ``task``, ``label`` and ``score``, or ``confidence`` if there is none.

    Tasks whose column ``rests_on`` says ``truth`` are left out: what was known when labels were
    made is not to be audited.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "labels.csv")
    ...     _ = file.write_text("task,label,score\\nt1,cat,2.5\\n")
    ...     read_scored(file)
    {'t1': ('cat', 2.5)}
    """
    found = read_columns(path, ("task", "label"), (*SCORES, "rests_on"))
    column = next((name for name in SCORES if name in found.cells), None)
    if column is None:
        raise InvalidProblem(
            f"{found.source} has no column 'score': say how sure each label is", field="score"
        )
    made: dict[str, tuple[str, float]] = {}
    rows = zip(*(found.cells[name] for name in ("task", "label", column)), strict=True)
    for row, (task, label, score) in enumerate(rows):
        if task in made:
            raise InvalidProblem(
                f"{found.place(row)}: task {task!r} appears twice; keep one label per task",
                field="task",
            )
        made[task] = (label, _number(score, column, found, row))
    rests_on = found.cells.get("rests_on", [])
    known = {
        task for task, word in zip(found.cells["task"], rests_on, strict=False) if word == TRUTH
    }
    if len(known) == len(made):
        raise InvalidProblem(
            f"{found.source}: the truth of every task was given; there is nothing to certify",
            field="rests_on",
        )
    return {task: said for task, said in made.items() if task not in known}


def _number(text: str, column: str, found: Columns, row: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidProblem(
            f"{found.place(row)}: {column} is {text!r}; give a number, higher for a surer label",
            field=column,
        )
    return value


def read_audits(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read what the trusted source said, from the columns ``task`` and ``label``.

    A label may be empty: the source could not say.
    """
    found = read_columns(path, ("task",), ("label",))
    if "label" not in found.cells:
        raise InvalidProblem(
            f"{found.source} has no column 'label': say what is true of each task", field="label"
        )
    return by_task(found, "label")
