"""Live campaigns: ask+tell cycles a second in memory and with a durable commit each.

The tiers (kernels compiled, kernels plain) need a process each. They take turns: the parent
asks for a round by a line on their input, and they answer with a line of JSON.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path

from askwise import Batch, Campaign
from benchmarks.markets import market_of, problem_of
from benchmarks.timing import quantity, table

WORKERS = 20
BUDGET = 3_000
POLICIES = ("bounded-epsilon-first", "thompson-knapsack")
TIERS = {"compiled": "1", "plain": "0"}
CHUNK = 10
"""Cycles between two looks at the disk, whose speed changes with what others write."""


def campaigns(policy: str, store: str) -> Iterator[None]:
    """Do one cycle for each item, one campaign after the other."""
    workers = problem_of(market_of(WORKERS), BUDGET).workers
    draw = random.Random(1).random
    for seed in count():
        campaign = Campaign.create(
            workers=workers,
            outcome="utility",
            budget=BUDGET,
            policy=policy,
            store=store,
            seed=seed,
        )
        while isinstance(batch := campaign.ask(), Batch):
            campaign.tell(batch[0].id, draw())
            yield


def commits(file: Path) -> Iterator[None]:
    """Commit one row of about an event's size for each item."""
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE rows (body TEXT)")
    while True:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO rows VALUES (?)", ("x" * 150,))
        connection.execute("COMMIT")
        yield


def seconds(work: Iterator[None], items: int, clock: Callable[[], float]) -> float:
    """Time some items of endless work; returns seconds an item."""
    begun = clock()
    for _ in islice(work, items):
        pass
    return (clock() - begun) / items


def serve(directory: str, length: float) -> None:
    """Answer each policy named on the input with a round of this many seconds."""
    bare = commits(Path(directory, f"bare-{os.getpid()}.sqlite"))
    runs: dict[str, tuple[Iterator[None], Iterator[None]]] = {}
    for line in sys.stdin:
        policy = line.strip()
        if policy not in runs:
            store = f"sqlite:///{directory}/{policy}-{os.getpid()}.sqlite"
            runs[policy] = campaigns(policy, "memory"), campaigns(policy, store)
        in_memory, durable = runs[policy]
        memory = seconds(in_memory, int(500 * length), time.process_time)
        cycle, commit = [], []
        until = time.perf_counter() + length
        while time.perf_counter() < until:
            cycle.append(seconds(durable, CHUNK, time.perf_counter))
            commit.append(seconds(bare, 2 * CHUNK, time.perf_counter))
        measured = {
            "memory": memory,
            "sqlite": statistics.mean(cycle),
            "commit": statistics.mean(commit),
        }
        print(json.dumps(measured), flush=True)


def main(quick: bool) -> None:
    """Print the table."""
    length, rounds = (0.5, 2) if quick else (1.5, 5)
    directory = tempfile.mkdtemp(prefix="askwise-bench-", dir=Path.cwd())
    children = {
        tier: subprocess.Popen(
            [sys.executable, "-m", "benchmarks.live", directory, str(length)],
            env={**os.environ, "ASKWISE_JIT": switch},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for tier, switch in TIERS.items()
    }
    found: dict[tuple[str, str], list[dict[str, float]]] = {}

    def round_of(tier: str, policy: str) -> dict[str, float]:
        child = children[tier]
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(policy + "\n")
        child.stdin.flush()
        measured: dict[str, float] = json.loads(child.stdout.readline())
        return measured

    try:
        for policy in POLICIES:
            for tier in TIERS:
                round_of(tier, policy)  # to compile and to warm up
        for _ in range(rounds):
            for policy in POLICIES:
                for tier in TIERS:
                    found.setdefault((policy, tier), []).append(round_of(tier, policy))
    finally:
        for child in children.values():
            child.communicate()
        shutil.rmtree(directory)

    print(f"K={WORKERS}, B={BUDGET:,}; memory by CPU time, SQLite by the clock")
    rows = []
    for (policy, tier), rounds_of in found.items():
        share = statistics.median(2.0 * each["commit"] / each["sqlite"] for each in rounds_of)
        middle = {key: statistics.median(each[key] for each in rounds_of) for key in rounds_of[0]}
        rows.append(
            [
                f"{policy}, {tier}",
                quantity(1.0 / middle["memory"]),
                quantity(1.0 / middle["sqlite"]),
                quantity(1.0 / middle["commit"]),
                f"{share:.2f}",
            ]
        )
    header = ["", "memory /s", "SQLite /s", "bare commits /s", "of the disk's *"]
    table(header, rows)
    print("  * SQLite cycles against half the bare commit rate: ask and tell are a commit each")


if __name__ == "__main__":
    serve(sys.argv[1], float(sys.argv[2]))
