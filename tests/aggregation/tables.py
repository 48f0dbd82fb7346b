"""Tables of answers that the tests share: drawn by hypothesis, drawn from a seed, and recorded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from askwise.aggregation import LabelAggregator, aggregation
from tests.paths import DATA

SMALL = ("rte", "wsd", "bluebird")
LARGE = ("temp", "dog", "labelme", "music", "sentiment", "product", "adult", "fact_eval", "trec",
         "relevance", "llmbar", "api_ferplus")  # fmt: skip

METHODS = tuple(
    name for name in aggregation.names() if issubclass(aggregation.get(name), LabelAggregator)
)
"""Everything registered that labels tables of answers."""


def recorded(name: str) -> Any:
    return pd.read_csv(DATA / name / "labels.csv")


def drawn(
    seed: int, tasks: int, crowd: int, classes: int, each: int, low: float = 0.4
) -> tuple[Any, Any]:
    """Answers of workers of different accuracy (``each`` a task), and the truths."""
    rng = np.random.default_rng(seed)
    truths = rng.integers(classes, size=tasks)
    accuracy = rng.uniform(low, 0.95, size=crowd)
    rows = []
    for task, truth in enumerate(truths):
        for worker in rng.choice(crowd, size=each, replace=False):
            wrong = (truth + 1 + rng.integers(max(1, classes - 1))) % classes
            rows.append((task, worker, truth if rng.random() < accuracy[worker] else wrong))
    table = pd.DataFrame(rows, columns=["task", "worker", "label"])
    return table, pd.Series(truths, index=pd.RangeIndex(tasks, name="task"))


@st.composite
def tables(draw: Any, most: int = 6, repeats: bool = True) -> Any:
    """Small tables of any shape: one task, one worker, one class, gaps, answers given twice."""
    tasks = draw(st.integers(1, most))
    crowd = draw(st.integers(1, most))
    classes = draw(st.integers(1, 4))
    row = st.tuples(
        st.integers(0, tasks - 1), st.integers(0, crowd - 1), st.integers(0, classes - 1)
    )
    unique = None if repeats else (lambda each: each[:2])
    rows = draw(st.lists(row, min_size=1, max_size=4 * most, unique_by=unique))
    return pd.DataFrame(
        [(f"t{task}", f"w{worker}", "abcd"[label]) for task, worker, label in rows],
        columns=["task", "worker", "label"],
    )
