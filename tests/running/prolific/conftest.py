"""A contract mock of Prolific, and a bench on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from askwise.service.work import prolific
from askwise.testing.prolific_server import ProlificServer
from tests.running.prolific.studying import StudyBench


@pytest.fixture
def server() -> Iterator[ProlificServer]:
    with ProlificServer() as made:
        yield made


@pytest.fixture
def bench(server: ProlificServer, monkeypatch: pytest.MonkeyPatch) -> StudyBench:
    # All participants of a test have one address.
    monkeypatch.setattr(prolific.landings, "burst", 1e9)
    return StudyBench(server)
