"""A run of model judges: how busy their slots are, and what a call costs the runner in CPU time.

The endpoint is a stub in another process that answers after a fixed time. A slot that is never
idle has this time as its share of the clock: what is missing is the runner's own.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from askwise import Campaign
from askwise.core.content import Content
from askwise.core.money import from_micro
from askwise.running import RunProgress, arun
from askwise.sources import Question
from askwise.sources.cache import SqliteCache
from askwise.sources.chat import Chat
from askwise.store import SqliteStore
from benchmarks.timing import quantity, table, want

LATENCY = 0.2
JUDGES, SLOTS = 4, 4
ITEMS = 2_000
POLICIES = ("random-pairs", "hem")
PRICE = {"input": "0.15", "output": "0.60"}
BUSY, CPU = 0.9, 8.0
"""What is wanted: the share of the clock at least, milliseconds per call at most."""

_STUB = f"""
import sys
from askwise.testing.chat_server import ChatServer, Scripted

def script(asked):
    wrong = hash((asked.item, asked.body["model"])) % 10 == 0
    even = len(asked.item) % 2 == 0
    return Scripted("yes" if even != wrong else "no", latency={LATENCY})

with ChatServer(script, price={PRICE!r}) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""


@contextmanager
def stub() -> Iterator[str]:
    """The address of an endpoint in another process."""
    process = subprocess.Popen(
        [sys.executable, "-c", _STUB],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.communicate()


def created(policy: str, sources: dict[str, Chat], file: Path) -> Campaign:
    """A campaign of the judges on a file of its own."""
    content = Content("Is it even?", options=["no", "yes"])
    tasks = [{"id": f"t{at}", "payload": f"{at:06}" + "x" * (at % 40)} for at in range(ITEMS)]
    longest = Question(content, f"t{ITEMS}", "x" * 46)
    return Campaign.create(
        workers=[
            {"id": id, "price": from_micro(source.ceiling(longest)), "kind": "model"}
            for id, source in sources.items()
        ],
        tasks=tasks,
        content=content,
        budget="100",
        policy=policy,
        store=SqliteStore(file),
        seed=1,
    )


def measured(policy: str, url: str, seconds: float, directory: Path) -> tuple[int, float, float]:
    """Calls, the share of the clock for which slots were busy, and CPU seconds a call."""
    cache = SqliteCache(directory / f"{policy}-replies.sqlite")
    sources = {
        f"judge{at}": Chat(f"m{at}", url, price=PRICE, slots=SLOTS, cache=cache)
        for at in range(JUDGES)
    }
    campaign = created(policy, sources, directory / f"{policy}.sqlite")

    async def whole() -> tuple[int, float, float]:
        stop, seen = asyncio.Event(), 0
        marks: list[tuple[int, float, float]] = []

        def mark() -> None:
            marks.append((seen, time.perf_counter(), time.process_time()))

        def watch(progress: RunProgress) -> None:
            nonlocal seen
            seen = progress.answered + progress.failed

        loop = asyncio.get_running_loop()
        # Once all slots are in use, and before they run out of questions.
        loop.call_later(2.0, mark)
        loop.call_later(2.0 + seconds, mark)
        loop.call_later(2.0 + seconds, stop.set)
        await arun(campaign, sources, watch=watch, stop=stop)
        for source in sources.values():
            await source.aclose()
        (before, begun, spent), (after, ended, total) = marks
        calls = after - before
        busy = calls * LATENCY / (JUDGES * SLOTS * (ended - begun))
        return calls, busy, (total - spent) / calls

    try:
        return asyncio.run(whole())
    finally:
        cache.close()


def main(quick: bool) -> None:
    """Print the table."""
    seconds = 5.0 if quick else 30.0
    directory = Path(tempfile.mkdtemp(prefix="askwise-bench-", dir=Path.cwd()))
    rows = []
    print(f"{JUDGES} judges of {SLOTS} slots, replies after {LATENCY * 1000:g} ms, {ITEMS:,} items")
    try:
        with stub() as url:
            for policy in POLICIES:
                calls, busy, cpu = measured(policy, url, seconds, directory)
                rows.append(
                    [
                        policy,
                        f"{calls:,}",
                        f"{busy:.3f}",
                        *want(busy, least=BUSY),
                        quantity(1e3 * cpu),
                        *want(1e3 * cpu, most=CPU),
                    ]
                )
    finally:
        shutil.rmtree(directory)
    table(["", "calls", "busy", "wanted", "met", "CPU ms a call", "wanted", "met"], rows)


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
