"""The page /docs: made of the description, whole, and its examples work."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from starlette.testclient import TestClient

from askwise.service.api.reference import Operation, Reference
from askwise.service.app import make_app
from askwise.service.auth.identity import Identities
from askwise.service.settings import Settings
from askwise.store import open_store

VOID = {"meta", "link", "input", "br", "hr", "img"}


class Outline(HTMLParser):
    """Checks that tags are closed in order; collects ids, links and headings."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.headings: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        assert not {"style", "onclick", "onload"} & set(given), given
        assert tag not in ("script", "style")
        if tag not in VOID:
            self.open.append(tag)
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if tag == "a":
            self.links.append(str(given["href"]))
        elif given.get("href") or given.get("src"):
            self.loaded.append(str(given.get("href") or given.get("src")))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    store = open_store("memory")
    with TestClient(make_app(Settings(store="memory"), store)) as made:
        made.headers["X-Test-Key"] = Identities(store).issue("owner", "x")[0]
        yield made


@pytest.fixture(scope="module")
def reference(client: TestClient) -> Reference:
    return Reference(client.app.openapi())  # type: ignore[attr-defined]


def operations(reference: Reference) -> list[Operation]:
    return [each for _, _, group in reference.groups for each in group]


def test_anybody_may_read_it_and_it_loads_nothing_from_elsewhere(client: TestClient) -> None:
    reply = client.get("/docs")
    assert reply.status_code == 200
    assert reply.headers["Content-Type"].startswith("text/html")
    assert "style-src 'self'" in reply.headers["Content-Security-Policy"]
    outline = Outline()
    outline.feed(reply.text)
    assert outline.open == []
    assert len(set(outline.ids)) == len(outline.ids)
    for link in outline.links:
        assert link in ("/dashboard", "/openapi.json") or link[1:] in outline.ids, link
    assert all(place.startswith("/static/") for place in outline.loaded)
    assert outline.headings[0] == 1
    steps = zip(outline.headings, outline.headings[1:], strict=False)
    assert all(after - before <= 1 for before, after in steps)


def test_it_is_made_once_and_sent_again_only_if_need_be(client: TestClient) -> None:
    for path in ("/docs", "/openapi.json"):
        first = client.get(path)
        again = client.get(path, headers={"If-None-Match": first.headers["ETag"]})
        assert again.status_code == 304
        assert again.content == b""
        assert client.get(path, headers={"If-None-Match": '"x"'}).content == first.content
    assert client.get("/openapi.json").json() == client.app.openapi()  # type: ignore[attr-defined]


def test_every_operation_shape_and_caller_is_on_it(
    client: TestClient, reference: Reference
) -> None:
    text = client.get("/docs").text
    shown = operations(reference)
    described = reference.raw["paths"].values()
    assert len(shown) == sum(len(methods) for methods in described)
    for each in shown:
        assert f'id="{each.id}"' in text
        assert f"<code>{each.method} {each.path}</code>" in text
        assert each.text
        assert all(status in ("200", "201", "202", "304") or contents
                   for status, _, contents, _ in each.replies)  # fmt: skip
    for name, schema in reference.shapes:
        assert f'id="shape-{name}"' in text
        assert schema.get("description"), name
    callers = {each.path: each.caller for each in shown if each.method == "GET"}
    assert callers["/healthz"] == "anybody"
    assert callers["/me"] == "anybody with a key or a worker's token"
    assert callers["/keys"] == "owners"
    assert callers["/campaigns/{name}/log"] == "viewers and above"
    assert callers["/assignments/{id}"] == "viewers and above, and workers for themselves"


def test_every_example_is_a_request_that_is_understood(
    client: TestClient, reference: Reference
) -> None:
    key = client.headers["X-Test-Key"]
    for each in sorted(operations(reference), key=lambda each: each.id != "createCampaign"):
        words = shlex.split(each.curl("").replace("$KEY", key).replace("\\\n", " "))
        assert words[0] == "curl"
        headers, body, method, place = {}, None, "GET", words[-1]
        for at, word in enumerate(words):
            if word == "-H":
                name, _, value = words[at + 1].partition(": ")
                headers[name] = value.replace("$(uuidgen)", each.id)
            elif word == "-d":
                body = words[at + 1]
            elif word == "-X":
                method = words[at + 1]
        assert method == each.method
        reply = client.request(method, place, headers=headers, content=body)
        told = f"{each.id}: {reply.status_code} {reply.text[:200]}"
        assert reply.status_code not in (400, 401, 403, 405, 415, 500), told
        if reply.status_code == 422:
            assert reply.json()["error"]["code"] != "invalid_request", told
        if reply.status_code == 404:
            assert reply.json()["error"]["code"] == "unknown_name", told
