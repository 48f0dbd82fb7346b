"""Processes that fork: connections of their own, writes left to the parent."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing

import pytest

from askwise.store.postgres.store import PostgresStore
from tests.store.postgres.sessions import PAUSED, RESUMED

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


def run_script(script: str, *arguments: str) -> None:
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_fork
def test_a_forked_process_has_connections_of_its_own(url: str) -> None:
    run_script(
        """
import os, sys, threading
from askwise.core.events import Event, Kind
from askwise.store import open_store

store = open_store(sys.argv[1])
ready, go_on = threading.Event(), threading.Event()
def hold_a_connection():
    with store._connections.use() as link:
        link.run("SELECT 1")
        ready.set()
        go_on.wait()
        assert link.run("SELECT 2") == [(2,)]
thread = threading.Thread(target=hold_a_connection, daemon=True)
thread.start()
ready.wait()
def session():
    with store._connections.use() as link:
        return link.run("SELECT pg_backend_pid()")[0]
before = session()
for _ in range(2):
    if (child := os.fork()) == 0:
        assert session() != before
        with store.write("cats") as transaction:
            seq = len(transaction.tail(0))
            transaction.append([Event(Kind.PAUSED, seq=seq + 1)], seq)
        store.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
go_on.set()
thread.join()
assert before in (session(), session()), "a child has ended its parent's session"
assert len(store.read("cats")) == 3
store.close()
""",
        url,
    )


@needs_fork
def test_a_fork_in_the_middle_of_a_write_leaves_the_write_to_the_parent(url: str) -> None:
    run_script(
        """
import os, sys
from askwise.core.errors import StoreError
from askwise.core.events import Event, Kind
from askwise.store import open_store

store = open_store(sys.argv[1])
try:
    with store.write("cats") as transaction:
        transaction.append([Event(Kind.RESUMED, seq=2)], 1)
        child = os.fork()
        if child == 0:
            try:
                transaction.append([Event(Kind.STOPPED, seq=3)], 2)
            except StoreError as error:
                assert "forked" in str(error)
            else:
                os._exit(3)
        else:
            assert os.waitpid(child, 0)[1] == 0
except StoreError as error:
    if child != 0 or "forked" not in str(error):
        os._exit(4)
    assert len(store.read("cats")) == 1
    sys.exit(0)
assert len(store.read("cats")) == 2
store.close()
""",
        url,
    )


@needs_fork
def test_a_killed_parent_lets_go_of_its_campaign_though_a_child_lives_on(url: str) -> None:
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            """
import os, sys, time
from askwise.store import open_store

store = open_store(sys.argv[1])
with store.write("cats") as transaction:
    if (child := os.fork()) == 0:
        sys.stdin.read()
        os._exit(0)
    print("locked", flush=True)
    time.sleep(60)
""",
            url,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "locked\n"
        parent.kill()
        with (
            closing(PostgresStore(url, patience=60.0)) as store,
            store.write("cats") as transaction,
        ):
            transaction.append([RESUMED], 1)
    finally:
        parent.communicate()


def test_a_connection_inherited_unseen_is_not_used(store: PostgresStore) -> None:
    assert store.read("cats") == [PAUSED]
    inherited = store._connections._pool
    store._connections._process += 1
    assert store.read("cats") == [PAUSED]
    assert store._connections._pool is not inherited
    inherited.close()
