"""Logs of campaigns with so many answers, from the lab's compiled loop, written in bulk."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from askwise.campaign.spec import Spec, make_spec
from askwise.lab.loop import CLOSED_CODE, CLOSED_OPTION, CLOSED_SEQ, CLOSED_SURE
from askwise.lab.simulate import Outcome, simulate
from askwise.lab.worlds.limited import Labellers
from askwise.ledger import columns as c
from askwise.policies import policies
from askwise.stopping import stopping
from askwise.stopping.base import OUTCOMES
from askwise.store import Portable
from askwise.store.backup.portable import Head
from askwise.store.event_rows import EventRow

NAME = "bench"
WORKERS = 50
TASKS_PER_ANSWER = 0.3
RULE = {"name": "lead", "lead": 3}
LEASE = 3600.0


@dataclass(frozen=True)
class Recorded:
    """A campaign's spec, and what happened in the lab."""

    spec: Spec
    outcome: Outcome

    def position(self, answers: int) -> int:
        """How long the log is after so many answers."""
        ledger = self.outcome.ledger
        if answers >= self.outcome.answers:
            return ledger.seq
        return int(ledger.book.assignments[answers, c.SEQ]) - 2

    def write(self, store: Portable, answers: int) -> None:
        """Create the campaign with the log of its first so many answers."""
        source = islice(rows_of(self.outcome, self.spec), self.position(answers))
        store.fill(chain([Head(NAME, 0.0, self.spec.to_json())], source))


def record(policy: str, answers: int) -> Recorded:
    """Let the lab run a campaign of about so many answers, and leave money for more."""
    tasks = max(100, int(answers * TASKS_PER_ANSWER))
    crowd = Labellers(np.linspace(0.55, 0.95, WORKERS), np.full(WORKERS, 1_000_000, np.int64))
    problem = crowd.problem(tasks, 10 * answers, answers * 1_000_000, repeat=False)
    world = crowd.answering(1, 0, tasks)
    rule = stopping.make(RULE)
    outcome = simulate(policies.make(policy), problem, world, rule=rule, seed=1)
    described = {**problem.to_json(), "budget": 2 * answers, "policy": policy}
    return Recorded(make_spec({**described, "stopping": RULE, "lease": LEASE, "seed": 1}), outcome)


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
        pair = f'"task":{task},"worker":{worker},"price":"{prices[at_worker]}"'
        plan = f'"note":"{note}","rows":[[{task},{worker},1,{odds}]]'
        chosen = f'"propensity":{odds},"expires":{LEASE}'
        yield EventRow(seq + 1, "DECIDED", 0.0, None, f'{{"decision":{decision},{plan}}}')
        yield EventRow(seq + 2, "ASKED", 0.0, None, f'{{"decision":{decision},{pair},{chosen}}}')
        told = f'"assignment":{seq + 2},"value":"{options[int(value)]}"'
        yield EventRow(seq + 3, "ANSWER", 0.0, None, f"{{{pair},{told}}}")
        seq += 3
        if seq + 1 in closed:
            seq += 1
            row = closed[seq].tolist()
            named = f'"value":"{options[int(row[CLOSED_OPTION])]}"'
            why = f'"outcome":"{OUTCOMES[int(row[CLOSED_CODE])]}","confidence":{row[CLOSED_SURE]}'
            yield EventRow(seq, "CLOSED", 0.0, None, f'{{"task":{task},{named},{why}}}')
