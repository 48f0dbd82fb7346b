"""What every request passes: size, rate, identity; and what every reply carries."""

import itertools
import logging
import secrets
import time
from typing import Any

import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askwise.core.errors import AskwiseError
from askwise.service import metrics
from askwise.service.auth.identity import Identities, Identity
from askwise.service.errors import RequestRefused, fault, reply_to, unauthorized
from askwise.service.middleware.rates import Buckets, bucket_of
from askwise.service.middleware.shares import Place, Shares, campaign_in
from askwise.service.settings import Settings

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
"""Bytes of a request's headers, at the most."""

CLOSE = {"Connection": "close"}
"""On replies to what was not read to its end."""

ONCE = frozenset({b"host", b"authorization", b"idempotency-key"})
"""Headers that decide something: of two, a proxy before the service might believe the other."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

GONE = 499
"""Noted of a caller who went away before there was a reply."""

PROBES = frozenset({"/healthz", "/readyz"})
"""Paths that wait for no place among other requests: they need no thread, or have their own."""


class RequestMiddleware:
    """Lets requests through to ``app``, with ``scope["state"]["identity"]`` set.

    ``places`` is how many may be at work at a time, each in a thread.
    """

    def __init__(
        self, app: ASGIApp, settings: Settings, identities: Identities, places: int
    ) -> None:
        self.app = app
        self.shares = Shares(places)
        self.settings = settings
        self.identities = identities
        self.keys = Buckets(settings.key_rate, settings.key_burst)
        self.addresses = Buckets(settings.address_rate, settings.address_burst)
        # Apart from the others, so that one who guesses does not lock out who shares the address.
        self.guesses = Buckets(settings.address_rate, settings.address_burst)
        headers = dict(HEADERS)
        if settings.https:
            headers["Strict-Transport-Security"] = "max-age=31536000"
        self.headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        self.prefix = secrets.token_hex(4)
        self.numbers = itertools.count()
        self.counts: dict[tuple[str, str, int], Any] = {}
        self.times: dict[tuple[str, str], Any] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        exchange = _Exchange(self, scope, send)
        if exchange.bare:
            # The same as GET, without the body.
            scope = exchange.scope = {**scope, "method": "GET"}
        try:
            _wait_for(self.addresses.take(_bucket(scope)), "this address")
            shown, largest = _checked(scope, self.settings.largest_body)
            if shown is not None:
                exchange.identity = await self._recognised(shown)
            scope.setdefault("state", {})["identity"] = exchange.identity
            if scope["path"] not in PROBES:
                # What comes with a body takes its place once that is there: it may come slowly.
                receive = _taking(receive, exchange.place)
                if scope["method"] == "GET" or not _has_body(scope):
                    await exchange.place.take()
            await self.app(scope, _measured(receive, largest), exchange.send)
        except AskwiseError as error:
            metrics.REFUSED.labels(error.code).inc()
            await reply_to(error)(scope, receive, exchange.send)
        except ClientDisconnect:
            exchange.status = exchange.status or GONE
        except Exception as error:
            log.error("fault", exc_info=error, extra={"fields": {"id": exchange.number}})
            if exchange.status:
                raise
            await fault()(scope, receive, exchange.send)
        finally:
            exchange.place.give_back()
            exchange.note()

    async def _recognised(self, shown: str) -> Identity:
        scheme, _, secret = shown.partition(" ")
        secret = secret.strip()
        if scheme.lower() != "bearer" or not secret:
            raise unauthorized("Authorization is not 'Bearer KEY'")
        identity = self.identities.known(secret)
        if identity is None:
            identity = await anyio.to_thread.run_sync(self.identities.find, secret)
        _wait_for(self.keys.take(identity.id), "this key")
        return identity


class _Exchange:
    """One request on its way: what its reply carries and what is noted of it."""

    def __init__(self, gate: RequestMiddleware, scope: Scope, send: Send) -> None:
        self.gate = gate
        self.scope = scope
        self.identity: Identity | None = None
        self.bare = scope["method"] == "HEAD"
        self.number = f"{gate.prefix}{next(gate.numbers) & 0xFFFFFFFF:08x}"
        self.status = 0
        self.begun = time.perf_counter()
        self.place = Place(gate.shares, campaign_in(scope["path"]))
        self._send = send
        self._replaced = False

    async def send(self, message: Message) -> None:
        """Send a reply; of an address with too many wrong keys another in the place of a 401.

        What is wrong is known only now: a good key is let through, whatever others have tried.
        """
        if message["type"] == "http.response.start" and message["status"] == 401:
            seconds = self.gate.guesses.take(_bucket(self.scope), 1.0 + WRONG_KEY)
            if seconds > 0:
                self._replaced = True
                error = _too_many("wrong keys from this address", seconds)
                metrics.REFUSED.labels(error.code).inc()
                await reply_to(error)(self.scope, _no_body, self._pass_on)
        if not self._replaced:
            await self._pass_on(message)

    async def _pass_on(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.place.give_back()  # the work is done; the reply may be read slowly
            said = list(message.get("headers", ()))
            names = {name for name, _ in said}
            more = [pair for pair in self.gate.headers if pair[0] not in names]
            number = (b"x-request-id", self.number.encode())
            message = {**message, "headers": [*said, *more, number]}
        elif self.bare:
            message = {**message, "body": b""}
        await self._send(message)

    def note(self) -> None:
        """Count and log it, by its route: paths hold names and tokens."""
        seconds = time.perf_counter() - self.begun
        route = getattr(self.scope.get("route"), "path", "none")
        method = "HEAD" if self.bare else self.scope["method"]
        known = method if method in METHODS and route != "none" else "ANY"
        counts, times = self.gate.counts, self.gate.times
        if (known, route, self.status) not in counts:
            status = str(self.status)
            counts[known, route, self.status] = metrics.REQUESTS.labels(known, route, status)
            times[known, route] = metrics.SECONDS.labels(known, route)
        counts[known, route, self.status].inc()
        times[known, route].observe(seconds)
        if not log.isEnabledFor(logging.INFO):
            return
        fields: dict[str, Any] = {
            "id": self.number,
            "method": method,
            "route": route,
            "status": self.status,
            "ms": round(1000 * seconds, 2),
            "address": self.scope["client"][0] if self.scope.get("client") else None,
        }
        if self.identity is not None:
            fields["key"] = self.identity.id
        log.info("request", extra={"fields": fields})


def _taking(receive: Receive, place: Place) -> Receive:
    """Take a place once the body is there."""

    async def whole() -> Message:
        message = await receive()
        if message["type"] == "http.request" and not message.get("more_body", False):
            await place.take()
        return message

    return whole


def _has_body(scope: Scope) -> bool:
    for name, value in scope["headers"]:
        if name == b"transfer-encoding" or (name == b"content-length" and int(value) > 0):
            return True
    return False


def _measured(receive: Receive, largest: int) -> Receive:
    """Count what comes in: a body need not say its length, nor the truth about it."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > largest:
            # Of this kind, as the framework lets it through while it reads a body.
            raise HTTPException(413, _too_large(largest), CLOSE)
        return message

    return counted


def _checked(scope: Scope, largest: int) -> tuple[str | None, int]:
    """Refuse headers that promise no good; tells what shows a key, and how much may follow."""
    shown, cookie, length, size = None, False, 0, 0
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
    return shown, largest


def _bucket(scope: Scope) -> str:
    return bucket_of(scope["client"][0]) if scope.get("client") else "unknown"


def _wait_for(seconds: float, whose: str) -> None:
    if seconds > 0:
        raise _too_many(f"requests of {whose}", seconds)


def _too_many(what: str, seconds: float) -> RequestRefused:
    return RequestRefused(
        "rate_limited", f"too many {what}: wait {seconds:.1f} s",
        headers={"Retry-After": str(int(seconds) + 1)},
    )  # fmt: skip


async def _no_body() -> Message:
    return {"type": "http.disconnect"}


def _too_large(limit: int) -> str:
    return f"the body is larger than {limit} bytes: send less at a time"
