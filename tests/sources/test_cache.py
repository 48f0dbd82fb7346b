"""Caches in an SQLite file and in a store."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest

from askwise.core.errors import StoreError
from askwise.sources import cache as caches
from askwise.sources.cache import SqliteCache, StoreCache
from askwise.store import Change, MemoryStore, SqliteStore, Store, open_store
from askwise.store.backup.file import backup, restore
from askwise.store.records import MODEL_REPLIES, RUNS
from tests.paths import ROOT


def test_what_is_kept_first_stays(tmp_path: Path) -> None:
    cache = SqliteCache(tmp_path / "a.sqlite")
    cache["k"] = "one"
    cache["k"] = "two"
    assert cache.get("k") == "one"
    assert cache.get("other") is None
    cache.close()


def test_a_process_that_is_killed_loses_nothing_that_it_kept(tmp_path: Path) -> None:
    code = (
        "import os, signal\n"
        "from askwise.sources.cache import SqliteCache\n"
        f"cache = SqliteCache({str(tmp_path / 'a.sqlite')!r})\n"
        "for at in range(50):\n"
        "    cache[str(at)] = 'kept'\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert done.returncode == -9
    cache = SqliteCache(tmp_path / "a.sqlite")
    assert [cache.get(str(at)) for at in range(50)] == ["kept"] * 50
    cache.close()


def test_threads_may_share_it(tmp_path: Path) -> None:
    cache = SqliteCache(tmp_path / "a.sqlite")

    def keep(name: str) -> None:
        for at in range(20):
            cache[f"{name}{at}"] = name

    threads = [threading.Thread(target=keep, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(cache.get(f"{name}{at}") == name for name in "abcd" for at in range(20))
    cache.close()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "postgres":
        opened = open_store(request.getfixturevalue("postgres_url"))
    else:
        opened = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "a.sqlite")
    with closing(opened):
        yield opened


def test_a_store_keeps_what_comes_first_and_forgets_what_is_old(store: Store) -> None:
    now = 1000.0
    cache = StoreCache(store, clock=lambda: now)
    cache["old"] = "naïve"
    cache["old"] = "two"
    now = 2000.0
    cache["new"] = "three"
    assert (cache.get("old"), cache.get("new"), cache.get("other")) == ("naïve", "three", None)
    assert cache.forget(older_than=500) == 1
    assert (cache.get("old"), cache.get("new")) == (None, "three")


def test_old_replies_are_forgotten_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "PAGE", 2)
    cache = StoreCache(MemoryStore(), clock=lambda: 0.0)
    for key in "abcde":
        cache[key] = key
    assert cache.forget(older_than=0) == 5
    assert [cache.get(key) for key in "abcde"] == [None] * 5


def test_threads_share_a_write_and_all_of_it_is_kept(tmp_path: Path) -> None:
    class Counted(SqliteStore):
        writes = 0

        def change(self, changes: Sequence[Change]) -> bool:
            self.writes += 1
            return super().change(changes)

    with closing(Counted(tmp_path / "a.sqlite")) as store:
        cache = StoreCache(store)
        start = threading.Barrier(16)

        def keep(at: int) -> None:
            start.wait()
            # Each key is kept by two threads at once.
            cache[f"k{at // 2}"] = str(at // 2)

        threads = [threading.Thread(target=keep, args=(at,)) for at in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [cache.get(f"k{at}") for at in range(8)] == [str(at) for at in range(8)]


def test_a_write_that_fails_fails_for_all_who_share_it_and_the_next_is_tried_again() -> None:
    class Broken(MemoryStore):
        broken = True

        def change(self, changes: Sequence[Change]) -> bool:
            if self.broken:
                raise StoreError("the disk is full")
            return super().change(changes)

    store = Broken()
    cache = StoreCache(store)
    with pytest.raises(StoreError, match="the disk is full"):
        cache["a"] = "1"
    store.broken = False
    cache["a"] = "1"
    assert cache.get("a") == "1"


def test_backups_leave_out_replies_and_who_runs_a_campaign() -> None:
    store, copy, file = MemoryStore(), MemoryStore(), BytesIO()
    store.create("cats", "{}", 0.0)
    StoreCache(store)["a"] = "1"
    store.change([Change(RUNS, "cats", None, "{}"), Change("key", "k", None, "{}")])
    assert backup(store, file, time=0.0).records == 1
    restore(copy, file)
    assert StoreCache(copy).get("a") is None
    assert copy.records(MODEL_REPLIES) == copy.records(RUNS) == []
    assert copy.record("key", "k") is not None
