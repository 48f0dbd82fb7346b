"""Connections that end at bad moments: sessions that are ended, lines that are cut."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg_pool import PoolTimeout

from askwise import Campaign, Worker
from askwise.core.choices import Batch
from askwise.core.errors import StoreError
from askwise.core.events import Event, Kind
from askwise.store import Change, Reply, Snapshot
from askwise.store.backup.portable import Head
from askwise.store.postgres import connections
from askwise.store.postgres.address import Address
from askwise.store.postgres.connection import RawConnection
from askwise.store.postgres.store import PostgresStore
from tests.servers import with_place
from tests.store.postgres.sessions import PAUSED, RESUMED, Raw, end_sessions


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


def test_an_attempt_to_connect_that_began_before_a_use_does_not_fail_it(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, may_fail = connections.open_connection, threading.Event()
    attempts = list[Address]()

    def fail_once(address: Address, patience: float) -> RawConnection:
        attempts.append(address)
        if len(attempts) > 1:
            time.sleep(0.3)  # longer than a look at what became of the first
            return connect(address, patience)
        assert may_fail.wait(60.0)
        raise StoreError("the server goes down", field="store")

    monkeypatch.setattr(connections, "open_connection", fail_once)
    pool = store._connections._pool
    pool.open()
    with pytest.raises(PoolTimeout):
        pool.getconn(0.001)
    threading.Timer(0.1, may_fail.set).start()
    assert store.read("cats") == [PAUSED]
    assert len(attempts) == 2


def test_a_pool_that_only_its_own_thread_knows_goes_quietly(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, pool = connections.open_connection, store._connections._pool
    raised = list[RuntimeError]()

    def connect_after_all(address: Address, patience: float) -> RawConnection:
        try:
            pool.__del__()
        except RuntimeError as error:
            raised.append(error)
        return connect(address, patience)

    monkeypatch.setattr(connections, "open_connection", connect_after_all)
    assert store.read("cats") == [PAUSED]
    assert raised == []


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
        name="birds",
    )
    line.passes_on = passes_on
    for number in range(3):
        line.word = b"INSERT INTO askwise.replies"
        with pytest.raises(StoreError, match="the commit failed"):
            campaign.ask(key=f"ask {number}")
        # If the server is not done with the first, the second waits for the lock of the campaign's
        # row and is then refused by the primary key of events: it is worked out again.
        batch = campaign.ask(key=f"ask {number}")
        assert isinstance(batch, Batch)
        campaign.tell(batch[0].id, 0.5)
    assert campaign.status().answers == 3
    asked = [event for event in Campaign.open(url, "birds").log() if event.kind == Kind.ASKED]
    assert len(asked) == 3


def _create(store: PostgresStore) -> None:
    store.create("birds", "{}", 0.0)


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
        assert store.names() == ["cats", "dogs"]
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
