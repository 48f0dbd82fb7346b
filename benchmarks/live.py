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
from pathlib import Path

from askwise import Campaign, Done
from benchmarks.markets import market_of, problem_of
from benchmarks.timing import quantity, table

WORKERS = 20
POLICIES = ("bounded-epsilon-first", "thompson-knapsack")
TIERS = {"compiled": "1", "plain": "0"}


def cycles(policy: str, store: str, budget: int) -> tuple[int, float, float]:
    """Run a campaign to its end; how many cycles, wall and CPU seconds."""
    campaign = Campaign.create(
        workers=problem_of(market_of(WORKERS), budget).workers,
        outcome="utility",
        budget=budget,
        policy=policy,
        store=store,
        seed=1,
    )
    draw = random.Random(1).random
    done = 0
    wall, cpu = time.perf_counter(), time.process_time()
    while not isinstance(batch := campaign.ask(), Done):
        campaign.tell(batch[0].id, draw())
        done += 1
    return done, time.perf_counter() - wall, time.process_time() - cpu


def bare_commits(file: Path, count: int) -> float:
    """Wall seconds of a commit of one row of about an event's size, on the same disk."""
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS rows (body TEXT)")
    begun = time.perf_counter()
    for _ in range(count):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO rows VALUES (?)", ("x" * 150,))
        connection.execute("COMMIT")
    took = (time.perf_counter() - begun) / count
    connection.close()
    return took


def serve(directory: str, budget: int) -> None:
    """Answer each line on the input with one round of measurements."""
    for number, line in enumerate(sys.stdin):
        policy = line.strip()
        store = f"sqlite:///{directory}/{os.getpid()}-{number}.sqlite"
        done, _, cpu = cycles(policy, "memory", budget)
        commit = bare_commits(Path(directory, "bare.sqlite"), done)
        durable, wall, _ = cycles(policy, store, budget)
        again = bare_commits(Path(directory, "bare.sqlite"), done)
        measured = {
            "cycles": done,
            "memory": cpu / done,
            "sqlite": wall / durable,
            "commit": (commit + again) / 2,
        }
        print(json.dumps(measured), flush=True)


def main(quick: bool) -> None:
    """Print the table."""
    budget, rounds = (2_000, 2) if quick else (10_000, 5)
    directory = tempfile.mkdtemp(prefix="askwise-bench-", dir=Path.cwd())
    children = {
        tier: subprocess.Popen(
            [sys.executable, "-m", "benchmarks.live", directory, str(budget)],
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

    print(f"K={WORKERS}, B={budget:,}, whole campaigns; memory by CPU time, SQLite by the clock")
    rows = []
    for (policy, tier), rounds_of in found.items():
        share = statistics.median(2.0 * each["commit"] / each["sqlite"] for each in rounds_of)
        middle = {key: statistics.median(each[key] for each in rounds_of) for key in rounds_of[0]}
        rows.append(
            [
                f"{policy}, {tier}",
                quantity(middle["cycles"]),
                quantity(1.0 / middle["memory"]),
                quantity(1.0 / middle["sqlite"]),
                quantity(1.0 / middle["commit"]),
                f"{share:.2f}",
            ]
        )
    header = ["", "cycles", "memory /s", "SQLite /s", "bare commits /s", "of the disk's *"]
    table(header, rows)
    print("  * SQLite cycles against half the bare commit rate: ask and tell are a commit each")


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
