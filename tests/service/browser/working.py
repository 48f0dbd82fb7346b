"""A worker at their page: the campaign, the first question, clicks and keys that count."""

from __future__ import annotations

from typing import Any

from askwise.campaign import Campaign
from tests.service.browser.driving import Browser, Site

ANN = {"id": "ann", "price": "0.1"}

BOB = {"id": "bob", "price": "0.2"}


def make(site: Site, name: str, **fields: Any) -> Campaign:
    """A campaign in which ann is asked in any order, about everything once."""
    defaults: dict[str, Any] = {
        "workers": [ANN],
        "options": ["yes", "no"],
        "budget": "10",
        "policy": "random-pairs",
        "seed": 1,
    }
    return site.create(name, **{**defaults, **fields})


def start(browser: Browser, site: Site, name: str, worker: str = "ann") -> None:
    """Open a worker's link and take the first question."""
    browser.open(site.link(name, worker))
    browser.find(".primary").click()


def answer(browser: Browser, number: int, *keys: str) -> None:
    """Answer a question by keys, once it is shown and was there for a moment."""
    browser.shows(f"Question {number}", "h1")
    settle(browser)
    browser.press(*keys)


def click(browser: Browser, css: str) -> None:
    """Click a button, once the page was there for a moment."""
    settle(browser)
    browser.find(css).click()


def settle(browser: Browser) -> None:
    """Wait until the page takes clicks and keys: at first they are meant for the one before."""
    browser.until(
        lambda: browser.run("return performance.now()") > ready(browser) or None, "it has settled"
    )


def ready(browser: Browser) -> float:
    """When clicks and keys count again: a moment after the page came or changed."""
    found: float = browser.run(
        "if (document.title !== window.seen) {"
        "  window.seen = document.title; window.at = performance.now() + 320"
        "} return window.at"
    )
    return found
