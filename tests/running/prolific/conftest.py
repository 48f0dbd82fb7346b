"""A contract mock of Prolific, and a bench on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from askwise.testing.prolific_server import ProlificServer
from tests.running.prolific.studying import StudyBench


@pytest.fixture
def server() -> Iterator[ProlificServer]:
    with ProlificServer() as made:
        yield made


@pytest.fixture
def bench(server: ProlificServer) -> StudyBench:
    return StudyBench(server)
