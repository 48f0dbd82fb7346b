"""A campaign as files, made piece by piece: memory does not grow with its log."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from starlette.responses import Response, StreamingResponse

from askwise.campaign import Campaign
from askwise.core.errors import UnknownName
from askwise.ledger import columns as c

T = TypeVar("T")
Maker = Callable[[Campaign], Iterator[bytes]]

ROWS = 2000
"""Rows made at a time."""

NAMELESS = "unit"
"""The task of answers that are about none, in the table of labels."""

_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20'")
"""What spreadsheets take for the beginning of a formula (also in full width), and our mark."""

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def safe_cell(text: str) -> str:
    """A cell of a CSV file that no spreadsheet takes for a formula.

    Text that begins like a formula, or with an apostrophe, gets an apostrophe before it; numbers
    stay as they are. So what was there is what follows the apostrophe, if a cell begins with one.

    Examples
    --------
    >>> [safe_cell(text) for text in ("cat", "=1+1", "-2.5", "'tis", "@me")]
    ['cat', "'=1+1", '-2.5', "''tis", "'@me"]
    """
    if text.lstrip(" ").startswith(_FORMULA) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def export(campaign: Campaign, what: str) -> Iterator[bytes]:
    """Make a file of :data:`EXPORTS` of a campaign as it is now."""
    if what not in EXPORTS:
        raise UnknownName(
            f"export {what!r} is not known: there are {', '.join(EXPORTS)}",
            field="what",
            reason="unknown_export",
        )
    return EXPORTS[what][0](campaign)


def sent_as_file(campaign: Campaign, what: str) -> Response:
    """A file of a campaign, to be saved by a browser."""
    media = "text/csv" if what.endswith(".csv") else "application/jsonl"
    headers = {"Content-Disposition": f'attachment; filename="{campaign.name}-{what}"'}
    return StreamingResponse(export(campaign, what), media_type=media, headers=headers)


def _table(columns: str, read: Callable[[Campaign], Iterable[Any]]) -> Maker:
    """Make a CSV file of what ``read`` finds, a row each."""
    head = columns.split()

    def make(campaign: Campaign) -> Iterator[bytes]:
        found = read(campaign)
        return _csv(head, _cells([getattr(each, name) for name in head] for each in found))

    return make


def _answer_lines(campaign: Campaign) -> Iterator[bytes]:
    return _lines(each.to_json() for each in campaign.answers())


def _log(campaign: Campaign) -> Iterator[bytes]:
    end = campaign.status().seq

    def events() -> Iterator[dict[str, Any]]:
        for after in range(0, end, ROWS):
            for event in campaign.log(after, min(after + ROWS, end)):
                yield event.to_json()

    return _lines(events())


def _labels(campaign: Campaign) -> Iterator[bytes]:
    with campaign.reading() as state:
        ledger, options = state.ledger, state.spec.problem.options
        size = ledger.total(c.ASSIGNMENTS)
        settled = np.flatnonzero(ledger.book.assignments[:size, c.STATUS] == c.SETTLED)
        pairs = ledger.book.assignments[settled][:, [c.TASK, c.WORKER]]
        values = ledger.book.marks[settled, c.VALUE]
        tasks, workers = ledger.tasks.copy(), ledger.workers.copy()
    about = [safe_cell(task.id) for task in tasks] or [NAMELESS]
    who = [safe_cell(worker.id) for worker in workers]
    said = [safe_cell(option) for option in options]

    def batches() -> Iterator[list[tuple[object, ...]]]:
        for at in range(0, len(pairs), ROWS):
            rows = zip(pairs[at : at + ROWS].tolist(), values[at : at + ROWS].tolist(), strict=True)
            yield [
                (about[task], who[worker], said[int(value)] if said else value)
                for (task, worker), value in rows
            ]

    return _csv(("task", "worker", "label"), batches())


def _cells(rows: Iterable[Iterable[object]]) -> Iterator[list[list[object]]]:
    """Cells that no spreadsheet takes for a formula, some rows at a time."""
    for some in _batches(rows):
        yield [[safe_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in some]


def _csv(head: Iterable[str], batches: Iterable[Iterable[Iterable[object]]]) -> Iterator[bytes]:
    """Write rows; the line ends are those of RFC 4180, so that any within a cell are quoted."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(head)
    for some in batches:
        writer.writerows(some)
        yield buffer.getvalue().encode()
        buffer.seek(0)
        buffer.truncate()
    if buffer.tell():
        yield buffer.getvalue().encode()


def _lines(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    for some in _batches(rows):
        yield "".join(json.dumps(row, allow_nan=False) + "\n" for row in some).encode()


def _batches(rows: Iterable[T]) -> Iterator[list[T]]:
    left = iter(rows)
    while some := list(islice(left, ROWS)):
        yield some


_answers = _table(
    "task value confidence rests_on certificate outcome count assured_error majority_error",
    Campaign.answers,
)
_payments = _table("worker answers paid reserved why failures", Campaign.payments)

EXPORTS: dict[str, tuple[Maker, str]] = {
    "answers.csv": (
        _answers,
        "Every task's answer, its confidence, what that rests on, what a certificate says, and "
        "outcome.",
    ),
    "answers.jsonl": (_answer_lines, "The same, as JSON Lines."),
    "labels.csv": (_labels, "Every answer given: task, worker, label."),
    "payments.csv": (_payments, "What each worker has earned."),
    "log.jsonl": (_log, "All that happened, event by event."),
}
"""The files that can be made, and what is in them."""
