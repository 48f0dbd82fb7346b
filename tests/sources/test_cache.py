"""The cache in an SQLite file."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from askwise.sources.cache import SqliteCache
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
