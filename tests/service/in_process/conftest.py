"""One service in this process for the tests of a module, and names of their own for each."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import pytest

from tests.service.in_process.faults import FaultyStore, OwnerClient


@pytest.fixture(scope="module")
def shared() -> Iterator[OwnerClient]:
    with OwnerClient(FaultyStore()) as made:
        yield made


@pytest.fixture
def client(shared: OwnerClient) -> OwnerClient:
    shared.cookies.clear()
    return shared


@pytest.fixture
def store(client: OwnerClient) -> FaultyStore:
    assert isinstance(client.store, FaultyStore)
    return client.store


@pytest.fixture
def cats(request: pytest.FixtureRequest) -> str:
    """The name of a campaign, and a retry's key, that no other test uses."""
    return f"cats-{zlib.crc32(request.node.name.encode())}"
