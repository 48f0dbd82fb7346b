"""Services to test on: in processes of their own, and in this one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.service.served import Served

Serve = Callable[..., Served]

on_stores_and_processes = pytest.mark.parametrize(
    ("store_url", "processes"),
    [
        ("sqlite", 1),
        ("postgres", 2),
        pytest.param("sqlite", 2, marks=pytest.mark.slow),
        pytest.param("postgres", 1, marks=pytest.mark.slow),
    ],
    indirect=["store_url"],
)
"""One process and several, on each kind of store: two of the four cases in the quick suite."""


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that is not there yet; without a PostgreSQL server that half is skipped."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/campaigns.sqlite"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start services; they end with the test.

    ``serve(store, processes=1, options=("--private-hooks",), **environment)``.
    """
    started: list[Served] = []

    def start(
        store: str, processes: int = 1, options: tuple[str, ...] = (), **environment: str
    ) -> Served:
        directory = tmp_path / f"service-{len(started)}"
        directory.mkdir()
        made = Served(store, directory, processes, **environment)
        made.options = options
        started.append(made)
        return made.start()

    yield start
    for each in started:
        each.end()
