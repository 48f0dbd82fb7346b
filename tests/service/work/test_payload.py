"""How payloads are taken apart for the worker's page."""

from __future__ import annotations

import pytest

from askwise.service.work import payload as work_payload


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:image/svg+xml,<svg/>",
        "//img.example/1.png",
        "/static/icon.svg",
        "https://",
        "https://img.example;script-src/1.png",
        "https://img.example,evil/1.png",
        "https://img.example /1.png",
        "https://img.example\n/1.png",
        "https://user:secret@img.example/1.png",
        "https://img.example\\@evil.example/1.png",
        "https://*.example/1.png",
        "https://[::1]/1.png",
        "https://[bad/1.png",
        "https://'self'/1.png",
        "ftp://img.example/1.png",
        "https://img.example:99999999/1.png",
    ],
)
def test_an_address_that_no_policy_could_name_is_shown_as_text(url: str) -> None:
    made = work_payload.shown({"image": url})
    assert made.picture is None
    assert made.rest is not None


def test_nothing_of_a_payload_is_left_out() -> None:
    for payload in (
        7,
        None,
        True,
        [1, 2],
        {},
        {"text": 3},
        {"image": 4, "alt": 5},
        {"a": {"b": 1}},
    ):
        made = work_payload.shown(payload)
        assert (made.text, made.picture, made.html) == (None, None, None)
        assert made.rest is not None
    both = work_payload.shown({"text": "t", "html": "<p>h", "image": "http://a.example/", "n": 1})
    assert (both.text, both.rest) == ("t", '{\n  "n": 1\n}')
    assert both.html is not None
    assert both.html.endswith("<p>h")
    assert both.picture is not None
