"""Somebody who receives, a clock that is set, and a store of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from askwise.store import Store, open_store
from tests.clock import Clock
from tests.service.webhooks.bench import Receiver, receiving


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


@pytest.fixture
def clock() -> Clock:
    return Clock(1_700_000_000.0)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "postgres":
        return open_store(request.getfixturevalue("postgres_url"))
    return open_store(
        "memory" if request.param == "memory" else f"sqlite:///{tmp_path}/campaigns.sqlite"
    )
