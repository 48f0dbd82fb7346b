"""A service to be attacked, and what is expected of its refusals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

import anyio
from starlette.testclient import TestClient

from askwise.campaign import Campaign
from askwise.core.reasons import REASONS
from askwise.service.app import make_app
from askwise.service.auth.identity import Identities
from askwise.service.middleware.requests import HEADERS
from askwise.service.settings import Settings
from askwise.store import Store, open_store

LARGEST = 100_000
"""Bytes of a body."""


class Service:
    """A service with one campaign, called with the owner's key."""

    def __init__(self, client: TestClient, store: Store, key: str) -> None:
        self.client = client
        self.store = store
        self.key = key

    def call(self, method: str, path: str, **more: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.key}", **more.pop("headers", {})}
        return self.client.request(method, path, headers=headers, **more)

    def records(self) -> int:
        kinds = ("key", "token", "hook", "made", "absence")
        return sum(len(self.store.records(kind)) for kind in kinds)

    def extent(self) -> tuple[list[str], int, int]:
        """All that a request could have changed."""
        return self.store.names(), self.store.position("cats"), self.records()


@contextmanager
def attacked() -> Iterator[Service]:
    """A service in this process."""
    store = open_store("memory")
    settings = Settings(store="memory", largest_body=LARGEST, key_burst=1e9, address_burst=1e9)
    Campaign.create(
        store=store, name="cats", workers=[{"id": "ann", "price": "0.1"}], tasks=["t"],
        options=["yes", "no"], budget="10", policy="random-pairs", seed=1,
    )  # fmt: skip
    with TestClient(
        make_app(settings, store), raise_server_exceptions=False, follow_redirects=False
    ) as client:
        yield Service(client, store, Identities(store).issue("owner", "tester")[0])


def check_refused(reply: Any, status: int, code: str) -> dict[str, Any]:
    """In the one shape, with all the headers."""
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code), reply.text
    assert set(reply.json()) == {"error"}
    error: dict[str, Any] = reply.json()["error"]
    assert set(error) == {"code", "reason", "message", "field"}
    assert error["reason"] in REASONS
    assert 0 < len(error["message"]) <= 1000
    check_headers(reply)
    return error


def check_headers(reply: Any) -> None:
    for name, value in HEADERS.items():
        if name not in ("Content-Security-Policy", "Cache-Control"):
            assert reply.headers[name] == value
    assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
    assert reply.headers["Cache-Control"]
    assert len(reply.headers["X-Request-ID"]) == 16


def asgi(service: Service, target: str, **more: Any) -> tuple[int, dict[str, str], bytes]:
    """Call the application itself: clients mend paths before they send them."""
    path, _, query = target.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET",
        "scheme": "http", "path": unquote(path), "raw_path": path.encode(),
        "query_string": query.encode(), "root_path": "", "client": ("192.0.2.1", 1),
        "server": ("127.0.0.1", 80),
        "headers": [(b"host", b"x"), (b"authorization", f"Bearer {service.key}".encode())],
        **more,
    }  # fmt: skip
    received: Any = more.pop("receive", None)
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def run() -> None:
        scope.pop("receive", None)
        await service.client.app(scope, received or receive, send)  # type: ignore[arg-type]

    anyio.run(run)
    if not sent:
        return 0, {}, b""
    headers = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, b"".join(each.get("body", b"") for each in sent[1:])
