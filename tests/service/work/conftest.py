"""One service for the tests of a module, a campaign's name for each of them, and a clock."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from askwise.service.app import make_app
from askwise.service.routing.application import Application
from askwise.service.settings import Settings
from askwise.store import open_store
from tests.service.work.visiting import Bench, Clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock for campaigns that are opened after it is set up."""
    made = Clock()
    monkeypatch.setattr(time, "time", made.now)
    return made


@pytest.fixture(scope="module")
def app() -> Iterator[Application]:
    made = make_app(Settings(store="memory"), open_store("memory"))
    with TestClient(made):
        yield made


@pytest.fixture
def bench(app: Application, request: pytest.FixtureRequest) -> Bench:
    return Bench(app, f"c{zlib.crc32(request.node.name.encode()):08x}")
