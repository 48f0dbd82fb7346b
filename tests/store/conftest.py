"""Stores that several processes can use."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that is not there yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/campaigns.sqlite"
    made: str = request.getfixturevalue("postgres_url")
    return made
