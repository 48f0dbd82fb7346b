"""Scores of Langfuse: rows of its table of scores, as CSV, JSON or JSON Lines.

A score is about a trace, or about an observation within one. Its source says who gave it: people
(ANNOTATION), a judge that Langfuse runs (EVAL) or a program of yours (API). Names of columns are
written as in the export to a store (``trace_id``) or as in the API (``traceId``).
"""

from collections import Counter
from pathlib import Path

from askwise.data.evaluations.files import JsonRecord, read_records, refuse_other_format
from askwise.data.evaluations.ratings import Export, Rating, number, text

HINT = "scores whose source is ANNOTATION"

KINDS = ("NUMERIC", "CATEGORICAL", "BOOLEAN")
"""Types of scores that are verdicts; others are free text."""

WANTED = "the table of scores, with name, value, source and trace_id (or traceId)"


def read(path: Path) -> Export:
    """Read a table of scores."""
    rows = read_records(path, ("name", "value", "source", "trace_id"), ("data", "scores"))
    if not any("name" in row and ("value" in row or _field(row, "string_value")) for row in rows):
        raise refuse_other_format(path, "Langfuse", WANTED)
    left_out: Counter[str] = Counter()
    ratings = []
    for row in rows:
        task, name = _task(row), text(row.get("name"))
        if task is None:
            left_out["scores of no trace"] += 1
        elif name is None:
            left_out["scores without a name"] += 1
        elif (kind := _kind(row)) not in KINDS:
            left_out[f"scores of type {kind}"] += 1
        else:
            person = (text(row.get("source")) or "").upper() == "ANNOTATION"
            author = _field(row, "author_user_id") or "annotator"
            # The number of a category is only its place in a list.
            score = None if kind == "CATEGORICAL" else number(row.get("value"))
            label = _label(row, kind)
            ratings.append(Rating(task, name, author if person else None, person, score, label))
    return Export(ratings, left_out, HINT)


def _task(row: JsonRecord) -> str | None:
    trace, part = _field(row, "trace_id"), _field(row, "observation_id")
    return f"{trace}/{part}" if trace and part else trace


def _kind(row: JsonRecord) -> str:
    return (_field(row, "data_type") or "NUMERIC").upper()


def _label(row: JsonRecord, kind: str) -> str | None:
    """What a category or a yes or no says; None of a number."""
    if kind == "BOOLEAN":
        value = number(row.get("value"))
        return None if value is None else str(value != 0.0)
    said = _field(row, "string_value")
    # The API has the category of a score in its value too.
    return said or text(row.get("value")) if kind == "CATEGORICAL" else None


def _field(row: JsonRecord, name: str) -> str | None:
    """A field, in either way of writing its name."""
    first, *rest = name.split("_")
    camel = first + "".join(word.capitalize() for word in rest)
    return text(row.get(name, row.get(camel)))
