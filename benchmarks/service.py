"""The service under load: ask+answer cycles a second over HTTP, and how long one takes.

Server and clients are processes of their own on the cores of one machine, so the clients' work
is part of what is measured: they are one loop over sockets that sends requests made beforehand.
The disk's bare commit rate is measured beside each figure, as it changes with what others write.

usage: python -m benchmarks.service serve STORE
       python -m benchmarks.service load PORT KEY CAMPAIGN CLIENTS SECONDS
"""

from __future__ import annotations

import http.client
import json
import os
import re
import selectors
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.timing import quantity, table, want
from scripts.postgres import Cluster, Unavailable

CLIENTS = (1, 16, 64)
GROUP = 16
"""Clients of the figure that is wanted."""

CAMPAIGN = {
    "workers": [{"id": f"w{n}", "price": "0.05"} for n in range(50)],
    "tasks": [f"t{n}" for n in range(4000)],
    "options": ["yes", "no"],
    "policy": "random-pairs",
    "seed": 1,
}


# The server.


def serve(store: str) -> None:
    """Serve as ``askwise serve`` does, with no limit on rates."""
    from askwise.cli.serve import greet
    from askwise.service import server as running
    from askwise.service.settings import Settings
    from askwise.store import open_store

    taken = running.listen("127.0.0.1", 0)
    free = dict.fromkeys(("key_rate", "key_burst", "address_rate", "address_burst"), 1e9)
    settings = running.with_address(Settings(store=store, **free), taken)  # type: ignore[arg-type]
    opened = open_store(store)
    greet(opened, settings.address)
    running.run(settings, opened, taken, processes=1, proxies="")


@dataclass
class Server:
    """A server in a process of its own, with one campaign."""

    process: subprocess.Popen[str]
    port: int
    key: str

    def cpu(self) -> float:
        """CPU seconds of the process so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def started(store: str, directory: Path) -> Iterator[Server]:
    """Start a server, make a campaign and end it."""
    with (directory / "server.log").open("a") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.service", "serve", store],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        assert process.stdout is not None
        said = process.stdout.readline() + process.stdout.readline()
        key, port = re.search(r"awo_[\w-]+", said), re.search(r"http://127.0.0.1:(\d+)", said)
        assert key is not None
        assert port is not None
        server = Server(process, int(port[1]), key[0])
        _create(server)
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def _create(server: Server) -> None:
    body = json.dumps({**CAMPAIGN, "name": "bench"})
    headers = {"Authorization": f"Bearer {server.key}", "Content-Type": "application/json"}
    until = time.monotonic() + 60
    while True:
        link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        try:
            link.request("POST", "/campaigns", body, headers)
            reply = link.getresponse()
            text = reply.read()
            assert reply.status == 201, text
            return
        except ConnectionRefusedError:
            assert time.monotonic() < until
            time.sleep(0.05)
        finally:
            link.close()


# The clients.


@dataclass(eq=False)
class Client:
    """One connection, and where its cycle is."""

    link: socket.socket
    begun: float = 0.0
    asking: bool = False
    got: bytes = b""
    took: list[float] = field(default_factory=list)


def load(port: int, key: str, campaign: str, clients: int, length: float) -> None:
    """Let so many clients ask and answer for so many seconds; print what they saw."""
    common = f"Host: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n".encode()
    ask = b"POST /campaigns/" + campaign.encode() + b"/ask HTTP/1.1\r\n" + common
    ask += b"Content-Length: 0\r\n\r\n"
    tail = b"/answer HTTP/1.1\r\n" + common
    tail += b'Content-Type: application/json\r\nContent-Length: 15\r\n\r\n{"value":"yes"}'
    waiting = selectors.DefaultSelector()
    everyone = []
    for _ in range(clients):
        link = socket.create_connection(("127.0.0.1", port))
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client = Client(link)
        everyone.append(client)
        waiting.register(link, selectors.EVENT_READ, client)
    start = now = time.perf_counter()
    for client in everyone:
        client.begun, client.asking = now, True
        client.link.sendall(ask)
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
                client.link.sendall(b"POST /assignments/" + name + tail)
            else:
                client.took.append(now - client.begun)
                client.begun = now
                client.link.sendall(ask)
            client.asking = not client.asking
        now = time.perf_counter()
    took = sorted(each for client in everyone for each in client.took)
    print(json.dumps({"seconds": now - start, "took": took}))


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


# One run.


@dataclass
class Figures:
    """What was measured of one store at one number of clients, an entry a round."""

    rate: list[float] = field(default_factory=list)
    middle: list[float] = field(default_factory=list)
    slow: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)
    commits: list[float] = field(default_factory=list)

    def take(self, server: Server, clients: int, length: float) -> None:
        """Measure once."""
        command = [sys.executable, "-m", "benchmarks.service", "load", str(server.port)]
        command += [server.key, "bench", str(clients), str(length)]
        before = server.cpu()
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        took = found["took"]
        self.rate.append(len(took) / found["seconds"])
        self.middle.append(1e3 * took[len(took) // 2])
        self.slow.append(1e3 * took[min(len(took) - 1, len(took) * 99 // 100)])
        self.busy.append((server.cpu() - before) / len(took) * 1e3)


def stores(stack: ExitStack, directory: Path) -> dict[str, str]:
    """The stores to be had, by name."""
    found = {"memory": "memory", "SQLite": f"sqlite:///{directory}/campaigns.sqlite"}
    try:
        cluster = stack.enter_context(Cluster())
        cluster.start()
        found["PostgreSQL"] = cluster.url()
    except (Unavailable, OSError) as reason:
        print(f"  PostgreSQL is left out: {reason}")
    return found


def main(quick: bool) -> None:
    """Print the table."""
    # Here, so that the processes of the clients start quickly.
    from benchmarks.live import commits, seconds

    length, rounds = (1.5, 1) if quick else (3.0, 3)
    print("ask+answer cycles over HTTP; clients and server share the cores of this machine")
    directory = Path(tempfile.mkdtemp(prefix="askwise-bench-", dir=Path.cwd()))
    found: dict[tuple[str, int], Figures] = {}
    try:
        with ExitStack() as stack:
            servers = {
                name: stack.enter_context(started(store, directory))
                for name, store in stores(stack, directory).items()
            }
            bare = commits(directory / "bare.sqlite")
            for server in servers.values():
                Figures().take(server, GROUP, 4.0)  # to compile and to warm up
            for _ in range(rounds):
                for clients in CLIENTS:
                    for name, server in servers.items():
                        figures = found.setdefault((name, clients), Figures())
                        figures.commits.append(1.0 / seconds(bare, 50, time.perf_counter))
                        figures.take(server, clients, length)
                        figures.commits.append(1.0 / seconds(bare, 50, time.perf_counter))
    finally:
        shutil.rmtree(directory)
    show(found)


def show(found: dict[tuple[str, int], Figures]) -> None:
    """Print what was measured beside what is wanted."""
    rows = []
    for (name, clients), figures in found.items():
        rate, disk = statistics.median(figures.rate), statistics.median(figures.commits)
        wanted = ["", "", ""]
        if clients == GROUP and name != "memory":
            memory = statistics.median(found["memory", GROUP].rate)
            share = rate / min(disk * GROUP / 2, memory)
            wanted = [f"{share:.2f}", *want(share, least=0.5)]
        rows.append(
            [
                f"{name}, {clients} client{'s' if clients > 1 else ''}",
                quantity(rate),
                f"{statistics.median(figures.middle):.1f}",
                f"{statistics.median(figures.slow):.1f}",
                f"{statistics.median(figures.busy):.2f}",
                quantity(disk),
                *wanted,
            ]
        )
    header = ["", "cycles /s", "p50 ms", "p99 ms", "server CPU ms *", "bare commits /s"]
    table([*header, "of the bound **", "wanted", "met"], rows)
    print("  * a cycle, of all its threads")
    print(
        f"  ** the lesser of {GROUP}/2 times the bare commit rate (SQLite, full sync; an ask and "
        "an\n     answer are a write each) and what the same server does in memory"
    )


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        place, key, campaign, clients, length = sys.argv[2:]
        load(int(place), key, campaign, int(clients), float(length))
