"""Records of TruLens: the data frame of ``get_records_and_feedback``, written to a file.

A row is a record, and each feedback function has a column with its score from 0 to 1. Beside that
column there are others of the same name with ``_calls``, and in newer versions ``direction``, which
says whether high scores are the good ones. Scores of people are columns like all others.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from askwise.data.evaluations.files import read_records, refuse_other_format
from askwise.data.evaluations.ratings import Export, Rating, number, text

CALLS, DIRECTION, PART = "_calls", " direction", ":::"
"""What follows a feedback function's name: its calls, its direction, one of several results."""

OF_RECORDS = (
    *("app_id", "app_json", "app_name", "app_version", "type", "record_id", "input", "output"),
    *("tags", "record_json", "cost_json", "perf_json", "ts", "latency", "total_tokens"),
    *("total_cost", "cost_currency", "num_events", "events"),
)
"""Columns that are not feedback."""

HINT = "a column of scores that you name with people_metric"

WANTED = "the records with their feedback, with the column record_id and one a feedback function"


def read(path: Path, named: Sequence[str] = ()) -> Export:
    """Read the scores of every record.

    Parameters
    ----------
    named : sequence of str
        Columns to read as feedback functions even if the table has no calls of theirs.
    """
    rows = read_records(path, ("record_id",))
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if "record_id" not in columns:
        raise refuse_other_format(path, "TruLens", WANTED)
    called = [name.removesuffix(CALLS) for name in columns if name.endswith(CALLS)]

    def is_feedback(name: str) -> bool:
        # Without any calls, nothing tells scores from other numbers: all that could be scores.
        return name.split(PART)[0] in called if called else _are_scores(rows, name)

    metrics = [
        name for name in columns if name not in OF_RECORDS and (name in named or is_feedback(name))
    ]
    left_out: Counter[str] = Counter()
    ratings = []
    for row in rows:
        task = text(row.get("record_id"))
        if task is None:
            left_out["rows without a record_id"] += 1
            continue
        for metric in metrics:
            # A feedback function that was not run yet, or failed, has left no score.
            high = text(row.get(metric.split(PART)[0] + DIRECTION)) not in ("False", "false", "0")
            ratings.append(
                Rating(task, metric, score=number(row.get(metric)), lower_passes=not high)
            )
    return Export(ratings, left_out, HINT)


def _are_scores(rows: Sequence[dict[str, object]], name: str) -> bool:
    found = [number(row.get(name)) for row in rows if text(row.get(name)) is not None]
    return bool(found) and all(score is not None and 0.0 <= score <= 1.0 for score in found)
