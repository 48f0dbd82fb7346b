"""Write an export: its tables, ``campaign.json`` and the card, all together or not at all."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from askwise.campaign.exporting.card import card_of
from askwise.campaign.exporting.rows import ExportedCampaign, ExportRow
from askwise.campaign.exporting.schema import TABLES, types_of
from askwise.core.errors import InvalidParameter, nearest
from askwise.core.events import Event
from askwise.data.columns import arrow_modules, column_writer

FORMATS = ("parquet", "csv", "jsonl")

ROWS = 10_000
"""Rows that are written together."""


def write_folder(
    campaign: ExportedCampaign,
    log: Callable[[], Iterable[Event]],
    directory: str | os.PathLike[str],
    file_format: str,
) -> Path:
    """Write a campaign as a folder of tables; a table without rows has no file.

    Parameters
    ----------
    log : callable
        Reads the events up to the campaign's point of it, each time from the first.
    directory : path
        A folder that is not there yet, or is empty.
    file_format : str
        ``parquet``, ``csv`` or ``jsonl``.
    """
    check_format(file_format)
    with _new_folder(Path(directory)) as place:
        counts = {}
        for table in TABLES:
            path = place / f"{table}.{file_format}"
            rows = campaign.rows(table, log())
            count = _write(path, table, rows, options=bool(campaign.options))
            if count:
                counts[table] = count
        written = json.dumps(campaign.campaign_json(), ensure_ascii=False, indent=1)
        (place / "campaign.json").write_text(f"{written}\n", encoding="utf-8")
        card = card_of(campaign, counts, file_format)
        (place / "README.md").write_text(card, encoding="utf-8")
    return Path(directory)


def check_format(file_format: str) -> None:
    """Refuse a format that is not known, or that needs what is not installed."""
    if file_format not in FORMATS:
        raise InvalidParameter(
            f"format is {file_format!r}: {nearest(str(file_format), FORMATS)}", field="format"
        )
    if file_format == "parquet":
        arrow_modules()


def _write(path: Path, table: str, rows: Iterator[ExportRow], *, options: bool) -> int:
    """Write the rows of a table, and say how many there are."""
    types = types_of(table, options=options)
    some = list(islice(rows, ROWS))
    count = 0
    if not some:
        return count
    with column_writer(path, types) as add:
        while some:
            columns = zip(*some, strict=True)
            add({name: list(cells) for name, cells in zip(types, columns, strict=True)})
            count += len(some)
            some = list(islice(rows, ROWS))
    return count


@contextmanager
def _new_folder(target: Path) -> Iterator[Path]:
    """A folder to write in, which takes the target's place at the end."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidParameter(
            f"{target} exists already and is not empty: give a new folder", field="to"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield place
        if target.exists():
            target.rmdir()
        place.rename(target)
    finally:
        shutil.rmtree(place, ignore_errors=True)
