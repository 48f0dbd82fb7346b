"""One campaign in a Parquet file: its events and replies as rows, the rest as metadata.

Other programs read the file as a table: ``seq``, ``kind``, ``time``, ``key`` and ``body`` (the rest
of an event, as JSON). The rows after the last event are the replies to keyed writes: they have no
``seq``, and what was asked is in ``request``.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from askwise.core.errors import InvalidParameter, StoreError
from askwise.store.archive.base import Digest
from askwise.store.backup.portable import CHUNK, Head, Item
from askwise.store.base import Reply
from askwise.store.event_rows import EventRow, encode

MAGIC = b"PAR1"
"""What a Parquet file begins with."""

FORMAT = 1
_META = b"askwise"


class ArchivedFile(NamedTuple):
    """What the metadata of a file says."""

    head: Head
    sha256: str


def write(file: Path, head: Head, sha256: str, items: Iterable[Item]) -> None:
    """Write a campaign, without its head among ``items``, some rows at a time."""
    pa, pq = _pyarrow()
    meta = {"format": FORMAT, "head": list(head), "sha256": sha256}
    schema = _schema(pa).with_metadata({_META: encode(meta).encode()})
    source = iter(items)
    with pq.ParquetWriter(file, schema, compression="zstd") as out:
        while rows := [_row(item) for item in islice(source, 10 * CHUNK)]:
            out.write_table(pa.Table.from_pylist(rows, schema=schema))


def look(file: Path) -> ArchivedFile:
    """Read what the metadata says.

    Raises
    ------
    StoreError
        It is not an archive, or one of a newer askwise.
    """
    with _opened(file) as table:
        return _said(file, table)


def read(file: Path) -> Iterator[Item]:
    """Read a campaign, head first, and compare its digest at the end.

    Raises
    ------
    StoreError
        The file is damaged, or is no archive.
    """
    with _opened(file) as table:
        head, sha256 = _said(file, table)
        digest = Digest()
        digest.add(head)
        yield head
        for batch in table.iter_batches(CHUNK):
            yield from digest.over(_item(row) for row in batch.to_pylist())
    if digest.sha256 != sha256:
        raise _bad(f"{file} is damaged: its content does not have the digest that it names")


def is_archive(file: Path) -> bool:
    """Whether a file begins as Parquet does."""
    with file.open("rb") as source:
        return source.read(len(MAGIC)) == MAGIC


def _row(item: Item) -> dict[str, Any]:
    if isinstance(item, Reply):
        return {"key": item.key, "body": item.body, "request": item.request}
    assert isinstance(item, EventRow)
    return item._asdict()


def _item(row: dict[str, Any]) -> Item:
    if row["seq"] is None:
        return Reply(row["key"], row["request"], row["body"])
    return EventRow(row["seq"], row["kind"], row["time"], row["key"], row["body"])


@contextmanager
def _opened(file: Path) -> Iterator[Any]:
    pa, pq = _pyarrow()
    try:
        with pq.ParquetFile(file) as table:
            yield table
    except (pa.ArrowException, OSError) as error:
        raise _bad(f"{file} can't be read ({' '.join(str(error).split())})") from error


def _said(file: Path, table: Any) -> ArchivedFile:
    raw = (table.schema_arrow.metadata or {}).get(_META)
    if raw is None:
        raise _bad(f"{file} is not an archive of askwise: give a file that askwise archive wrote")
    said = json.loads(raw)
    if said["format"] != FORMAT:
        raise StoreError(
            f"{file} has format {said['format']}, and this askwise knows {FORMAT}: use a newer one",
            field="file",
            reason="newer_version",
        )
    return ArchivedFile(Head(*said["head"]), said["sha256"])


def _bad(message: str) -> StoreError:
    return StoreError(f"{message}; nothing was changed", field="file", reason="bad_backup")


def _schema(pa: Any) -> Any:
    text = pa.string()
    columns = {"seq": pa.int64(), "kind": text, "time": pa.float64(), "key": text}
    return pa.schema(columns | {"body": text, "request": text})


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InvalidParameter(
            "archives are Parquet files, which need pyarrow: pip install 'askwise[tables]'"
        ) from None
    return pa, pq
