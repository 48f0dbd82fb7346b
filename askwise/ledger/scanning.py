"""Bodies of events, as stores keep them, read into numbers by a kernel.

Most of a long log are decisions, questions and answers. Their JSON is as ``Event.to_json`` and the
stores write it: compact, in ASCII. Whatever else is met is left to who calls, one event at a time.
"""

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from askwise.kernels import Array, step
from askwise.ledger import kinds as k
from askwise.ledger.columns import PLAN_COUNT, PLAN_TASK, PLAN_WORKER
from askwise.ledger.transitions import AT_PRICE

# Columns of `lines`, as in an Entry; ROWS is how many rows a decision has.
KIND, TASK, WORKER, NUMBER, NOTE, COST, ROWS = range(7)

NEWLINE, BLANK, QUOTE, COMMA, MINUS, ZERO, NINE, COLON = (ord(each) for each in '\n ",-09:')
OPENS, BACKSLASH, CLOSES, NULL, BEGINS, ENDS = (ord(each) for each in "[\\]n{}")

# The fields that are looked at, in the order of their names in `FIELDS`.
(F_TASK, F_WORKER, F_ASSIGNMENT, F_VALUE, F_EXPIRES, F_NOTE, F_ROWS, F_COST) = range(8)
FIELDS = ("task", "worker", "assignment", "value", "expires", "note", "rows", "cost")

# What a scan has used up of its room: rows of decisions, bytes and number of floats, lines left.
USED_ROWS, USED_BYTES, USED_FLOATS, USED_LEFT = range(4)


MISSING = -2
"""Stands for the number of a note that a decision must have."""


class NameTable(NamedTuple):
    """Names as they are written in JSON, found by their bytes.

    ``spans`` are the ends of each in ``text``; ``slots`` is a table with open addressing, whose
    length is a power of two and at least twice the number of names.
    """

    text: Array
    spans: Array
    slots: Array


class Scan(NamedTuple):
    """What a scan writes: lines with their values, rows with their odds, and what is left to do.

    ``floats`` are numbers still as text, a blank after each, and ``goals`` where each belongs: a
    line's value, or from -1 downward a row's odds. ``left`` are the lines that were not read.
    """

    lines: Array
    values: Array
    rows: Array
    odds: Array
    floats: Array
    goals: Array
    left: Array
    used: Array


@step
def end_of_string(text: Array, at: int) -> int:
    """The place after a string that begins at ``at``; -1 if it does not, or not end in its line."""
    if int(text[at]) != QUOTE:
        return -1
    at += 1
    while at < len(text):
        sign = int(text[at])
        if sign == QUOTE:
            return at + 1
        if sign == NEWLINE:
            return -1
        at += 2 if sign == BACKSLASH else 1
    return -1


@step
def end_of_value(text: Array, at: int) -> int:
    """The place after whatever value begins at ``at``; -1 if the line ends within it."""
    depth = 0
    while at < len(text):
        sign = int(text[at])
        if sign == QUOTE:
            at = end_of_string(text, at)
            if at < 0 or depth == 0:
                return at
            continue
        if sign in (OPENS, BEGINS):
            depth += 1
        elif sign in (CLOSES, ENDS):
            if depth == 0:
                return at
            depth -= 1
            if depth == 0:
                return at + 1
        elif sign == COMMA and depth == 0:
            return at
        elif sign == NEWLINE:
            return -1
        at += 1
    return -1


@step
def slot_of(text: Array, begin: int, end: int, slots: Array) -> int:
    """Where the search for a name starts."""
    found = 17
    for at in range(begin, end):
        found = (31 * found + int(text[at])) & 0x7FFFFFFF
    # Names often differ in their last digits alone: let those tell apart in all bits.
    found = ((found ^ (found >> 15)) * 0x2C1B3C6D) & 0x7FFFFFFF
    return (found ^ (found >> 12)) & (len(slots) - 1)


@step
def place_of(text: Array, begin: int, end: int, names: Array, spans: Array, slots: Array) -> int:
    """The number of a name; -1 if it is not in the table."""
    at = slot_of(text, begin, end, slots)
    while slots[at] >= 0:
        place = slots[at]
        first = spans[place, 0]
        if spans[place, 1] - first == end - begin:
            same = 0
            while same < end - begin and names[first + same] == text[begin + same]:
                same += 1
            if same == end - begin:
                return int(place)
        at = (at + 1) & (len(slots) - 1)
    return -1


def fill_table(text: Array, spans: Array, slots: Array) -> None:
    """Take in the names of a JSON list of strings."""
    at, count = 1, 0
    while at < len(text) and int(text[at]) == QUOTE:
        end = end_of_string(text, at)
        spans[count, 0], spans[count, 1] = at + 1, end - 1
        slot = slot_of(text, at + 1, end - 1, slots)
        while slots[slot] >= 0:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = count
        count += 1
        at = end + 1


@step
def whole_number(text: Array, at: int, end: int) -> int:
    """A number without sign, point or exponent; -1 if it is something else."""
    if end <= at or end - at > 18:
        return -1
    found = 0
    for place in range(at, end):
        digit = int(text[place]) - ZERO
        if digit < 0 or digit > 9:
            return -1
        found = 10 * found + digit
    return found


@step
def put_float(text: Array, at: int, end: int, out: Scan, goal: int) -> bool:
    """Put a number aside for who can read it exactly."""
    first = int(text[at])
    if first != MINUS and (first < ZERO or first > NINE):
        return False
    to = out.used[USED_BYTES]
    for place in range(at, end):
        out.floats[to] = text[place]
        to += 1
    out.floats[to] = BLANK
    out.used[USED_BYTES] = to + 1
    out.goals[out.used[USED_FLOATS]] = goal
    out.used[USED_FLOATS] += 1
    return True


@step
def scan_rows(text: Array, at: int, tasks: NameTable, workers: NameTable, out: Scan) -> int:
    """Read the rows of a decision; returns the place after them, or -1."""
    if int(text[at]) != OPENS:
        return -1
    at += 1
    while int(text[at]) == OPENS:
        row = out.used[USED_ROWS]
        end = end_of_value(text, at + 1)
        task = -1
        if end < 0:
            return -1
        if int(text[at + 1]) != NULL:
            task = place_of(text, at + 2, end - 1, tasks.text, tasks.spans, tasks.slots)
            if task < 0 or int(text[at + 1]) != QUOTE:
                return -1
        at = end + 1
        end = end_of_string(text, at)
        if end < 0:
            return -1
        worker = place_of(text, at + 1, end - 1, workers.text, workers.spans, workers.slots)
        at = end + 1
        end = end_of_value(text, at)
        if worker < 0 or end < 0:
            return -1
        count = whole_number(text, at, end)
        at = end + 1
        end = end_of_value(text, at)
        if count < 0 or end < 0 or int(text[end]) != CLOSES:
            return -1
        out.odds[row] = np.nan
        if int(text[at]) != NULL and not put_float(text, at, end, out, -1 - row):
            return -1
        out.rows[row, PLAN_TASK], out.rows[row, PLAN_WORKER] = task, worker
        out.rows[row, PLAN_COUNT] = count
        out.used[USED_ROWS] = row + 1
        at = end + 1
        if int(text[at]) == COMMA:
            at += 1
    return at + 1 if int(text[at]) == CLOSES else -1


@step
def scan_body(
    text: Array,
    at: int,
    kind: int,
    line: int,
    fields: NameTable,
    tasks: NameTable,
    workers: NameTable,
    options: NameTable,
    notes: NameTable,
    codes: Array,
    out: Scan,
) -> bool:
    """Read one event; False if that is left to others."""
    task, worker, number, note = -1, -1, -1, codes[len(codes) - 1]
    first, has_value = out.used[USED_ROWS], False
    value = np.inf if kind == k.ASKED else np.nan
    if int(text[at]) != BEGINS:
        return False
    at += 1
    while int(text[at]) != ENDS:
        end = end_of_string(text, at)
        if end < 0 or int(text[end]) != COLON:
            return False
        field = place_of(text, at + 1, end - 1, fields.text, fields.spans, fields.slots)
        at = end + 1
        if field == F_ROWS:
            end = scan_rows(text, at, tasks, workers, out)
        else:
            end = end_of_value(text, at)
        if end < 0 or field == F_COST:
            return False
        string = int(text[at]) == QUOTE
        if field == F_TASK:
            task = place_of(text, at + 1, end - 1, tasks.text, tasks.spans, tasks.slots)
            if task < 0 or not string:
                return False
        elif field == F_WORKER:
            worker = place_of(text, at + 1, end - 1, workers.text, workers.spans, workers.slots)
            if worker < 0 or not string:
                return False
        elif field == F_NOTE and len(notes.spans) > 0:
            place = place_of(text, at + 1, end - 1, notes.text, notes.spans, notes.slots)
            if place < 0 or not string:
                return False
            note = codes[place]
        elif field == F_ASSIGNMENT:
            number = whole_number(text, at, end)
        elif field == F_VALUE and kind == k.ANSWER and string:
            place = place_of(text, at + 1, end - 1, options.text, options.spans, options.slots)
            if place < 0:
                return False
            value, has_value = float(place), True
        elif (field == F_VALUE and kind == k.ANSWER) or (field == F_EXPIRES and kind == k.ASKED):
            has_value = True
            if not put_float(text, at, end, out, line):
                return False
        at = end
        if int(text[at]) == COMMA:
            at += 1
    if kind == k.DECIDED:
        if note == MISSING:
            return False
        number, worker = first, -1
    elif worker < 0 or (kind == k.ANSWER and (number < 0 or not has_value)):
        return False
    out.lines[line, KIND] = kind
    # An answer's task is that of its assignment.
    out.lines[line, TASK] = task if kind == k.ASKED else -1
    out.lines[line, WORKER] = worker
    out.lines[line, NUMBER] = -1 if kind == k.ASKED else number
    out.lines[line, NOTE] = note if kind == k.DECIDED else 0
    out.lines[line, COST] = AT_PRICE
    out.lines[line, ROWS] = out.used[USED_ROWS] - first
    out.values[line] = value
    return True


def scan_bodies(
    text: Array,
    kinds: Array,
    fields: NameTable,
    tasks: NameTable,
    workers: NameTable,
    options: NameTable,
    notes: NameTable,
    codes: Array,
    out: Scan,
) -> None:
    """Read all bodies, one per line of ``text``.

    ``codes`` has the number of each note and, in the end, that of none; where ``notes`` is empty,
    all have that one.
    """
    at, used = 0, out.used
    for line in range(len(kinds)):
        kind = kinds[line]
        common = kind == k.ASKED or kind == k.ANSWER or kind == k.DECIDED
        before_rows, before_bytes = used[USED_ROWS], used[USED_BYTES]
        before_floats = used[USED_FLOATS]
        if not common or not scan_body(
            text, at, kind, line, fields, tasks, workers, options, notes, codes, out
        ):
            used[USED_ROWS], used[USED_BYTES] = before_rows, before_bytes
            used[USED_FLOATS] = before_floats
            out.left[used[USED_LEFT]] = line
            used[USED_LEFT] += 1
        while int(text[at]) != NEWLINE:
            at += 1
        at += 1


def empty_table(names: Sequence[str]) -> NameTable:
    """Room for a table of names, for ``fill_table``; the first of them is number 0."""
    text = np.frombuffer(json.dumps(names, separators=(",", ":")).encode(), np.uint8)
    spans = np.empty((len(names), 2), np.int64)
    slots = np.full(2 << len(names).bit_length(), -1, np.int64)
    return NameTable(text, spans, slots)


def room_for(text: Array, count: int) -> Scan:
    """Room for what a scan of this many bodies writes."""
    most = int(np.count_nonzero(text == OPENS))
    return Scan(
        lines=np.zeros((count, 7), np.int64),
        values=np.empty(count),
        rows=np.empty((most, 3), np.int64),
        odds=np.empty(most),
        floats=np.empty(len(text), np.uint8),
        goals=np.empty(count + most, np.int64),
        left=np.empty(count, np.int64),
        used=np.zeros(4, np.int64),
    )


def take_floats(out: Scan) -> None:
    """Read the numbers that a scan has put aside, and put them where they belong."""
    goals = out.goals[: out.used[USED_FLOATS]]
    text = out.floats[: out.used[USED_BYTES]].tobytes().decode()
    # As `float` reads them: to the last bit.
    found = np.fromstring(text, sep=" ") if len(goals) else np.empty(0)
    assert len(found) == len(goals), "what was put aside are numbers"
    of_lines = goals >= 0
    out.values[goals[of_lines]] = found[of_lines]
    out.odds[-1 - goals[~of_lines]] = found[~of_lines]


NO_NAMES = empty_table([])
"""Has the types of every table."""
