"""Several processes on one store, and processes that die."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from itertools import groupby
from pathlib import Path

import psycopg
import pytest

from askwise.core.events import Kind
from askwise.store import open_store
from tests.processes import kill, let_go, start, wait_until_ready
from tests.servers import until_settled

WRITER = "tests.store.writer"


def raw_replies(url: str) -> dict[str, str]:
    """The bodies of replies by key, read without our code, after the checks the database has."""
    query = "SELECT key, body FROM replies"
    if url.startswith("postgresql"):
        with closing(psycopg.connect(url)) as server:
            return dict(server.execute(query.replace("replies", "askwise.replies")).fetchall())
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
        return dict(raw.execute(query))


def committed_keys(url: str) -> list[str]:
    """The keys of the log, after a check that it is whole: no gap, no half of a write."""
    with closing(open_store(url)) as store:
        if not store.names():
            return []
        log = store.read("cats")
    replies = raw_replies(url)
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    writes = [(key, list(events)) for key, events in groupby(log, key=lambda event: event.key)]
    for key, events in writes:
        assert [event.kind for event in events] == [Kind.DECIDED, Kind.ASKED, Kind.ANSWER]
        assert replies.pop(str(key)) == str(events[0].seq - 1)
    assert replies == {}
    return [str(key) for key, _ in writes]


def run_script(script: str, *arguments: object) -> None:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_two_processes_that_append_to_one_store_lose_nothing(url: str) -> None:
    writes = 50
    writers = [start(WRITER, url, worker, writes) for worker in "ab"]
    for writer in writers:
        wait_until_ready(writer)
    for writer in writers:
        let_go(writer)
    for writer in writers:
        printed, _ = writer.communicate(timeout=60)
        assert writer.returncode == 0
        assert len(printed.split()) == writes
    keys = committed_keys(url)
    assert sorted(keys) == sorted(f"{worker}:{n}" for worker in "ab" for n in range(writes))


@pytest.mark.parametrize("attempt", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_processes_that_create_the_same_store_at_once_agree(attempt: int, url: str) -> None:
    writers = [start(WRITER, url, worker, 1) for worker in "abcd"]
    for writer in writers:
        let_go(writer)
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    assert sorted(committed_keys(url)) == ["a:0", "b:0", "c:0", "d:0"]


def kill_a_writer(url: str, worker: str, chance: random.Random) -> None:
    """Start a writer, kill it in the middle of its work and check what it left."""
    before = committed_keys(url)
    writer = start(WRITER, url, worker, 0)
    wait_until_ready(writer)
    let_go(writer)
    assert writer.stdout is not None
    printed = [writer.stdout.readline().strip() for _ in range(chance.randrange(1, 40))]
    time.sleep(chance.uniform(0.0, 0.02))
    acknowledged = printed + kill(writer)
    until_settled(url)
    keys = committed_keys(url)
    assert keys[: len(before)] == before
    new = keys[len(before) :]
    assert new == [f"{worker}:{n}" for n in range(len(new))]
    assert new[: len(acknowledged)] == acknowledged
    assert len(new) <= len(acknowledged) + 1


def test_what_a_killed_writer_acknowledged_is_there_and_nothing_is_half_written(
    url: str,
) -> None:
    chance = random.Random(1)
    for life in range(3):
        kill_a_writer(url, f"life {life}", chance)


@pytest.mark.slow
def test_a_store_outlives_many_kills(url: str) -> None:
    chance = random.Random(2)
    for life in range(60):
        kill_a_writer(url, f"life {life}", chance)


@pytest.mark.slow
def test_a_writer_goes_on_beside_one_that_is_killed(url: str) -> None:
    chance = random.Random(3)
    for round_ in range(15):
        survivor, victim = (
            start(WRITER, url, *of) for of in ((f"s{round_}", 60), (f"v{round_}", 0))
        )
        for writer in (survivor, victim):
            wait_until_ready(writer)
            let_go(writer)
        time.sleep(chance.uniform(0.0, 0.3))
        acknowledged = kill(victim)
        assert len(survivor.communicate(timeout=60)[0].split()) == 60
        assert survivor.returncode == 0
        until_settled(url)
        keys = committed_keys(url)
        assert sum(key.startswith(f"s{round_}:") for key in keys) == 60
        assert set(acknowledged) <= set(keys)


def test_a_disk_that_is_full_is_an_error_and_costs_nothing_that_was_acknowledged(
    tmp_path: Path,
) -> None:
    pytest.importorskip("resource")
    run_script(
        """
import resource, sys
from askwise.core.errors import StoreError
from askwise.core.events import Event, Kind
from askwise.store import SqliteStore

store = SqliteStore(sys.argv[1])
store.create("cats", "{}", 0.0)
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
seq = 0
try:
    while True:
        with store.write("cats") as transaction:
            transaction.append([Event(Kind.ANSWER, seq=seq + 1, note="x" * 10_000)], seq)
        seq += 1
except StoreError as error:
    assert sys.argv[1] in str(error), error
assert 3 < seq < 100, seq
assert len(store.read("cats")) == seq
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
with store.write("cats") as transaction:
    transaction.append([Event(Kind.RESUMED, seq=seq + 1)], seq)
store.close()
assert len(SqliteStore(sys.argv[1]).read("cats")) == seq + 1
""",
        tmp_path / "campaigns.sqlite",
    )


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@needs_fork
def test_a_forked_process_has_connections_and_locks_of_its_own(tmp_path: Path) -> None:
    # When the parent closes, SQLite removes the log unless it sees the child's locks: a child
    # that only believes it has them would then write into a removed file.
    run_script(
        """
import os, sys, threading
from askwise.core.events import Event, Kind
from askwise.store import SqliteStore

store = SqliteStore(sys.argv[1])
store.create("cats", "{}", 0.0)
ready, fork_now = threading.Event(), threading.Event()
def use_and_wait():
    store.names()
    ready.set()
    fork_now.wait()
    assert store.names() == ["cats"]
thread = threading.Thread(target=use_and_wait)
thread.start()
ready.wait()
opened, child_writes = os.pipe()
parent_writes, closed = os.pipe()
if (child := os.fork()) == 0:
    assert store.read("cats") == []
    os.write(child_writes, b"x")
    os.read(parent_writes, 1)
    with store.write("cats") as transaction:
        transaction.append([Event(Kind.PAUSED, seq=1)], 0)
    os._exit(0)
fork_now.set()
thread.join()
assert store.names() == ["cats"]
os.read(opened, 1)
store.close()
os.write(closed, b"x")
assert os.waitpid(child, 0)[1] == 0
assert len(SqliteStore(sys.argv[1]).read("cats")) == 1
""",
        tmp_path / "campaigns.sqlite",
    )


@needs_fork
def test_a_fork_in_the_middle_of_a_write_leaves_the_write_to_the_parent(tmp_path: Path) -> None:
    run_script(
        """
import os, sys
from askwise.core.errors import StoreError
from askwise.core.events import Event, Kind
from askwise.store import SqliteStore

store = SqliteStore(sys.argv[1])
store.create("cats", "{}", 0.0)
try:
    with store.write("cats") as transaction:
        transaction.append([Event(Kind.PAUSED, seq=1)], 0)
        child = os.fork()
        if child == 0:
            try:
                transaction.append([Event(Kind.RESUMED, seq=2)], 1)
            except StoreError as error:
                assert "forked" in str(error)
            else:
                os._exit(3)
except StoreError as error:
    if child != 0 or "forked" not in str(error):
        os._exit(4)
if child == 0:
    try:
        SqliteStore(sys.argv[1]).names()
    except StoreError as error:
        os._exit(0 if "forked in the middle of a write" in str(error) else 5)
    os._exit(6)
assert os.waitpid(child, 0)[1] == 0
assert len(store.read("cats")) == 1
store.close()
assert len(SqliteStore(sys.argv[1]).read("cats")) == 1
""",
        tmp_path / "campaigns.sqlite",
    )
