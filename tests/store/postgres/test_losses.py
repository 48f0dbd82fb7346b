"""Connections that end at bad moments: the server restarts, the line is cut, a process forks."""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from askwise import Campaign, Worker
from askwise.core.choices import Batch
from askwise.core.errors import StoreError
from askwise.core.events import Event, Kind
from askwise.store import Change, Reply, Snapshot
from askwise.store.backup.portable import Head
from askwise.store.postgres.store import PostgresStore
from scripts.postgres import Cluster, Unavailable
from tests.servers import until_no_sessions, with_place

PAUSED = Event(Kind.PAUSED, seq=1)
RESUMED = Event(Kind.RESUMED, seq=2)

Raw = psycopg.Connection[tuple[Any, ...]]


@pytest.fixture
def url(postgres_url: str) -> str:
    """A store with a campaign of one event."""
    with closing(PostgresStore(postgres_url)) as store:
        store.create("cats", "{}", 0.0)
        with store.write("cats") as transaction:
            transaction.append([PAUSED], 0)
    return postgres_url


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore(url)) as opened:
        yield opened


def end_sessions(raw: Raw) -> None:
    """Have the server end all sessions of askwise, and wait until it has."""
    ours = (
        "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'askwise'"
    )
    raw.execute(f"SELECT pg_terminate_backend(pid) {ours}".encode())
    until_no_sessions(raw)


def test_sessions_that_the_server_ended_between_uses_are_not_noticed(
    store: PostgresStore, postgres_raw: Raw
) -> None:
    assert store.read("cats") == [PAUSED]
    end_sessions(postgres_raw)
    assert store.read("cats") == [PAUSED]
    end_sessions(postgres_raw)
    with store.write("cats") as transaction:
        transaction.append([RESUMED], 1)
    assert store.read("cats") == [PAUSED, RESUMED]


def test_a_session_that_ends_in_a_write_takes_the_write_with_it(
    store: PostgresStore, postgres_raw: Raw
) -> None:
    with (  # noqa: PT012
        pytest.raises(StoreError, match=r"nothing of this write is kept.*connection was lost"),
        store.write("cats") as transaction,
    ):
        transaction.append([RESUMED], 1)
        end_sessions(postgres_raw)
        with pytest.raises(StoreError, match=r"connection was lost.*next use connects again"):
            transaction.tail(0)
        with pytest.raises(StoreError, match="nothing of this write is kept"):
            transaction.append([Event(Kind.STOPPED, seq=3)], 2)
        with pytest.raises(StoreError, match="nothing of this write is kept"):
            store.read("cats")
    assert store.read("cats") == [PAUSED]
    with store.write("cats") as transaction:
        transaction.append([RESUMED], 1)
    assert store.read("cats") == [PAUSED, RESUMED]


def test_a_session_that_ends_before_the_commit_leaves_its_outcome_to_be_looked_up(
    store: PostgresStore, postgres_raw: Raw
) -> None:
    with (  # noqa: PT012
        pytest.raises(StoreError, match=r"the commit failed.*look up the key, or read the log"),
        store.write("cats") as transaction,
    ):
        transaction.append([RESUMED], 1)
        end_sessions(postgres_raw)
    assert store.read("cats") == [PAUSED]


def test_an_interrupt_in_a_write_leaves_the_store_usable(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), store.write("cats") as transaction:  # noqa: PT012
        transaction.append([RESUMED], 1)
        monkeypatch.setattr(psycopg.ClientCursor, "nextset", interrupted)
        transaction.tail(0)
    monkeypatch.undo()
    assert store.read("cats") == [PAUSED]
    with store.write("cats") as transaction:
        transaction.append([RESUMED], 1)


class Line:
    """A line to the server that is cut when a word goes through it.

    ``passes_on``: whether the server still gets the word.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        self.server = (parts.hostname, parts.port or 5432)
        self.word: bytes | None = None
        self.passes_on = True
        self._ears = socket.create_server(("127.0.0.1", 0))
        self.url = with_place(url, "127.0.0.1", self._ears.getsockname()[1])
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._ears.accept()
                server = socket.create_connection(self.server)
                for source, target in ((client, server), (server, client)):
                    threading.Thread(
                        target=self._carry, args=(source, target, source is client), daemon=True
                    ).start()

    def _carry(self, source: socket.socket, target: socket.socket, outward: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if outward and self.word is not None and self.word in data:
                    self.word = None
                    # The client first, so that it can't hear the answer.
                    source.shutdown(socket.SHUT_RDWR)
                    if self.passes_on:
                        target.sendall(data)
                        target.recv(65536)
                    break
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._ears.close()


@pytest.fixture
def line(url: str) -> Iterator[Line]:
    with closing(Line(f"{url}?sslmode=disable")) as made:
        yield made


@pytest.mark.parametrize("passes_on", [True, False])
def test_a_line_that_is_cut_in_the_commit_leaves_its_outcome_to_be_looked_up(
    passes_on: bool, line: Line, url: str
) -> None:
    line.passes_on = passes_on
    with closing(PostgresStore(line.url)) as store:
        with (  # noqa: PT012
            pytest.raises(StoreError, match=r"the commit failed.*look up the key, or read the log"),
            store.write("cats") as transaction,
        ):
            transaction.append([RESUMED], 1)
            transaction.keep(Reply("k", "request", "body"))
            line.word = b";COMMIT"
        with closing(PostgresStore(url)) as other:
            deadline = time.monotonic() + 30.0
            while passes_on and len(other.read("cats")) < 2 and time.monotonic() < deadline:
                time.sleep(0.01)
        due = [PAUSED, RESUMED] if passes_on else [PAUSED]
        assert store.read("cats") == due
        with store.write("cats") as transaction:
            assert (transaction.reply("k") is not None) == passes_on


@pytest.mark.parametrize("passes_on", [True, False])
def test_a_campaign_that_retries_with_its_key_is_asked_once(
    passes_on: bool, line: Line, url: str
) -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 2), Worker("b", 3)],
        outcome="utility",
        budget=60,
        policy="uniform",
        store=line.url,
        name="dogs",
    )
    line.passes_on = passes_on
    for number in range(3):
        line.word = b";COMMIT"
        with pytest.raises(StoreError, match="the commit failed"):
            campaign.ask(key=f"ask {number}")
        # The campaign's row is locked until the server is done with the first.
        batch = campaign.ask(key=f"ask {number}")
        assert isinstance(batch, Batch)
        campaign.tell(batch[0].id, 0.5)
    assert campaign.status().answers == 3
    asked = [event for event in Campaign.open(url, "dogs").log() if event.kind == Kind.ASKED]
    assert len(asked) == 3


def _create(store: PostgresStore) -> None:
    store.create("dogs", "{}", 0.0)


def _save(store: PostgresStore) -> None:
    store.save("cats", Snapshot(1, "v", b"state"))


def _change(store: PostgresStore) -> None:
    store.change([Change("key", "a", None, "{}")])


@pytest.mark.parametrize(
    ("act", "word", "said"),
    [
        (_change, b"INSERT INTO askwise.records", "may have been changed"),
        (_create, b"INSERT INTO askwise.campaigns", "may have been created"),
        (_save, b"INSERT INTO askwise.snapshots", "may have been saved"),
    ],
)
def test_a_line_that_is_cut_in_another_write_is_said_to_leave_doubt(
    act: Callable[[PostgresStore], None], word: bytes, said: str, line: Line
) -> None:
    with closing(PostgresStore(line.url)) as store:
        assert store.names() == ["cats"]
        line.word = word
        with pytest.raises(StoreError, match=f"connection was lost.*{said}, look before"):
            act(store)


@pytest.mark.parametrize("passes_on", [True, False])
def test_a_line_that_is_cut_in_a_change_of_records_changes_all_or_none(
    passes_on: bool, line: Line, url: str
) -> None:
    line.passes_on = passes_on
    changes = [Change("key", "a", None, "1"), Change("key", "b", None, "2")]
    with closing(PostgresStore(line.url)) as store, closing(PostgresStore(url)) as other:
        store.names()
        line.word = b"INSERT INTO askwise.records"
        with pytest.raises(StoreError, match=r"connection was lost.*next use connects again"):
            store.change(changes)
        assert store.records("key") == []
        line.word = b"COMMIT\0"
        with pytest.raises(StoreError, match=r"the commit failed.*look at the records before"):
            store.change(changes)
        deadline = time.monotonic() + 30.0
        while passes_on and not other.records("key") and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(other.records("key")) == (2 if passes_on else 0)


def test_a_session_that_ends_while_a_store_is_read_out_ends_the_reading(
    store: PostgresStore, postgres_raw: Raw
) -> None:
    # It must not go on with a later moment of the store.
    with store.contents() as items:
        assert isinstance(next(items), Head)
        end_sessions(postgres_raw)
        with pytest.raises(StoreError, match="connection was lost"):
            next(items)
    assert store.read("cats") == [PAUSED]


@pytest.fixture(scope="module")
def own_server(postgres_server: str) -> Iterator[Cluster]:
    """A server that a test may stop."""
    try:
        with Cluster() as cluster:
            cluster.start()
            yield cluster
    except Unavailable as reason:
        pytest.skip(str(reason))


def append_five(store: PostgresStore, name: str, seq: int) -> int:
    for number in range(seq + 1, seq + 6):
        with store.write(name) as transaction:
            transaction.append([Event(Kind.ANSWER, seq=number, value=0.5)], number - 1)
    return seq + 5


def test_a_server_that_stops_and_starts_again_is_only_noticed_meanwhile(
    own_server: Cluster,
) -> None:
    with closing(PostgresStore(own_server.url())) as store:
        store.create("cats", "{}", 0.0)
        seq = append_five(store, "cats", 0)
        own_server.stop()
        with pytest.raises(StoreError, match="can't be reached"):
            store.names()
        with pytest.raises(StoreError, match="can't be reached"), store.write("cats"):
            pass
        own_server.start()
        seq = append_five(store, "cats", seq)
        own_server.stop()
        own_server.start()
        seq = append_five(store, "cats", seq)
        assert [event.seq for event in store.read("cats")] == list(range(1, 16))


@pytest.mark.slow
def test_a_server_that_crashes_keeps_what_it_acknowledged_and_nothing_else(
    own_server: Cluster,
) -> None:
    with closing(PostgresStore(own_server.url())) as store:
        store.create("dogs", "{}", 0.0)
        seq = append_five(store, "dogs", 0)
        with (  # noqa: PT012
            pytest.raises(StoreError, match="connection was lost"),
            store.write("dogs") as transaction,
        ):
            transaction.append([Event(Kind.PAUSED, seq=seq + 1)], seq)
            assert len(transaction.tail(seq)) == 1
            own_server.stop(signal.SIGQUIT)
            own_server.start()
            transaction.tail(0)
        assert [event.seq for event in store.read("dogs")] == list(range(1, seq + 1))
        append_five(store, "dogs", seq)


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


def test_a_server_that_is_not_there_is_said_at_once_and_only_once(
    capfd: pytest.CaptureFixture[str],
) -> None:
    # As long as the test may take: whoever waited for it would be stopped.
    with closing(PostgresStore("postgresql://ann@127.0.0.1:1/cats", patience=3600.0)) as store:
        for _ in range(2):
            with pytest.raises(StoreError, match=r"127\.0\.0\.1:1/cats can't be reached"):
                store.names()
    assert capfd.readouterr() == ("", "")


def test_a_server_that_does_not_answer_is_told_from_connections_that_are_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"postgresql://ann@127.0.0.1:{mute.getsockname()[1]}/cats"
        with (
            closing(PostgresStore(url, patience=2.0, connections=1)) as store,
            pytest.raises(StoreError, match="can't be reached: connection timeout expired"),
        ):
            store.names()


def test_a_closed_store_and_one_that_was_dropped_leave_no_thread_behind(url: str) -> None:
    before = set(threading.enumerate())
    with closing(PostgresStore(url)) as store:
        assert store.names() == ["cats"]
        assert set(threading.enumerate()) - before
    assert not set(threading.enumerate()) - before
    dropped = PostgresStore(url)
    assert dropped.names() == ["cats"]
    del dropped
    gc.collect()
    assert not set(threading.enumerate()) - before
