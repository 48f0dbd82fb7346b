"""A whole store in one file that moves to any store: JSON lines, gzipped, with a checksum.

The first line says what the file is. Then comes each campaign, its events and its replies, then
the records. The last line has the counts and the SHA-256 of all lines before it, so that a file
that was cut off or damaged is told from a whole one. Snapshots are left out: they are a cache of
the log, and are made again. So are records of passing kinds: who runs a campaign, and the replies
of models that are kept so that the same call is not paid twice.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, islice
from typing import Any, BinaryIO

from askwise.core.errors import StoreError
from askwise.core.events import Event
from askwise.core.jsonable import Jsonable
from askwise.store import errors
from askwise.store.backup.portable import CHUNK, Head, Item, portable
from askwise.store.base import Reply, Store
from askwise.store.event_rows import EventRow, encode, pack
from askwise.store.records import NOT_BACKED_UP, Record, whole

FORMAT = 1
_END = b'{"end":'
_LEVEL = 6
_LONGEST_HEAD = 1_000
_KINDS: dict[type, str] = {Head: "campaign", EventRow: "event", Reply: "reply", Record: "record"}

Tell = Callable[[int, int], None]
"""Hears how much is done, and of how much."""


def _nobody(done: int, of: int) -> None:
    """Hear nothing."""


@dataclass(slots=True)
class Counts(Jsonable):
    """What is in a backup."""

    campaigns: int = 0
    events: int = 0
    replies: int = 0
    records: int = 0

    def add(self, what: str) -> None:
        """Count one more of it."""
        name = "replies" if what == "reply" else f"{what}s"
        setattr(self, name, getattr(self, name) + 1)


def backup(store: Store, file: BinaryIO, time: float, tell: Tell = _nobody) -> Counts:
    """Write all campaigns and records of a store to a file, as they are at one moment.

    Others may write meanwhile. Memory does not grow with the logs.

    Parameters
    ----------
    store : Store
        What to copy.
    file : binary file
        Where it goes.
    time : float
        When it was made, in seconds since 1970; noted in the file.
    tell : callable
        Hears how many events of how many are written.

    Raises
    ------
    StoreError
        The store is empty: as a rule it is not the one that was meant.

    Examples
    --------
    >>> from io import BytesIO
    >>> from askwise.store import MemoryStore
    >>> store, copy, file = MemoryStore(), MemoryStore(), BytesIO()
    >>> store.create("cats", spec="{}", time=0.0)
    >>> backup(store, file, time=0.0)
    Counts(campaigns=1, events=0, replies=0, records=0)
    >>> restore(copy, file)
    Counts(campaigns=1, events=0, replies=0, records=0)
    >>> copy.names()
    ['cats']
    """
    source = portable(store, "backed up")
    total = sum(store.position(name) for name in store.names())
    with source.contents() as whole_store:
        items = (item for item in whole_store if not _passes(item))
        first = next(items, None)
        if first is None:
            raise StoreError(
                "there is nothing in the store to back up: check that it is the one you mean",
                field="store",
                reason="store_empty",
            )
        # Without a name and a time of its own: equal stores at equal times give equal files.
        with gzip.GzipFile("", "wb", compresslevel=_LEVEL, fileobj=file, mtime=0) as packed:
            out = _Out(packed)
            out.put([encode({"askwise": "backup", "format": FORMAT, "time": time})])
            counts = _write(chain([first], items), out, partial(_tell_on, tell, total))
            end = {**counts.to_json(), "sha256": out.sum.hexdigest()}
            out.put([encode({"end": end})])
    return counts


def _passes(item: Item) -> bool:
    return isinstance(item, Record) and item.kind in NOT_BACKED_UP


def check(file: BinaryIO, tell: Tell = _nobody) -> Counts:
    """Read a backup through to its end, compare its checksum, and tell what it says is in it.

    Raises
    ------
    StoreError
        It is not a backup, is of a newer askwise, was cut off, or was changed.
    """
    counts = Counts()
    for _ in _lines(file, counts, tell):
        pass
    return counts


def restore(
    store: Store,
    file: BinaryIO,
    checking: Tell = _nobody,
    tell: Tell = _nobody,
    through: Callable[[Iterator[Item]], Iterator[Item]] = iter,
) -> Counts:
    """Fill an empty store from a backup, in one transaction: wholly or not at all.

    Parameters
    ----------
    store : Store
        The store to fill.
    file : binary file
        The backup; it is read twice, and checked before anything is written.
    checking, tell : callable
        Hear how many bytes of how many are read, the first and the second time.
    through : callable
        Sees all that is restored on its way into the store, and raises what it will not have there.

    Raises
    ------
    Conflict
        The store is not empty.
    StoreError
        As of :func:`check`, or something in it can't be read or does not follow on.
    """
    target = portable(store, "restored into")
    if store.names():  # said before a long file is checked; looked at again under the lock
        raise errors.not_empty()
    check(file, checking)
    due, counts = Counts(), Counts()
    target.fill(through(_items(_lines(file, due, tell), due, counts)))
    return counts


def _write(items: Iterator[Item], out: _Out, tell: Callable[[int], None]) -> Counts:
    counts = Counts()
    while piece := list(islice(items, CHUNK)):
        out.put(_line(item, counts) for item in piece)
        tell(counts.events)
    return counts


def _tell_on(tell: Tell, total: int, done: int) -> None:
    tell(done, max(done, total))  # others may have appended since they were counted


def _line(item: Item, counts: Counts) -> str:
    what = _KINDS[type(item)]
    counts.add(what)
    if isinstance(item, EventRow):
        return _event_line(item)
    return encode({what: item._asdict() if isinstance(item, Head) else asdict(item)})


def _event_line(row: EventRow) -> str:
    """The event as ``Event.to_json`` has it, without taking its body apart."""
    columns = f'"seq":{row.seq},"kind":{encode(row.kind)},"time":{encode(row.time)}'
    key = "" if row.key is None else f',"key":{encode(row.key)}'
    rest = "" if row.body == "{}" else f",{row.body[1:-1]}"
    return f'{{"event":{{{columns}{key}{rest}}}}}'


class _Out:
    """Writes lines and sums them up."""

    def __init__(self, file: gzip.GzipFile) -> None:
        self.file = file
        self.sum = hashlib.sha256()

    def put(self, lines: Iterable[str]) -> None:
        raw = "".join(f"{line}\n" for line in lines).encode()
        self.sum.update(raw)
        self.file.write(raw)


def _lines(file: BinaryIO, counts: Counts, tell: Tell) -> Iterator[bytes]:
    """Give the lines between the first and the last; complain at the end if they are not whole.

    ``counts`` is then what the last line says.
    """
    size = file.seek(0, 2)
    file.seek(0)
    digest = hashlib.sha256()
    last = b""
    try:
        with gzip.GzipFile(fileobj=file) as packed:
            digest.update(_first(packed))
            for number, line in enumerate(packed):
                if last:
                    raise _damaged("there is more after its last line")
                if line.startswith(_END):
                    last = line
                    continue
                digest.update(line)
                yield line
                if number % CHUNK == 0:
                    tell(file.tell(), size)
    except EOFError:
        raise _damaged("it was cut off") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise _damaged(str(error)) from error
    _check_last(last, counts, digest.hexdigest())
    tell(size, size)


def _first(packed: gzip.GzipFile) -> bytes:
    try:
        line = packed.readline(_LONGEST_HEAD)
        head = json.loads(line)
        ours = head["askwise"] == "backup" and isinstance(head["format"], int)
    except (gzip.BadGzipFile, ValueError, KeyError, TypeError):
        ours = False
    if not ours:
        raise _bad("the file is not a backup of askwise: give another")
    if head["format"] > FORMAT:
        raise StoreError(
            f"the backup has format {head['format']} and this askwise knows up to {FORMAT}: "
            "upgrade askwise",
            field="file",
            reason="newer_version",
        )
    return line


def _check_last(line: bytes, counts: Counts, digest: str) -> None:
    if not line.endswith(b"\n"):
        raise _damaged("it was cut off")
    try:
        end = json.loads(line)["end"]
        due = end.pop("sha256")
        for name, count in end.items():
            setattr(counts, name, int(count))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _damaged("its last line can't be read") from None
    if due != digest:
        raise _damaged("its checksum is not what its last line says")


def _bad(message: str) -> StoreError:
    return StoreError(message, field="file", reason="bad_backup")


def _damaged(why: str) -> StoreError:
    words = "nothing of it was restored; take another copy of it"
    return _bad(f"the backup is not whole ({why}): {words}")


def _items(lines: Iterable[bytes], due: Counts, counts: Counts) -> Iterator[Item]:
    """Read the lines; ``due`` is complete with the last, and ``counts`` has to be the same."""
    reading = _Reading(counts)
    for number, line in enumerate(lines, 2):
        try:
            item = reading.item(json.loads(line))
        except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
            raise _bad(
                f"line {number} of the backup can't be read ({type(error).__name__}: {error}): "
                "nothing of it was restored"
            ) from error
        yield item
    if counts != due:
        raise _damaged(f"it has {counts}, its last line says {due}")


class _Reading:
    """Takes line by line, and knows of which campaign."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self.name = ""
        self.last = 0

    def item(self, line: dict[str, Any]) -> Item:
        ((what, raw),) = line.items()
        if what not in _KINDS.values():
            raise ValueError(f"{what!r} is not known")
        if what in ("event", "reply") and not self.counts.campaigns:
            raise ValueError(f"{what} before the first campaign")
        self.counts.add(what)
        if what == "campaign":
            (self.name, spec), self.last = _texts(raw, "name", "spec"), 0
            return Head(self.name, float(raw["created"]), spec)
        if what == "record":
            return Record(*_texts(raw, "kind", "id", "body"))
        if what == "reply":
            return Reply(*_texts(raw, "key", "request", "body"))
        return self._row(Event.from_json(raw))

    def _row(self, event: Event) -> EventRow:
        try:
            (row,) = pack([event], self.last)
        except StoreError as error:  # there is a gap, above all
            raise _bad(
                f"the log of campaign {self.name!r} in the backup is not whole ({error}): nothing "
                "of it was restored"
            ) from error
        self.last += 1
        return row


def _texts(raw: dict[str, Any], *fields: str) -> list[str]:
    for field in fields:
        # An older askwise let NUL in; what is restored from it is not checked for that.
        whole(raw[field].replace("\0", "") if isinstance(raw[field], str) else raw[field], field)
    return [raw[field] for field in fields]
