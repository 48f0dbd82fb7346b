"""Replies that were paid for, so that the same call is not paid twice."""

import os
import sqlite3
import threading
from typing import Protocol


class ReplyCache(Protocol):
    """Texts by key; a dict will do.

    Keys are digests, and what is kept is what came back: neither holds a secret.
    """

    def get(self, key: str, /) -> str | None:
        """What is kept under a key; None if nothing."""

    def __setitem__(self, key: str, text: str, /) -> None:
        """Keep a text, for good before this returns."""


class SqliteCache:
    """A cache in an SQLite file, which processes may share.

    A process that is killed loses nothing that it kept.

    Examples
    --------
    >>> cache = SqliteCache(":memory:")
    >>> cache["a"] = "1"
    >>> cache.get("a"), cache.get("b")
    ('1', None)
    >>> cache.close()
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._lock = threading.Lock()
        self._raw = sqlite3.connect(path, timeout=30, check_same_thread=False, isolation_level=None)
        self._raw.execute("PRAGMA journal_mode = WAL")
        self._raw.execute("PRAGMA synchronous = NORMAL")
        self._raw.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT)")

    def get(self, key: str, /) -> str | None:
        """What is kept under a key; None if nothing."""
        with self._lock:
            found = self._raw.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        return None if found is None else str(found[0])

    def __setitem__(self, key: str, text: str, /) -> None:
        """Keep a text; the first that is kept under a key stays."""
        with self._lock:
            self._raw.execute("INSERT OR IGNORE INTO replies VALUES (?, ?)", (key, text))

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._raw.close()
