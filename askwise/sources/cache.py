"""Replies that were paid for, so that the same call is not paid twice."""

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol

from askwise.store import Change, Store
from askwise.store.records import MODEL_REPLIES

PAGE = 1_000
"""Records that are read at a time."""


class ReplyCache(Protocol):
    """Texts by key; a dict will do.

    Keys are digests, and what is kept is what came back: neither holds a secret. A cache that has
    ``blocking = True`` is used in another thread than the event loop's.
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


class StoreCache:
    """A cache in a campaign's store, which processes and machines may share.

    What is kept is durable before it is told to a campaign. It is a cache all the same: backups
    leave it out, and :meth:`forget` makes room.

    Parameters
    ----------
    store : Store
        The store; it stays open when the cache is not needed any more.
    clock : callable
        Seconds since 1970.

    Examples
    --------
    >>> from askwise.store import MemoryStore
    >>> cache = StoreCache(MemoryStore())
    >>> cache["a"] = "1"
    >>> cache["a"] = "2"
    >>> cache.get("a"), cache.get("b")
    ('1', None)
    >>> cache.forget(older_than=0)
    1
    """

    blocking = True

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock
        self._turn = threading.Lock()
        self._writing = threading.Lock()
        self._waiting: list[tuple[str, str, Future[None]]] = []

    def get(self, key: str, /) -> str | None:
        """What is kept under a key; None if nothing."""
        found = self._store.record(MODEL_REPLIES, key)
        return None if found is None else str(json.loads(found.body)["reply"])

    def __setitem__(self, key: str, text: str, /) -> None:
        """Keep a text; the first that is kept under a key stays.

        Those who come while a write is under way share the next one.
        """
        body = json.dumps({"at": self._clock(), "reply": text}, ensure_ascii=False)
        kept: Future[None] = Future()
        with self._turn:
            self._waiting.append((key, body, kept))
        with self._writing:
            if not kept.done():
                with self._turn:
                    group, self._waiting = self._waiting, []
                self._write(group)
        kept.result()

    def forget(self, older_than: float) -> int:
        """Forget replies that were kept more than this many seconds ago; tells how many.

        To ask the same again then costs as much as the first time. What a campaign was told stays
        in its log.
        """
        before, after, forgotten = self._clock() - older_than, "", 0
        while page := self._store.records(MODEL_REPLIES, after=after, limit=PAGE):
            old = [each for each in page if json.loads(each.body)["at"] <= before]
            changes = [Change(MODEL_REPLIES, each.id, each.body, None) for each in old]
            if changes and self._store.change(changes):
                forgotten += len(changes)
            after = page[-1].id
        return forgotten

    def _write(self, group: list[tuple[str, str, Future[None]]]) -> None:
        """Keep all of a group in one write, or one by one if some are there already."""
        named = {key: Change(MODEL_REPLIES, key, None, body) for key, body, _ in reversed(group)}
        try:
            if not self._store.change(list(named.values())):
                for change in named.values():
                    self._store.change([change])  # false where another was first: theirs stays
        except BaseException as error:
            # Also if this thread is interrupted: the others would wait for ever.
            for _, _, kept in group:
                kept.set_exception(error)
        else:
            for _, _, kept in group:
                kept.set_result(None)
