"""What comes over a socket and is hardly HTTP."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from askwise.service import server as running
from askwise.service.app import make_app
from askwise.service.middleware import requests, slow_clients
from askwise.service.settings import Settings
from tests.service.local import serving
from tests.service.refusals import LARGEST

Address = tuple[str, int]


@pytest.fixture(scope="module")
def address() -> Iterator[Address]:
    """Of a service behind a socket, as ``askwise serve`` makes it."""
    taken = running.listen("127.0.0.1", 0)
    app = make_app(Settings(store="memory", largest_body=LARGEST))
    options = {"http": slow_clients.Protocol, "server_header": False}
    with serving(app, taken, timeout_graceful_shutdown=1, **options):
        yield taken.getsockname()


def exchange(address: Address, *pieces: bytes, pause: float = 0.0) -> bytes:
    """Send bytes and read until the other side closes."""
    with socket.create_connection(address, timeout=60) as link:
        received = b""
        try:
            for piece in pieces:
                link.sendall(piece)
                time.sleep(pause)
        except OSError:
            pass  # refused before it was all sent
        try:
            while got := link.recv(65536):
                received += got
        except ConnectionResetError:
            pass
        return received


def reply_on(link: socket.socket) -> bytes:
    """Read one reply whole, and no more: its head and its body may come one after the other."""
    received = b""
    while True:
        head, blank, body = received.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        if blank and length is not None and len(body) >= int(length[1]):
            return received
        got = link.recv(65536)
        assert got, received
        received += got


def shape_of(reply: bytes) -> tuple[int, str]:
    head, _, body = reply.partition(b"\r\n\r\n")
    assert b"application/json" in head
    return int(head.split()[1]), json.loads(body)["error"]["code"]


def test_what_is_no_http_is_refused_in_the_same_shape(address: Address) -> None:
    for sent in (
        b"hello\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n bad: y\r\n\r\n",
        b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
    ):
        assert shape_of(exchange(address, sent)) == (400, "bad_request"), sent
    fine = exchange(address, b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert fine.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("name", ["Host", "Authorization", "Idempotency-Key"])
def test_a_header_that_decides_something_is_refused_when_it_comes_twice(
    address: Address, name: str
) -> None:
    begin = b"GET /healthz HTTP/1.1\r\nConnection: close\r\n"
    for other in (b"one", b"two"):  # also when both say the same
        twice = f"{name}: one\r\n{name.lower()}: ".encode() + other + b"\r\n"
        host = b"" if name == "Host" else b"Host: x\r\n"
        refused = exchange(address, begin + host + twice + b"\r\n")
        assert shape_of(refused) == (400, "bad_request")
        message = f"the request has two {name} headers: send one"
        assert json.loads(refused.partition(b"\r\n\r\n")[2])["error"]["message"] == message


def test_headers_without_end_are_cut_off(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
    lines = [b"X-Long: " + b"v" * 1000 + b"\r\n"] * 67
    assert shape_of(exchange(address, begin, *lines)) == (431, "headers_too_large")
    one = [b"X-Long: ", *[b"v" * 10_000] * 7]
    assert shape_of(exchange(address, begin, *one)) == (431, "headers_too_large")
    monkeypatch.setattr(slow_clients, "PATIENCE", 0.2)
    slow = exchange(address, b"GET /healthz HTTP/1.1\r\n", pause=0.4)
    assert shape_of(slow) == (408, "request_timeout")
    assert shape_of(exchange(address)) == (408, "request_timeout")
    # A second request on a connection that was fine.
    monkeypatch.undo()
    with socket.create_connection(address, timeout=60) as link:
        link.sendall(begin + b"\r\n")
        assert reply_on(link).startswith(b"HTTP/1.1 200 ")
        monkeypatch.setattr(slow_clients, "PATIENCE", 0.2)
        link.sendall(b"GET /hea")
        assert shape_of(reply_on(link)) == (408, "request_timeout")
        assert link.recv(65536) == b""


def test_a_body_in_pieces_ends_at_the_limit(address: Address) -> None:
    begin = (
        b"POST /login HTTP/1.1\r\nHost: x\r\nCookie: a=b\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n"
    )
    piece = b"2710\r\n" + b"x" * 10_000 + b"\r\n"
    reply = exchange(address, begin, *[piece] * 11)
    head = reply.partition(b"\r\n\r\n")[0].lower()
    assert shape_of(reply) == (413, "too_large")
    assert b"connection: close" in head


POSTED = (
    b"POST /login HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n"
)


def test_a_body_that_dribbles_in_is_given_up(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slow_clients, "PATIENCE", 0.2)
    for sent in ([], [b"k"], [b"k"] * 8):
        slow = exchange(address, POSTED + b"Content-Length: 50000\r\n\r\n", *sent, pause=0.1)
        assert shape_of(slow) == (408, "request_timeout")


def test_a_body_that_comes_at_a_fair_pace_may_take_longer_than_the_patience(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The patience is a moment for the body's first part only: nothing else here has to hurry."""
    headed, looked = slow_clients.Protocol.on_headers_complete, threading.Event()
    look = slow_clients.Protocol._look

    def patience_is(seconds: float) -> None:
        monkeypatch.setattr(slow_clients, "PATIENCE", seconds)
        monkeypatch.setattr(slow_clients, "SLOWEST", 40 / seconds)

    def shorten(self: slow_clients.Protocol) -> None:
        patience_is(0.05)
        headed(self)

    def lengthen(self: slow_clients.Protocol) -> None:
        patience_is(60.0)
        look(self)
        looked.set()

    monkeypatch.setattr(slow_clients.Protocol, "on_headers_complete", shorten)
    monkeypatch.setattr(slow_clients.Protocol, "_look", lengthen)
    with socket.create_connection(address, timeout=60) as link:
        link.sendall(POSTED + b"Content-Length: 44\r\n\r\nkey=" + 39 * b"x")
        assert looked.wait(60)
        link.sendall(b"x")
        assert reply_on(link).startswith(b"HTTP/1.1 401 ")


def test_an_ordinary_connection_stays_open_for_many_requests(address: Address) -> None:
    with socket.create_connection(address, timeout=60) as link:
        for _ in range(5):
            link.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert reply_on(link).startswith(b"HTTP/1.1 200 ")


def test_a_reply_of_json_goes_out_in_one_piece_and_says_what_it_says_in_two(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = slow_clients.Protocol.connection_made
    pieces: list[bytes] = []

    def watch(self: slow_clients.Protocol, transport: asyncio.Transport) -> None:
        made(self, transport)
        self.transport = Watched(transport, pieces)

    monkeypatch.setattr(slow_clients.Protocol, "connection_made", watch)
    found = []
    for whole in (True, False):
        if not whole:
            monkeypatch.setattr(requests, "write_whole", lambda *_: False)
        for end in (b"\r\n", b"Connection: close\r\n\r\n"):
            with socket.create_connection(address, timeout=60) as link:
                pieces.clear()
                for _ in range(2 if end == b"\r\n" else 1):  # a connection goes on after it
                    link.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + end)
                    reply = reply_on(link)
                assert (b"connection: close" in reply) == (end != b"\r\n")
                if end != b"\r\n":
                    assert link.recv(1) == b"", "the connection is closed"
                assert len(pieces) == (1 if whole else 2) * (2 if end == b"\r\n" else 1)
                found.append(parts_of(reply))
    assert found[:2] == found[2:]


class Watched:
    """A transport that notes what is written."""

    def __init__(self, transport: asyncio.Transport, pieces: list[bytes]) -> None:
        self._transport, self._pieces = transport, pieces

    def write(self, data: bytes) -> None:
        self._pieces.append(bytes(data))
        self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def parts_of(reply: bytes) -> tuple[bytes, list[bytes], bytes]:
    """Its first line, its headers but for those of one moment or request, and its body."""
    head, _, body = reply.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    return first, sorted(each for each in lines if not each.startswith((b"date", b"x-req"))), body
