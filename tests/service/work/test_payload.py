"""How payloads are taken apart for the worker's page."""

from __future__ import annotations

import json

import pytest

from askwise.core.parts import Part, whole_payload
from askwise.service.work import payload as work_payload
from askwise.service.work.payload import ShownPart


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
    assert work_payload.source_of(url) is None
    made = work_payload.shown(Part("image", "Photo", url, "A cat"))
    assert made == ShownPart("long_text", "Photo", f"A cat\n{url}")
    parts = [work_payload.shown(part) for part in whole_payload({"image": url})]
    assert work_payload.sources(parts) == ""
    assert len(parts) == 1
    assert json.dumps(url)[1:-1] in parts[0].text or url in parts[0].text


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        (Part("text", "Subject", "<b>"), ShownPart("text", "Subject", "<b>")),
        (Part("long_text", "", "a\nb"), ShownPart("long_text", "", "a\nb")),
        (Part("json", "", {"ä": [1]}), ShownPart("json", "", '{\n  "ä": [\n    1\n  ]\n}')),
        (Part("pair", "", ("one", "two")), ShownPart("pair", "", sides=("one", "two"))),
        (
            Part("image", "", "https://img.example/1.jpg"),
            ShownPart(
                "image", "", "https://img.example/1.jpg",
                alt="The picture of this question", source="https://img.example",
            ),
        ),
        (
            Part("image", "Photo", "data:image/png;base64,AAAA", "A dot"),
            ShownPart(
                "image", "Photo", "data:image/png;base64,AAAA", alt="A dot", source="data:"
            ),
        ),
    ],
)  # fmt: skip
def test_each_kind_of_part_is_shown_as_it_is(part: Part, wanted: ShownPart) -> None:
    assert work_payload.shown(part) == wanted


def test_a_document_is_as_light_or_dark_as_the_page() -> None:
    made = work_payload.shown(Part("html", "", "<p>h"))
    assert made.text.endswith('<meta name="color-scheme" content="light dark"><p>h')


def test_a_document_has_a_policy_of_its_own_before_anything_else() -> None:
    made = work_payload.shown(Part("html", "", "<img src=//spy.example/1.png>"))
    begin = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\';'
    assert made.text.startswith(begin)


@pytest.mark.parametrize(
    "text", ["<link rel=preconnect>", "<LiNk/rel=x>", "<<link>", "<svg><link>"]
)
def test_a_document_has_no_link_elements(text: str) -> None:
    made = work_payload.shown(Part("html", "", text)).text
    assert "<link" not in made.lower()
    assert made.endswith(text.replace("<link", "<x-link").replace("<LiNk", "<x-LiNk"))


def test_a_page_loads_from_each_source_once() -> None:
    urls = ["https://b.example/1", "https://a.example/2", "https://b.example/3"]
    parts = [work_payload.shown(Part("image", "", url)) for url in urls]
    assert work_payload.sources(parts) == "https://a.example https://b.example"
