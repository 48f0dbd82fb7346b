"""HTTP on the wire: uvicorn's, with limits on size and patience, and errors in the one shape."""

import asyncio
import http
import json

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from askwise.core.reasons import Reason
from askwise.service.errors import STATUS, body_of
from askwise.service.middleware.requests import LARGEST_HEAD

PATIENCE = 20.0
"""Seconds in which the headers of a request must be there, and something more of its body."""

SLOWEST = 4 * 2**10
"""The fewest bytes of a body per second."""


class Protocol(HttpToolsProtocol):
    """A connection that neither waits for a request for good nor takes headers without end.

    Nothing is timed while requests come in one piece, as most do.
    """

    _timer: asyncio.TimerHandle | None = None
    _headed = False
    _whole = True
    _head = 0
    _body = 0
    _noted = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.transport.is_closing() or (self._headed and self._whole):
            return
        if not self._headed:
            self._head += len(data)
            if self._head > LARGEST_HEAD:
                message = f"the headers are larger than {LARGEST_HEAD} bytes"
                self._refuse("headers_too_large", message)
                return
        if self._timer is None:
            self._start_timer()

    def on_message_begin(self) -> None:
        self._headed = self._whole = False
        self._head = self._body = self._noted = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._headed = True
        self._stop_timer()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._whole = True
        self._stop_timer()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse("bad_request", "this is not a request of HTTP/1.1")

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(PATIENCE, self._look)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        """Go on waiting for a body that comes in at a fair pace; give up on all else."""
        self._timer = None
        if self.transport.is_closing():
            return
        if self._headed and self._body - self._noted >= SLOWEST * PATIENCE:
            self._noted = self._body
            self._start_timer()
        elif self._headed and self.cycle.response_started:
            self.transport.close()
        else:
            self._refuse("request_timeout", "the request came too slowly: send it again")

    def _refuse(self, reason: Reason, message: str) -> None:
        self._stop_timer()
        status = STATUS[reason]
        body = json.dumps(body_of(reason, message)).encode()
        head = (
            f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\n"
            "content-type: application/json\r\nx-content-type-options: nosniff\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
