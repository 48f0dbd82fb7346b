"""What every request passes: size, rate, identity; and what every reply carries."""

from __future__ import annotations

import itertools
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askwise.core.errors import AskwiseError
from askwise.service import metrics
from askwise.service.auth.identity import Identities, Identity
from askwise.service.errors import (
    RequestRefused,
    fault,
    reply_to,
    reply_to_framework,
    unauthorized,
)
from askwise.service.incoming_request import IncomingRequest
from askwise.service.json_reply import JsonReply
from askwise.service.logs import NotedRequest, RequestLog
from askwise.service.middleware.rates import Buckets, bucket_of
from askwise.service.middleware.whole_replies import write_whole
from askwise.service.settings import Settings
from askwise.service.shares import Place, Shares, campaign_in
from askwise.service.threads import Threads

log = logging.getLogger("askwise.service")

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""On every reply that does not say otherwise."""

WRONG_KEY = 10.0
"""How many requests a wrong key counts for, beside its own; so does none where it takes one."""

LARGEST_STRANGER = 64 * 2**10
"""Bytes of a body that comes with neither a key nor a cookie: a form to sign in."""

LARGEST_HEAD = 64 * 2**10
"""The most bytes of a request's headers."""

CLOSE = {"Connection": "close"}
"""On replies to what was not read to its end."""

ONCE = frozenset({b"host", b"authorization", b"idempotency-key"})
"""Headers that decide something: of two, a proxy before the service might believe the other."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

GONE = 499
"""Noted of a caller who went away before there was a reply."""

PROBES = frozenset({"/healthz", "/readyz"})
"""Paths that wait for no place among other requests: they need no thread, or have their own."""


Responder = Callable[[IncomingRequest], Awaitable[Response | ASGIApp]]
"""Answers a request, or says which application does."""


class RequestMiddleware:
    """Lets requests through, each with its caller, if they showed a key.

    ``places`` is how many may be at work at a time. ``refuse`` makes the reply to a request that is
    refused before it comes to a route, from its path and the error.
    """

    def __init__(
        self,
        settings: Settings,
        identities: Identities,
        threads: Threads,
        places: int,
        refuse: Callable[[Scope, AskwiseError], Response] = lambda _, error: reply_to(error),
    ) -> None:
        self.refuse = refuse
        self.shares = Shares(places)
        self.settings = settings
        self.identities = identities
        self.threads = threads
        self.keys = Buckets(settings.key_rate, settings.key_burst)
        self.addresses = Buckets(settings.address_rate, settings.address_burst)
        # Apart from the others, so that one who guesses does not lock out who shares the address.
        self.guesses = Buckets(settings.address_rate, settings.address_burst)
        headers = dict(HEADERS)
        if settings.https:
            headers["Strict-Transport-Security"] = "max-age=31536000"
        self.headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        self.lines = b"".join(b"%b: %b\r\n" % pair for pair in self.headers)
        self.log = RequestLog(log)
        self.prefix = secrets.token_hex(4)
        self.numbers = itertools.count()
        self.counts: dict[tuple[str, str, int], tuple[Any, Any]] = {}

    async def pass_on(self, scope: Scope, receive: Receive, send: Send, respond: Responder) -> None:
        """Take a request, let ``respond`` answer it and send the reply."""
        exchange = _Exchange(self, scope, receive, send)
        if exchange.bare:
            # The same as GET, without the body.
            scope["method"] = "GET"
        try:
            try:
                request = await self._let_in(exchange)
            except AskwiseError as error:
                metrics.REFUSED.labels(error.code).inc()
                await exchange.reply(self.refuse(scope, error))
                return
            try:
                reply = await respond(request)
                if not isinstance(reply, Response):
                    await reply(scope, exchange.receive, exchange.send)
                    return
            except AskwiseError as error:
                at_route = "route" in scope
                reply = reply_to(error) if at_route else self.refuse(scope, error)
            except HTTPException as refused:
                reply = reply_to_framework(refused)
            await exchange.reply(reply)
        except ClientDisconnect:
            exchange.status = exchange.status or GONE
        except Exception as error:
            log.error("fault", exc_info=error, extra={"fields": {"id": exchange.number}})
            if exchange.status:
                raise
            await exchange.reply(fault())
        finally:
            exchange.place.give_back()
            exchange.note()

    async def _let_in(self, exchange: _Exchange) -> IncomingRequest:
        """Refuse what comes too often, is too large or shows a wrong key."""
        scope = exchange.scope
        _wait_for(self.addresses.take(exchange.bucket), "this address")
        checked = _checked(scope, self.settings.largest_body)
        exchange.largest = checked.largest
        request = IncomingRequest(scope, exchange.receive, exchange.place)
        if checked.shown is not None:
            exchange.identity = request.identity = await self._recognised(checked.shown)
        if scope["path"] in PROBES:
            exchange.needs_place = False
        elif scope["method"] == "GET" or not checked.has_body:
            await exchange.place.take()
        return request

    async def _recognised(self, shown: str) -> Identity:
        scheme, _, secret = shown.partition(" ")
        secret = secret.strip()
        if scheme.lower() != "bearer" or not secret:
            raise unauthorized("Authorization is not 'Bearer KEY'")
        identity = self.identities.known(secret)
        if identity is None:
            identity = await self.threads.run(self.identities.find, secret)
        _wait_for(self.keys.take(identity.id), "this key")
        return identity


class _Exchange:
    """One request on its way: what its reply carries and what is noted of it."""

    def __init__(
        self, middleware: RequestMiddleware, scope: Scope, receive: Receive, send: Send
    ) -> None:
        self.middleware = middleware
        self.scope = scope
        self.identity: Identity | None = None
        self.bare = scope["method"] == "HEAD"
        self.number = f"{middleware.prefix}{next(middleware.numbers) & 0xFFFFFFFF:08x}"
        self.status = 0
        self.begun = time.perf_counter()
        self.place = Place(middleware.shares, campaign_in(scope["path"]))
        self.needs_place = True
        self.largest = 0
        self._seen = 0
        self._receive = receive
        self._send = send
        self._replaced = False

    @property
    def bucket(self) -> str:
        """The name of its address among the rates."""
        client = self.scope.get("client")
        return bucket_of(client[0]) if client else "unknown"

    async def receive(self) -> Message:
        """Receive a piece of the body; it need not say its length, nor the truth about it.

        What comes with a body takes its place once that is there: it may come slowly.
        """
        message = await self._receive()
        if message["type"] == "http.request":
            self._seen += len(message.get("body", b""))
            if self._seen > self.largest:
                # Not as an error of a route, which a page would tell as a page.
                raise HTTPException(413, _too_large(self.largest), CLOSE)
            if self.needs_place and not message.get("more_body", False):
                await self.place.take()
        return message

    async def reply(self, reply: Response) -> None:
        """Send a reply, in one piece if it is plain JSON and in two if it is whole otherwise."""
        if type(reply).__call__ is not Response.__call__ or reply.background is not None:
            await reply(self.scope, self.receive, self.send)
            return
        if reply.status_code == 401 and (instead := self._too_many_wrong()) is not None:
            reply = instead
        self.status = reply.status_code
        self.place.give_back()
        if isinstance(reply, JsonReply) and reply.is_plain and not self.bare:
            headers = b"%bx-request-id: %b\r\n" % (self.middleware.lines, self.number.encode())
            if write_whole(self._send, reply, headers):
                return
        await self._send(
            {
                "type": "http.response.start",
                "status": reply.status_code,
                "headers": self._with_ours(reply.raw_headers),
            }
        )
        body = b"" if self.bare else reply.body
        await self._send({"type": "http.response.body", "body": body})

    async def send(self, message: Message) -> None:
        """Send a piece of a reply that is made as it is sent."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.place.give_back()  # the work is done; the reply may be read slowly
            message = {**message, "headers": self._with_ours(message.get("headers", ()))}
        elif self.bare:
            message = {**message, "body": b""}
        await self._send(message)

    def _too_many_wrong(self) -> Response | None:
        """What an address is told in the place of a 401 that has shown too many wrong keys.

        What is wrong is known only now: a good key is let through, whatever others have tried.
        """
        seconds = self.middleware.guesses.take(self.bucket, 1.0 + WRONG_KEY)
        if seconds <= 0:
            return None
        error = _too_many("wrong keys from this address", seconds)
        metrics.REFUSED.labels(error.code).inc()
        return reply_to(error)

    def _with_ours(self, said: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        headers = list(said)
        names = {name for name, _ in headers}
        headers += [pair for pair in self.middleware.headers if pair[0] not in names]
        headers.append((b"x-request-id", self.number.encode()))
        return headers

    def note(self) -> None:
        """Count and log it, by its route: paths hold names and tokens."""
        seconds = time.perf_counter() - self.begun
        route = getattr(self.scope.get("route"), "path", "none")
        method = "HEAD" if self.bare else self.scope["method"]
        known = method if method in METHODS and route != "none" else "ANY"
        counted = self.middleware.counts.get((known, route, self.status))
        if counted is None:
            count = metrics.REQUESTS.labels(known, route, str(self.status)).inc
            counted = count, metrics.SECONDS.labels(known, route).observe
            self.middleware.counts[known, route, self.status] = counted
        counted[0]()
        counted[1](seconds)
        if log.isEnabledFor(logging.INFO):
            client, identity = self.scope.get("client"), self.identity
            address = client[0] if client else None
            key = None if identity is None else identity.id
            self.middleware.log.note(
                NotedRequest(
                    time.time(), self.number, method, route, self.status, seconds, address, key
                )
            )


class _Checked(NamedTuple):
    """What the headers of a request say."""

    shown: str | None
    """What shows a key."""
    largest: int
    """How many bytes may follow."""
    has_body: bool


def _checked(scope: Scope, largest: int) -> _Checked:
    """Refuse headers that promise no good."""
    shown, cookie, length, size, chunked = None, False, 0, 0, False
    seen = set()
    for name, value in scope["headers"]:
        size += len(name) + len(value)
        if name in ONCE:
            if name in seen:
                called = name.decode().title()
                raise RequestRefused(
                    "bad_request", f"the request has two {called} headers: send one", headers=CLOSE
                )
            seen.add(name)
        if name == b"authorization":
            shown = value.decode("latin-1")
        elif name == b"cookie":
            cookie = True
        elif name == b"content-length":
            if not value.isdigit() or len(value) > 18:
                raise RequestRefused("bad_request", "Content-Length is not a number", headers=CLOSE)
            length = int(value)
        elif name == b"transfer-encoding":
            chunked = True
        elif name == b"content-encoding" and value.lower() != b"identity":
            raise RequestRefused(
                "unsupported_media_type", "the body is compressed: send it as it is",
                headers=CLOSE,
            )  # fmt: skip
    if size > LARGEST_HEAD:
        message = f"the headers are larger than {LARGEST_HEAD} bytes: send less"
        raise RequestRefused("headers_too_large", message, headers=CLOSE)
    if shown is None and not cookie:
        largest = min(largest, LARGEST_STRANGER)
    if length > largest:
        raise RequestRefused("body_too_large", _too_large(largest), headers=CLOSE)
    if b"%2f" in scope.get("raw_path", b"").lower():
        # No name has a slash, and what is written in two ways passes walls that stand before us.
        raise RequestRefused("not_found", "there is nothing at this address: names have no slash")
    return _Checked(shown, largest, chunked or length > 0)


def _wait_for(seconds: float, whose: str) -> None:
    if seconds > 0:
        raise _too_many(f"requests of {whose}", seconds)


def _too_many(what: str, seconds: float) -> RequestRefused:
    return RequestRefused(
        "rate_limited", f"too many {what}: wait {seconds:.1f} s",
        headers={"Retry-After": str(int(seconds) + 1)},
    )  # fmt: skip


def _too_large(limit: int) -> str:
    return f"the body is larger than {limit} bytes: send less at a time"
