"""The service under load: ask+answer cycles over HTTP, and what they cost beside a bare service.

The bare service (``bare_service.py``) takes the same two requests and makes the same two commits,
grouped in the same way. Servers and clients are processes on the cores of one machine. They are
measured in turns, so that what others do on the machine meets all of them alike. The CPU is that of
the server's process with all its threads. Kernels are compiled beforehand, as by `askwise warm`.

usage: python -m benchmarks.service serve STORE
"""

from __future__ import annotations

import http.client
import json
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.timing import cpu_of, quantity, ratio, spread, table, want
from scripts.postgres import Cluster, Unavailable

CLIENTS = (1, 8, 64)
GROUP = 64
"""Clients at which the rate is compared with what the disk allows."""

MOST_CPU = {"random-pairs": 2.5, "hem": 3.5}
"""Policies, and the CPU that a cycle may take beside that of the bare service."""

CAMPAIGN = {
    "workers": [{"id": f"w{n}", "price": "0.05"} for n in range(50)],
    "tasks": [f"t{n}" for n in range(4000)],
    "options": ["yes", "no"],
    "seed": 1,
}


# The servers.


def serve(store: str) -> None:
    """Serve as ``askwise serve`` does, with no limit on rates."""
    from askwise.cli.serve import Greeting
    from askwise.service import server as running
    from askwise.service.settings import Settings
    from askwise.store import open_store

    taken = running.listen("127.0.0.1", 0)
    free = dict.fromkeys(("key_rate", "key_burst", "address_rate", "address_burst"), 1e9)
    settings = running.with_address(Settings(store=store, **free), taken)  # type: ignore[arg-type]
    opened = open_store(store)
    Greeting.make(opened, settings.address).say()
    running.run(settings, opened, taken, processes=1, proxies="")


@dataclass
class Server:
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    port: int
    key: str = "none"

    def cpu(self) -> float:
        """CPU seconds of the process so far."""
        return cpu_of(self.process.pid)


@contextmanager
def started(directory: Path, *command: str) -> Iterator[Server]:
    """Start a server, with a campaign of each policy unless it is the bare one, and end it."""
    with (directory / "server.log").open("a") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        assert process.stdout is not None
        key = port = None
        for said in process.stdout:
            key = key or re.search(r"awo_[\w-]+", said)
            port = re.search(r"http://127.0.0.1:(\d+)", said)
            if port is not None:
                break
        assert port is not None
        server = Server(process, int(port[1]))
        if key is not None:
            server.key = key[0]
            for policy in MOST_CPU:
                create(server, policy, policy)
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def create(server: Server, name: str, policy: str) -> None:
    """Create a campaign, once the server answers."""
    body = json.dumps({**CAMPAIGN, "name": name, "policy": policy})
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


# One run.


@dataclass
class Figures:
    """What was measured of one service at one number of clients, an entry per round."""

    rate: list[float] = field(default_factory=list)
    middle: list[float] = field(default_factory=list)
    slow: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)
    steady: list[float] = field(default_factory=list)
    """Of one client: the CPU of the slowest hundredth of cycles to that of the median cycle."""

    def take(self, server: Server, campaign: str, clients: int, length: float) -> None:
        """Measure once."""
        command = [sys.executable, "-m", "benchmarks.service_clients", str(server.port)]
        command += [server.key, campaign, str(clients), str(length)]
        command += [str(server.process.pid)] if clients == 1 else []
        before = server.cpu()
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        took, costs = found["took"], found["costs"]
        self.rate.append(len(took) / found["seconds"])
        self.middle.append(1e3 * _middle(took))
        self.slow.append(1e3 * _slow(took))
        self.busy.append((server.cpu() - before) / len(took) * 1e3)
        if costs:
            self.steady.append(_slow(costs) / _middle(costs))


def _middle(ordered: list[float]) -> float:
    return ordered[len(ordered) // 2]


def _slow(ordered: list[float]) -> float:
    """What a hundredth of them are above."""
    return ordered[len(ordered) * 99 // 100]


def group_commits(file: Path, requests: int = GROUP) -> Iterator[None]:
    """Commit, for each item, the rows that these requests write: three for two of them."""
    link = sqlite3.connect(file, isolation_level=None)
    link.execute("PRAGMA journal_mode = WAL")
    link.execute("PRAGMA synchronous = FULL")
    link.execute("CREATE TABLE rows (body TEXT)")
    rows = [("x" * 150,)] * max(1, requests * 3 // 2)
    while True:
        link.execute("BEGIN IMMEDIATE")
        link.executemany("INSERT INTO rows VALUES (?)", rows)
        link.execute("COMMIT")
        yield


def two_commits(commits: Iterator[None], count: int) -> list[float]:
    """Seconds of two commits one after the other, many times: a cycle without a service."""
    found = []
    for _ in range(count):
        begun = time.perf_counter()
        next(commits)
        next(commits)
        found.append(time.perf_counter() - begun)
    return found


Found = dict[tuple[str, str, int], Figures]
"""Figures by service, policy and number of clients."""

BARE = "bare"


def main(quick: bool) -> None:
    """Print the tables."""
    # Here, so that the processes of the clients start quickly.
    from benchmarks.live import seconds

    # Many short rounds: what others do on the machine changes from one to the next.
    length, rounds, warm = (1.0, 4, 6.0) if quick else (1.5, 11, 15.0)
    print("ask+answer cycles over HTTP; clients and server share the cores of this machine")
    compile_kernels()
    directory = Path(tempfile.mkdtemp(prefix="askwise-bench-", dir=Path.cwd()))
    found: Found = {}
    disk: list[float] = []
    pairs: list[float] = []
    try:
        with ExitStack() as stack:
            bare = stack.enter_context(
                started(directory, "benchmarks.bare_service", f"{directory}/bare.sqlite")
            )
            ours = {
                name: stack.enter_context(started(directory, "benchmarks.service", "serve", store))
                for name, store in stores(stack, directory).items()
            }
            groups = group_commits(directory / "groups.sqlite")
            singles = group_commits(directory / "singles.sqlite", 1)
            two_commits(singles, 500)  # until the file has its size
            Figures().take(bare, "bench", 8, warm / 3)  # until its file has its size, as ours have
            for server in ours.values():
                for policy in MOST_CPU:
                    Figures().take(server, policy, 8, warm)  # until compiled kernels are loaded
            for clients in CLIENTS:
                for _ in range(rounds):
                    disk.append(1.0 / seconds(groups, 30, time.perf_counter))
                    _figures(found, BARE, BARE, clients).take(bare, "bench", clients, length)
                    if clients == 1:
                        pairs += two_commits(singles, 500)
                    for name, server in ours.items():
                        for policy in MOST_CPU:
                            figures = _figures(found, name, policy, clients)
                            figures.take(server, policy, clients, length)
    finally:
        shutil.rmtree(directory)
    show_cycles(found, sorted(pairs))
    show_limits(found, statistics.median(disk))


def _figures(found: Found, name: str, policy: str, clients: int) -> Figures:
    return found.setdefault((name, policy, clients), Figures())


def compile_kernels() -> None:
    """Compile what the policies run live, unless that was done before."""
    program = "import sys; from askwise.cli.main import run; run()"
    subprocess.run([sys.executable, "-c", program, "warm", *MOST_CPU], check=True)


def stores(stack: ExitStack, directory: Path) -> dict[str, str]:
    """The stores to be had, by name."""
    found = {"SQLite": f"sqlite:///{directory}/campaigns.sqlite"}
    try:
        cluster = stack.enter_context(Cluster())
        cluster.start()
        found["PostgreSQL"] = cluster.url()
    except (Unavailable, OSError) as reason:
        print(f"  PostgreSQL is left out: {reason}")
    return found


def show_cycles(found: Found, pairs: list[float]) -> None:
    """Print the cost of a cycle beside that of the bare service, after two commits alone."""
    waits = [f"{1e3 * _middle(pairs):.1f}", f"{1e3 * _slow(pairs):.1f}"]
    rows = [["two commits, no service", quantity(len(pairs) / sum(pairs)), *waits, *[""] * 5]]
    for (name, policy, clients), figures in found.items():
        bare = found[BARE, BARE, clients]
        beside = ratio(figures.busy, bare.busy)
        wanted = want(beside, most=MOST_CPU[policy]) if name == "SQLite" else ["", ""]
        rows.append(
            [
                f"{name if name == BARE else f'{name}, {policy}'}, {clients} clients",
                quantity(statistics.median(figures.rate)),
                f"{statistics.median(figures.middle):.1f}",
                f"{statistics.median(figures.slow):.1f}",
                f"{statistics.median(figures.busy):.2f}",
                f"{beside:.2f}",
                spread(figures.busy, bare.busy),
                *wanted,
            ]
        )
    header = ["", "cycles /s", "p50 ms", "p99 ms", "CPU ms a cycle", "to bare *", "rounds"]
    table([*header, "wanted", "met"], rows)
    print("  * CPU of the server's process, by rounds, to that of the bare service beside it")


def show_limits(found: Found, commits: float) -> None:
    """Print what else is wanted: of the disk, of PostgreSQL, of the slowest."""
    show_rates(found, commits)
    rows = []
    for (name, policy, clients), figures in found.items():
        if name == "PostgreSQL":
            beside = ratio(figures.busy, found["SQLite", policy, clients].busy)
            row = f"{policy}, {clients} clients: CPU with PostgreSQL to SQLite"
            rows.append([row, f"{beside:.2f}", *want(beside, most=2.0)])
        tail = ratio(figures.slow, figures.middle)
        row = f"{policy}, {clients} clients{'' if name == BARE else f', {name}'}: p99 to p50"
        wanted = ["", ""] if name == BARE else want(tail, most=10.0)
        rows.append([row, f"{tail:.1f}", *wanted])
        if figures.steady:
            steady = f"{statistics.median(figures.steady):.1f}"
            rows.append([f"{row}, of the CPU of a cycle", steady, "", ""])
    table(["", "measured", "wanted", "met"], rows)


def show_rates(found: Found, commits: float) -> None:
    """Print the rates at many clients beside what group commit allows on the bare disk."""
    bound = commits * GROUP / 2
    rows = []
    for name, policy in ((BARE, BARE), *(("SQLite", policy) for policy in MOST_CPU)):
        figures = found[name, policy, GROUP]
        rate = statistics.median(figures.rate)
        cores = statistics.median(
            rate * busy / 1e3 for rate, busy in zip(figures.rate, figures.busy, strict=True)
        )
        alone = 1e3 / statistics.median(figures.busy)
        wanted = ["", ""] if name == BARE else want(rate / bound, least=0.5)
        beside = ratio(figures.rate, found[BARE, BARE, GROUP].rate)
        cells = [quantity(rate), quantity(bound), f"{rate / bound:.2f}", *wanted, f"{beside:.2f}"]
        rows.append([policy, *cells, f"{cores:.2f}", f"{alone / bound:.2f}"])
    print(f"\n  {GROUP} clients, SQLite with full syncs")
    header = ["", "cycles /s", "group commit allows *", "share", "wanted", "met", "to bare"]
    table([*header, "cores", "share of a whole core **"], rows)
    print(
        f"  * {commits:.0f} bare commits a second, each of the rows of {GROUP} requests; a cycle "
        "is two\n  ** what the CPU of a cycle would allow, if the process had a core of its own "
        "and never waited\n"
    )


if __name__ == "__main__":
    serve(sys.argv[2])
