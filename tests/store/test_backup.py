"""A store in a file and back: whole, on any store, while others write."""

from __future__ import annotations

import gzip
import hashlib
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from io import BytesIO
from itertools import count, groupby
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise import Campaign
from askwise.core.choices import Batch
from askwise.core.errors import Conflict, StoreError
from askwise.core.events import Event, Kind
from askwise.store import Change, MemoryStore, Portable, Reply, Snapshot, Store, open_store
from askwise.store.backup.file import Counts, backup, check, restore
from askwise.testing.sessions import comparable
from askwise.testing.stores import sample_events
from tests.campaign.runner import run, value_of
from tests.store.campaigner import create
from tests.store.test_processes import let_go, start, wait_until_ready
from tests.store.test_side_by_side import BODIES, CONTENTS, IDS, KINDS, NUMBERS, TEXT

KINDS_OF_STORE = ("memory", "sqlite", "postgres")

MakeUrl = Callable[[str], str]


@pytest.fixture
def fresh(tmp_path: Path, request: pytest.FixtureRequest) -> MakeUrl:
    """The url of an empty store of a kind; there is one PostgreSQL database, emptied each time."""
    numbers = count()

    def make(kind: str) -> str:
        if kind == "sqlite":
            return f"sqlite:///{tmp_path}/{next(numbers)}.sqlite"
        if kind == "memory":
            return "memory"
        url: str = request.getfixturevalue("postgres_url")
        with closing(psycopg.connect(url, autocommit=True)) as raw:
            raw.execute("SET client_min_messages = warning")
            raw.execute("DROP SCHEMA IF EXISTS askwise CASCADE")
        return url

    return make


CAMPAIGNS = st.dictionaries(
    TEXT,
    st.tuples(
        NUMBERS,
        TEXT,
        st.lists(CONTENTS, max_size=4),
        st.dictionaries(TEXT, st.tuples(TEXT, TEXT), max_size=3),
    ),
    max_size=3,
)
RECORDS = st.dictionaries(
    st.tuples(KINDS, IDS.filter(bool)), BODIES.filter(lambda body: body is not None), max_size=4
)


def fill(store: Store, campaigns: dict[str, Any], records: dict[tuple[str, str], Any]) -> None:
    for name, (time, spec, contents, replies) in campaigns.items():
        store.create(name, spec, time)
        with store.write(name) as transaction:
            transaction.append([Event(seq=seq, **each) for seq, each in enumerate(contents, 1)], 0)
            for key, (request, body) in replies.items():
                transaction.keep(Reply(key, request, body))
    store.change([Change(*place, None, body) for place, body in records.items()])


def content(store: Portable) -> tuple[Any, ...]:
    """Everything that a backup has to bring back."""
    with store.contents() as items:
        return [*items], [store.read(name) for name in store.names()]


def copy(source: Store, target: Store) -> Counts:
    file = BytesIO()
    written = backup(source, file, 1.5)
    assert check(file) == written
    assert restore(target, file) == written
    return written


@pytest.mark.parametrize("target", KINDS_OF_STORE)
@pytest.mark.parametrize("source", KINDS_OF_STORE)
def test_a_backup_moves_between_all_stores(source: str, target: str, fresh: MakeUrl) -> None:
    file = BytesIO()
    with closing(open_store(fresh(source))) as store:
        store.create("ä 猫", spec='{"a": "\1\ufdd0"}', time=0.1 + 0.2)
        store.create("empty", spec="{}", time=-1e-300)
        events = sample_events()
        with store.write("ä 猫") as transaction:
            transaction.append(events, 0)
            transaction.keep(Reply("k\1", "request\ufdd0", "naïve \1"))
        store.save("ä 猫", Snapshot(3, "v", b"blob"))
        store.change([Change("key", "a\2", None, "{}"), Change("hook", "猫\1", None, "\ufdd00")])
        found = content(store)
        assert backup(store, file, 1.5) == Counts(2, len(events), 1, 2)
    with closing(open_store(fresh(target))) as store:
        assert restore(store, file) == Counts(2, len(events), 1, 2)
        assert content(store) == found
        assert store.snapshot("ä 猫", "v") is None
        again = BytesIO()
        backup(store, again, 1.5)
        assert gzip.decompress(again.getvalue()) == gzip.decompress(file.getvalue())


@given(campaigns=CAMPAIGNS, records=RECORDS)
@settings(max_examples=settings.default.max_examples // 2)
def test_whatever_is_in_a_store_comes_back(
    campaigns: dict[str, Any], records: dict[tuple[str, str], Any]
) -> None:
    source, target = MemoryStore(), MemoryStore()
    fill(source, campaigns, records)
    if not campaigns and not records:
        with pytest.raises(StoreError, match="nothing in the store"):
            copy(source, target)
        return
    counts = copy(source, target)
    assert counts.campaigns == len(campaigns)
    assert counts.records == len(records)
    assert content(target) == content(source)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_whatever_is_in_a_store_moves_to_a_database_and_back(kind: str, fresh: MakeUrl) -> None:
    @given(campaigns=CAMPAIGNS, records=RECORDS)
    @settings(max_examples=settings.default.max_examples // 6)
    def round_trip(campaigns: dict[str, Any], records: dict[tuple[str, str], Any]) -> None:
        source, back = MemoryStore(), MemoryStore()
        fill(source, {**campaigns, "one": (0.0, "", [], {})}, records)
        with closing(open_store(fresh(kind))) as between:
            copy(source, between)
            assert content(between) == content(source)
            copy(between, back)
        assert content(back) == content(source)

    round_trip()


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


def check_whole(store: Portable) -> list[Event]:
    """The log, if every write in it is there with its reply, and no other reply."""
    log = store.read("cats")
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    keys = []
    for key, events in groupby(log, key=lambda event: event.key):
        assert [event.kind for event in events] == [Kind.DECIDED, Kind.ASKED, Kind.ANSWER]
        keys.append(key)
    with store.contents() as items:
        assert [each.key for each in items if isinstance(each, Reply)] == sorted(keys)
    return log


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_backup_beside_writers_is_a_moment_of_the_store(kind: str, fresh: MakeUrl) -> None:
    url = fresh(kind)
    writers = [start(url, worker, 40) for worker in "ab"]
    for writer in writers:
        wait_until_ready(writer)
    for writer in writers:
        let_go(writer)
    copies = []
    with closing(open_store(url)) as store:
        while any(writer.poll() is None for writer in writers):
            file = BytesIO()
            backup(store, file, 0.0)
            copies.append(file)
        for writer in writers:
            assert len(writer.communicate(timeout=60)[0].split()) == 40
        log = check_whole(store)
    assert len(log) == 240
    lengths = set()
    for file in copies:
        target = MemoryStore()
        restore(target, file)
        found = check_whole(target)
        assert found == log[: len(found)]
        lengths.add(len(found))
    assert len(lengths) > 2


def test_a_backup_beside_threads_is_a_moment_of_the_memory_store() -> None:
    store = MemoryStore()
    store.create("cats", "{}", 0.0)

    def write() -> None:
        for number in range(0, 900, 3):
            kinds = (Kind.DECIDED, Kind.ASKED, Kind.ANSWER)
            with store.write("cats") as transaction:
                events = [
                    Event(each, seq=number + at, key=str(number))
                    for at, each in enumerate(kinds, 1)
                ]
                transaction.append(events, number)
                transaction.keep(Reply(str(number), "", ""))

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        while not writing.done():
            target = MemoryStore()
            copy(store, target)
            check_whole(target)
        writing.result()


def steps(campaign: Campaign, number: int) -> None:
    """Ask and tell a few times, and leave one assignment out."""
    for _ in range(number):
        choice = campaign.ask(limit=1)
        assert isinstance(choice, Batch)
        for each in choice:
            campaign.tell(each.id, value_of(each.id), key=f"tell {each.id}")
    campaign.ask(limit=1, key="the last")


@pytest.fixture
def uninterrupted() -> list[Event]:
    """The log of a campaign that nothing happens to."""
    campaign = create("memory")
    steps(campaign, 12)
    run(campaign, alone=True)
    return campaign.log()


@pytest.mark.parametrize(("source", "target"), [("sqlite", "postgres"), ("postgres", "sqlite")])
def test_a_restored_campaign_goes_on_as_if_nothing_had_happened(
    source: str, target: str, fresh: MakeUrl, uninterrupted: list[Event]
) -> None:
    file = BytesIO()
    first = create(fresh(source))
    steps(first, 12)
    status, last = first.status(), first.ask(limit=1, key="the last")
    with closing(first._writer.store) as store:
        backup(store, file, 0.0)
    with closing(open_store(fresh(target))) as store:
        restore(store, file)
        campaign = Campaign.open(store, "cats")
        assert campaign.status() == status
        # A retry with a key gets the first reply, here as there.
        assert campaign.ask(limit=1, key="the last") == last
        run(campaign, alone=True)
        assert comparable(campaign.log()) == comparable(uninterrupted)
