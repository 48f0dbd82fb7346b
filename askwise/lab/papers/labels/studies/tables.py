"""The tables of paper 002, section 5.1, as tasks: truth by label, contexts by k-means."""

import contextlib
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter
from askwise.data.columns import read_columns

STARTS = 50
"""Starts of k-means; the best is kept."""

OPENML = ("api.openml.org", 443)

SIMULATED = "simulated"


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper: its contexts, its workers, and its name on OpenML."""

    contexts: int
    workers: int
    openml: str


SOURCES = {
    "ionosphere": PaperTable(3, 30, "ionosphere"),
    "breast": PaperTable(4, 40, ""),
    "pima": PaperTable(5, 50, "diabetes"),
}
"""In the paper's order."""


@dataclass(frozen=True)
class TaskTable:
    """Tasks: the truth, the context of each, and how many workers there are."""

    truth: Array
    contexts: Array
    workers: int

    def by_cluster(self) -> float:
        """Accuracy of giving every task the most frequent label of its context."""
        right = 0
        for context in range(int(self.contexts.max()) + 1):
            inside = self.truth[self.contexts == context]
            right += int(np.bincount(inside, minlength=2).max()) if len(inside) else 0
        return right / len(self.truth)


def at_hand(data: str) -> list[str]:
    """The tables that can be had, in the paper's order; a simulated one if there is none."""
    found = [name for name in SOURCES if _features(data, name) is not None]
    return found or [SIMULATED]


@lru_cache(maxsize=8)
def table(data: str, name: str) -> TaskTable:
    """A table with its contexts."""
    if name == SIMULATED:
        return simulated_table(400, 4, 40)
    read = _features(data, name)
    if read is None:
        raise InvalidParameter(
            f"table {name!r} is not at hand: put it into DATA/uci/{name}.csv", field="data"
        )
    features, truth = read
    contexts = clusters(features, SOURCES[name].contexts)
    return TaskTable(truth, contexts, SOURCES[name].workers)


def simulated_table(tasks: int, contexts: int, workers: int, options: int = 2) -> TaskTable:
    """Tasks with contexts in turn, in each of which one option is more frequent than others."""
    rng = np.random.default_rng(0)
    kinds = np.arange(tasks) % contexts
    usual = rng.random(tasks) < 0.4
    drawn = rng.integers(0, options, tasks)
    return TaskTable(np.where(usual, kinds % options, drawn), kinds, workers)


def clusters(features: Array, count: int) -> Array:
    """K-means on standardised features: the best of many starts, the same on every run."""
    from scipy.cluster.vq import kmeans2

    spread = features.std(axis=0)
    standard = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    best, found = np.inf, np.zeros(len(features), np.int64)
    for start in range(STARTS):
        centres, places = kmeans2(
            standard, count, minit="++", iter=100, missing="warn", seed=np.random.default_rng(start)
        )
        error = float(((standard - centres[places]) ** 2).sum())
        if error < best - 1e-9 and len(np.unique(places)) == count:
            best, found = error, places.astype(np.int64)
    return found


@lru_cache(maxsize=8)
def _features(data: str, name: str) -> tuple[Array, Array] | None:
    """Features and labels of a table: from the folder, from scikit-learn, or from OpenML."""
    file = Path(data) / "uci" / f"{name}.csv" if data else None
    if file is not None and file.is_file():
        return _read(file)
    with contextlib.suppress(ImportError):
        return _bundled() if name == "breast" else _downloaded(SOURCES[name].openml)
    return None


def _read(file: Path) -> tuple[Array, Array]:
    try:
        head = file.read_text(encoding="utf-8-sig").partition("\n")[0].strip().split(",")
        columns = read_columns(file, [name.strip() for name in head]).cells
        values = np.array([[float(cell) for cell in column] for column in columns.values()]).T
    except (ValueError, OSError) as error:
        raise InvalidParameter(f"data: {file}: {error}", field="data") from None
    return values[:, :-1], _coded(values[:, -1])


def _bundled() -> tuple[Array, Array]:
    from sklearn.datasets import load_breast_cancer  # type: ignore[import-not-found]

    features, labels = load_breast_cancer(return_X_y=True)
    return features, _coded(labels)


def _downloaded(name: str) -> tuple[Array, Array] | None:
    """A table of OpenML; None without a network, or if it is not to be had."""
    from sklearn.datasets import fetch_openml

    try:
        # Without this a machine that has no network would wait for minutes.
        socket.create_connection(OPENML, timeout=3.0).close()
        found: Any = fetch_openml(name, version=1, as_frame=False, parser="liac-arff")
    except (OSError, ValueError, RuntimeError):
        return None
    return found.data.astype(np.float64), _coded(found.target)


def _coded(labels: Any) -> Array:
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def absent(names: Sequence[str]) -> list[str]:
    """Say which tables of the paper were not at hand, and how to give them."""
    missing = [name for name in SOURCES if name not in names]
    if not missing:
        return []
    instead = (
        "a simulated table of 400 tasks in 4 contexts stands in"
        if list(names) == [SIMULATED]
        else "the others are shown"
    )
    return [
        f"{', '.join(missing)} {'was' if len(missing) == 1 else 'were'} not at hand; {instead}. "
        "Give a folder with --set data=FOLDER that holds uci/NAME.csv (a header, the label last); "
        "pip install 'askwise[uci]' brings breast, and the others where there is a network."
    ]
