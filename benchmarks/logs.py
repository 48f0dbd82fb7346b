"""Long logs: what it costs to open a campaign without a snapshot, and to look at it.

Logs come from the lab's compiled loop and are written in bulk. Each figure is a quotient: against
a plain reading of the log's rows in the same process.
"""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np

from askwise.campaign.spec import Spec, make_spec
from askwise.lab.loop import CLOSED_CODE, CLOSED_OPTION, CLOSED_SEQ, CLOSED_SURE
from askwise.lab.simulate import Outcome, simulate
from askwise.lab.worlds.limited import Labellers
from askwise.ledger import columns as c
from askwise.policies import policies
from askwise.stopping import stopping
from askwise.stopping.base import OUTCOMES
from askwise.store import Portable, SqliteStore
from askwise.store.backup.portable import Head
from askwise.store.event_rows import EventRow
from benchmarks.timing import quantity, table, want

NAME = "bench"
WORKERS = 50
TASKS_PER_ANSWER = 0.3
RULE: dict[str, object] = {"name": "lead", "lead": 3}
LEASE = 3600.0


@dataclass(frozen=True)
class Recorded:
    """A campaign's spec, and what happened in the lab."""

    spec: Spec
    outcome: Outcome

    def position(self, answers: int) -> int:
        """How long the log is after this many answers."""
        ledger = self.outcome.ledger
        if answers >= self.outcome.answers:
            return ledger.seq
        return int(ledger.book.assignments[answers, c.SEQ]) - 2

    def write(self, store: Portable, answers: int) -> None:
        """Create the campaign with the log of its first answers."""
        source = islice(rows_of(self.outcome, self.spec), self.position(answers))
        store.fill(chain([Head(NAME, 0.0, self.spec.to_json())], source))


def record(
    policy: str, answers: int, tasks: int | None = None, named: dict[str, object] | None = RULE
) -> Recorded:
    """Let the lab run a campaign of about this many answers, and leave money for more."""
    tasks = tasks or max(100, int(answers * TASKS_PER_ANSWER))
    crowd = Labellers(np.linspace(0.55, 0.95, WORKERS), np.full(WORKERS, 1_000_000, np.int64))
    problem = crowd.problem(tasks, 10 * answers, answers * 1_000_000, repeat=False)
    world = crowd.answering(1, 0, tasks)
    rule = None if named is None else stopping.make(named)
    outcome = simulate(policies.make(policy), problem, world, rule=rule, seed=1)
    described = {**problem.to_json(), "budget": 2 * answers, "policy": policy}
    return Recorded(make_spec({**described, "stopping": named, "lease": LEASE, "seed": 1}), outcome)


def rows_of(outcome: Outcome, spec: Spec) -> Iterator[EventRow]:
    """Write the ledger of a simulation down as the log of a live campaign."""
    ledger = outcome.ledger
    number = ledger.total(c.ASSIGNMENTS)
    rows, marks = ledger.book.assignments[:number], ledger.book.marks[:number]
    options, note = spec.problem.options, spec.policy.notes[0]
    closed = {int(row[CLOSED_SEQ]): row for row in outcome.closings if row[CLOSED_SEQ]}
    tasks, workers = [task.id for task in ledger.tasks], [each.id for each in ledger.workers]
    prices = [str(worker.price) for worker in ledger.workers]
    seq = 0
    for decision, (at_task, at_worker, value, chance) in enumerate(
        zip(
            rows[:, c.TASK].tolist(),
            rows[:, c.WORKER].tolist(),
            marks[:, c.VALUE].tolist(),
            marks[:, c.PROPENSITY].tolist(),
            strict=True,
        )
    ):
        odds = "null" if math.isnan(chance) else repr(chance)
        task, worker = f'"{tasks[at_task]}"', f'"{workers[at_worker]}"'
        # Fields in the order in which events are written.
        pair, price = f'"task":{task},"worker":{worker}', f'"price":"{prices[at_worker]}"'
        plan = f'"note":"{note}","rows":[[{task},{worker},1,{odds}]]'
        chosen = f'"propensity":{odds},{price},"expires":{LEASE}'
        yield EventRow(seq + 1, "DECIDED", 0.0, None, f'{{"decision":{decision},{plan}}}')
        yield EventRow(seq + 2, "ASKED", 0.0, None, f'{{"decision":{decision},{pair},{chosen}}}')
        told = f'"assignment":{seq + 2},{pair},"value":"{options[int(value)]}",{price}'
        yield EventRow(seq + 3, "ANSWER", 0.0, None, f"{{{told}}}")
        seq += 3
        if seq + 1 in closed:
            seq += 1
            row = closed[seq].tolist()
            named = f'"value":"{options[int(row[CLOSED_OPTION])]}"'
            why = f'"outcome":"{OUTCOMES[int(row[CLOSED_CODE])]}","confidence":{row[CLOSED_SURE]}'
            yield EventRow(seq, "CLOSED", 0.0, None, f'{{"task":{task},{named},{why}}}')


POLICIES = ("random-pairs", "hem", "virt-ucb", "bbta")
MOST = 4.0
"""Times a plain reading that opening may take."""

_OPEN = """
import sqlite3, sys, time
from askwise import Campaign
from askwise.campaign.views import Timeline
from askwise.campaign import folding
clock = time.process_time
begun = clock()
log = sqlite3.connect(sys.argv[1])
for row in log.execute("SELECT seq, kind, time, key, body FROM events ORDER BY seq"):
    pass
plain = clock() - begun
begun = clock()
campaign = Campaign.open(f"sqlite:///{sys.argv[1]}", sys.argv[2])
seq = campaign.status().seq
opened = clock() - begun
begun = clock()
campaign.answers()
answers = clock() - begun
batch = campaign.ask()
if batch:
    campaign.tell(batch[0].id, "o0")
begun = clock()
campaign.answers()
again = clock() - begun
with campaign.reading() as state:
    timeline = Timeline(state.spec.problem)
begun = clock()
while len(columns := campaign.store.columns(sys.argv[2], timeline.seq, timeline.seq + 10_000,
                                            timed=True)):
    timeline.take_columns(columns)
timed = clock() - begun
print(plain, opened, answers, again, timed, seq, int(bool(folding._loaded)))
"""


def opened(file: Path) -> list[str]:
    """The row of a log: opened in a process of its own, imports aside."""
    made = subprocess.run(
        [sys.executable, "-c", _OPEN, str(file), NAME],
        env={key: value for key, value in os.environ.items() if key != "ASKWISE_JIT"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    plain, taken, answers, again, timed, seq, loaded = map(float, made.stdout.split())
    times = [quantity(each) for each in (plain, taken, answers, again, timed)]
    how = "compiled" if loaded else "plain"
    return [f"{int(seq):,}", how, *times, f"{taken / plain:.1f}", *want(taken / plain, most=MOST)]


def main(quick: bool) -> None:
    """Print the table."""
    sizes = (10_000,) if quick else (100_000, 1_000_000)
    rows = []
    directory = Path(tempfile.mkdtemp(prefix="askwise-bench-", dir=Path.cwd()))
    try:
        for policy in POLICIES[:1] if quick else POLICIES:
            subprocess.run([sys.executable, "-m", "askwise", "warm", policy], check=True)
            for size in sizes:
                file = directory / f"{policy}-{size}.db"
                store = SqliteStore(file)
                record(policy, size).write(store, size)
                store.close()
                rows.append([f"{policy}, {size:,} answers", *opened(file)])
                file.unlink()
    finally:
        shutil.rmtree(directory)
    print("CPU-seconds; without a snapshot, after `askwise warm`")
    header = ["", "events", "kernels", "plain reading", "open", "answers", "after one more"]
    table([*header, "timeline", "open / plain", "wanted", "met"], rows)
