"""What the SQLite store does with files that are not as they should be."""

from __future__ import annotations

import os
import random
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from askwise.core.errors import StoreError
from askwise.core.events import Event, Kind
from askwise.store import Reply, SqliteStore, open_store, pending_steps
from askwise.store.migrations import Step, loader

KNOWN = loader.latest("sqlite")
PAUSED = Event(Kind.PAUSED, seq=1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A store with one campaign of one event, closed."""
    file = tmp_path / "campaigns.sqlite"
    with closing(SqliteStore(file)) as store:
        store.create("cats", "{}", 0.0)
        with store.write("cats") as transaction:
            transaction.append([PAUSED], 0)
    return file


@pytest.fixture
def raw(file: Path) -> Iterator[sqlite3.Connection]:
    """That store through SQLite alone."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        yield connection


def refusal(file: Path) -> str:
    """The message of a file that can't be opened and keeps its bytes, and nothing beside it."""
    before = {path: path.read_bytes() for path in file.parent.iterdir()}
    with pytest.raises(StoreError) as caught:
        open_store(f"sqlite:///{file}")
    assert {path: path.read_bytes() for path in file.parent.iterdir()} == before
    assert str(file) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"x",
        b"task,worker,label\n" * 9,
        bytes(4096),
        b"SQLite format 3\0",
        random.Random(0).randbytes(9999),
    ],
    ids=["one byte", "text", "zeros", "only the magic", "noise"],
)
def test_a_file_that_is_not_a_database_is_refused_unchanged(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_bytes(content)
    assert "not a" in refusal(file)


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_the_database_of_another_program_is_refused_unchanged(mode: str, tmp_path: Path) -> None:
    file = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute(f"PRAGMA journal_mode = {mode}")
        other.execute("CREATE TABLE campaigns (id INTEGER PRIMARY KEY)")
    assert "another program" in refusal(file)


def test_another_program_in_the_middle_of_its_work_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("CREATE TABLE t (x)")
        other.execute("BEGIN IMMEDIATE")
        other.execute("INSERT INTO t VALUES (1)")
        assert "another program" in refusal(file)
        other.execute("COMMIT")


def test_a_newer_schema_is_refused_with_both_versions_and_unchanged(
    file: Path, raw: sqlite3.Connection
) -> None:
    raw.execute(f"PRAGMA user_version = {KNOWN + 7}")
    raw.close()
    message = refusal(file)
    assert f"schema version {KNOWN + 7}" in message
    assert f"knows up to {KNOWN}" in message
    assert "upgrade askwise" in message


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    file = tmp_path / "empty.sqlite"
    file.touch()
    with closing(open_store(f"sqlite:///{file}")) as store:
        assert store.names() == []
        store.create("cats", "{}", 0.0)
    with closing(SqliteStore(file)) as store:
        assert store.names() == ["cats"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_a_read_only_directory_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with (
            closing(SqliteStore(tmp_path / "campaigns.sqlite")) as store,
            pytest.raises(StoreError, match=r"campaigns\.sqlite"),
        ):
            store.create("cats", "{}", 0.0)
    finally:
        tmp_path.chmod(0o700)


def test_a_damaged_file_is_an_error_that_names_it(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    file.write_bytes(content)
    with closing(SqliteStore(file)) as store, pytest.raises(StoreError, match=file.name):
        store.read("cats")


def test_durability_and_constraints_are_switched_on(file: Path, raw: sqlite3.Connection) -> None:
    assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert raw.execute("PRAGMA application_id").fetchone() == (int.from_bytes(b"askw"),)
    assert raw.execute("PRAGMA user_version").fetchone() == (KNOWN,)
    with closing(SqliteStore(file)) as store, store._connections.use() as link:
        assert link.run("PRAGMA synchronous") == [(2,)]
        assert link.run("PRAGMA foreign_keys") == [(1,)]


def test_a_body_is_the_json_of_the_event_without_its_columns(
    file: Path, raw: sqlite3.Connection
) -> None:
    event = Event(Kind.ASKED, seq=2, time=1.5, key="k", task="t", worker="w", price=50_000)
    with closing(SqliteStore(file)) as store, store.write("cats") as transaction:
        transaction.append([event], 1)
    found = raw.execute("SELECT * FROM events WHERE seq = 2").fetchall()
    assert found == [(1, 2, "ASKED", 1.5, "k", '{"task":"t","worker":"w","price":"0.05"}')]


def test_a_lock_that_is_not_had_in_time_is_said_and_harms_nothing(
    file: Path, raw: sqlite3.Connection
) -> None:
    with closing(SqliteStore(file, patience=0.05)) as store:
        raw.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"more than 0\.05 s") as caught, store.write("cats"):
            pass
        assert caught.value.reason == "store_busy"
        with pytest.raises(StoreError) as caught:
            store.create("dogs", "{}", 0.0)
        assert caught.value.reason == "store_busy"
        assert store.read("cats") == [PAUSED], "reading waits for nobody"
        raw.execute("ROLLBACK")
        with store.write("cats") as transaction:
            transaction.append([Event(Kind.RESUMED, seq=2)], 1)
        assert len(store.read("cats")) == 2


def test_after_a_failed_statement_nothing_of_the_write_is_kept(
    file: Path, raw: sqlite3.Connection
) -> None:
    raw.execute(
        "CREATE TRIGGER failing BEFORE INSERT ON events WHEN new.kind = 'STOPPED' "
        "BEGIN SELECT raise(ROLLBACK, 'the disk is full'); END"
    )
    with closing(SqliteStore(file)) as store:
        with (  # noqa: PT012
            pytest.raises(StoreError, match=r"nothing of this write is kept.*disk is full"),
            store.write("cats") as transaction,
        ):
            transaction.append([Event(Kind.RESUMED, seq=2)], 1)
            with pytest.raises(StoreError, match="disk is full"):
                transaction.append([Event(Kind.STOPPED, seq=3)], 2)
            with pytest.raises(StoreError, match="nothing of this write is kept"):
                transaction.keep(Reply("k", "request", "body"))
        assert store.read("cats") == [PAUSED]
        with store.write("cats") as transaction:
            assert transaction.reply("k") is None


def test_a_commit_that_fails_is_raised_and_leaves_the_store_usable(file: Path) -> None:
    with closing(SqliteStore(file)) as store:
        with (  # noqa: PT012
            pytest.raises(StoreError, match=r"the commit failed.*FOREIGN KEY"),
            store.write("cats") as transaction,
        ):
            transaction.append([Event(Kind.RESUMED, seq=2)], 1)
            with store._connections.use() as link:
                link.run("PRAGMA defer_foreign_keys = ON")
                link.run("INSERT INTO replies VALUES (99, 'k', 'request', 'body')")
        assert store.read("cats") == [PAUSED]
        with store.write("cats") as transaction:
            transaction.append([Event(Kind.RESUMED, seq=2)], 1)
        assert len(store.read("cats")) == 2


def test_an_older_schema_is_brought_up_to_date_step_by_step(
    file: Path, raw: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = (
        *loader.steps("sqlite"),
        Step("next", "CREATE TABLE one (x);\n"),
        Step("last", "-- A comment; with a semicolon\nINSERT INTO one\nVALUES (';');\n"),
    )
    monkeypatch.setattr(loader, "steps", lambda database: more)
    assert pending_steps(f"sqlite:///{file}") == ["next", "last"]
    with closing(SqliteStore(file)) as store:
        assert store.read("cats") == [PAUSED]
    assert pending_steps(f"sqlite:///{file}") == []
    assert raw.execute("SELECT x FROM one").fetchall() == [(";",)]
    assert raw.execute("PRAGMA user_version").fetchone() == (len(more),)


def test_a_dry_run_names_the_steps_and_creates_nothing(tmp_path: Path) -> None:
    file = tmp_path / "campaigns.sqlite"
    assert pending_steps(f"sqlite:///{file}") == ["0001_campaigns", "0002_records", "0003_archived"]
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_refuses_the_file_of_another_program(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("task,worker,label\n" * 9)
    with pytest.raises(StoreError, match=r"notes\.txt.*not a database"):
        pending_steps(f"sqlite:///{file}")


def test_a_step_that_fails_leaves_the_schema_of_the_step_before(
    file: Path, raw: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = (
        *loader.steps("sqlite"),
        Step("next", "CREATE TABLE one (x);\n"),
        Step("last", "CREATE TABLE two (x);\nINSERT INTO missing VALUES (1);\n"),
    )
    monkeypatch.setattr(loader, "steps", lambda database: more)
    with closing(SqliteStore(file)) as store, pytest.raises(StoreError, match="missing"):
        store.read("cats")
    tables = {name for (name,) in raw.execute("SELECT name FROM sqlite_master")}
    assert "one" in tables
    assert "two" not in tables
    assert raw.execute("PRAGMA user_version").fetchone() == (KNOWN + 1,)


def test_connections_of_ended_threads_are_closed(file: Path) -> None:
    with closing(SqliteStore(file)) as store:
        for _ in range(5):
            thread = Thread(target=store.names)
            thread.start()
            thread.join()
        assert len(store._connections._links) == 0


def modes(directory: Path) -> dict[str, int]:
    return {each.name: stat.S_IMODE(each.stat().st_mode) for each in directory.iterdir()}


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277])
def test_a_new_store_is_for_its_owner_alone_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with closing(SqliteStore(tmp_path / "a.sqlite")) as store:
            store.create("cats", "{}", 0.0)
            assert modes(tmp_path) == dict.fromkeys(
                ("a.sqlite", "a.sqlite-wal", "a.sqlite-shm"), 0o600
            )
    finally:
        os.umask(before)


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
def test_a_link_to_a_file_that_is_not_there_makes_a_private_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "a.sqlite")
    with closing(SqliteStore(tmp_path / "link")) as store:
        store.create("cats", "{}", 0.0)
        assert set(modes(tmp_path).values()) == {0o600}


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
def test_a_store_keeps_the_mode_that_it_has(file: Path) -> None:
    file.chmod(0o640)
    with closing(SqliteStore(file)) as store:
        store.create("dogs", "{}", 0.0)
        assert set(modes(file.parent).values()) == {0o640}
