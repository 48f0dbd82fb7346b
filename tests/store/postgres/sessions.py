"""Events to write, and a look at the database beside the store."""

from __future__ import annotations

import time
from typing import Any

import psycopg

from askwise.core.events import Event, Kind
from askwise.store.postgres.store import PostgresStore

PAUSED = Event(Kind.PAUSED, seq=1)
RESUMED = Event(Kind.RESUMED, seq=2)

Raw = psycopg.Connection[tuple[Any, ...]]


def end_sessions(raw: Raw) -> None:
    """Have the server end all sessions of askwise, and wait until it has.

    The pool may be connecting anew in its own thread meanwhile: that session is ended as well.
    """
    ours = (
        "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'askwise'"
    )
    deadline = time.monotonic() + 60.0
    while raw.execute(f"SELECT pg_terminate_backend(pid) {ours}".encode()).fetchone():
        assert time.monotonic() < deadline, "a session of a store does not end"
        time.sleep(0.005)


def value(raw: Raw, query: str) -> Any:
    (found,) = raw.execute(query.encode()).fetchone() or (None,)
    return found


def tail_of(store: PostgresStore) -> list[Event]:
    with store.write("cats") as transaction:
        return transaction.tail(0)
