"""Stores of any kind, that are not there yet."""

from __future__ import annotations

from contextlib import closing
from itertools import count
from pathlib import Path

import psycopg
import pytest

from tests.store.backup.content import MakeUrl


@pytest.fixture
def fresh(tmp_path: Path, request: pytest.FixtureRequest) -> MakeUrl:
    """The url of an empty store of a kind; there is one PostgreSQL database, emptied each time."""
    numbers = count()

    def make(kind: str) -> str:
        if kind == "sqlite":
            return f"sqlite:///{tmp_path}/{next(numbers)}.sqlite"
        if kind == "memory":
            return "memory"
        url: str = request.getfixturevalue("postgres_url")
        with closing(psycopg.connect(url, autocommit=True)) as raw:
            raw.execute("SET client_min_messages = warning")
            raw.execute("DROP SCHEMA IF EXISTS askwise CASCADE")
        return url

    return make
