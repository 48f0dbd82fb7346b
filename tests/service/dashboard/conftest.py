"""A dashboard that its owner has signed in to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from askwise.service.app import make_app
from askwise.service.settings import Settings
from tests.service.dashboard.site import Site


@pytest.fixture
def site() -> Iterator[Site]:
    app = make_app(Settings(store="memory", address="http://testserver", private_hooks=True))
    with TestClient(app) as client:
        made = Site(client, app.state.service)
        made.sign_in()
        yield made
