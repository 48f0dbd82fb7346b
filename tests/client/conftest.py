"""A service in a thread of this process, and a client of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from askwise.client import Service, connect
from tests.service.local import Local, in_thread


@pytest.fixture(scope="module")
def local() -> Iterator[Local]:
    with in_thread() as served:
        yield served


@pytest.fixture
def service(local: Local) -> Iterator[Service]:
    with connect(local.address, local.key) as connected:
        yield connected
