"""A service in a process of its own that all tests here share, and a client of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from askwise.client import Service, connect
from tests.servers import new_database
from tests.service.served import Served


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def shared_service(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """One service for all tests here, which leave each other alone, on each store."""
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
def service(shared_service: Served) -> Iterator[Service]:
    with connect(shared_service.address, shared_service.key) as connected:
        yield connected
