"""Files of a backup: damaged, cut off, of another format, restored by half."""

from __future__ import annotations

import gzip
import hashlib
import json
import signal
import subprocess
import sys
from contextlib import closing
from io import BytesIO
from typing import Any

import pytest

from askwise.core.errors import Conflict, StoreError
from askwise.core.events import Event, Kind
from askwise.store import Change, MemoryStore, Reply, open_store
from askwise.store.backup.file import Counts, backup, check, restore
from tests.store.backup.content import KINDS_OF_STORE, MakeUrl, content


def small() -> bytes:
    store = MemoryStore()
    store.create("cats", spec="{}", time=0.0)
    with store.write("cats") as transaction:
        transaction.append([Event(Kind.PAUSED, seq=1, key="k"), Event(Kind.RESUMED, seq=2)], 0)
        transaction.keep(Reply("k", "request", "body"))
    store.change([Change("key", "a", None, "{}")])
    file = BytesIO()
    backup(store, file, 0.0)
    return file.getvalue()


def test_a_file_that_is_cut_off_anywhere_is_refused() -> None:
    raw = small()
    for length in range(len(raw)):
        target = MemoryStore()
        with pytest.raises(StoreError, match=r"not whole|not a backup"):
            restore(target, BytesIO(raw[:length]))
        assert content(target) == ([], [])


def test_lines_that_are_cut_off_and_packed_again_are_refused() -> None:
    text = gzip.decompress(small())
    for length in range(len(text)):
        target = MemoryStore()
        with pytest.raises(StoreError, match=r"not whole|not a backup"):
            restore(target, BytesIO(gzip.compress(text[:length])))
        assert content(target) == ([], [])


def test_a_bit_that_flips_anywhere_is_noticed_or_changes_nothing() -> None:
    raw = small()
    due = MemoryStore()
    restore(due, BytesIO(raw))
    noticed = 0
    for at in range(len(raw)):
        target = MemoryStore()
        damaged = raw[:at] + bytes([raw[at] ^ 1 << at % 8]) + raw[at + 1 :]
        try:
            restore(target, BytesIO(damaged))
        except StoreError:
            noticed += 1
            assert content(target) == ([], [])
        else:  # in the packing's own header: a time, a system
            assert content(target) == content(due)
    assert noticed >= len(raw) - 10


def packed(*lines: Any, counts: Counts | None = None, more: str = "") -> BytesIO:
    """A backup with any lines and a checksum that is right."""
    head = {"askwise": "backup", "format": 1, "time": 0.0}
    text = "".join(f"{json.dumps(line)}\n" for line in (head, *lines))
    found = [next(iter(line)) for line in lines]
    right = Counts(*(found.count(what) for what in ("campaign", "event", "reply", "record")))
    end = {**(counts or right).to_json(), "sha256": hashlib.sha256(text.encode()).hexdigest()}
    return BytesIO(gzip.compress(f'{text}{{"end":{json.dumps(end)}}}\n{more}'.encode()))


CATS = {"campaign": {"name": "cats", "created": 0.0, "spec": "{}"}}

PAUSED = {"event": {"seq": 1, "kind": "PAUSED", "time": 0.0}}

LATER = {"event": {"seq": 3, "kind": "RESUMED", "time": 0.0}}

REPLY = {"reply": {"key": "k", "request": "", "body": ""}}

RECORD = {"record": {"kind": "key", "id": "a", "body": "{}"}}


@pytest.mark.parametrize("kind", KINDS_OF_STORE)
def test_a_backup_made_by_hand_is_restored(kind: str, fresh: MakeUrl) -> None:
    with closing(open_store(fresh(kind))) as store:
        assert restore(store, packed(CATS, PAUSED, REPLY, RECORD)) == Counts(1, 1, 1, 1)
        assert store.read("cats") == [Event(Kind.PAUSED, seq=1)]


@pytest.mark.parametrize(
    ("lines", "match"),
    [
        ((CATS, PAUSED, LATER), "log of campaign 'cats'.*seq 3 where 2 is due"),
        ((CATS, LATER), "seq 3 where 1 is due"),
        ((PAUSED,), "line 2.*before the first campaign"),
        ((REPLY,), "line 2.*before the first campaign"),
        ((CATS, {"event": {"seq": 1, "kind": "DANCED"}}), "line 3.*DANCED"),
        ((CATS, {"event": {"seq": 1, "kind": "PAUSED", "dance": 1}}), "line 3.*dance"),
        ((CATS, {"song": {}}), "line 3.*'song' is not known"),
        ((CATS, {"reply": {"key": 1, "request": "", "body": ""}}), "key is 1"),
        ((CATS, CATS), "'cats' exists already"),
        ((CATS, REPLY, REPLY), "key|replies"),
        ((RECORD, RECORD), "twice|records"),
        (({"campaign": {"name": "cats", "spec": ""}},), "line 2.*created"),
    ],
)
@pytest.mark.parametrize("kind", KINDS_OF_STORE)
def test_what_can_not_be_restored_leaves_an_empty_store(
    kind: str, lines: tuple[Any, ...], match: str, fresh: MakeUrl
) -> None:
    with closing(open_store(fresh(kind))) as store:
        with pytest.raises((StoreError, Conflict), match=match):
            restore(store, packed(*lines))
        assert content(store) == ([], [])


def test_counts_and_what_follows_the_last_line_are_checked() -> None:
    for file in (packed(CATS, counts=Counts(2)), packed(CATS, more="{}\n")):
        target = MemoryStore()
        with pytest.raises(StoreError, match="not whole"):
            restore(target, file)
        assert target.names() == []


def test_a_newer_format_and_other_files_are_refused() -> None:
    newer = gzip.compress(b'{"askwise":"backup","format":2}\n{"end":{}}\n')
    with pytest.raises(StoreError, match=r"format 2.*upgrade askwise"):
        check(BytesIO(newer))
    for other in (
        b"",
        b"text",
        gzip.compress(b""),
        gzip.compress(b"[]\n"),
        gzip.compress(b"a" * 9),
    ):
        with pytest.raises(StoreError, match=r"not a backup|not whole"):
            check(BytesIO(other))


def test_only_an_empty_store_is_restored_into() -> None:
    target = MemoryStore()
    target.create("dogs", "{}", 0.0)
    # Said at once, before the file is looked at.
    with pytest.raises(Conflict, match="the store is not empty"):
        restore(target, BytesIO(b""))
    target = MemoryStore()
    target.change([Change("key", "a", None, "{}")])
    with pytest.raises(Conflict, match="the store is not empty"):
        restore(target, BytesIO(small()))


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_restore_that_is_killed_leaves_an_empty_store(kind: str, fresh: MakeUrl) -> None:
    url = fresh(kind)
    script = """
import os, signal, sys
from askwise.core.events import Event, Kind
from askwise.store import Record, open_store
from askwise.store.backup.portable import Head
from askwise.store.event_rows import pack

def items():
    for name in range(3):
        yield Head(str(name), 0.0, "{}")
        yield from pack([Event(Kind.PAUSED, seq=seq) for seq in range(1, 5001)], 0)
    yield Record("key", "a", "{}")
    os.kill(os.getpid(), signal.SIGKILL)

open_store(sys.argv[1]).fill(items())
"""
    killed = subprocess.run([sys.executable, "-c", script, url], timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL
    with closing(open_store(url)) as store:
        assert content(store) == ([], [])
        assert restore(store, BytesIO(small())) == Counts(1, 2, 1, 1)
