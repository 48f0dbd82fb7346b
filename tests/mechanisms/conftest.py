"""Settings of the tests on mechanisms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from unittest import mock

import pytest

from askwise.core import compiling


@pytest.fixture(autouse=True)
def stay_plain() -> Iterator[None]:
    """Compiling all of choosing takes a minute; the small campaigns here don't pay for it."""
    with mock.patch.object(compiling, "_PATIENCE", math.inf, create=True):
        yield
