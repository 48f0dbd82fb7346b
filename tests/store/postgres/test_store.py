"""What the PostgreSQL store does with its database: schema, locks, text, connections."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.errors import StoreError, UnknownName
from askwise.core.events import Event, Kind
from askwise.store import MemoryStore, Record, Reply, Snapshot, open_store, pending_steps, sql
from askwise.store.backup.file import backup, restore
from askwise.store.migrations import Step, loader
from askwise.store.postgres import connection as postgres_connection
from askwise.store.postgres import text as postgres_text
from askwise.store.postgres.store import PostgresStore
from tests.servers import until_no_sessions

KNOWN = loader.latest("postgres")
PAUSED = Event(Kind.PAUSED, seq=1)
RESUMED = Event(Kind.RESUMED, seq=2)

Raw = psycopg.Connection[tuple[Any, ...]]


@pytest.fixture
def url(postgres_url: str) -> str:
    """A store with two campaigns, the first of one event."""
    with closing(PostgresStore(postgres_url)) as store:
        store.create("cats", "{}", 0.0)
        store.create("dogs", "{}", 0.0)
        with store.write("cats") as transaction:
            transaction.append([PAUSED], 0)
    return postgres_url


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore(url, patience=0.2)) as opened:
        yield opened


def value(raw: Raw, query: str) -> Any:
    (found,) = raw.execute(query.encode()).fetchone() or (None,)
    return found


def test_looking_into_an_empty_database_creates_nothing(
    postgres_url: str, postgres_raw: Raw
) -> None:
    with closing(open_store(postgres_url)) as store:
        assert store.names() == []
        with pytest.raises(UnknownName, match="'cats' is not known"):
            store.read("cats")
        with pytest.raises(UnknownName), store.write("cats"):
            pass
        assert pending_steps(postgres_url) == ["0001_campaigns", "0002_records"]
        assert value(postgres_raw, "SELECT to_regnamespace('askwise')") is None
        # Once another process has made it, it is there.
        with closing(open_store(postgres_url)) as other:
            other.create("cats", "{}", 0.0)
        assert store.names() == ["cats"]
    assert pending_steps(postgres_url) == []


def test_postgres_is_a_scheme_as_well(url: str) -> None:
    with closing(open_store(url.replace("postgresql:", "postgres:"))) as store:
        assert store.names() == ["cats", "dogs"]


def test_everything_is_in_a_schema_of_our_own(
    postgres_raw: Raw, postgres_url: str, request: pytest.FixtureRequest
) -> None:
    outside = "SELECT count(*) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE {}"
    others = outside.format("nspname NOT IN ('askwise', 'pg_toast')")
    before = value(postgres_raw, others)
    request.getfixturevalue("url")
    assert value(postgres_raw, others) == before
    assert value(postgres_raw, outside.format("nspname = 'askwise' AND relkind = 'r'")) == 6


def test_the_schema_of_another_program_is_refused_unchanged(
    postgres_url: str, postgres_raw: Raw
) -> None:
    postgres_raw.execute("CREATE SCHEMA askwise CREATE TABLE campaigns (id integer)")
    with pytest.raises(StoreError, match="schema 'askwise' of another program"):
        open_store(postgres_url)
    with closing(PostgresStore(postgres_url)) as store, pytest.raises(StoreError, match="another"):
        store.create("cats", "{}", 0.0)
    tables = "SELECT count(*) FROM pg_class WHERE relnamespace = 'askwise'::regnamespace"
    assert value(postgres_raw, tables) == 1


def test_an_empty_schema_made_by_an_administrator_is_used(
    postgres_url: str, postgres_raw: Raw
) -> None:
    postgres_raw.execute("CREATE SCHEMA askwise")
    with closing(PostgresStore(postgres_url)) as store:
        store.create("cats", "{}", 0.0)
        assert store.names() == ["cats"]


def test_a_newer_schema_is_refused_with_both_versions(url: str, postgres_raw: Raw) -> None:
    postgres_raw.execute(
        "INSERT INTO askwise.migrations (number, name) VALUES (%s, 'later')", (KNOWN + 7,)
    )
    for use in (open_store, pending_steps):
        with pytest.raises(StoreError, match="upgrade askwise") as caught:
            use(url)
        assert f"schema version {KNOWN + 7}" in str(caught.value)
        assert f"knows up to {KNOWN}" in str(caught.value)


def test_an_older_schema_is_brought_up_to_date_step_by_step(
    url: str, postgres_raw: Raw, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = (
        *loader.steps("postgres"),
        Step("next", "CREATE TABLE askwise.one (x text);"),
        Step("last", "-- A comment; with a semicolon\nINSERT INTO askwise.one\nVALUES (';');\n"),
    )
    monkeypatch.setattr(loader, "steps", lambda database: more)
    assert pending_steps(url) == ["next", "last"]
    with closing(PostgresStore(url)) as store:
        assert store.read("cats") == [PAUSED]
    assert pending_steps(url) == []
    assert value(postgres_raw, "SELECT x FROM askwise.one") == ";"
    assert value(postgres_raw, "SELECT max(number) FROM askwise.migrations") == len(more)


def test_a_step_that_fails_leaves_the_schema_of_the_step_before(
    url: str, postgres_raw: Raw, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = (
        *loader.steps("postgres"),
        Step("next", "CREATE TABLE askwise.one (x text);"),
        Step("last", "CREATE TABLE askwise.two (x text); INSERT INTO askwise.missing VALUES (1);"),
    )
    monkeypatch.setattr(loader, "steps", lambda database: more)
    with closing(PostgresStore(url)) as store:
        for _ in range(2):
            with pytest.raises(StoreError, match="missing"):
                store.read("cats")
    assert value(postgres_raw, "SELECT to_regclass('askwise.one')::text") == "askwise.one"
    assert value(postgres_raw, "SELECT to_regclass('askwise.two')") is None
    assert pending_steps(url) == ["last"]


def test_only_one_of_many_applies_a_step(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Step("slow", "CREATE TABLE askwise.one (x text); SELECT pg_sleep(0.2);")
    more = (*loader.steps("postgres"), slow)
    monkeypatch.setattr(loader, "steps", lambda database: more)
    stores = [PostgresStore(url) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda store: store.names(), stores)) == [["cats", "dogs"]] * 4
    for store in stores:
        store.close()


def test_a_database_in_another_encoding_is_refused(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_connection, "_SETTINGS", "SELECT 'LATIN1', %s")
    with pytest.raises(StoreError, match="has the encoding LATIN1: give a database"):
        open_store(url)


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
            following = elsewhere.submit(_tail, store)
            time.sleep(0.05)
        assert following.result(30.0) == [PAUSED, RESUMED]


def _tail(store: PostgresStore) -> list[Event]:
    with store.write("cats") as transaction:
        return transaction.tail(0)


def test_a_lock_that_is_not_had_in_time_is_said_and_harms_nothing(
    store: PostgresStore, postgres_raw: Raw
) -> None:
    with postgres_raw.transaction():
        postgres_raw.execute("SELECT 1 FROM askwise.campaigns WHERE name = 'cats' FOR UPDATE")
        with pytest.raises(StoreError, match=r"more than 0\.2 s") as caught, store.write("cats"):
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
        waiting = elsewhere.submit(_tail, store)
        with pytest.raises(StoreError, match=r"busy.*more than 0\.2 s"):
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
            waiting = [elsewhere.submit(_tail, store) for _ in range(8)]
            time.sleep(0.1)
            assert elsewhere.submit(store.read, "dogs").result(30.0) == []
        assert [each.result(60.0) for each in waiting] == [[PAUSED]] * 8
        assert store._connections._pool.get_stats()["pool_size"] <= 3


def test_more_threads_than_connections_wait_and_are_told_in_the_end(url: str) -> None:
    with (
        closing(PostgresStore(url, patience=0.2, connections=1)) as store,
        ThreadPoolExecutor(1) as elsewhere,
    ):
        with store.write("cats"):
            waiting = elsewhere.submit(store.names)
            with pytest.raises(StoreError, match=r"all 1 connections were in use.*0\.2 s"):
                waiting.result(30.0)
        assert elsewhere.submit(store.names).result(30.0) == ["cats", "dogs"]


def test_a_probe_is_answered_while_all_connections_are_in_use(url: str) -> None:
    with (
        closing(PostgresStore(url, patience=0.2, connections=1)) as store,
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
    monkeypatch.setattr(sql, "TOGETHER", 2)
    events = [Event(Kind.ANSWER, seq=seq, value=seq / 7) for seq in range(1, length + 1)]
    with store.write("dogs") as transaction:
        transaction.append(events, 0)
        assert transaction.tail(0) == events
    assert store.read("dogs") == events
    assert store.read("dogs", 1, 3) == events[1:3]


@given(st.text(st.sampled_from("a0\ufdd01\U0001f600")))
def test_any_text_can_be_kept(text: str) -> None:
    assert postgres_text.given(postgres_text.kept(text, "key")) == text


def test_what_an_older_askwise_wrote_for_nul_is_read_as_it_was(
    store: PostgresStore, postgres_raw: Raw
) -> None:
    # It wrote a mark and a digit, in records a mark below all others.
    postgres_raw.execute(
        "INSERT INTO askwise.events (campaign, seq, kind, time, key, body) "
        "SELECT id, 2, 'RESUMED', 0, 'a\ufdd00b \ufdd01', '{}' FROM askwise.campaigns "
        "WHERE name = 'cats'"
    )
    postgres_raw.execute(
        "INSERT INTO askwise.replies (campaign, key, request, body) "
        "SELECT id, 'a\ufdd00b', 'of \ufdd00', '\ufdd01' FROM askwise.campaigns "
        "WHERE name = 'cats'"
    )
    postgres_raw.execute(
        "INSERT INTO askwise.records (kind, id, body) "
        "VALUES ('key', 'a\1\1b', '\ufdd00'), ('key', 'a\1\2', '{}')"
    )
    assert [event.key for event in store.read("cats")] == [None, "a\0b \ufdd0"]
    assert store.records("key") == [Record("key", "a\0b", "\0"), Record("key", "a\1", "{}")]
    with store.contents() as items:
        assert Reply("a\0b", "of \0", "\ufdd0") in list(items)
    with store.write("cats") as transaction:
        transaction.append([Event(Kind.PAUSED, seq=3)], 2)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_backup_with_nul_of_an_older_askwise_is_restored_where_it_can_be_kept(
    kind: str, postgres_url: str, tmp_path: Path
) -> None:
    older, file = MemoryStore(), BytesIO()
    older.create("cats", "{}", 0.0)
    with older.write("cats") as transaction:
        transaction.append([Event(Kind.PAUSED, seq=1, key="a\0")], 0)
        transaction.keep(Reply("a\0", "", ""))
    backup(older, file, 0.0)
    url = postgres_url if kind == "postgres" else f"sqlite:///{tmp_path}/cats.sqlite"
    with closing(open_store(url)) as target:
        if kind == "postgres":
            with pytest.raises(StoreError, match=r"key can't be kept, as it has the character NUL"):
                restore(target, file)
            assert target.names() == []
        else:
            restore(target, file)
            assert target.read("cats") == older.read("cats")


def test_odd_text_comes_back_as_it_was(store: PostgresStore) -> None:
    odd = "a \1 \ufdd0 \ufdd00 '\\\" %s {} \u2028 naïve 猫 \U0001f600"
    store.create(odd, odd, 0.0)
    with store.write(odd) as transaction:
        transaction.append([Event(Kind.ANSWER, seq=1, key=odd, task=odd, note=odd)], 0)
        transaction.keep(Reply(odd, odd, odd))
    store.save(odd, Snapshot(1, odd, odd.encode()))
    assert odd in store.names()
    assert store.spec(odd) == odd
    (event,) = store.read(odd)
    assert (event.key, event.task, event.note) == (odd, odd, odd)
    with store.write(odd) as transaction:
        assert transaction.reply(odd) == Reply(odd, odd, odd)
    assert store.snapshot(odd, odd) == Snapshot(1, odd, odd.encode())


def test_half_a_character_is_refused_with_its_field(store: PostgresStore) -> None:
    with pytest.raises(StoreError, match="spec can't be kept") as caught:
        store.create("birds", "\ud800", 0.0)
    assert caught.value.field == "spec"
    with pytest.raises(StoreError, match="key can't be kept"), store.write("cats") as transaction:
        transaction.reply("\ud800")


def test_numbers_come_back_to_the_last_bit_whatever_the_settings(url: str) -> None:
    times = [0.1 + 0.2, 5e-324, 1.7976931348623157e308, -1e-300, 1e9 + 0.1]
    events = [Event(Kind.PAUSED, seq=seq, time=time) for seq, time in enumerate(times, 2)]
    with closing(PostgresStore(f"{url}?options=-cextra_float_digits%3D-9")) as store:
        with store.write("cats") as transaction:
            transaction.append(events, 1)
        assert [event.time for event in store.read("cats", 1)] == times
