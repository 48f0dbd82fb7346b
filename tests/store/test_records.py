"""Records under contention: threads and processes that race, servers that are set differently."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.errors import StoreError
from askwise.store import Change, Record, SqliteStore, open_store
from askwise.store.migrations import loader
from askwise.store.migrations.on_sqlite import APPLICATION_ID
from askwise.store.postgres import text as postgres_text
from askwise.store.postgres.store import PostgresStore
from askwise.store.records import end_of
from tests.processes import kill, let_go, start, wait_until_ready
from tests.servers import until_settled

RACER = "tests.store.racer"


def test_processes_that_race_win_each_record_once_and_count_every_step(url: str) -> None:
    rounds = 20
    racers = {name: start(RACER, url, name, rounds) for name in "abc"}
    for racer in racers.values():
        wait_until_ready(racer)
    for racer in racers.values():
        let_go(racer)
    won = {}
    for name, racer in racers.items():
        printed, _ = racer.communicate(timeout=60)
        assert racer.returncode == 0
        for line in printed.splitlines():
            if line.startswith("won"):
                number = f"{int(line.split()[1]):03}"
                assert number not in won
                won[number] = name
    with closing(open_store(url)) as store:
        assert {each.id: each.body for each in store.records("prize")} == won
        assert len(won) == rounds
        counts = store.records("count")
    assert counts == [Record("count", each, str(3 * rounds)) for each in "xy"]


def test_what_a_killed_racer_said_it_won_is_there_and_nothing_is_half_done(url: str) -> None:
    chance = random.Random(4)
    counted = 0
    for name in "abc":
        racer = start(RACER, url, name, 1000)
        wait_until_ready(racer)
        let_go(racer)
        assert racer.stdout is not None
        printed = [racer.stdout.readline() for _ in range(chance.randrange(2, 30))]
        time.sleep(chance.uniform(0.0, 0.01))
        printed += kill(racer)
        until_settled(url)
        with closing(open_store(url)) as store:
            prizes = {int(each.id): each.body for each in store.records("prize")}
            x, y = (int(each.body) for each in store.records("count"))
        for line in printed:
            if line.startswith("won"):
                assert prizes[int(line.split()[1])] == name
        acknowledged = sum(line.startswith("counted") for line in printed)
        assert x == y
        assert counted + acknowledged <= x <= counted + acknowledged + 1
        counted = x


def test_threads_race_with_threads_of_another_store(url: str) -> None:
    with closing(open_store(url)) as one, closing(open_store(url)) as other:
        with ThreadPoolExecutor(6) as pool:
            for number in range(10):
                change = [Change("prize", str(number), None, "x"), Change("all", "n", None, None)]
                racing = [pool.submit(store.change, change) for store in (one, other) * 3]
                assert sum(each.result(30.0) for each in racing) == 1
        assert len(one.records("prize")) == 10
        assert one.records("all") == []


def test_a_file_of_the_first_schema_gets_records(tmp_path: Path) -> None:
    file = tmp_path / "old.sqlite"
    with closing(sqlite3.connect(file)) as written:
        written.executescript(loader.steps("sqlite")[0].script)
        written.execute("PRAGMA user_version = 1")
        written.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        written.execute("INSERT INTO campaigns (name, spec, created) VALUES ('cats', '{}', 0.0)")
        written.commit()
    with closing(SqliteStore(file)) as store:
        assert store.pending() == ["0002_records", "0003_archived"]
        assert store.records("key") == []
        assert store.change([Change("key", "a", None, "{}")])
        assert store.names() == ["cats"]


def test_looking_for_records_makes_no_file(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "none.sqlite")) as store:
        assert store.records("key") == []
        assert store.record("key", "a") is None
        with store.contents() as items:
            assert list(items) == []
    assert os.listdir(tmp_path) == []


def test_a_page_of_records_is_read_by_the_index(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "a.sqlite")) as store:
        store.change([Change("key", "a", None, "{}")])
        with store._connections.use() as link:
            plan = link.run(
                "EXPLAIN QUERY PLAN SELECT kind, id, body FROM records WHERE kind = ? AND id >= ? "
                "AND id <> ? AND id < ? ORDER BY id LIMIT ?",
                *("key", "a", "a", "b", 10),
            )
    assert [row[3] for row in plan] == [
        "SEARCH records USING PRIMARY KEY (kind=? AND id>? AND id<?)"
    ]


def test_looking_for_records_makes_no_schema(postgres_url: str, postgres_raw: Any) -> None:
    with closing(PostgresStore(postgres_url)) as store:
        assert store.records("key") == []
        assert store.record("key", "a") is None
        with store.contents() as items:
            assert list(items) == []
    found = postgres_raw.execute("SELECT to_regnamespace('askwise')").fetchone()
    assert found == (None,)


def test_the_order_does_not_depend_on_the_language_of_the_database(
    postgres_url: str, postgres_raw: Any
) -> None:
    with closing(PostgresStore(postgres_url)) as store:
        store.change([Change("key", "a", None, "{}")])
    found = postgres_raw.execute(
        "SELECT attname, collname FROM pg_attribute JOIN pg_collation c ON c.oid = attcollation "
        "WHERE attrelid = 'askwise.records'::regclass ORDER BY attname"
    ).fetchall()
    assert found == [("body", "C"), ("id", "C"), ("kind", "C")]


def test_a_race_is_lost_quietly_whatever_isolation_the_server_has(postgres_url: str) -> None:
    strict = f"{postgres_url}?options=-cdefault_transaction_isolation%3Dserializable"
    with closing(PostgresStore(strict)) as store, ThreadPoolExecutor(4) as pool:
        for number in range(20):
            changes = [Change("key", "a", str(number - 1) if number else None, str(number))]
            racing = [pool.submit(store.change, changes) for _ in range(4)]
            assert sum(each.result(30.0) for each in racing) == 1


def test_a_record_that_another_holds_is_waited_for_no_longer_than_the_patience(
    postgres_url: str, postgres_raw: psycopg.Connection[Any]
) -> None:
    with closing(PostgresStore(postgres_url, patience=1.0)) as store:
        store.change([Change("key", "a", None, "1")])
        with postgres_raw.transaction():
            postgres_raw.execute("UPDATE askwise.records SET body = '2'")
            with pytest.raises(StoreError, match="is busy"):
                store.change([Change("key", "a", "1", "3")])
            with pytest.raises(StoreError, match="is busy"):
                store.change([Change("key", "a", "1", "3"), Change("key", "b", None, "3")])
        assert store.records("key") == [Record("key", "a", "2")]


def test_reading_out_takes_a_connection_of_its_own_and_gives_it_back(postgres_url: str) -> None:
    with closing(PostgresStore(postgres_url, patience=1.0, connections=1)) as store:
        store.create("cats", "{}", 0.0)
        with store.contents() as items:
            assert len(list(items)) == 1
            with pytest.raises(StoreError, match="all 1 connections were in use"):
                store.names()
        assert store.names() == ["cats"]


ODD = st.text(st.sampled_from("\1\2ab\ud7ff\ue000\U0001f600\U0010ffff"), max_size=4)


@given(ODD, ODD)
def test_text_is_kept_in_its_order(one: str, other: str) -> None:
    kept, kept_other = (postgres_text.kept_in_order(each, "id") for each in (one, other))
    assert postgres_text.given_in_order(kept) == one
    assert (kept < kept_other) == (one < other)
    assert kept.startswith(kept_other) == one.startswith(other)


@given(ODD, ODD)
def test_the_end_of_a_prefix_is_above_all_that_begin_with_it(prefix: str, text: str) -> None:
    end = end_of(prefix)
    below = end is None or text < end
    assert (text >= prefix and below) == text.startswith(prefix)
