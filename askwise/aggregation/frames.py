"""Tables of answers as pandas objects, to codes and back."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from askwise.aggregation.answers import Answers, Kin, code_answers, code_workers, kin_of
from askwise.aggregation.features import FORETOLD, Features, features_of
from askwise.aggregation.fitted import Fitted
from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter, nearest
from askwise.core.shown import load_pandas

COLUMNS = ("task", "worker", "label")
OF_WORKERS = ("worker", "kind", "family")


class Names(NamedTuple):
    """What the codes stand for, each a pandas Index."""

    tasks: Any
    workers: Any
    labels: Any


def code_frame(
    data: Any, gold: Any = None, contexts: Any = None, workers: Any = None
) -> tuple[Answers, Names]:
    """Code a table with the columns task, worker and label; names are sorted."""
    pandas = load_pandas()
    codes: dict[str, Array] = {}
    names: dict[str, Any] = {}
    for column in COLUMNS:
        codes[column], names[column] = _coded(pandas, data, column)
    if len({len(each) for each in codes.values()}) != 1:
        lengths = ", ".join(f"{name} {len(each)}" for name, each in codes.items())
        raise InvalidParameter(f"data has columns of different length: {lengths}", field="data")
    labels, truths = names["label"], None
    if gold is not None:
        found = _by_task(pandas, gold, "gold", names["task"])
        labels = _with_gold(labels, found)
        codes["label"] = labels.get_indexer(names["label"])[codes["label"]]
        truths = np.full(len(names["task"]), -1)
        truths[names["task"].get_indexer(found.index)] = labels.get_indexer(found.to_numpy())
    kinds = None
    if contexts is not None:
        found = _by_task(pandas, contexts, "contexts", names["task"]).reindex(names["task"])
        if found.isna().any():
            raise InvalidParameter(
                f"contexts lacks task {_plain(found.index[found.isna()][0])!r}: give every task's",
                field="contexts",
            )
        kinds = pandas.factorize(found, sort=True)[0]
    said = None if workers is None else _said_of(pandas, workers, names["worker"])
    of_workers = (None, None) if said is None else code_workers(list(names["worker"]), said)
    answers = code_answers(
        *(codes["task"], codes["worker"], codes["label"]),
        truths=truths,
        contexts=kinds,
        classes=len(labels),
        kinds=of_workers[0],
        families=of_workers[1],
    )
    return answers, Names(names["task"], names["worker"], labels)


def _coded(pandas: Any, data: Any, column: str) -> tuple[Array, Any]:
    """Codes of a column, and the sorted names behind them."""
    known = _columns_of(data, "data", "task, worker and label")
    if column not in known:
        raise InvalidParameter(
            f"data has no column {column!r}: its columns are {', '.join(map(str, known))}; "
            "it needs task, worker and label",
            field=column,
        )
    values = pandas.Series(data[column]).reset_index(drop=True)
    if len(values) == 0:
        raise InvalidParameter("data has no rows: give at least one answer", field="data")
    try:
        codes, names = _dense(values) or pandas.factorize(values, sort=True)
    except TypeError:
        raise InvalidParameter(
            f"column {column!r} mixes kinds of values that can't be sorted: make them all text",
            field=column,
        ) from None
    if (codes < 0).any():
        raise InvalidParameter(
            f"column {column!r} is empty in row {int(np.argmax(codes < 0))} (counted from 0): "
            "fill it or drop the row",
            field=column,
        )
    return codes, pandas.Index(names, name=column)


def _columns_of(table: Any, field: str, wanted: str) -> Any:
    """The names of a table's columns."""
    if not isinstance(table, Mapping) and not hasattr(table, "columns"):
        raise InvalidParameter(
            f"{field} is a {type(table).__name__}: give a DataFrame, or a mapping of columns, "
            f"with {wanted}",
            field=field,
        )
    return table.columns if hasattr(table, "columns") else table


def _said_of(pandas: Any, workers: Any, known: Any) -> dict[Any, Kin]:
    """What a table says of workers; empty cells say nothing."""
    columns = _columns_of(workers, "workers", "worker and, if wanted, kind and family")
    for column in columns:
        if column not in OF_WORKERS:
            raise InvalidParameter(
                f"workers has a column {column!r}: {nearest(str(column), OF_WORKERS)}",
                field=str(column),
            )
    if "worker" not in columns:
        raise InvalidParameter("workers has no column 'worker': name them", field="worker")
    table = pandas.DataFrame({name: pandas.Series(workers[name]) for name in columns})
    said: dict[Any, Kin] = {}
    for row in table.astype(object).where(table.notna(), None).to_dict("records"):
        name = row["worker"]
        if name is None:
            raise InvalidParameter("workers has a row without a worker: name them", field="worker")
        if name in said:
            raise InvalidParameter(f"workers names {_plain(name)!r} twice", field="worker")
        said[name] = kin_of(name, row.get("kind"), row.get("family"))
    if said and not any(name in said for name in known):
        raise InvalidParameter(
            f"workers has nobody in common with data: its first is {_plain(next(iter(said)))!r}, "
            f"data's first is {_plain(known[0])!r}",
            field="workers",
        )
    return said


def code_features(features: Any, tasks: Any) -> Features:
    """Features of tasks as an array; refuses what is ragged, no number, or of unknown tasks."""
    pandas = load_pandas()
    if hasattr(features, "columns"):
        table = features.set_index("task") if "task" in features.columns else features
        given = list(zip(table.index, table.itertuples(index=False, name=None), strict=True))
    elif isinstance(features, Mapping):
        given = list(features.items())
    else:
        raise InvalidParameter(
            f"features is a {type(features).__name__}: give a DataFrame with a row for each task, "
            "or a mapping of task to numbers",
            field="features",
        )
    index = pandas.Index(tasks)
    places = index.get_indexer([task for task, _ in given])
    return features_of(given, places.tolist(), _plain(tasks[0]))


def _dense(values: Any) -> tuple[Array, Array] | None:
    """Code whole numbers that lie close together, by a table; None for others."""
    if not isinstance(values.dtype, np.dtype) or values.dtype.kind not in "iu":
        return None
    numbers = values.to_numpy()
    low, high = int(numbers.min()), int(numbers.max())
    if high - low > 4 * len(numbers) or high >= 2**62 or low <= -(2**62):
        return None
    shifted = numbers.astype(np.int64)
    shifted -= low
    given = np.zeros(high - low + 1, bool)
    given[shifted] = True
    if given.all():
        return shifted, np.arange(low, high + 1).astype(numbers.dtype)
    codes = np.cumsum(given, dtype=np.int64)[shifted]
    codes -= 1
    return codes, (np.flatnonzero(given) + low).astype(numbers.dtype)


def _by_task(pandas: Any, given: Any, field: str, tasks: Any) -> Any:
    """A Series by task, without tasks that nobody answered."""
    if hasattr(given, "columns"):
        column = "label" if field == "gold" else "context"
        for name in ("task", column):
            if name not in given.columns:
                raise InvalidParameter(
                    f"{field} has no column {name!r}: its columns are "
                    f"{', '.join(map(str, given.columns))}; it needs task and {column}",
                    field=name,
                )
        # A frame of all tasks has empty cells where nothing is known.
        given = given.dropna(subset=[column]).set_index("task")[column]
    try:
        found = pandas.Series(given)
    except (TypeError, ValueError) as error:
        raise InvalidParameter(
            f"{field} is not a mapping of task to value ({error})", field=field
        ) from None
    if found.index.has_duplicates:
        twice = found.index[found.index.duplicated()][0]
        raise InvalidParameter(
            f"{field} names task {_plain(twice)!r} twice: keep one of them", field=field
        )
    if len(found) and found.isna().any():
        empty = _plain(found.index[found.isna()][0])
        raise InvalidParameter(
            f"{field} of task {empty!r} is empty: leave the task out", field=field
        )
    here = found[found.index.isin(tasks)]
    if len(found) and not len(here):
        raise InvalidParameter(
            f"{field} has no task in common with data: its first is {_plain(found.index[0])!r}, "
            f"data's first is {_plain(tasks[0])!r}",
            field=field,
        )
    return here


def _plain(value: Any) -> Any:
    """A value as Python has it: messages show 1 and not np.int64(1)."""
    return value.item() if isinstance(value, np.generic) else value


def _with_gold(labels: Any, gold: Any) -> Any:
    """Labels given, and those that only a truth is."""
    new = gold[~gold.isin(labels)].unique()
    if len(gold) and len(new) == gold.nunique():
        raise InvalidParameter(
            f"gold has no label in common with data: it has {_plain(new[0])!r}, "
            f"data has {_plain(labels[0])!r}",
            field="gold",
        )
    return labels.union(new).rename("label") if len(new) else labels


def learned_frames(answers: Answers, fitted: Fitted, names: Names) -> dict[str, Any]:
    """What was found, in names: the attributes of `askwise.aggregation.Learned`."""
    pandas = load_pandas()
    tasks, workers, labels = names
    if len(fitted.counts) > len(workers):
        # The last is what features foretell.
        name = FORETOLD if FORETOLD not in workers else f"{FORETOLD} of tasks"
        workers = pandas.Index([*workers, name], name="worker")
    low, high = fitted.interval
    named = labels.take(fitted.labels)
    errors = None
    if fitted.errors is not None:
        rows = [workers.take(fitted.errors.workers), labels.take(fitted.errors.labels)]
        index = pandas.MultiIndex.from_arrays(rows, names=["worker", "label"])
        errors = pandas.DataFrame(fitted.errors.chances, index=index, columns=labels)
    return {
        "labels_": pandas.Series(named, index=tasks, name="label"),
        "confidence_": pandas.Series(fitted.confidence, index=tasks, name="confidence"),
        "probas_": pandas.DataFrame(fitted.probabilities, index=tasks, columns=labels),
        "workers_": pandas.DataFrame(
            {
                "worker": workers,
                "answers": fitted.counts,
                "quality": fitted.quality,
                "low": low,
                "high": high,
                **fitted.of_workers,
            }
        ),
        "tasks_": pandas.DataFrame(
            {
                "task": tasks,
                "answers": answers.per_task,
                "label": named,
                "confidence": fitted.confidence,
                **fitted.of_tasks,
            }
        ),
        "errors_": errors,
        "rests_on_": fitted.rests_on,
        "iterations_": fitted.iterations,
        "converged_": fitted.converged,
    }
