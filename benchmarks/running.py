"""A run of model judges: how busy their slots are, and what a call costs the runner in CPU time.

The endpoint is a stub in another process that answers after a fixed time. A slot that is never
idle has this time as its share of the clock. Beside a run, as many bare slots call the same sources
again and again and write nothing down: what they miss is the machine's and the sources', and what a
run misses beside them is the runner's own. They are measured in turns.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
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
from benchmarks.timing import quantity, ratio, table, want

LATENCY = 0.2
JUDGES, SLOTS = 4, 4
ITEMS = 2_000
BARE, POLICIES = "bare slots", ("random-pairs", "hem")
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


CONTENT = Content("Is it even?", options=["no", "yes"])


def payload(at: int) -> str:
    """What a task asks about."""
    return f"{at:06}" + "x" * (at % 40)


def created(policy: str, sources: dict[str, Chat], file: Path) -> Campaign:
    """A campaign of the judges on a file of its own."""
    tasks = [{"id": f"t{at}", "payload": payload(at)} for at in range(ITEMS)]
    longest = Question(CONTENT, f"t{ITEMS}", "x" * 46)
    return Campaign.create(
        workers=[
            {"id": id, "price": from_micro(source.ceiling(longest)), "kind": "model"}
            for id, source in sources.items()
        ],
        tasks=tasks,
        content=CONTENT,
        budget="100",
        policy=policy,
        store=SqliteStore(file),
        seed=1,
    )


async def call_bare(
    sources: dict[str, Chat], watch: Callable[[int], None], stop: asyncio.Event
) -> None:
    """Keep all slots at their calls, and write nothing down."""
    calls = itertools.count(1)

    async def slot(source: Chat, items: Iterator[int]) -> None:
        while not stop.is_set():
            at = next(items)
            await source.answer(Question(CONTENT, f"t{at}", payload(at)))
            watch(next(calls))

    each = ((source, itertools.count()) for source in sources.values())
    await asyncio.gather(*(slot(*given) for given in each for _ in range(SLOTS)))


def measured(what: str, url: str, seconds: float, directory: Path) -> tuple[int, float, float]:
    """Calls, the share of the clock for which slots were busy, and CPU seconds a call."""
    cache = SqliteCache(directory / "replies.sqlite")
    sources = {
        f"judge{at}": Chat(f"m{at}", url, price=PRICE, slots=SLOTS, cache=cache)
        for at in range(JUDGES)
    }
    campaign = None if what == BARE else created(what, sources, directory / "campaign.sqlite")

    async def whole() -> tuple[int, float, float]:
        stop, seen = asyncio.Event(), 0
        marks: list[tuple[int, float, float]] = []

        def mark() -> None:
            marks.append((seen, time.perf_counter(), time.process_time()))

        def count(calls: int) -> None:
            nonlocal seen
            seen = calls

        def watch(progress: RunProgress) -> None:
            count(progress.answered + progress.failed)

        loop = asyncio.get_running_loop()
        # Once all slots are in use, and before they run out of questions.
        loop.call_later(2.0, mark)
        loop.call_later(2.0 + seconds, mark)
        loop.call_later(2.0 + seconds, stop.set)
        if campaign is None:
            await call_bare(sources, count, stop)
        else:
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
    seconds, rounds = (5.0, 1) if quick else (10.0, 3)
    directory = Path(tempfile.mkdtemp(prefix="askwise-bench-", dir=Path.cwd()))
    found: dict[str, list[tuple[int, float, float]]] = {}
    print(f"{JUDGES} judges of {SLOTS} slots, replies after {LATENCY * 1000:g} ms, {ITEMS:,} items")
    try:
        with stub() as url:
            for number, what in itertools.product(range(rounds), (BARE, *POLICIES)):
                place = directory / f"{what}-{number}"
                place.mkdir()
                found.setdefault(what, []).append(measured(what, url, seconds, place))
    finally:
        shutil.rmtree(directory)
    rows = []
    for what, taken in found.items():
        calls, busy, cpu = (statistics.median(column) for column in zip(*taken, strict=True))
        beside = ratio([each[1] for each in taken], [each[1] for each in found[BARE]])
        wanted = ["", "", "", ""]
        if what != BARE:
            wanted = [*want(busy, least=BUSY), *want(1e3 * cpu, most=CPU)]
        row = [what, f"{calls:,.0f}", f"{busy:.3f}", *wanted[:2], f"{beside:.3f}"]
        rows.append([*row, quantity(1e3 * cpu), *wanted[2:]])
    header = ["", "calls", "busy", "wanted", "met", "to bare slots", "CPU ms a call"]
    table([*header, "wanted", "met"], rows)


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
