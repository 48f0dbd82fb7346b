"""HTTP on the wire: uvicorn's, with a limit on headers, and errors in the one shape."""

from __future__ import annotations

import asyncio
import http
import json

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from askwise.service.errors import body_of
from askwise.service.gate import LARGEST_HEAD

PATIENCE = 20.0
"""Seconds in which the headers of a request must be there."""


class Protocol(HttpToolsProtocol):
    """A connection that neither waits for headers for good nor takes any number of them."""

    _timer: asyncio.TimerHandle | None = None
    _headed = False
    _size = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._timer = self.loop.call_later(PATIENCE, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._headed or self.transport.is_closing():
            return
        self._size += len(data)
        if self._size > LARGEST_HEAD:
            self._refuse(431, "too_large", f"the headers are larger than {LARGEST_HEAD} bytes")
        elif self._timer is None:
            self._timer = self.loop.call_later(PATIENCE, self._give_up)

    def on_message_begin(self) -> None:
        self._headed, self._size = False, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._headed = True
        self._stop_timer()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "bad_request", "this is not a request of HTTP/1.1")

    def _give_up(self) -> None:
        self._timer = None
        if not self.transport.is_closing():
            self._refuse(408, "request_timeout", "the headers came too slowly")

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: int, code: str, message: str) -> None:
        self._stop_timer()
        body = json.dumps(body_of(code, message)).encode()
        head = (
            f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\n"
            "content-type: application/json\r\nx-content-type-options: nosniff\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
