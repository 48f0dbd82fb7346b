"""The same runs live, in the lab's compiled loop, and in a process without the compiler."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from askwise.campaign import Campaign
from askwise.core import book as columns
from askwise.core.choices import Batch, Done, Wait
from askwise.core.events import Event, Kind, PlanRow
from askwise.core.money import from_micro
from askwise.core.registry import parameters_of
from askwise.lab.simulate import Outcome, simulate
from askwise.lab.worlds import correlation_market, drifting_market, freelancer_market
from askwise.lab.worlds.base import Market, answer
from askwise.policies.base import KernelPolicy, Policy
from askwise.testing.referee import Referee
from askwise.testing.scenes import (
    MARKET,
)
from askwise.testing.sessions import (
    same_logs,
)


def lab_cases() -> list[tuple[Market, int]]:
    """Markets and budgets (micro-units) on which live, compiled and plain runs are compared."""
    rng = np.random.default_rng(3)
    return [
        (MARKET, 90_000_000),
        (replace(MARKET, limits=np.full(6, 400, np.int64)), 300_500_000),
        (freelancer_market(rng, cap=30, candidates=12), 400_000_000),
        (drifting_market(rng, cap=30, changes=3), 300_000_000),
        (correlation_market(rng, cap=30, variance=1.0, noise=1.0), 300_000_000),
    ]


Run = tuple[list[Event], Wait | Done]
"""A log, without notes, and what came instead of a further question."""


def lab_run(policy: KernelPolicy, market: Market, budget: int, seed: int) -> Run:
    """Run the lab's loop and write its ledger out as a log."""
    outcome = simulate(policy, market.problem(budget), market.answering(seed, 0), seed=seed)
    return log_of_outcome(outcome), outcome.ended


def log_of_outcome(outcome: Outcome) -> list[Event]:
    """Write the ledger of a simulation out as the log that a live campaign would have."""
    ledger = outcome.ledger
    book, count = ledger.book, ledger.total(columns.ASSIGNMENTS)
    log: list[Event] = []

    def add(kind: Kind, **fields: Any) -> None:
        log.append(Event(kind, seq=len(log) + 1, **fields))

    names = [ledger.workers[int(at)].id for at in book.assignments[:count, columns.WORKER]]
    odds = [None if np.isnan(p) else float(p) for p in book.marks[:count, columns.PROPENSITY]]
    decisions = book.assignments[:count, columns.DECISION].tolist()
    for decision, units in groupby(range(count), key=decisions.__getitem__):
        group = list(units)
        rows = [
            PlanRow(worker, None, len(same), odds[same[0]])
            for worker, same in (
                (worker, list(each)) for worker, each in groupby(group, key=names.__getitem__)
            )
        ]
        add(Kind.DECIDED, decision=decision, rows=tuple(rows))
        for at in group:
            seq, price = len(log) + 1, int(book.assignments[at, columns.COST])
            assert seq == book.assignments[at, columns.SEQ], "the lab counts events differently"
            worker = names[at]
            add(Kind.ASKED, decision=decision, worker=worker, price=price, propensity=odds[at])
            value = float(book.marks[at, columns.VALUE])
            add(Kind.ANSWER, assignment=seq, worker=worker, price=price, value=value)
    assert len(log) == ledger.seq, "the lab's log has another length"
    return log


def live_run(policy: Policy, market: Market, budget: int, seed: int) -> Run:
    """Run the same as a campaign, answered by the same world."""
    problem, world = market.problem(budget), market.answering(seed, 0)
    low, high = problem.range
    campaign = Campaign.create(
        workers=problem.workers,
        outcome={"kind": "utility", "low": low, "high": high},
        budget=from_micro(budget),
        policy=policy,
        seed=seed,
    )
    referee, log = Referee(problem), list[Event]()
    while True:
        choice = campaign.ask()
        for event in campaign.log(after=len(log)):
            log.append(event)
            referee.see(event)
        if not isinstance(choice, Batch):
            return [replace(event, note=None) for event in log], choice
        work = referee.work[len(log)]
        value = answer(world, int(work.worker[1:]), work.k, work.elapsed)
        campaign.tell(choice[0].id, float(value))


def same_runs(found: Run, due: Run, what: str) -> None:
    same_logs(found[0], due[0], what)
    assert found[1] == due[1], f"{what}: ended with {found[1]} instead of {due[1]}"


def in_plain_python(policies: Sequence[KernelPolicy]) -> list[list[Run]]:
    request = [
        [type(policy).__module__, type(policy).__qualname__, parameters_of(policy)]
        for policy in policies
    ]
    done = subprocess.run(
        [sys.executable, "-c", "from askwise.testing.lab_runs import serve; serve()"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        env={**os.environ, "ASKWISE_JIT": "0"},
        check=False,
    )
    assert done.returncode == 0, f"the plain run failed: {done.stderr}"
    return [
        [
            (
                [Event.from_json(raw) for raw in log],
                Wait(end["what"]) if "what" in end else Done(end["why"]),
            )
            for log, end in runs
        ]
        for runs in json.loads(done.stdout)
    ]


def serve() -> None:
    """Run the lab's cases for the policies named on standard input; logs go to the output."""
    answers = []
    for module, name, parameters in json.load(sys.stdin):
        policy = getattr(importlib.import_module(module), name)(**parameters)
        runs = [lab_run(policy, *case, seed) for seed, case in enumerate(lab_cases())]
        answers.append([[[each.to_json() for each in log], end.to_json()] for log, end in runs])
    json.dump(answers, sys.stdout)
