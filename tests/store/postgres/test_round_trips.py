"""Round trips of writes, counted in what libpq sends: each ends with Sync or is a Query."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest
from psycopg.pq import Trace

from askwise import Campaign
from askwise.core.choices import Batch
from askwise.core.errors import Conflict, StoreError
from askwise.core.events import Event, Kind
from askwise.store import Reply
from askwise.store.postgres import store as postgres_store
from askwise.store.postgres.store import PostgresStore
from tests.store.postgres.sessions import PAUSED, RESUMED, Raw

REPLY = Reply("k", "request", "body")


def round_trips(store: PostgresStore, work: Callable[[], object]) -> int:
    """Count those of ``work`` on the one connection of a store."""
    store.names()  # so that there is a connection, which knows of the schema
    with store._connections.use() as link:
        pgconn = link._connection.pgconn
    with tempfile.TemporaryFile("w+") as file:
        pgconn.trace(file.fileno())
        pgconn.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
        try:
            work()
        finally:
            pgconn.untrace()
        file.seek(0)
        # A line is F for what goes out, a length, the name of the message and what is in it;
        # what is in it may have lines too.
        parts = [line.rstrip("\n").split("\t") for line in file]
        sent = [part[2] for part in parts if part[0] == "F" and len(part) > 2]
    return sum(message in ("Sync", "Query") for message in sent)


@pytest.fixture
def single(url: str) -> PostgresStore:
    """A store with one connection, which has looked up its campaigns."""
    store = PostgresStore(url, connections=1)
    assert store.read("cats") == [PAUSED]
    return store


def test_to_append_is_one_round_trip(single: PostgresStore) -> None:
    with closing(single) as store:
        assert round_trips(store, lambda: store.append("cats", [RESUMED], 1, [REPLY])) == 1
        assert store.read("cats") == [PAUSED, RESUMED]
        assert store.replies("cats", ["k"]) == {"k": REPLY}


def test_a_transaction_with_nothing_to_read_is_two_round_trips(single: PostgresStore) -> None:
    def write() -> None:
        with store.write("cats") as transaction:
            assert transaction.tail(1) == []
            transaction.append([RESUMED], 1)

    with closing(single) as store:
        assert round_trips(store, write) == 2


def test_what_others_have_written_comes_with_the_lock(single: PostgresStore, url: str) -> None:
    third = Event(Kind.ANSWER, seq=3, time=0.1 + 0.2, key="k\ufdd0", value=1 / 3)

    def write() -> None:
        with store.write("cats") as transaction:
            assert transaction.tail(2) == [third]
            assert transaction.tail(3) == []
            transaction.append([Event(Kind.PAUSED, seq=4)], 3)

    with closing(single) as store, closing(PostgresStore(url)) as other:
        store.append("cats", [RESUMED], 1)
        other.append("cats", [third], 2)
        assert round_trips(store, write) == 2
        with store.write("cats") as transaction:
            assert [event.seq for event in transaction.tail(1)] == [2, 3, 4]


def test_more_than_comes_with_the_lock_is_read_after_it(
    single: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_store, "_TAIL", 2)
    events = [Event(Kind.ANSWER, seq=seq, value=seq / 7) for seq in (3, 4, 5)]
    with closing(single) as store, closing(PostgresStore(url)) as other:
        store.append("cats", [RESUMED], 1)
        other.append("cats", events, 2)
        with store.write("cats") as transaction:
            assert transaction.tail(2) == events
            transaction.append([Event(Kind.PAUSED, seq=6)], 5)
            assert [event.seq for event in transaction.tail(3)] == [4, 5, 6]


def test_an_answer_is_one_round_trip_and_its_key_another(postgres_url: str) -> None:
    with closing(PostgresStore(postgres_url, connections=1)) as store:
        campaign = Campaign.create(
            workers=[{"id": f"w{n}", "price": 1} for n in range(3)],
            tasks=["t"],
            options=["yes", "no"],
            budget=9,
            policy="random-pairs",
            store=store,
            name="trips",
        )
        first, second, _ = (_one(campaign.ask()) for _ in range(3))
        assert round_trips(store, lambda: campaign.tell(first, "yes")) == 1
        assert round_trips(store, lambda: campaign.tell(second, "no", key="k")) == 2


def test_the_statement_of_a_write_is_prepared_once(single: PostgresStore) -> None:
    with closing(single) as store:
        for seq in range(2, 12):
            store.append("cats", [Event(Kind.ANSWER, seq=seq, value=1.0)], seq - 1)
        with store._connections.use() as link:
            prepared = link.run(
                "SELECT count(*), sum(generic_plans + custom_plans) > 3 "
                "FROM pg_prepared_statements WHERE statement LIKE '%%INSERT INTO askwise.events%%'"
            )
    assert prepared == [(1, True)]


def test_an_append_that_waited_for_another_writer_is_overtaken(
    store: PostgresStore, url: str
) -> None:
    with closing(PostgresStore(url)) as other, ThreadPoolExecutor(1) as elsewhere:
        with other.write("cats") as transaction:
            waiting = elsewhere.submit(store.append, "cats", [RESUMED], 1)
            _until_waiting(url)
            transaction.append([RESUMED], 1)
        with pytest.raises(Conflict, match=r"expected_seq is 1, but the log .* is at 2") as caught:
            waiting.result(30.0)
        assert caught.value.reason == "log_moved"
        with other.write("cats") as transaction:
            waiting = elsewhere.submit(store.append, "cats", [], 2, [REPLY])
            _until_waiting(url)
            transaction.keep(REPLY)
        with pytest.raises(Conflict, match="already keeps a reply under the key 'k'") as caught:
            waiting.result(30.0)
        assert caught.value.reason == "key_reused"
    assert store.read("cats") == [PAUSED, RESUMED]


def test_an_append_waits_no_longer_than_its_patience(url: str) -> None:
    with closing(PostgresStore(url, patience=0.05)) as store, closing(PostgresStore(url)) as other:
        with other.write("cats"), pytest.raises(StoreError, match="is busy") as caught:
            store.append("cats", [RESUMED], 1)
        assert caught.value.reason == "store_busy"
        store.append("cats", [RESUMED], 1)


def test_nothing_of_an_append_is_kept_if_the_server_refuses_it(
    store: PostgresStore, postgres_raw: Raw
) -> None:
    postgres_raw.execute(
        "ALTER TABLE askwise.events ADD CONSTRAINT failing CHECK (kind <> 'STOPPED')"
    )
    stopped = [RESUMED, Event(Kind.STOPPED, seq=3)]
    with pytest.raises(StoreError, match=r"nothing of this write is kept.*failing"):
        store.append("cats", stopped, 1, [REPLY])
    assert store.read("cats") == [PAUSED]
    assert store.replies("cats", ["k"]) == {}


def test_an_append_notices_a_database_that_was_restored_meanwhile(
    store: PostgresStore, postgres_raw: Raw
) -> None:
    assert store.read("cats") == [PAUSED]
    postgres_raw.execute("UPDATE askwise.campaigns SET name = name || '!'")
    postgres_raw.execute(
        "INSERT INTO askwise.campaigns (name, spec, created) VALUES ('cats', '', 0)"
    )
    with pytest.raises(StoreError, match=r"restored meanwhile: try again"):
        store.append("cats", [RESUMED], 1)
    store.append("cats", [PAUSED], 0)
    assert store.read("cats") == [PAUSED]


def _one(choice: object) -> str:
    assert isinstance(choice, Batch)
    return choice.assignments[0].id


def _until_waiting(url: str) -> None:
    """Wait until some session of the database waits for a lock."""
    with psycopg.connect(url, autocommit=True) as raw:
        waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = "
        while not raw.execute(f"{waits} current_database()".encode()).fetchone():
            pass
