"""A campaign under load: the cost of a cycle as the log grows, start-up, and group commit.

A cycle is one ask and one tell.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from askwise import Batch, Campaign
from askwise.campaign.writer import Writer
from askwise.store import MemoryStore, Snapshot, SqliteStore, Store, Transaction
from benchmarks.live import commits, seconds
from benchmarks.logs import NAME, RULE, Recorded, record
from benchmarks.timing import quantity, table, want

POLICIES = ("random-pairs", "b-kube")
SIZES = (100, 10_000, 1_000_000)
CYCLES = 20
"""Of a round, in each log: few, so that the shortest log stays short."""
CLIENTS = (1, 16, 64)
GROWTH = 1.5


def cycles(campaign: Campaign) -> Iterator[None]:
    """Do one cycle for each item."""
    for number in count():
        batch = campaign.ask()
        assert isinstance(batch, Batch), f"nothing to ask: {batch}"
        campaign.tell(batch[0].id, "o0" if number % 3 else "o1", key=batch[0].id)
        yield


def costs(label: str, stores: Mapping[int, Store], rounds: int) -> list[list[str]]:
    """Time cycles on logs of all sizes in turns; one row of the table a size."""
    running = {size: cycles(Campaign.open(store, NAME)) for size, store in stores.items()}
    for work in running.values():
        seconds(work, CYCLES, time.process_time)  # to load, compile and warm up
    found: dict[int, list[float]] = {size: [] for size in stores}
    for _ in range(rounds):
        for size, work in running.items():
            found[size].append(seconds(work, CYCLES, time.process_time))
    smallest = min(found)
    rows = []
    for size, times in found.items():
        pairs = zip(times, found[smallest], strict=True)
        grown = statistics.median(one / other for one, other in pairs)
        rows.append(
            [
                label if size == smallest else "",
                f"{size:,}",
                quantity(1e6 * statistics.median(times)),
                f"{grown:.2f}",
                *(want(grown, most=GROWTH) if size > smallest else ["", ""]),
            ]
        )
    return rows


_START = """
import sys, time
from askwise import Campaign
begun = time.perf_counter()
status = Campaign.open(sys.argv[1], sys.argv[2]).status()
print(time.perf_counter() - begun, status.seq)
"""


def start_up(store: SqliteStore, position: int) -> float:
    """Seconds to open a campaign and show its status, in a process of its own, imports aside."""
    made = subprocess.run(
        [sys.executable, "-c", _START, f"sqlite:///{store.file}", NAME],
        env={key: value for key, value in os.environ.items() if key != "ASKWISE_JIT"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    taken, seq = made.stdout.split()
    assert int(seq) == position, "the log was not read to its end"
    return float(taken)


def starts(store: SqliteStore, log: Recorded) -> tuple[list[str], Snapshot]:
    """One row of the table: without a snapshot, with one of four fifths of the log, and of all."""
    end = log.position(log.outcome.answers)
    writer = Writer(store, NAME, log.spec, time.time)
    # First, so that what a long log is folded with is compiled.
    early = packed(writer, end * 4 // 5)[0]
    found = [start_up(store, end)]
    store.save(NAME, early)
    found.append(start_up(store, end))
    whole, taken = packed(writer, end)
    store.save(NAME, whole)
    found.append(start_up(store, end))
    times = [f"{each:.1f}" for each in (*found, taken)]
    label = f"{log.outcome.answers:,} answers"
    return [label, f"{end:,}", *times, f"{len(whole.blob) / 2**20:.0f}"], whole


def packed(writer: Writer, seq: int) -> tuple[Snapshot, float]:
    """A snapshot, and the seconds that its packing took."""
    state = writer.state_at(seq)
    pack = state.freeze()
    begun = time.perf_counter()
    blob = pack()
    return Snapshot(seq, state.version, blob), time.perf_counter() - begun


class CountingMemory(MemoryStore):
    """Counts its transactions."""

    transactions = 0

    @contextmanager
    def write(self, name: str) -> Iterator[Transaction]:
        self.transactions += 1
        with super().write(name) as transaction:
            yield transaction


class CountingSqlite(SqliteStore):
    """Counts its transactions."""

    transactions = 0

    @contextmanager
    def write(self, name: str) -> Iterator[Transaction]:
        self.transactions += 1
        with super().write(name) as transaction:
            yield transaction


@dataclass
class Crowd:
    """This many clients at one campaign, each in a thread, each with one request at a time."""

    store: CountingMemory | CountingSqlite
    clients: int
    times: list[float] = field(default_factory=list)
    begun: int = 0
    spent: float = 0.0

    def __post_init__(self) -> None:
        self.campaign = Campaign.create(
            workers=[{"id": f"w{at}", "price": 1} for at in range(50)],
            tasks=[f"t{at}" for at in range(10_000)],
            options=["o0", "o1"],
            budget=10**8,
            policy=POLICIES[0],
            stopping=RULE,
            lease=3600,
            store=self.store,
            seed=1,
        )
        self.run(0.5)  # to compile and to warm up
        self.times.clear()
        self.begun, self.spent = self.store.transactions, 0.0

    def run(self, length: float) -> None:
        """Let all of them ask and answer for this many seconds."""
        until = time.perf_counter() + length
        threads = [
            threading.Thread(target=self._client, args=(until,)) for _ in range(self.clients)
        ]
        begun = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.spent += time.perf_counter() - begun

    def _client(self, until: float) -> None:
        work = cycles(self.campaign)
        while (begun := time.perf_counter()) < until:
            next(work)
            self.times.append(time.perf_counter() - begun)

    @property
    def rate(self) -> float:
        """Cycles a second."""
        return len(self.times) / self.spent

    @property
    def group(self) -> float:
        """Writes a transaction."""
        return 2 * len(self.times) / (self.store.transactions - self.begun)

    def quantile(self, share: float) -> str:
        """Milliseconds that this share of the cycles took at most."""
        return quantity(1e3 * sorted(self.times)[int(share * (len(self.times) - 1))])


def groups(directory: Path, rounds: int) -> None:
    """Print the table of clients at one campaign, beside the bare commits of the same disk."""
    crowds = {
        (kind, clients): Crowd(
            CountingMemory() if kind == "memory" else CountingSqlite(directory / f"c{clients}.db"),
            clients,
        )
        for kind in ("memory", "SQLite")
        for clients in CLIENTS
    }
    work = commits(directory / "bare.db")
    bare: list[float] = []
    for _ in range(rounds):
        for crowd in crowds.values():
            crowd.run(0.5)
            bare.append(seconds(work, 40, time.perf_counter))
    rate = 1.0 / statistics.mean(bare)
    rows = []
    for (kind, clients), crowd in crowds.items():
        allowed = min(rate * crowd.group / 2, crowds["memory", clients].rate)
        share = crowd.rate / allowed
        checked = want(share, least=0.5) if clients == 16 else ["", ""]
        rows.append(
            [
                f"{kind}, {clients} client{'s' if clients > 1 else ''}",
                quantity(crowd.rate),
                f"{crowd.group:.1f}",
                crowd.quantile(0.5),
                crowd.quantile(0.99),
                *([f"{share:.2f}", *checked] if kind == "SQLite" else ["", "", ""]),
            ]
        )
    print(f"\n  clients in threads of one process; {quantity(rate)} bare commits a second")
    table(["", "cycles /s", "group", "p50 ms", "p99 ms", "of what it may *", "wanted", "met"], rows)
    print(
        "  * against the lesser of the bare commit rate times half the group, as a cycle is two"
        "\n    writes, and of what the memory store does with as many clients"
    )


def run(quick: bool) -> None:
    """Print the tables."""
    sizes = (*SIZES[:2], SIZES[2] // 10) if quick else SIZES
    rounds = 10 if quick else 20
    directory = Path(tempfile.mkdtemp(prefix="askwise-bench-", dir=Path.cwd()))
    try:
        print(f"stopping by {RULE['name']}, CPU time of one client's cycles")
        grown = []
        for policy in POLICIES:
            log = record(policy, sizes[-1])
            files = {size: SqliteStore(directory / f"{policy}-{size}.db") for size in sizes}
            for size, file in files.items():
                log.write(file, size)
            if policy == POLICIES[0]:
                started, snapshot = starts(files[sizes[-1]], log)
                memory = {size: MemoryStore() for size in sizes}
                for size, store in memory.items():
                    log.write(store, size)
                memory[sizes[-1]].save(NAME, snapshot)
                grown += costs(f"{policy}, memory", memory, rounds)
                del memory
            grown += costs(f"{policy}, SQLite", files, rounds)
        table(["", "answers", "us/cycle", "relative", "wanted", "met"], grown)
        print("\n  start-up, in seconds: open and status of a campaign on SQLite")
        header = ["", "events", "no snapshot", "at 4/5", "at the end", "to pack one", "MiB"]
        table(header, [started])
        groups(directory, 4 if quick else 8)
    finally:
        shutil.rmtree(directory)


def main(quick: bool) -> None:
    """Run in a process in which kernels are compiled from the start, as they are after a while."""
    subprocess.run(
        [sys.executable, "-m", "benchmarks.cycles", *(["--quick"] if quick else [])],
        env={**os.environ, "ASKWISE_JIT": "1"},
        check=True,
    )


if __name__ == "__main__":
    run("--quick" in sys.argv[1:])
