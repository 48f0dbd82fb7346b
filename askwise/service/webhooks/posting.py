"""Posting to addresses that somebody else chose: nothing private is reached, nobody takes long."""

import ipaddress
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import httpcore

from askwise.core.errors import InvalidParameter

PATIENCE = 10.0
"""Seconds that a receiver has for all of it: to be connected to, to read and to answer."""

SHOWN = 200
"""Characters of a receiver's answer that are kept."""

LONGEST_URL = 2000

PATTERN = (
    r"^(https?)://(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z._-]+)(:([0-9]{1,5}))?"
    r'([/?][!"$-~]*)?$'
)
"""An address without user, password and fragment."""

_NOT_PUBLIC = [
    ipaddress.ip_network(each)
    for each in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
    )
]  # fmt: skip
"""IANA's special-purpose addresses; spelled out, as the standard library's idea of them varies."""

_UNICAST = ipaddress.ip_network("2000::/3")
"""All that is public in IPv6 is in here."""

_CARRIERS = [ipaddress.ip_network("::ffff:0:0/96"), ipaddress.ip_network("64:ff9b::/96")]
"""IPv6 addresses that lead to the IPv4 address in their last 32 bits."""

Resolve = Callable[[str, int], Sequence[str]]


@dataclass(frozen=True)
class PostResult:
    """The result of an attempt: the status of the answer, or none, and what was said."""

    status: int | None
    said: str

    @property
    def taken(self) -> bool:
        """Whether the receiver has it."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def down(self) -> bool:
        """Whether the receiver takes nothing at the moment, whatever it is sent."""
        return self.status is None or self.status == 429 or self.status >= 500


def is_public(address: str) -> bool:
    """Whether an address is one of the open internet.

    Examples
    --------
    >>> is_public("1.1.1.1"), is_public("127.0.0.1"), is_public("::ffff:10.0.0.1")
    (True, False, False)
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if found.version == 6:
        if any(found in carrier for carrier in _CARRIERS):
            found = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        elif found not in _UNICAST:
            return False
    return not any(found in network for network in _NOT_PUBLIC if network.version == found.version)


def parse_url(url: str) -> httpcore.URL:
    """Read a receiver's address; refuses what is not plainly one."""
    ways = "give http:// or https://, a host and a path, in ASCII, without user and fragment"
    if len(url) > LONGEST_URL:
        raise InvalidParameter(f"url has more than {LONGEST_URL} characters: {ways}", field="url")
    found = re.fullmatch(PATTERN, url)
    scheme, host, port, target = found.group(1, 2, 4, 5) if found else ("", "", None, None)
    if not host or (port and not 0 < int(port) < 65536):
        raise InvalidParameter(f"url is not an address that can be posted to: {ways}", field="url")
    target = target or "/"
    return httpcore.URL(
        scheme=scheme,
        host=host.strip("[]"),
        port=int(port) if port else None,
        target=target if target.startswith("/") else f"/{target}",
    )


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, in the order in which to try them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in found))


@dataclass(kw_only=True)
class Network:
    """The way out of the service.

    A name is looked up again for each connection, and the connection goes to the very address that
    was looked at: a name that changes its mind leads nowhere else. Proxies of the environment are
    not used, as they would look it up again.

    Parameters
    ----------
    private : bool
        Whether private and loopback addresses may be reached.
    resolve : callable, optional
        From host and port to addresses.
    trusted : SSLContext, optional
        Whose certificates are believed; those of the public authorities by default.
    patience : float
        Seconds for an attempt.
    """

    private: bool = False
    resolve: Resolve = resolve
    trusted: ssl.SSLContext | None = None
    patience: float = PATIENCE

    def check(self, url: str) -> None:
        """Refuse an address that can't be used, or leads to what is private."""
        place = parse_url(url)
        try:
            self.addresses(place.host.decode(), place.origin.port)
        except httpcore.ConnectError as error:
            raise InvalidParameter(f"url can't be used: {error}", field="url") from None

    def addresses(self, host: str, port: int) -> Sequence[str]:
        """Where a host is; ConnectError if nowhere, or not on the open internet."""
        try:
            found = self.resolve(host, port)
        except (OSError, UnicodeError):
            found = []
        if not found:
            raise httpcore.ConnectError(f"the host {host!r} can't be found")
        if not self.private and not all(is_public(each) for each in found):
            raise httpcore.ConnectError(
                f"the host {host!r} is at a private address, which this service does not allow"
            )
        return found

    def post(self, url: str, body: bytes, headers: dict[str, str]) -> PostResult:
        """Send ``body`` once; redirects are not followed."""
        place = parse_url(url)
        if self.trusted is None:
            import httpx  # with its command line and all that this needs

            self.trusted = httpx.create_ssl_context()
        host = url.partition("://")[2].partition("/")[0].partition("?")[0]
        named = {"Host": host, "Connection": "close", **headers}
        way = _Way(self, time.monotonic() + self.patience)
        try:
            with (
                httpcore.ConnectionPool(self.trusted, network_backend=way) as pool,
                pool.stream("POST", place, headers=[*named.items()], content=body) as reply,
            ):
                return PostResult(reply.status, _beginning(reply))
        except httpcore.TimeoutException:
            return PostResult(None, f"no answer within {self.patience:g} s")
        except (httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
            return PostResult(None, _plain(str(error) or type(error).__name__))


def _beginning(reply: httpcore.Response) -> str:
    """The first words of an answer; that there is an answer does not depend on them."""
    read = b""
    try:
        for part in reply.iter_stream():
            read += part
            if len(read) >= 4 * SHOWN:
                break
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException):
        pass
    return _plain(read.decode(errors="replace"))


def _plain(text: str) -> str:
    """One line without control characters."""
    words = "".join(each if each.isprintable() else " " for each in text).split()
    return " ".join(words)[:SHOWN]


class _Way(httpcore.NetworkBackend):
    """Connects to addresses that were looked at, with one deadline for everything."""

    def __init__(self, network: Network, deadline: float) -> None:
        self.network = network
        self.deadline = deadline
        self._plain = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        failure: httpcore.ConnectError | None = None
        for address in self.network.addresses(host, port):
            try:
                stream = self._plain.connect_tcp(
                    address, port, left(self.deadline, httpcore.ConnectTimeout), local_address,
                    socket_options,
                )  # fmt: skip
                return _Stream(stream, self.deadline)
            except httpcore.ConnectError as error:
                failure = error
        assert failure is not None
        raise failure


class _Stream(httpcore.NetworkStream):
    """A connection that ends at its deadline, however slowly the other side drips."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, left(self._deadline, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, left(self._deadline, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        seconds = left(self._deadline, httpcore.ConnectTimeout)
        return _Stream(
            self._stream.start_tls(ssl_context, server_hostname, seconds), self._deadline
        )

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def left(deadline: float, late: type[httpcore.TimeoutException]) -> float:
    """The seconds until a deadline; raises ``late`` once it is past."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise late("too late")
    return seconds
