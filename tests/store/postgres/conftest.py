"""The store that most tests here use, on a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from askwise.store.postgres.store import PostgresStore
from tests.store.postgres.sessions import PAUSED


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
    with closing(PostgresStore(url)) as opened:
        yield opened
