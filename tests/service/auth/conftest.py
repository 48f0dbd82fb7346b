"""That service, for a test and for a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.service.auth.world import World, made_world


@pytest.fixture
def world() -> Iterator[World]:
    yield from made_world()


@pytest.fixture(scope="module")
def shared() -> Iterator[World]:
    """For calls of which only the role matters; what one does may clash with what another did."""
    yield from made_world()
