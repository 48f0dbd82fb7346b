"""Writes: on the disk when acknowledged, whole or not at all, read in pieces."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from askwise.core.errors import StoreError
from askwise.core.events import Event, Kind
from askwise.store import Reply
from askwise.store.postgres import connection as postgres_connection
from askwise.store.postgres.store import PostgresStore
from askwise.store.sql import store as reading
from tests.store.postgres.sessions import PAUSED, RESUMED, Raw, tail_of


def test_an_acknowledged_write_is_on_the_disk_even_if_the_server_says_otherwise(
    url: str,
) -> None:
    for setting, due in (("off", "on"), ("remote_apply", "remote_apply")):
        with (
            closing(PostgresStore(f"{url}?options=-csynchronous_commit%3D{setting}")) as store,
            store._connections.use() as link,
        ):
            assert link.run("SHOW synchronous_commit") == [(due,)]


def test_isolation_does_not_depend_on_the_server(url: str) -> None:
    strict = f"{url}?options=-cdefault_transaction_isolation%3Dserializable"
    with closing(PostgresStore(strict)) as store, ThreadPoolExecutor(1) as elsewhere:
        with store.write("cats") as transaction:
            transaction.append([RESUMED], 1)
            following = elsewhere.submit(tail_of, store)
            time.sleep(0.05)
        assert following.result(30.0) == [PAUSED, RESUMED]


def test_after_a_failed_statement_nothing_of_the_write_is_kept(
    store: PostgresStore, postgres_raw: Raw
) -> None:
    postgres_raw.execute(
        "ALTER TABLE askwise.events ADD CONSTRAINT failing CHECK (kind <> 'STOPPED')"
    )
    with (  # noqa: PT012
        pytest.raises(StoreError, match=r"nothing of this write is kept.*failing"),
        store.write("cats") as transaction,
    ):
        transaction.keep(Reply("k", "request", "body"))
        transaction.append([RESUMED], 1)
        transaction.append([Event(Kind.STOPPED, seq=3)], 2)
    with (  # noqa: PT012
        pytest.raises(StoreError, match=r"nothing of this write is kept.*failing"),
        store.write("cats") as transaction,
    ):
        transaction.append([Event(Kind.STOPPED, seq=2)], 1)
        with pytest.raises(StoreError, match="failing"):
            transaction.tail(0)
        with pytest.raises(StoreError, match="nothing of this write is kept"):
            transaction.keep(Reply("k", "request", "body"))
        with pytest.raises(StoreError, match="nothing of this write is kept"):
            store.read("cats")
    assert store.read("cats") == [PAUSED]
    with store.write("cats") as transaction:
        assert transaction.reply("k") is None


def test_who_writes_beside_our_lock_is_met_by_the_primary_key(
    store: PostgresStore, postgres_raw: Raw
) -> None:
    with (  # noqa: PT012
        pytest.raises(StoreError, match=r"nothing of this write is kept.*events_pkey"),
        store.write("cats") as transaction,
    ):
        transaction.append([RESUMED], 1)
        postgres_raw.execute(
            "INSERT INTO askwise.events SELECT campaign, 2, kind, time, key, body "
            "FROM askwise.events"
        )
    assert [event.kind for event in store.read("cats")] == [Kind.PAUSED, Kind.PAUSED]


def test_a_write_that_writes_nothing_does_not_wait_for_the_disk(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def commit(link: postgres_connection.PostgresConnection) -> None:
        raise AssertionError("there is nothing to commit")

    monkeypatch.setattr(postgres_connection.PostgresConnection, "commit", commit)
    with store.write("cats") as transaction:
        assert transaction.tail(0) == [PAUSED]
        assert transaction.reply("k") is None
        transaction.append([], 1)
    monkeypatch.undo()
    with store.write("cats") as transaction:
        transaction.append([RESUMED], 1)


def test_a_database_that_was_restored_meanwhile_is_noticed(
    store: PostgresStore, postgres_raw: Raw
) -> None:
    assert store.read("cats") == [PAUSED]
    postgres_raw.execute("UPDATE askwise.campaigns SET name = name || '!'")
    postgres_raw.execute(
        "INSERT INTO askwise.campaigns (name, spec, created) VALUES ('cats', '', 0)"
    )
    with pytest.raises(StoreError, match=r"restored meanwhile: try again"), store.write("cats"):
        pass
    with store.write("cats") as transaction:
        assert transaction.tail(0) == []


def test_a_body_is_the_json_of_the_event_without_its_columns(
    store: PostgresStore, postgres_raw: Raw
) -> None:
    event = Event(Kind.ASKED, seq=2, time=1.5, key="k", task="t", worker="w", price=50_000)
    with store.write("cats") as transaction:
        transaction.append([event], 1)
    found = postgres_raw.execute(
        "SELECT seq, kind, time, key, body FROM askwise.events WHERE seq = 2"
    ).fetchall()
    assert found == [(2, "ASKED", 1.5, "k", '{"task":"t","worker":"w","price":"0.05"}')]


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7])
def test_a_log_is_read_in_pieces(
    length: int, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "TOGETHER", 2)
    events = [Event(Kind.ANSWER, seq=seq, value=seq / 7) for seq in range(1, length + 1)]
    with store.write("dogs") as transaction:
        transaction.append(events, 0)
        assert transaction.tail(0) == events
    assert store.read("dogs") == events
    assert store.read("dogs", 1, 3) == events[1:3]
