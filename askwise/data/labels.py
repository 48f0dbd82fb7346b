"""Recorded answers as tables: who gave which label to which task."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from askwise.core.checks import one_of
from askwise.core.compiling import allowed
from askwise.core.errors import InvalidProblem
from askwise.core.frames import frame_texts, is_frame
from askwise.core.names import ordered
from askwise.data.coding import ArrowCoder, TextCoder
from askwise.data.columns import ending_of
from askwise.data.streaming import chunks, has_arrow, text_chunks
from askwise.kernels.grouping import rows_in_groups

Codes = npt.NDArray[Any]

OF_ANSWERS = ("task", "worker", "label")
"""What a table of recorded answers says of each."""

DUPLICATES = ("keep", "drop", "refuse")
"""What to do with further answers of one worker to one task."""


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Recorded answers: codes of task, worker and label, and the names behind them, sorted.

    Names that are all numbers are sorted as numbers.

    Attributes
    ----------
    tasks, workers, labels : arrays of int
        One entry for each answer, in the order of the file.
    task_names, worker_names, label_names : sequences of str
        What the codes stand for; tuples, unless there are very many tasks.
    duplicates : int
        Answers beyond the first of one worker to one task, in the file.
    dropped : int
        How many of them were left out.
    source : str
        The file.
    """

    tasks: Codes
    workers: Codes
    labels: Codes
    task_names: Sequence[str]
    worker_names: tuple[str, ...]
    label_names: tuple[str, ...]
    duplicates: int
    dropped: int
    source: str

    def __len__(self) -> int:
        return len(self.tasks)

    def knowing(self, truths: Mapping[str, str]) -> tuple[LabelTable, Codes]:
        """Take in truths of tasks; returns also the code of each task's, -1 where not known.

        A truth that nobody gave becomes one more label. Tasks without an answer are passed
        over.
        """
        known = np.full(len(self.task_names), -1, np.int32)
        if not truths:
            return self, known
        told = {at: truths[name] for at, name in enumerate(self.task_names) if name in truths}
        every = ordered({*self.label_names, *told.values()})
        code = {name: at for at, name in enumerate(every)}
        known[list(told)] = [code[name] for name in told.values()]
        if every == self.label_names:
            return self, known
        recoded = np.array([code[name] for name in self.label_names], np.int32)
        return replace(self, labels=recoded[self.labels], label_names=every), known


def read_labels(
    path: str | os.PathLike[str],
    *,
    duplicates: str = "keep",
    progress: Callable[[int], None] = lambda labels: None,
) -> LabelTable:
    """Read a table with the columns ``task``, ``worker`` and ``label``.

    Parameters
    ----------
    path : path
        A file that ends in .csv, .csv.gz, .jsonl, .jsonl.gz or (with the extra ``tables``)
        .parquet; further columns are passed over.
    duplicates : "keep", "drop" or "refuse"
        What to do if a worker answered a task more than once: count all answers, count the
        first, or refuse the file.
    progress : callable, optional
        Told now and then how many labels were read.

    Raises
    ------
    InvalidProblem
        The file is no such table; the message names the line.
    OSError
        The file can't be read.

    Notes
    -----
    The file is read in chunks, so it may have any length: what is kept is 12 bytes per label, and
    the names. Those of a long file are kept most compactly where the extra ``tables`` is installed.
    """
    one_of(duplicates, "duplicates", DUPLICATES)
    file = Path(path)
    ending_of(file)
    kind = ArrowCoder if has_arrow(file) else TextCoder
    coders = {name: kind() for name in OF_ANSWERS}
    count = 0
    for chunk in chunks(file, OF_ANSWERS):
        for name, coder in coders.items():
            coder.add(chunk[name])
        count += len(chunk["task"])
        progress(count)
    if count == 0:
        raise InvalidProblem(
            f"{file} has no row below its columns: give at least one", field="file"
        )
    return _finished(coders, str(file), duplicates, file)


def table_of(frame: Any, source: str = "the data frame") -> LabelTable:
    """Take a data frame with the columns ``task``, ``worker`` and ``label``; all answers count."""
    if not is_frame(frame):
        raise InvalidProblem(
            f"{source} is a {type(frame).__name__}: give a data frame with the columns task, "
            "worker and label, or what read_labels returns",
            field="table",
        )
    columns = frame_texts(frame, source, OF_ANSWERS)
    if not columns["task"]:
        raise InvalidProblem(f"{source} has no rows: give at least one answer", field="table")
    coders = {name: TextCoder() for name in OF_ANSWERS}
    for name, coder in coders.items():
        coder.add(columns[name])
    return _finished(coders, source, "keep")


def _finished(
    coders: dict[str, Any], source: str, duplicates: str, file: Path | None = None
) -> LabelTable:
    """Put together what was read."""
    # One at a time: what a column took while it was read is free before the next is put together.
    tasks, task_names = coders.pop("task").finish()
    workers, worker_names = coders.pop("worker").finish()
    labels, label_names = coders.pop("label").finish()
    with allowed("grouping"):
        more, kept = _without_repeats(tasks, workers, len(task_names), duplicates)
    if more and duplicates == "refuse" and file is not None:
        _refuse_repeated(file)
    if kept is not None:
        tasks, workers, labels = tasks[kept], workers[kept], labels[kept]
        # A label that only a dropped answer gave is not a class any more.
        used, labels = np.unique(labels, return_inverse=True)
        label_names = tuple(label_names[at] for at in used)
    return LabelTable(
        *(tasks, workers, labels.astype(np.int32, copy=False)),
        *(task_names, tuple(worker_names), tuple(label_names)),
        duplicates=more,
        dropped=more if duplicates == "drop" else 0,
        source=source,
    )


def _without_repeats(
    tasks: Codes, workers: Codes, count: int, duplicates: str
) -> tuple[int, Codes | None]:
    """How many answers repeat one of their worker to their task; if these are dropped, the rest."""
    crowd, more = int(workers.max()) + 1, 0
    kept = np.zeros(len(tasks), bool) if duplicates == "drop" else None
    for rows in rows_in_groups(tasks, count):
        pairs = tasks[rows].astype(np.int64) * crowd + workers[rows]
        if kept is None:
            pairs.sort()
            more += int((pairs[1:] == pairs[:-1]).sum())
        else:
            _, firsts = np.unique(pairs, return_index=True)
            more += len(pairs) - len(firsts)
            kept[firsts if isinstance(rows, slice) else rows[firsts]] = True
    return more, None if kept is None or not more else np.flatnonzero(kept)


def _refuse_repeated(path: Path) -> None:
    """Read once more, to name the line of the first answer that repeats one."""
    lines: dict[tuple[str, str], int] = {}
    for found in text_chunks(path, OF_ANSWERS):
        pairs = zip(found.cells["worker"], found.cells["task"], strict=True)
        for row, (worker, task) in enumerate(pairs):
            first = lines.setdefault((worker, task), found.lines[row])
            if first != found.lines[row]:
                raise InvalidProblem(
                    f"{found.place(row)}: worker {worker!r} answered task {task!r} in line {first} "
                    "already; keep or drop duplicates, or mend the file",
                    field="duplicates",
                )


def in_common(
    table: LabelTable, by_task: Mapping[str, str], source: str | os.PathLike[str]
) -> dict[str, str]:
    """What is said of tasks that have an answer; refuses a file that is about other tasks."""
    known = {task for task in table.task_names if task in by_task}
    found = {task: value for task, value in by_task.items() if task in known}
    if not found:
        raise InvalidProblem(
            f"{source} has no task in common with {table.source}: it begins with "
            f"{next(iter(by_task))!r}, the other has {table.task_names[0]!r}",
            field="task",
        )
    return found


def truths_in(
    table: LabelTable, truths: Mapping[str, str], source: str | os.PathLike[str]
) -> dict[str, str]:
    """True labels of tasks that have an answer; refuses a file in which no label is ever given.

    Some may be labels that nobody gave. But where none was given, the file writes them otherwise.
    """
    found = in_common(table, truths, source)
    if not set(table.label_names) & set(found.values()):
        raise InvalidProblem(
            f"{source} has no label in common with {table.source}: it has "
            f"{next(iter(found.values()))!r}, the other has {table.label_names[0]!r}; write the "
            "same label in the same way",
            field="label",
        )
    return found
