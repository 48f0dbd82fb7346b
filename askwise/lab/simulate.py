"""Simulation: the same policies as in a live campaign, in a compiled loop."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from askwise.core import book as columns
from askwise.core import draws
from askwise.core.book import (
    ASKED,
    ASSIGNMENTS,
    BUDGET,
    DECISIONS,
    FINE,
    PLAN_COUNT,
    PLAN_ROWS,
    PLAN_WORKER,
    PROPOSED,
    SPENT,
    Array,
    Book,
    Proposal,
    new_proposal,
)
from askwise.core.booking import decide, fault, hand_out, settle
from askwise.core.choices import IDLE, Done, Wait
from askwise.core.compiling import bind
from askwise.core.draws import Draw
from askwise.core.errors import PolicyFault
from askwise.core.events import Fact, Kind
from askwise.core.ledger import Ledger
from askwise.core.money import MICRO
from askwise.core.problem import Problem
from askwise.lab.worlds.base import World, answer
from askwise.policies.base import KernelPolicy, Kernels, Policy

FULL, FAULTY = -1001, -1002

DECIDED_KIND, ASKED_KIND, ANSWER_KIND = int(Kind.DECIDED), int(Kind.ASKED), int(Kind.ANSWER)

UTILITY, SEQ = range(2)


def _unbound(*_: Any) -> int:
    raise NotImplementedError("the loop is compiled once its kernels are bound")


choose = absorb = _unbound


def run_campaign(
    book: Book,
    state: Any,
    params: Any,
    world: World,
    choosing: tuple[int, int],
    absorbing: tuple[int, int],
    available: Array,
    out: Proposal,
    tally: Array,
) -> int:
    """Ask and answer until the policy has nothing more to ask, or an array is full.

    ``choose`` and ``absorb`` are bound to a policy's kernels. The order of events is that of
    a live campaign in which each answer is told before the next ask.
    """
    totals, plan, workers = book.totals, book.plan, book.workers
    capacity = len(book.assignments)
    while True:
        for row in range(totals[PLAN_ROWS]):
            worker = plan[row, PLAN_WORKER]
            while plan[row, PLAN_COUNT] > 0:
                if totals[ASSIGNMENTS] == capacity:
                    return FULL
                k = workers[worker, ASKED]
                elapsed = totals[SPENT] / totals[BUDGET]
                tally[SEQ] += 1
                draw = Draw(absorbing[0], absorbing[1], int(tally[SEQ]))
                at = hand_out(book, row, 0, int(tally[SEQ]), np.inf)
                absorb(book, state, params, Fact(ASKED_KIND, -1, worker, np.nan, 0, at), draw)
                value = answer(world, worker, k, elapsed)
                tally[UTILITY] += value
                tally[SEQ] += 1
                draw = Draw(absorbing[0], absorbing[1], int(tally[SEQ]))
                settle(book, at, value)
                absorb(book, state, params, Fact(ANSWER_KIND, 0, worker, value, 0, at), draw)
        out.head[0] = 0
        out.head[1] = 0
        draw = Draw(choosing[0], choosing[1], totals[DECISIONS])
        code = choose(book, state, params, draw, available, out)
        if code != PROPOSED:
            return code
        if fault(book, out, available) != FINE:
            return FAULTY
        decide(book, out)
        tally[SEQ] += 1
        draw = Draw(absorbing[0], absorbing[1], int(tally[SEQ]))
        absorb(book, state, params, Fact(DECIDED_KIND, -1, -1, np.nan, out.head[1], -1), draw)


@cache
def _compiled(kernels: Kernels, label: str) -> Any:
    return bind(run_campaign, label, choose=kernels.choose, absorb=kernels.absorb)


@dataclass(frozen=True)
class Outcome:
    """What one simulated campaign came to."""

    utility: float
    spent: float
    answers: int
    decisions: int
    ended: Wait | Done
    ledger: Ledger


def simulate(
    policy: Policy,
    problem: Problem,
    world: World,
    *,
    seed: int,
    replication: int = 0,
    ledger: Ledger | None = None,
) -> Outcome:
    """Run one campaign to its end.

    Parameters
    ----------
    ledger : Ledger, optional
        A fresh ledger of the problem to copy: saves reading the problem for every policy.
    """
    ledger = Ledger(problem) if ledger is None else fork(ledger)
    state = policy.start(problem, ledger)
    if not isinstance(policy, KernelPolicy):
        return _simulate_plainly(policy, problem, world, ledger, state, seed, replication)
    loop = _compiled(policy.kernels, f"{type(policy).__module__}.{policy.name}")
    workers = ledger.total(columns.WORKERS)
    ledger._reserve_plan(workers)
    out, available, tally = new_proposal(workers), np.ones(workers, np.int8), np.zeros(2)
    params = policy.params()
    choosing = draws.stream(seed, draws.POLICY, replication)
    absorbing = draws.stream(seed, draws.ABSORB, replication)
    while True:
        code = loop(ledger.book, state, params, world, choosing, absorbing, available, out, tally)
        if code != FULL:
            break
        ledger.room_for_assignments(max(1024, 3 * len(ledger.book.assignments)))
    if code == FAULTY:
        raise PolicyFault(f"policy {policy.name!r} proposed something illegal", field="policy")
    if code == columns.TOO_LARGE:
        raise policy.too_large()
    ledger.seq, ledger.utility = int(tally[SEQ]), float(tally[UTILITY])
    return _outcome(ledger, IDLE[code])


def _outcome(ledger: Ledger, ended: Wait | Done) -> Outcome:
    return Outcome(
        utility=ledger.utility,
        spent=ledger.total(SPENT) / MICRO,
        answers=ledger.total(columns.ANSWERS),
        decisions=ledger.total(DECISIONS),
        ended=ended,
        ledger=ledger,
    )


def _simulate_plainly(
    policy: Policy,
    problem: Problem,
    world: World,
    ledger: Ledger,
    state: Any,
    seed: int,
    replication: int,
) -> Outcome:
    """Drive a policy without kernels: the compiled loop's steps, one by one from Python."""
    workers = ledger.total(columns.WORKERS)
    available = np.ones(workers, np.int8)
    choosing = draws.stream(seed, draws.POLICY, replication)
    absorbing = draws.stream(seed, draws.ABSORB, replication)

    def take_in(kind: int, task: int, worker: int, value: float, note: int, at: int) -> None:
        fact, draw = Fact(kind, task, worker, value, note, at), Draw(*absorbing, ledger.seq)
        policy.absorb(problem, state, ledger, fact, draw)

    while True:
        draw = Draw(*choosing, ledger.total(DECISIONS))
        choice = policy.choose(problem, state, ledger, draw, available)
        if isinstance(choice, Wait | Done):
            return _outcome(ledger, choice)
        if fault(ledger.book, choice, available) != FINE:
            raise PolicyFault(f"policy {policy.name!r} proposed something illegal", field="policy")
        ledger._reserve_plan(int(choice.head[0]))
        decide(ledger.book, choice)
        ledger.seq += 1
        take_in(DECIDED_KIND, -1, -1, np.nan, int(choice.head[1]), -1)
        for row in range(ledger.total(PLAN_ROWS)):
            while ledger.book.plan[row, PLAN_COUNT] > 0:
                ledger.room_for_assignments(1)
                worker = int(ledger.book.plan[row, PLAN_WORKER])
                k, elapsed = int(ledger.book.workers[worker, ASKED]), _elapsed(ledger)
                ledger.seq += 1
                at = int(hand_out(ledger.book, row, 0, ledger.seq, np.inf))
                take_in(ASKED_KIND, -1, worker, np.nan, 0, at)
                value = float(answer(world, worker, k, elapsed))
                ledger.seq += 1
                ledger.utility += value
                settle(ledger.book, at, value)
                take_in(ANSWER_KIND, 0, worker, value, 0, at)


def _elapsed(ledger: Ledger) -> float:
    return ledger.total(SPENT) / ledger.total(BUDGET)


def fork(ledger: Ledger) -> Ledger:
    """Copy a ledger's arrays; names are shared, as simulations add nobody."""
    copy = object.__new__(Ledger)
    copy.__dict__.update(ledger.__dict__)
    copy.book = Book(*(array.copy() for array in ledger.book))
    return copy
