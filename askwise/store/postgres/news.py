"""News of logs between the processes that use one database: PostgreSQL's LISTEN and NOTIFY.

A NOTIFY inside the transaction that writes would let all commits of a server wait for each other,
as it takes a lock that is held until the commit is on disk. So each process sends what has grown
in the last moment by itself, in a transaction that waits for no disk. News may be lost with a
process that dies: who waits for it looks at the log now and then.
"""

import logging
import os
import threading
from collections.abc import Callable
from contextlib import suppress

import psycopg

from askwise.core.errors import StoreError
from askwise.store.news import News, Told
from askwise.store.postgres.address import Address
from askwise.store.postgres.connection import RawConnection, connect

log = logging.getLogger("askwise.store")

CHANNEL = "askwise"

SENDER = "news out"
"""The name of the thread that sends."""

GATHER = 0.02
"""Seconds for which news is gathered before it is sent."""

IDLE = 2.0
"""Seconds without news after which the thread that sends it ends, and its connection with it."""

LOOK = 0.5
"""Seconds after which a thread looks whether it is still wanted."""

AGAIN = 1.0
"""Seconds until a connection that was lost is tried again."""

LONGEST = 2000
"""Bytes of a name that is sent; instead of a longer one, all are told that any log has grown."""

_SEND = "SELECT pg_notify(%s, name) FROM unnest(%s::text[]) AS t (name)"


class PostgresNews:
    """Sends and hears news of one database, each in a thread that starts when it is needed.

    Parameters
    ----------
    patience : float
        Seconds that connecting may take.
    """

    def __init__(self, address: Address, patience: float) -> None:
        self._address = address
        self._patience = patience
        self._reset()

    def _reset(self) -> None:
        self._process = os.getpid()
        self._here = News()
        self._lock = threading.Lock()
        self._grown: set[str] = set()
        self._due = threading.Event()
        self._closed = threading.Event()
        self._sender: threading.Thread | None = None
        self._listener: threading.Thread | None = None
        self._listeners = 0

    def post(self, name: str) -> None:
        """Tell this process at once, and the others soon."""
        if self._process != os.getpid():
            self._reset()
        self._here.post(name)
        with self._lock:
            self._grown.add(name)
            if self._sender is None and not self._closed.is_set():
                self._sender = threading.Thread(target=self._send, name=SENDER, daemon=True)
                self._sender.start()
        self._due.set()

    def subscribe(self, told: Told) -> Callable[[], None]:
        """Have ``told`` called with what is written here and elsewhere; returns what ends it."""
        if self._process != os.getpid():
            self._reset()
        end = self._here.subscribe(told)
        with self._lock:
            self._listeners += 1
            if self._listener is None and not self._closed.is_set():
                self._listener = threading.Thread(target=self._hear, name="news in", daemon=True)
                self._listener.start()

        def ended() -> None:
            end()
            with self._lock:
                self._listeners -= 1

        return ended

    def close(self) -> None:
        """Send what is left, and end both threads."""
        self._closed.set()
        self._due.set()
        if self._process != os.getpid():
            return
        with self._lock:
            threads = self._sender, self._listener
        for thread in threads:
            if thread is not None:
                thread.join(self._patience)

    def _send(self) -> None:
        connection: RawConnection | None = None
        while True:
            called = self._due.wait(IDLE)
            self._due.clear()
            self._closed.wait(GATHER)
            with self._lock:
                names, self._grown = self._grown, set()
                if not names and (not called or self._closed.is_set()):
                    # Under the lock: whatever is posted after this starts another.
                    self._sender = None
                    break
            if not names:
                continue
            try:
                if connection is None or connection.closed:
                    connection = connect(self._address, self._patience)
                    connection.execute("SET synchronous_commit = off")
                sent = [each if len(each.encode()) <= LONGEST else "" for each in names]
                connection.execute(_SEND, (CHANNEL, sorted(set(sent))))
            except (StoreError, psycopg.Error) as error:
                log.debug("news was not sent: %s", error)
                with suppress(psycopg.Error):
                    if connection is not None:
                        connection.close()
                connection = None
        if connection is not None:
            connection.close()

    def _hear(self) -> None:
        connection: RawConnection | None = None
        while not self._closed.is_set():
            with self._lock:
                if self._listeners == 0:
                    self._listener = None
                    break
            try:
                if connection is None:
                    connection = connect(self._address, self._patience)
                    connection.execute(f"LISTEN {CHANNEL}")
                    # What came while nobody listened was missed.
                    self._here.post(None)
                for heard in connection.notifies(timeout=LOOK, stop_after=1):
                    self._here.post(heard.payload or None)
            except (StoreError, psycopg.Error) as error:
                log.debug("news is not heard: %s", error)
                with suppress(psycopg.Error):
                    if connection is not None:
                        connection.close()
                connection = None
                self._closed.wait(AGAIN)
        if connection is not None:
            connection.close()
