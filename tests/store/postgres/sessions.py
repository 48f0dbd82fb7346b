"""Events to write, and a look at the database beside the store."""

from __future__ import annotations

from typing import Any

import psycopg

from askwise.core.events import Event, Kind
from askwise.store.postgres.store import PostgresStore
from tests.servers import until_no_sessions

PAUSED = Event(Kind.PAUSED, seq=1)
RESUMED = Event(Kind.RESUMED, seq=2)

Raw = psycopg.Connection[tuple[Any, ...]]


def end_sessions(raw: Raw) -> None:
    """Have the server end all sessions of askwise, and wait until it has."""
    ours = (
        "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'askwise'"
    )
    raw.execute(f"SELECT pg_terminate_backend(pid) {ours}".encode())
    until_no_sessions(raw)


def value(raw: Raw, query: str) -> Any:
    (found,) = raw.execute(query.encode()).fetchone() or (None,)
    return found


def tail_of(store: PostgresStore) -> list[Event]:
    with store.write("cats") as transaction:
        return transaction.tail(0)
