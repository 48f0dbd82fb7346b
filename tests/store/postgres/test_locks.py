"""Locks and connections: who waits for whom, who is told, what is used again."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from askwise.core.errors import StoreError
from askwise.store import Snapshot
from askwise.store.postgres.store import PostgresStore
from tests.servers import until_no_sessions
from tests.store.postgres.sessions import PAUSED, RESUMED, Raw, tail_of, value


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    """One that does not wait for long, but for as long as a busy machine takes to connect."""
    with closing(PostgresStore(url, patience=1.0)) as opened:
        yield opened


def test_a_lock_that_is_not_had_in_time_is_said_and_harms_nothing(
    store: PostgresStore, postgres_raw: Raw
) -> None:
    with postgres_raw.transaction():
        postgres_raw.execute("SELECT 1 FROM askwise.campaigns WHERE name = 'cats' FOR UPDATE")
        with pytest.raises(StoreError, match=r"more than 1 s") as caught, store.write("cats"):
            pass
        assert caught.value.reason == "store_busy"
        assert store.read("cats") == [PAUSED], "reading waits for nobody"
        with store.write("dogs") as transaction:
            transaction.append([PAUSED], 0)
    with store.write("cats") as transaction:
        transaction.append([RESUMED], 1)
    assert store.read("cats") == [PAUSED, RESUMED]


def test_threads_that_wait_too_long_for_each_other_are_told(store: PostgresStore) -> None:
    with store.write("cats"), ThreadPoolExecutor(1) as elsewhere:
        waiting = elsewhere.submit(tail_of, store)
        with pytest.raises(StoreError, match=r"busy.*more than 1 s"):
            waiting.result(30.0)


def test_a_write_holds_up_neither_other_campaigns_nor_snapshots(url: str) -> None:
    with (
        closing(PostgresStore(url)) as store,
        closing(PostgresStore(url, patience=5.0)) as other,
        store.write("cats"),
        ThreadPoolExecutor(1) as elsewhere,
    ):

        def work() -> None:
            other.save("cats", Snapshot(1, "v", b"state"))
            other.create("birds", "{}", 0.0)
            with other.write("dogs") as transaction:
                transaction.append([PAUSED], 0)

        elsewhere.submit(work).result(60.0)  # an error sooner, if any of it has to wait


def test_many_threads_that_wait_for_one_campaign_leave_connections_for_others(url: str) -> None:
    with (
        closing(PostgresStore(url, patience=60.0, connections=3)) as store,
        ThreadPoolExecutor(9) as elsewhere,
    ):
        with store.write("cats"):
            waiting = [elsewhere.submit(tail_of, store) for _ in range(8)]
            time.sleep(0.1)
            assert elsewhere.submit(store.read, "dogs").result(30.0) == []
        assert [each.result(60.0) for each in waiting] == [[PAUSED]] * 8
        assert store._connections._pool.get_stats()["pool_size"] <= 3


def test_more_threads_than_connections_wait_and_are_told_in_the_end(url: str) -> None:
    with (
        closing(PostgresStore(url, patience=1.0, connections=1)) as store,
        ThreadPoolExecutor(1) as elsewhere,
    ):
        with store.write("cats"):
            waiting = elsewhere.submit(store.names)
            with pytest.raises(StoreError, match=r"all 1 connections were in use.*1 s"):
                waiting.result(30.0)
        assert elsewhere.submit(store.names).result(30.0) == ["cats", "dogs"]


def test_a_probe_is_answered_while_all_connections_are_in_use(url: str) -> None:
    with (
        closing(PostgresStore(url, patience=60.0, connections=1)) as store,
        ThreadPoolExecutor(1) as elsewhere,
    ):
        with store.write("cats"):
            elsewhere.submit(store.ping).result(30.0)
        store.ping()
    with pytest.raises(StoreError, match="closed"):
        store.ping()


def test_a_connection_is_used_again(url: str, postgres_raw: Raw) -> None:
    sessions = (
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name = 'askwise'"
    )
    gc.collect()  # closes the stores that other tests have dropped
    until_no_sessions(postgres_raw)
    with closing(PostgresStore(url)) as store:
        for _ in range(4):
            thread = threading.Thread(target=store.names)
            thread.start()
            thread.join()
        assert value(postgres_raw, sessions) == 1
    until_no_sessions(postgres_raw)


def test_a_store_needs_a_connection() -> None:
    with pytest.raises(StoreError, match="connections is 0: give at least 1"):
        PostgresStore("postgresql://localhost/cats", connections=0)
