"""A server that stops, crashes, is not there or does not answer."""

from __future__ import annotations

import gc
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from askwise.core.errors import StoreError
from askwise.core.events import Event, Kind
from askwise.store.postgres.store import PostgresStore
from scripts.postgres import Cluster, Unavailable


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
        assert store.names() == ["cats", "dogs"]
        assert set(threading.enumerate()) - before
    assert not set(threading.enumerate()) - before
    dropped = PostgresStore(url)
    assert dropped.names() == ["cats", "dogs"]
    del dropped
    gc.collect()
    assert not set(threading.enumerate()) - before
