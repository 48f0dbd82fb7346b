"""A service in this process and a browser on it; without a browser, tests here are skipped."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from scripts import browser as script
from scripts.installing import Unavailable
from tests.service.browser.driving import Browser, Site, pictures_in, serving


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """The one service of a run; tests make campaigns of their own on it."""
    with serving(sweep=0.2) as running:
        yield running


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The one browser of a run."""
    if os.environ.get(script.SETTING) == "0":
        pytest.skip(f"{script.SETTING} is 0")
    try:
        script.programs()
    except Unavailable as reason:
        pytest.skip(str(reason))
    made = Browser(
        tmp_path_factory.mktemp("profile"), pictures_in(tmp_path_factory.mktemp("pictures"))
    )
    yield made
    made.quit()


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """A browser as new; in the end nothing was loaded from elsewhere and nothing complained."""
    chromium.begin()
    yield chromium
    chromium.check()
