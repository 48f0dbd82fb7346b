"""Databases to test on."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from scripts.postgres import SETTING
from tests.store.servers import NoServer, shared_server, with_database


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The url of a PostgreSQL server; without one, the test is skipped."""
    directory = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        directory = directory.parent
    try:
        with shared_server(directory) as url:
            yield url
    except NoServer as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def postgres_database(postgres_server: str) -> Iterator[str]:
    """The url of a database that this process has for itself."""
    name = f"askwise_test_{secrets.token_hex(4)}"
    with closing(psycopg.connect(postgres_server, autocommit=True)) as server:
        server.execute(
            f"CREATE DATABASE {name} ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
        )
    yield with_database(postgres_server, name)
    if os.environ.get(SETTING):  # ours ends with its server
        with closing(psycopg.connect(postgres_server, autocommit=True)) as server:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def postgres_url(postgres_database: str) -> str:
    """The url of an empty database."""
    with closing(psycopg.connect(postgres_database, autocommit=True)) as raw:
        raw.execute("SET client_min_messages = warning")
        raw.execute("DROP SCHEMA IF EXISTS askwise CASCADE")
    return postgres_database


@pytest.fixture
def postgres_raw(postgres_url: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """That database through psycopg alone."""
    with closing(psycopg.connect(postgres_url, autocommit=True)) as raw:
        yield raw
