"""Logs of campaigns with so many answers, from the lab's compiled loop, written in bulk."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from askwise.campaign.spec import Spec, make_spec
from askwise.core import book as columns
from askwise.core.events import Event, Kind, PlanRow
from askwise.lab.loop import CLOSED_CODE, CLOSED_OPTION, CLOSED_SEQ, CLOSED_SURE
from askwise.lab.simulate import Outcome, simulate
from askwise.lab.worlds.limited import Labellers
from askwise.policies import policies
from askwise.stopping import stopping
from askwise.stopping.base import OUTCOMES
from askwise.store import Store

NAME = "bench"
WORKERS = 50
TASKS_PER_ANSWER = 0.3
RULE = {"name": "lead", "lead": 3}
LEASE = 3600.0
_BULK = 20_000
"""Events of one transaction of the bulk load."""


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
        return int(ledger.book.assignments[answers, columns.SEQ]) - 2

    def write(self, store: Store, answers: int) -> None:
        """Create the campaign with the log of its first so many answers."""
        store.create(NAME, self.spec.to_json(), 0.0)
        source, last = islice(events_of(self.outcome, self.spec), self.position(answers)), 0
        gc.disable()
        while chunk := list(islice(source, _BULK)):
            with store.write(NAME) as transaction:
                transaction.append(chunk, last)
            last += len(chunk)
        gc.enable()


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


def events_of(outcome: Outcome, spec: Spec) -> Iterator[Event]:
    """Write the ledger of a simulation down as the log of a live campaign."""
    ledger = outcome.ledger
    number = ledger.total(columns.ASSIGNMENTS)
    rows, marks = ledger.book.assignments[:number], ledger.book.marks[:number]
    options, note = spec.problem.options, spec.policy.notes[0]
    closed = {int(row[CLOSED_SEQ]): row for row in outcome.closings if row[CLOSED_SEQ]}
    tasks, workers = [task.id for task in ledger.tasks], [each.id for each in ledger.workers]
    seq = 0
    for decision, (at_task, at_worker, cost, value, chance) in enumerate(
        zip(
            rows[:, columns.TASK].tolist(),
            rows[:, columns.WORKER].tolist(),
            rows[:, columns.COST].tolist(),
            marks[:, columns.VALUE].tolist(),
            marks[:, columns.PROPENSITY].tolist(),
            strict=True,
        )
    ):
        task, worker = tasks[at_task], workers[at_worker]
        odds = None if math.isnan(chance) else chance
        plan = (PlanRow(worker, task, 1, odds),)
        yield Event(Kind.DECIDED, seq + 1, decision=decision, rows=plan, note=note)
        yield Event(
            Kind.ASKED, seq + 2, decision=decision, task=task, worker=worker, price=cost,
            propensity=odds, expires=LEASE,
        )  # fmt: skip
        yield Event(
            Kind.ANSWER, seq + 3, assignment=seq + 2, task=task, worker=worker, price=cost,
            value=options[int(value)],
        )  # fmt: skip
        seq += 3
        if seq + 1 in closed:
            seq += 1
            row = closed[seq].tolist()
            yield Event(
                Kind.CLOSED, seq, task=task, value=options[int(row[CLOSED_OPTION])],
                outcome=OUTCOMES[int(row[CLOSED_CODE])], confidence=row[CLOSED_SURE],
            )  # fmt: skip
