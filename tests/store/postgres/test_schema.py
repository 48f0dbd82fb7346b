"""The schema: made once, of our own, brought up to date, refused if it is another's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from askwise.core.errors import StoreError, UnknownName
from askwise.store import open_store, pending_steps
from askwise.store.migrations import Step, loader
from askwise.store.postgres import connection as postgres_connection
from askwise.store.postgres.store import PostgresStore
from tests.store.postgres.sessions import PAUSED, Raw, value

KNOWN = loader.latest("postgres")


def test_looking_into_an_empty_database_creates_nothing(
    postgres_url: str, postgres_raw: Raw
) -> None:
    with closing(open_store(postgres_url)) as store:
        assert store.names() == []
        with pytest.raises(UnknownName, match="'cats' is not known"):
            store.read("cats")
        with pytest.raises(UnknownName), store.write("cats"):
            pass
        assert pending_steps(postgres_url) == ["0001_campaigns", "0002_records", "0003_archived"]
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
