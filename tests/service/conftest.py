"""Services to test on: in processes of their own, and in this one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.servers import new_database
from tests.service.served import Served

Serve = Callable[..., Served]


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that is not there yet; without a PostgreSQL server that half is skipped."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/campaigns.sqlite"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def shared_service(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """One service for all tests of a module that leave each other alone, on each store."""
    directory = tmp_path_factory.mktemp("service")
    with ExitStack() as stack:
        if request.param == "sqlite":
            store = f"sqlite:///{directory}/campaigns.sqlite"
        else:
            server: str = request.getfixturevalue("postgres_server")
            store = stack.enter_context(new_database(server))
        service = Served(store, directory)
        stack.callback(service.end)
        yield service.start()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start services: ``serve(store, processes=1, **environment)``; they end with the test."""
    started: list[Served] = []

    def start(store: str, processes: int = 1, **environment: str) -> Served:
        directory = tmp_path / f"service-{len(started)}"
        directory.mkdir()
        made = Served(store, directory, processes, **environment)
        started.append(made)
        return made.start()

    yield start
    for each in started:
        each.end()
