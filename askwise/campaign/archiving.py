"""Finished campaigns moved out of a store into Parquet files, and brought back.

A campaign leaves its store in three steps: its content is written to a file, the file is read back
and folded to the same state as the log, and then one transaction removes the log and notes where it
is. Until that transaction has committed the store is unchanged, so an interruption loses nothing:
the next attempt finds the file and goes on from there.
"""

import os
import secrets
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from askwise.campaign import folding
from askwise.campaign.checking import folded
from askwise.campaign.revisions import substitutes
from askwise.campaign.spec import Spec
from askwise.campaign.state import CampaignState
from askwise.campaign.views.status import Status, status
from askwise.campaign.writer import Writer
from askwise.core.errors import Conflict, InvalidParameter, StoreError
from askwise.core.events import Kind
from askwise.ledger.entries import REVISES
from askwise.store import Store
from askwise.store.archive import parquet
from askwise.store.archive.base import ArchiveNote, Archiving, Digest, archiving, head_of
from askwise.store.event_rows import EventRow, columns_of, unpack


def archive(store: Store, name: str, directory: Path, time: float) -> ArchiveNote:
    """Move the log of a campaign that was stopped, or archived, to ``directory``/NAME.parquet.

    Parameters
    ----------
    time : float
        When this is, in seconds since 1970; noted in the store.

    Returns
    -------
    ArchiveNote
        What the store keeps of it.

    Raises
    ------
    Conflict
        It is neither stopped nor archived, assignments are open, or it was written to meanwhile.
    InvalidParameter
        There is no such directory, or a file of this name with something else in it.
    StoreError
        The file does not fold to the state of the log, or the store can't archive.
    """
    source = archiving(store)
    if not directory.is_dir():
        raise InvalidParameter(f"there is no directory {directory}: create it first", field="to")
    writer = Writer(store, name, Spec.from_json(store.spec(name)), lambda: time)
    state = writer.current()
    seen = status(name, state)
    _check_finished(seen)
    file = directory.absolute() / f"{name}.parquet"
    digest = _digest_of(source, name)
    if file.exists():
        _check_same(file, digest)
    else:
        _write(source, name, file, digest)
    _check_folds(file, state)
    note = ArchiveNote(
        str(file), digest.sha256, digest.events, digest.replies, time, seen.to_json()
    )
    source.take_out(name, note)
    return note


def bring_back(store: Store, file: Path) -> Digest:
    """Bring an archived campaign back from its file, which is left as it is.

    Returns
    -------
    Digest
        What was in the file.

    Raises
    ------
    Conflict
        The store has a campaign of this name that is not archived.
    StoreError
        The file is damaged, or its log does not fold. Nothing is changed then.
    """
    target = archiving(store)
    digest = Digest()
    for item in folded(parquet.read(file)):
        digest.add(item)
    # Read a second time: the whole file is checked before anything is kept.
    target.bring_back(parquet.read(file))
    return digest


def _check_finished(seen: Status) -> None:
    if seen.pending:
        raise Conflict(
            f"campaign {seen.name!r} has {seen.pending} open assignments: wait for their answers, "
            "or expire them, before you archive it",
            field="name",
        )
    if seen.state != "stopped" and not seen.archived:
        raise Conflict(
            f"campaign {seen.name!r} is {seen.state}: stop it before you archive it "
            f"(askwise stop {seen.name})",
            field="name",
        )


def _digest_of(source: Archiving, name: str) -> Digest:
    digest = Digest()
    with source.content(name) as items:
        for item in items:
            digest.add(item)
    return digest


def _write(source: Archiving, name: str, file: Path, digest: Digest) -> None:
    """Write the file, which is there under its name once it is whole and on the disk."""
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(4)}.tmp")
    try:
        with source.content(name) as items:
            head = head_of(items)
            again = Digest()
            again.add(head)
            # For its owner alone: it holds what the store holds.
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            parquet.write(temporary, head, digest.sha256, again.over(items))
        if again.sha256 != digest.sha256:
            raise Conflict(
                f"campaign {name!r} was written to meanwhile: archive it again",
                field="name",
                reason="log_moved",
            )
        _sync(temporary)
        os.replace(temporary, file)
        _sync(file.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    if path.is_dir() and os.name != "posix":  # elsewhere a directory can't be opened
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _check_same(file: Path, digest: Digest) -> None:
    """Refuse a file that an interrupted attempt did not leave."""
    if not parquet.is_archive(file) or parquet.look(file).sha256 != digest.sha256:
        raise InvalidParameter(
            f"{file} exists and has other content: move it away, or give another directory",
            field="to",
        )


def _check_folds(file: Path, state: CampaignState) -> None:
    """Refuse a file whose log does not fold to this state."""
    again = CampaignState(state.spec)
    changes = (row for row in _rows(file) if Kind[row.kind] in REVISES)
    again.substitutes = substitutes(unpack([*changes]))
    for stretch in _stretches(_rows(file)):
        folding.fold(again, columns_of(stretch))
    if again.seq != state.seq or again.freeze()() != state.freeze()():
        raise StoreError(
            f"{file} does not fold to the state of the campaign: it stays in the store; remove the "
            "file and try again",
            field="to",
        )


def _rows(file: Path) -> Iterator[EventRow]:
    return (item for item in parquet.read(file) if isinstance(item, EventRow))


def _stretches(rows: Iterable[EventRow]) -> Iterator[list[EventRow]]:
    source = iter(rows)
    while stretch := list(islice(source, folding.STRETCH)):
        yield stretch
