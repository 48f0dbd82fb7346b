"""A campaign as files, made piece by piece: memory does not grow with its log."""

import csv
import io
import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from starlette.responses import Response, StreamingResponse

from askwise.campaign import Campaign
from askwise.campaign.views import Answer
from askwise.campaign.views.assignments import assignment_id
from askwise.core.errors import UnknownName
from askwise.core.events import Event, Kind
from askwise.core.money import from_micro
from askwise.ledger import columns as c
from askwise.service.pages.filters import moment_of

T = TypeVar("T")
Maker = Callable[[Campaign], Iterator[bytes]]

ROWS = 2000
"""Rows made at a time."""

PIECE = 1 << 16
"""Bytes of a finished file that are sent at a time."""

MEDIA = {"csv": "text/csv", "jsonl": "application/jsonl", "zip": "application/zip"}
"""Media types, by the endings of files."""

NAMELESS = "unit"
"""The task of answers that are about none, in the table of labels."""

_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20'")
"""What spreadsheets take for the beginning of a formula (also in full width), and our mark."""

ANSWER_COLUMNS = (
    *("task", "value", "confidence", "rests_on", "certificate", "outcome", "count"),
    *("assured_error", "majority_error", "decided_by"),
)
CALL_COLUMNS = (
    *("assignment", "time", "task", "worker", "state", "value", "why", "ceiling", "booked"),
    *("cost", "over_ceiling", "probabilities", "rationale", "reference", "revised"),
)

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
    what = FORMER.get(what, what)
    if what not in EXPORTS:
        raise UnknownName(
            f"export {what!r} is not known: there are {', '.join(EXPORTS)}",
            field="what",
            reason="unknown_export",
        )
    return EXPORTS[what][0](campaign)


def sent_as_file(campaign: Campaign, what: str) -> Response:
    """A file of a campaign, to be saved by a browser."""
    media = MEDIA.get(what.rpartition(".")[2])
    headers = {"Content-Disposition": f'attachment; filename="{campaign.name}-{what}"'}
    return StreamingResponse(export(campaign, what), media_type=media, headers=headers)


def _table(columns: str, read: Callable[[Campaign], Iterable[Any]]) -> Maker:
    """Make a CSV file of what ``read`` finds, a row each; a time is written in words."""
    head = columns.split()

    def cells(each: Any) -> list[Any]:
        return [_time(each.time) if name == "time" else getattr(each, name) for name in head]

    def make(campaign: Campaign) -> Iterator[bytes]:
        return _csv(head, _cells(map(cells, read(campaign))))

    return make


def _read_as(campaign: Campaign) -> dict[str, str]:
    """What workers read in place of options' names; empty where they read the names themselves."""
    options = () if campaign.content is None else campaign.content.options
    differ = any(option.label != option.name for option in options)
    return {option.name: option.label for option in options} if differ else {}


def _answers(campaign: Campaign) -> Iterator[bytes]:
    labels = _read_as(campaign)
    head = [*ANSWER_COLUMNS, *(["option_label"] if labels else [])]
    rows = (
        [*(getattr(each, name) for name in ANSWER_COLUMNS), *_label_of(each.value, labels)]
        for each in campaign.answers()
    )
    return _csv(head, _cells(rows))


def _label_of(value: object, labels: dict[str, str]) -> list[str | None]:
    return [labels.get(value) if isinstance(value, str) else None] if labels else []


def _answer_lines(campaign: Campaign) -> Iterator[bytes]:
    labels = _read_as(campaign)
    return _lines(
        {**each.to_json(), **({"option_label": _label_of(each.value, labels)[0]} if labels else {})}
        for each in campaign.answers()
    )


def _results(campaign: Campaign) -> Iterator[bytes]:
    """Each task as it was given, with its label."""
    labels, found = _read_as(campaign), campaign.answers()
    with campaign.reading() as state:
        given = {task.id: _payload_cells(task.payload) for task in state.ledger.tasks}
    fields = list(dict.fromkeys(name for cells in given.values() for name in cells))
    own = ("value", "confidence", "rests_on", "certificate", "outcome", "count", "decided_by")
    ours = ("task", *own, *(["option_label"] if labels else []))
    theirs = (f"payload_{name}" if name in ours else name for name in fields)

    def row(answer: Answer) -> Iterator[object]:
        cells = given.get(answer.task or "", {})
        yield answer.task
        yield from (cells.get(name) for name in fields)
        yield from (_rounded(getattr(answer, name)) for name in own)
        yield from _label_of(answer.value, labels)

    return _csv(("task", *theirs, *ours[1:]), _cells(row(each) for each in found))


def _rounded(value: object) -> object:
    """A number as people read it, to six significant digits; anything else as it is."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _payload_cells(payload: object) -> dict[str, object]:
    """What is shown of a task, by field: text and numbers as they are, the rest as JSON."""
    if payload is None:
        return {}
    if not isinstance(payload, dict):
        payload = {"text" if isinstance(payload, str) else "payload": payload}
    return {
        name: json.dumps(value) if isinstance(value, dict | list | bool) else value
        for name, value in payload.items()
    }


def _events(campaign: Campaign) -> Iterator[Event]:
    """The log up to now, which is when this is called; read piece by piece."""
    end = campaign.status().seq
    return (
        event
        for after in range(0, end, ROWS)
        for event in campaign.log(after, min(after + ROWS, end))
    )


def _log(campaign: Campaign) -> Iterator[bytes]:
    return _lines(event.to_json() for event in _events(campaign))


def _calls(campaign: Campaign) -> Iterator[bytes]:
    log = _events(campaign)
    with campaign.reading() as state:
        last = {asked: seqs[-1] for asked, seqs in state.ledger.changes.items()}
    changes = {event.assignment: event for event in campaign.events(last.values())}

    def rows() -> Iterator[list[object]]:
        ceilings: dict[int, int | None] = {}
        for event in log:
            if event.kind == Kind.ASKED:
                ceilings[event.seq] = event.price
            elif event.kind == Kind.DECLINED and event.assignment is not None:
                del ceilings[event.assignment]
            elif event.kind in (Kind.ANSWER, Kind.FAILED) and event.assignment is not None:
                ceiling, change = ceilings.pop(event.assignment), changes.get(event.assignment)
                yield [*_call_cells(campaign.name, event, ceiling, change)]

    return _csv(CALL_COLUMNS, _cells(rows()))


def _call_cells(
    name: str, event: Event, ceiling: int | None, change: Event | None
) -> Iterator[object]:
    """One row of :data:`CALL_COLUMNS`: what became of a question, and what it cost.

    ``change`` is the last change of its answer: what is said there counts.
    """
    said = event if change is None else change
    yield assignment_id(name, event.assignment or 0)
    yield _time(event.time)
    yield from (event.task, event.worker)
    yield _STATES[said.kind]
    yield from (said.value, said.why)
    yield from (None if each is None else from_micro(each) for each in (ceiling, event.price))
    yield None if event.cost is None else from_micro(event.cost)
    yield "yes" if event.over_ceiling else None
    yield None if said.probabilities is None else json.dumps(said.probabilities)
    yield from (said.rationale, said.reference)
    yield None if change is None else _time(change.time)


_STATES = {Kind.FAILED: "failed", Kind.WITHDRAWN: "withdrawn"} | dict.fromkeys(
    (Kind.ANSWER, Kind.REVISED), "answered"
)
"""What has become of a call, by the last event about it."""


def _votes(campaign: Campaign) -> Iterator[bytes]:
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


_payments = _table(
    "worker answers paid reserved why failures bonus earned paid_out owed overpaid answers_since "
    "last_paid currency",
    Campaign.payments,
)
_payouts = _table("worker owed currency answers since until", Campaign.due)


def _time(seconds: float) -> str | float:
    moment = moment_of(seconds)
    return seconds if moment is None else f"{moment:%Y-%m-%dT%H:%M:%SZ}"


_payout_history = _table("time worker amount currency on reference by", Campaign.payouts)
_bonuses = _table("time worker amount currency why by", Campaign.bonuses)


def _all_tables(campaign: Campaign) -> Iterator[bytes]:
    """Every table of the campaign in one file, which is made on the disk and then sent."""
    with tempfile.TemporaryDirectory(prefix="askwise-export-") as folder:
        place = campaign.export(Path(folder, campaign.name), "jsonl")
        packed = Path(folder, "tables.zip")
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(place.iterdir()):
                archive.write(path, f"{place.name}/{path.name}")
        with packed.open("rb") as file:
            while piece := file.read(PIECE):
                yield piece


EXPORTS: dict[str, tuple[Maker, str]] = {
    "results.csv": (
        _results,
        "Every task with its text and whatever else it was given, its label, how sure that is, and "
        "who set it by hand, if anyone did.",
    ),
    "answers.csv": (
        _answers,
        "Every task's answer, its confidence, what that rests on, what a certificate says, "
        "outcome, and who set the label by hand, if anyone did.",
    ),
    "answers.jsonl": (_answer_lines, "The same, as JSON Lines."),
    "calls.csv": (
        _calls,
        "Every answer, as it was changed last, and every failed call: its worker, what it cost and "
        "its ceiling, why it failed, its rationale and reference, when it was changed.",
    ),
    "votes.csv": (_votes, "Every answer given: task, worker, label."),
    "payments.csv": (_payments, "What each worker has earned, and how much of it was paid out."),
    "payouts.csv": (_payouts, "What to pay now: a row for every worker who is owed something."),
    "payout-history.csv": (_payout_history, "What was marked as paid, and when."),
    "bonuses.csv": (_bonuses, "What was given as a bonus, and why."),
    "log.jsonl": (_log, "All that happened, event by event."),
    "tables.zip": (
        _all_tables,
        "The whole campaign as tables (JSON Lines): tasks, workers, decisions with their "
        "propensities, answers, payments, payouts and events, with a card that describes them.",
    ),
}
"""The files that can be made, and what is in them."""

FORMER = {"labels.csv": "votes.csv"}
"""Names under which programs may still ask for a file: these are no labels but single answers."""
