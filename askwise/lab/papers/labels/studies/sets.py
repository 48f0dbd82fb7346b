"""Recorded sets of labels: from a folder, as worlds in which only recorded pairs can be asked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter, InvalidProblem, nearest
from askwise.core.money import Amount
from askwise.data import LabelTable, read_contexts, read_gold, read_labels, read_prices
from askwise.figures import Row
from askwise.lab.papers.crowds.studies.tallies import is_scale
from askwise.lab.worlds import Recording
from askwise.lab.worlds.labellers import label_tasks

STAND_IN = "simulated stand-in"
STAND_IN_TASKS, STAND_IN_WORKERS, STAND_IN_CONTEXTS, STAND_IN_ANSWERS = 200, 24, 3, 10

MOST_TASKS = 2000
"""Tasks used of a larger set, unless more are asked for."""

PRICES = ("price", "cost_usd_per_10k")
"""Columns of ``workers.csv`` that may name the prices."""

NOTES = ("tasks", "tasks_in_all", "gold", "options", "duplicates", "distinct_numbers", "no_gold")
"""Metrics of the rows that tell what a set is, one a set."""


@dataclass(frozen=True)
class LabelSet:
    """A set of recorded answers as a world, and what was left out of it.

    Attributes
    ----------
    name : str
        The folder's.
    recording : Recording or None
        None for a set that can't be used.
    workers : names
        Of the workers, in order.
    in_all : int
        Tasks in the file; the recording may have fewer.
    duplicates : int
        Further answers of a worker to a task, which were left out.
    numbers : int
        Distinct labels, where they are numbers on a scale.
    """

    name: str
    recording: Recording | None
    workers: tuple[str, ...]
    in_all: int
    duplicates: int = 0
    numbers: int = 0

    def notes(self) -> list[Row]:
        """What the set is, as rows, so that kept results tell it without the folder."""
        counts: dict[str, float] = {"tasks_in_all": self.in_all, "duplicates": self.duplicates}
        if self.numbers:
            counts["distinct_numbers"] = self.numbers
        elif self.recording is None:
            counts["no_gold"] = 1
        else:
            counts["tasks"] = self.recording.tasks
            counts["gold"] = int((self.recording.truth >= 0).sum())
            counts["options"] = self.recording.options
        return [Row("", self.name, 0.0, metric, n, n, n, 1) for metric, n in counts.items()]


def sets_in(data: str, names: Sequence[str]) -> dict[str, Path]:
    """Folders of a data folder that hold ``labels.csv``; only those named, if any are.

    Those in a folder of the folder are named with it: ``judges/framing``.
    """
    folder = Path(data)
    if not folder.is_dir():
        raise InvalidParameter(f"data is {data!r}: there is no such folder", field="data")
    files = sorted(folder.glob("*/labels.csv")) + sorted(folder.glob("*/*/labels.csv"))
    known = {file.parent.relative_to(folder).as_posix(): file.parent for file in files}
    if not known:
        raise InvalidParameter(
            f"data is {data!r}: the folder holds no set, which is a folder with a file labels.csv",
            field="data",
        )
    for name in names:
        if name not in known:
            raise InvalidParameter(
                f"sets has {name!r}: no such set in data, {nearest(name, known)}", field="sets"
            )
    return {name: known[name] for name in names or known}


def check_sets(data: str, names: Sequence[str]) -> None:
    """Refuse names without a folder, and names that come twice."""
    if names and not data:
        raise InvalidParameter(
            "sets names sets of the folder data: give data as well", field="data"
        )
    for name in names:
        if names.count(name) > 1:
            raise InvalidParameter(f"sets names {name!r} twice", field="sets")


@lru_cache(maxsize=32)
def read_set(folder: str, most_tasks: int, name: str = "") -> LabelSet:
    """Read a set; of one with more tasks than ``most_tasks`` those with gold first (0: all).

    Of a worker who answered a task twice the first answer counts. It bears its folder's name unless
    it is given another.
    """
    place = Path(folder)
    called = name or place.name
    try:
        table = read_labels(place / "labels.csv", duplicates="drop")
        in_all, dropped = len(table.task_names), table.dropped
        if is_scale(table.label_names):
            numbers = len(table.label_names)
            return LabelSet(called, None, table.worker_names, in_all, dropped, numbers)
        gold = place / "gold.csv"
        table, truth = table.knowing(read_gold(gold) if gold.is_file() else {})
        contexts = place / "context.csv"
        kinds = read_contexts(contexts) if contexts.is_file() else {}
        prices = _prices(place / "workers.csv", table.worker_names)
    except (InvalidProblem, OSError) as error:
        raise InvalidParameter(f"data: {error}", field="data") from None
    if not (truth >= 0).any() or len(table.label_names) < 2:
        return LabelSet(called, None, table.worker_names, in_all, dropped)
    recording, crowd = _recorded(table, truth, kinds, prices, most_tasks or in_all)
    names = tuple(table.worker_names[at] for at in crowd)
    return LabelSet(called, recording, names, in_all, dropped)


def _prices(file: Path, workers: Sequence[str]) -> tuple[Amount, ...]:
    """Prices of the workers as the file has them; none without a file."""
    if not file.is_file():
        return ()
    head = file.read_text(encoding="utf-8-sig").partition("\n")[0].strip().split(",")
    column = next((name for name in PRICES if name in head), PRICES[0])
    known = {worker.id: worker.price for worker in read_prices(file, price=column)}
    for name in workers:
        if name not in known:
            raise InvalidProblem(f"{file} has no price for worker {name!r}", field="price")
    return tuple(known[name] for name in workers)


def _recorded(
    table: LabelTable,
    truth: Array,
    kinds: dict[str, str],
    prices: tuple[Amount, ...],
    most: int,
) -> tuple[Recording, Array]:
    """The world of this many tasks, and which workers gave an answer to one of them."""
    known = truth >= 0
    order = np.concatenate([np.flatnonzero(known), np.flatnonzero(~known)])
    kept = np.sort(order[:most])
    place = np.full(len(truth), -1)
    place[kept] = np.arange(len(kept))
    rows = np.flatnonzero(place[table.tasks] >= 0)
    crowd, workers = np.unique(table.workers[rows], return_inverse=True)
    contexts = None
    if kinds:
        named = [kinds.get(table.task_names[task], "") for task in kept]
        contexts = np.unique(named, return_inverse=True)[1]
    recording = Recording(
        place[table.tasks[rows]],
        workers,
        table.labels[rows].astype(np.int64),
        len(kept),
        len(crowd),
        len(table.label_names),
        truth[kept].astype(np.int64),
        contexts,
        tuple(prices[at] for at in crowd) if prices else (),
    )
    return recording, crowd


@lru_cache(maxsize=4)
def stand_in(priced: bool = False) -> LabelSet:
    """A small simulated set for where no data is at hand: some pairs of a malicious crowd."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, STAND_IN_TASKS)
    contexts = rng.integers(0, STAND_IN_CONTEXTS, STAND_IN_TASKS)
    full = label_tasks("malicious", truth, contexts, 2, STAND_IN_WORKERS, 0, 0)
    asked = np.argsort(rng.random((STAND_IN_TASKS, STAND_IN_WORKERS)), axis=1)
    kept = np.sort(asked[:, :STAND_IN_ANSWERS], axis=1)
    task = np.repeat(np.arange(STAND_IN_TASKS), STAND_IN_ANSWERS)
    worker = kept.ravel()
    prices = tuple(1 + at % 4 for at in range(STAND_IN_WORKERS)) if priced else ()
    recording = Recording(
        task,
        worker,
        full.label[task * STAND_IN_WORKERS + worker],
        STAND_IN_TASKS,
        STAND_IN_WORKERS,
        2,
        truth,
        contexts,
        prices,
    )
    names = tuple(f"w{at}" for at in range(STAND_IN_WORKERS))
    return LabelSet(STAND_IN, recording, names, STAND_IN_TASKS)


def chosen_sets(data: str, names: Sequence[str], most_tasks: int) -> list[LabelSet]:
    """Sets of a data folder, those named or all; without a folder the simulated one."""
    if not data:
        return [stand_in()]
    found = sets_in(data, names)
    return [read_set(str(path), most_tasks, name) for name, path in found.items()]


def named_set(data: str, name: str, most_tasks: int, priced: bool = False) -> LabelSet:
    """The set of a name, which may be that of the simulated one."""
    if name == STAND_IN:
        return stand_in(priced)
    return read_set(str(Path(data) / name), most_tasks, name)


def usable_names(sets: Iterable[LabelSet], data: str) -> list[str]:
    """Names of the sets that can be used; at least one."""
    names = [each.name for each in sets if each.recording is not None]
    if not names:
        raise InvalidParameter(
            f"data is {data!r}: no set in it has options and gold.csv", field="data"
        )
    return names


def without_contexts(recording: Recording) -> Recording:
    """The same answers with all tasks of one kind."""
    return replace(recording, contexts=None)


def told(rows: Iterable[Row]) -> dict[str, dict[str, float]]:
    """What the rows tell of each set: metric by metric."""
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        if not row.panel and row.metric in NOTES:
            found.setdefault(row.series, {})[row.metric] = row.mean
    return found


def about_sets(rows: Sequence[Row]) -> list[str]:
    """Say which sets were used and in which part, and which were left out and why."""
    known = told(rows)
    used = {name: counts for name, counts in known.items() if "tasks" in counts}
    if list(used) == [STAND_IN]:
        return [
            "No recorded answers were at hand: only a simulated stand-in is shown "
            f"({STAND_IN_TASKS} tasks in {STAND_IN_CONTEXTS} contexts, {STAND_IN_WORKERS} "
            f"malicious one-coin workers, {STAND_IN_ANSWERS} answers per task). Give a folder with "
            "--set data=FOLDER; it holds NAME/labels.csv (task,worker,label) and NAME/gold.csv "
            "(task,label) for each set, and where there are any NAME/context.csv (task,context) "
            "and NAME/workers.csv (worker,price)."
        ]
    said = []
    if part := _less(used, "tasks", "tasks_in_all"):
        said.append(
            "Of large sets only a part of the tasks is used, those with gold first: "
            f"{', '.join(part)}. most_tasks sets how many, 0 is all."
        )
    if some := _less(used, "gold", "tasks"):
        said.append(
            "Accuracy is over the tasks whose truth is known; the others take their share of the "
            f"budget all the same: {', '.join(some)}."
        )
    again = [
        f"{name} ({counts['duplicates']:,.0f})"
        for name, counts in used.items()
        if counts["duplicates"]
    ]
    if again:
        said.append(
            "Further answers of a worker to the same task are left out, the first counts: "
            f"{', '.join(again)}."
        )
    out = [
        f"{name} (its labels are {counts['distinct_numbers']:,.0f} distinct numbers, a scale)"
        if "distinct_numbers" in counts
        else f"{name} (no task's truth is known, or nobody disagrees)"
        for name, counts in known.items()
        if name not in used
    ]
    if out:
        said.append(f"Left out: {'; '.join(out)}.")
    return said


def _less(used: dict[str, dict[str, float]], few: str, many: str) -> list[str]:
    """The sets of which one metric is less than another, with both."""
    return [
        f"{name} ({counts[few]:,.0f} of {counts[many]:,.0f})"
        for name, counts in used.items()
        if counts[few] < counts[many]
    ]
