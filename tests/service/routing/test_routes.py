"""Routes: how an address finds its own, and how arguments are had from a request."""

from __future__ import annotations

import asyncio
import re
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import PlainTextResponse, Response

from askwise.service.app import make_app
from askwise.service.auth.identity import Identity
from askwise.service.incoming_request import IncomingRequest
from askwise.service.routing.plans import FromHeader, Provided
from askwise.service.routing.routes import Instead, Route, RouteGroup, RouteTable
from askwise.service.settings import Settings
from askwise.service.shares import Place, Shares
from askwise.service.threads import Threads
from askwise.store import open_store

ROUTES = [
    each
    for each in make_app(Settings(store="memory"), open_store("memory")).routes
    if isinstance(each, Route)
]
TABLE = RouteTable(ROUTES)
WORDS = sorted({part for route in ROUTES for part in route.path.split("/")} | {"x", "", "a:1"})


def matching(method: str, path: str) -> tuple[str, dict[str, str]] | None:
    """The first route in their order whose pattern fits."""
    for route in ROUTES:
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", route.path)
        found = re.fullmatch(pattern, path)
        if found is not None and route.method == method:
            return route.path, found.groupdict()
    return None


@given(st.sampled_from(["GET", "POST", "DELETE"]), st.lists(st.sampled_from(WORDS), max_size=6))
def test_an_address_finds_the_route_that_a_search_through_all_of_them_finds(
    method: str, parts: list[str]
) -> None:
    path = "/" + "/".join(parts)
    found = TABLE.find(method, path)
    assert (None if found is None else (found[0].path, found[1])) == matching(method, path)
    allowed = [each for each in ("GET", "POST", "DELETE") if matching(each, path) is not None]
    assert [each for each in TABLE.methods(path) if each != "HEAD"] == allowed


def test_every_route_finds_itself() -> None:
    for route in ROUTES:
        path = re.sub(r"\{\w+\}", "x", route.path)
        found = TABLE.find(route.method, path)
        assert found is not None
        assert found[0] is route


class Order(BaseModel):
    """What is ordered."""

    model_config = ConfigDict(extra="forbid", strict=True)

    cups: int


calls: list[str] = []


def _guest(request: IncomingRequest, name: str) -> str:
    calls.append(name)
    return f"guest {name}"


Guest = Annotated[str, Provided(_guest)]


def _table(guest: Guest, key: Annotated[str | None, FromHeader("X-Key")] = None) -> str:
    return f"table of {guest}, key {key}"


tea = RouteGroup("tea", "/tea")


@tea.post("/{name}")
async def order(
    body: Order,
    guest: Guest,
    table: Annotated[str, Provided(_table)],
    sugar: Annotated[int, Field(ge=0)] = 0,
) -> Response:
    """Order tea."""
    return PlainTextResponse(f"{guest}; {table}; {body.cups} cups, {sugar} sugar")


@tea.get("/{name}")
def look(name: str, after: str) -> Response:
    """Look at an order."""
    raise Instead(PlainTextResponse(f"{name} after {after}"))


def answer(
    method: str, path: str, body: bytes = b"", query: bytes = b"", **headers: str
) -> tuple[int, str]:
    """The status and text of a reply."""
    given = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def respond() -> Response:
        found = RouteTable(tea.routes).find(method, path)
        assert found is not None
        scope = {"type": "http", "method": method, "path": path, "headers": given}
        scope |= {"query_string": query, "path_params": found[1]}
        request = IncomingRequest(scope, receive, Place(Shares(1), ""))
        request.identity = Identity("1", "owner", "x", None)
        return await found[0].answer(request, Threads("test", 1))

    reply = asyncio.run(respond())
    return reply.status_code, bytes(reply.body).decode()


JSON = {"content_type": "application/json"}


def test_arguments_come_from_the_body_the_path_the_query_and_headers() -> None:
    calls.clear()
    found = answer("POST", "/tea/ann", b'{"cups": 2}', b"sugar=1", x_key="k", **JSON)
    assert found == (200, "guest ann; table of guest ann, key k; 2 cups, 1 sugar")
    assert calls == ["ann"]  # once, though two take it
    assert answer("GET", "/tea/bob", query=b"after=5") == (200, "bob after 5")


@pytest.mark.parametrize(
    ("body", "query", "status", "words"),
    [
        (b"", b"", 422, "the body is missing"),
        (b"null", b"", 422, "the body is missing"),
        (b"{", b"", 400, "can't be read as JSON"),
        (b'{"cups": "2"}', b"", 422, "cups is '2'"),
        (b'{"cups": 2, "milk": 1}', b"", 422, "milk is not a field"),
        (b'{"cups": 2}', b"sugar=-1", 422, "sugar is '-1'"),
        (b'{"cups": 2}', b"sugar=x", 422, "sugar is 'x'"),
    ],
)
def test_what_is_not_of_its_shape_is_refused_by_its_field(
    body: bytes, query: bytes, status: int, words: str
) -> None:
    found = answer("POST", "/tea/ann", body, query, **JSON)
    assert found[0] == status
    assert words in found[1]


def test_a_query_that_must_be_there_is_missed_by_name() -> None:
    status, text = answer("GET", "/tea/bob")
    assert status == 422
    assert "after is missing" in text
