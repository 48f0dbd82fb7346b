"""Prolific's API on this machine, as far as askwise uses it, with participants who do as told.

Written by us from the public documentation, for tests and for trying a study without an account:
its states and its refusals, money in minor units, batches of bonuses that nobody is paid before
they are told to be paid, and then as often as they are told. It listens on 127.0.0.1 and uses the
standard library alone.
"""

import json
import re
import threading
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self

from askwise.sources.prolific.signing import SIGNATURE, TIMESTAMP, sign_event
from askwise.testing.prolific_server.platform import MockPlatform, RefusedRequest

TOKEN = "prolific-test-token"
"""What its requests must bring along."""

Loss = Literal["before", "after"]
"""When a connection is dropped: before a request is carried out, or after."""


@dataclass
class Trap:
    """What goes wrong with the next requests whose method and path fit."""

    fits: re.Pattern[str]
    loss: Loss | None = None
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int = 1


class ProlificServer(MockPlatform):
    """Serves from a thread until it is closed.

    Examples
    --------
    >>> from askwise.sources.prolific import ProlificApi
    >>> with ProlificServer() as server:
    ...     api = ProlificApi(server.token, server.url)
    ...     print(list(api.studies()))
    ...     api.close()
    []
    """

    def __init__(self, *, currency: str = "GBP", balance: int = 1_000_000) -> None:
        super().__init__(currency=currency, balance=balance)
        self.token = TOKEN
        self.requests: list[str] = []
        """Method and path of every request."""
        self.traps: list[Trap] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def send_event(self, address: str, secret: str, event: Mapping[str, Any]) -> int:
        """Send a signed event; returns the status of the reply."""
        body, at = json.dumps(dict(event)).encode(), str(int(time.time()))
        headers = {"Content-Type": "application/json", TIMESTAMP: at}
        headers[SIGNATURE] = sign_event(secret, at, body)
        request = urllib.request.Request(address, body, headers, method="POST")
        with urllib.request.urlopen(request, timeout=10) as reply:
            return int(reply.status)

    def set_trap(self, pattern: str, **how: Any) -> None:
        """Let something go wrong with the next requests whose method and path fit."""
        self.traps.append(Trap(re.compile(pattern), **how))


def _handler(server: ProlificServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            return

        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(length)
            with server.lock:
                server.requests.append(f"{self.command} {self.path}")
                trap = self._trap()
                if trap is not None and trap.loss == "before":
                    self._drop()
                    return
                if trap is not None and trap.status:
                    self._reply(trap.status, {"error": {"detail": "busy"}}, dict(trap.headers))
                    return
                try:
                    if self.headers.get("Authorization") != f"Token {server.token}":
                        raise RefusedRequest(401, "the token is not known")
                    sent = json.loads(raw) if raw else None
                    status, body, headers = server.answer(self.command, self.path, sent)
                except RefusedRequest as error:
                    status, headers = error.status, {}
                    body = {"error": {"status": error.status, "detail": str(error)}}
            if trap is not None and trap.loss == "after":
                self._drop()
                return
            self._reply(status, body, headers)

        do_GET = do_POST = do_PATCH = _serve  # noqa: N815 - names of the library

        def _trap(self) -> Trap | None:
            for each in server.traps:
                if each.times > 0 and each.fits.search(f"{self.command} {self.path}"):
                    each.times -= 1
                    return each
            return None

        def _drop(self) -> None:
            self.close_connection = True
            self.connection.close()

        def _reply(self, status: int, body: Any, headers: dict[str, str]) -> None:
            written = json.dumps(body).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(written)))
            self.end_headers()
            self.wfile.write(written)

    return Handler
