"""Commands that keep a store safe: one file out of it, and back."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from askwise.cli import output
from askwise.cli.examples import examples
from askwise.cli.opening import leave_compiler_out, open_store
from askwise.cli.options import DEFAULT_STORE, AsJson, StoreUrl, argument, switch
from askwise.cli.progress import narrated, progress
from askwise.core.errors import InvalidParameter

if TYPE_CHECKING:
    from askwise.store import Store
    from askwise.store.backup.file import Counts

STREAM = "-"
"""Standard input or output."""

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS)


@examples("askwise backup campaigns.jsonl.gz")
def backup(
    file: str = argument("FILE", "The file to write; - is standard output."),
    store: StoreUrl = DEFAULT_STORE,
    force: bool = switch("--force", "Overwrite the file if it exists."),
    as_json: AsJson = False,
) -> None:
    """Copy all campaigns and records to one file, while they are in use.

    Snapshots are left out: they only save time, and are made again when needed.
    """
    from time import time

    from askwise.store.backup.file import backup as write

    with (
        closing(open_store(store)) as opened,
        _new_file(file, force) as out,
        progress(quiet=as_json, compiles=False) as tell,
    ):
        counts = write(opened, out, time(), partial(tell, "events"))
        moved = _moved_out(opened)
    if moved and not as_json:
        words = "whose logs were moved to files by askwise archive --to: keep those too"
        print(f"not in the backup: {', '.join(moved)}, {words}", file=sys.stderr)
    with redirect_stdout(sys.stderr) if file == STREAM else nullcontext():
        _say(file, counts, as_json=as_json)


@examples("askwise restore backup.jsonl.gz --store sqlite:///elsewhere.sqlite")
def restore(
    file: str = argument(
        "FILE", "A file that backup or archive wrote; - reads a backup from standard input."
    ),
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Fill an empty store from a backup, completely or not at all.

    The file is checked before anything is written, and each campaign's log is folded before it is
    kept. The backup may come from another kind of store, so this also moves campaigns from SQLite
    to PostgreSQL and back. A file that archive wrote brings back its one campaign; the store need
    not be empty then.
    """
    leave_compiler_out()
    if file != STREAM and _is_archive(Path(file)):
        _bring_back(file, store, as_json=as_json)
        return
    from askwise.campaign.checking import folded
    from askwise.store.backup.file import restore as read

    with (
        closing(open_store(store)) as opened,
        _old_file(file) as source,
        progress(quiet=as_json, compiles=False) as tell,
    ):
        counts = read(opened, source, partial(tell, "check"), partial(tell, "restore"), folded)
    _say(file, counts, as_json=as_json)


def _moved_out(store: Store) -> list[str]:
    """Campaigns whose logs are in files of their own."""
    from askwise.store.archive.base import Archiving

    return sorted(store.archived()) if isinstance(store, Archiving) else []


def _is_archive(path: Path) -> bool:
    from askwise.store.archive.parquet import is_archive

    return path.is_file() and is_archive(path)


def _bring_back(file: str, store: str, *, as_json: bool) -> None:
    from askwise.campaign.archiving import bring_back
    from askwise.store.backup.file import Counts

    with closing(open_store(store)) as opened, narrated(quiet=as_json) as say:
        say(f"reading {file}")
        found = bring_back(opened, Path(file))
    _say(file, Counts(1, found.events, found.replies, 0), as_json=as_json)


def _say(file: str, counts: Counts, *, as_json: bool) -> None:
    found: dict[str, Any] = {"file": file, **counts.to_json()}
    if as_json:
        output.show_json(found)
    elif output.for_people():
        columns = ("file", *(f">{name}" for name in counts.to_json()))
        output.show_records(columns, [tuple(found.values())])
    else:
        for fact in found.items():
            output.line(*fact)


@contextmanager
def _new_file(name: str, force: bool) -> Iterator[BinaryIO]:
    """A file to write, which is there under its name once it is whole and on the disk."""
    if name == STREAM:
        if sys.stdout.isatty():
            raise InvalidParameter(
                "a backup is not text: give a file, or send standard output to one", field="file"
            )
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(name)
    if path.is_dir():
        raise InvalidParameter(f"{path} is a directory: give a file", field="file")
    if not path.parent.is_dir():
        raise InvalidParameter(
            f"there is no directory {path.parent}: create it first", field="file"
        )
    if path.exists() and not force:
        raise _exists(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        # For its owner alone: it holds what the store holds.
        with open(temporary, "xb", opener=partial(os.open, mode=0o600)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _put(temporary, path, force)
    finally:
        temporary.unlink(missing_ok=True)


def _put(temporary: Path, path: Path, force: bool) -> None:
    """Give a file its name; without force never in the place of another."""
    if force:
        os.replace(temporary, path)
    else:
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise _exists(path) from None
        except OSError as error:
            # A file system without links: then between these two another may appear.
            if error.errno not in _NO_LINKS:
                raise
            if path.exists():
                raise _exists(path) from None
            os.replace(temporary, path)
    _sync_directory(path.parent)


def _sync_directory(directory: Path) -> None:
    if os.name != "posix":  # elsewhere a directory can't be opened
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _exists(path: Path) -> InvalidParameter:
    return InvalidParameter(
        f"{path} exists: give another file, or --force to overwrite it", field="file"
    )


@contextmanager
def _old_file(name: str) -> Iterator[BinaryIO]:
    """A file to read, twice if need be."""
    if name != STREAM:
        with open(name, "rb") as file:
            yield file
        return
    if sys.stdin.isatty():
        raise InvalidParameter("a backup is not text: give a file", field="file")
    with tempfile.TemporaryFile() as kept:
        shutil.copyfileobj(sys.stdin.buffer, kept)
        yield kept
