"""Clients of a service: one loop over sockets that sends requests made beforehand.

usage: python -m benchmarks.service_clients PORT[,...] KEY CAMPAIGN[,...] CLIENTS SECONDS [HOW]

Clients are dealt to the campaigns, and campaigns to the ports. With ``alternate`` for HOW each
client sends each request to the next port. With the number of a process for HOW the CPU time of
that process is noted for each cycle, which says something of a cycle where there is one client.
"""

from __future__ import annotations

import json
import selectors
import socket
import sys
import time
from dataclasses import dataclass, field

from benchmarks.timing import cpu_of


@dataclass(eq=False)
class Client:
    """A connection to each service that it uses, and where its cycle is."""

    links: list[socket.socket]
    ask: bytes
    begun: float = 0.0
    asking: bool = False
    got: bytes = b""
    took: list[float] = field(default_factory=list)
    used: float = 0.0
    """CPU seconds of the process that is watched, when its cycle began."""

    @property
    def link(self) -> socket.socket:
        """The connection that is in use."""
        return self.links[0]

    def send(self, request: bytes) -> None:
        """Send to the next service."""
        self.links.append(self.links.pop(0))
        self.link.sendall(request)


def load(
    ports: list[int],
    key: str,
    campaigns: list[str],
    clients: int,
    length: float,
    alternate: bool = False,
    watched: int | None = None,
) -> None:
    """Let this many clients ask and answer for this many seconds; print what they saw."""
    common = f"Host: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n".encode()
    tail = b"/answer HTTP/1.1\r\n" + common
    tail += b'Content-Type: application/json\r\nContent-Length: 15\r\n\r\n{"value":"yes"}'
    waiting = selectors.DefaultSelector()
    everyone = []
    for number in range(clients):
        at = number % len(campaigns)
        ask = b"POST /campaigns/" + campaigns[at].encode() + b"/ask HTTP/1.1\r\n" + common
        used = ports if alternate else [ports[at % len(ports)]]
        links = [socket.create_connection(("127.0.0.1", port)) for port in used]
        client = Client(links, ask + b"Content-Length: 0\r\n\r\n")
        everyone.append(client)
        for link in links:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            waiting.register(link, selectors.EVENT_READ, client)
    costs: list[float] = []
    start = now = time.perf_counter()
    for client in everyone:
        client.begun, client.asking = now, True
        client.used = 0.0 if watched is None else cpu_of(watched)
        client.send(client.ask)
    while now < start + length or not all(client.took for client in everyone):
        for ready, _ in waiting.select(1.0):
            client = ready.data
            client.got += client.link.recv(65536)
            body = _whole(client.got)
            if body is None:
                continue
            client.got = b""
            now = time.perf_counter()
            if client.asking:
                at = body.index(b'"id":"') + 6
                name = body[at : body.index(b'"', at)]
                client.send(b"POST /assignments/" + name + tail)
            else:
                client.took.append(now - client.begun)
                client.begun = now
                if watched is not None:
                    used = cpu_of(watched)
                    costs.append(used - client.used)
                    client.used = used
                client.send(client.ask)
            client.asking = not client.asking
        now = time.perf_counter()
    took = sorted(each for client in everyone for each in client.took)
    print(json.dumps({"seconds": now - start, "took": took, "costs": sorted(costs)}))


def _whole(got: bytes) -> bytes | None:
    """The body of a reply, once it is there."""
    end = got.find(b"\r\n\r\n")
    if end < 0:
        return None
    head = got[:end].lower()
    at = head.index(b"content-length:") + 15
    stop = head.find(b"\r\n", at)
    length = int(head[at : stop if stop >= 0 else None])
    if len(got) < end + 4 + length:
        return None
    assert got[9:12] == b"200", got
    return got[end + 4 :]


if __name__ == "__main__":
    places, key, names, clients, length, *how = sys.argv[1:]
    load(
        [int(place) for place in places.split(",")],
        key,
        names.split(","),
        int(clients),
        float(length),
        alternate=how == ["alternate"],
        watched=int(how[0]) if how and how[0].isdigit() else None,
    )
