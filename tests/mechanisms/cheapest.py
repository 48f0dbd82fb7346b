"""A policy that is simple enough to foresee: it asks the few cheapest about each task."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple
from unittest import mock

import numpy as np

from askwise import Campaign, Worker
from askwise.core.allocation import Allocation
from askwise.core.arrays import Array
from askwise.core.choices import Done, Wait
from askwise.core.draws import Draw
from askwise.core.events import Fact
from askwise.core.problem import Problem
from askwise.ledger import columns as c
from askwise.ledger import queries
from askwise.ledger.ledger import Ledger
from askwise.ledger.proposals import Proposal, new_proposal, propose
from askwise.ledger.queries import IDLE
from askwise.policies import PlansForAll, Policy, SetsCriticalBids, policies

EXPLORE, EXPLOIT = range(2)


class Nothing(NamedTuple):
    """The beliefs of somebody who learns nothing."""

    none: Array


@dataclass(frozen=True)
class Cheapest(Policy, PlansForAll, SetsCriticalBids):
    """Ask everybody about the first tasks, then the ``size`` cheapest (ties by index)."""

    size: int = 2
    rounds: int = 0
    exploration: str = "none"
    minimiser: str = "exact"
    monotone: bool = True
    explores_all: bool = True

    name: ClassVar[str] = "cheapest"
    outcomes: ClassVar[tuple[str, ...]] = ("options",)
    needs_budget: ClassVar[bool] = False
    notes: ClassVar[tuple[str, ...]] = ("explore", "exploit")

    def start(self, problem: Problem, ledger: Ledger) -> Nothing:
        return Nothing(np.zeros(1))

    def absorb(
        self, problem: Problem, state: Nothing, ledger: Ledger, fact: Fact, draw: Draw
    ) -> None:
        return None

    def choose(
        self, problem: Problem, state: Nothing, ledger: Ledger, draw: Draw, available: Array
    ) -> Proposal | Wait | Done:
        tasks = ledger.book.tasks[: ledger.total(c.TASKS)]
        free = (tasks[:, c.CLOSED] == 0) & (tasks[:, c.TASK_ASKED] == 0)
        if not free.any():
            return IDLE[c.DONE_TARGET]
        task = int(np.argmax(free))
        note = EXPLORE if task < self.rounds else EXPLOIT
        members = self._ranked(ledger)[: None if note == EXPLORE else self.size]
        cost = int(ledger.book.workers[members, c.PRICE].sum())
        if cost > queries.money_left(ledger.book.totals):
            pending = ledger.total(c.PENDING) > 0
            return IDLE[c.WAIT_ANSWERS if pending else c.DONE_BUDGET]
        out = new_proposal(ledger.total(c.WORKERS))
        out.head[1] = note
        for worker in sorted(members):
            propose(out, task, worker, 1, 1.0)
        return out

    def allocation(self) -> Allocation | None:
        return Allocation(
            self.exploration,  # type: ignore[arg-type]
            self.explores_all,
            self.minimiser,  # type: ignore[arg-type]
            self.monotone,
        )

    def critical_bids(
        self, problem: Problem, state: Nothing, ledger: Ledger, members: Sequence[int]
    ) -> list[float]:
        ranked = self._ranked(ledger)
        found = []
        for member in members:
            rivals = [int(ledger.book.workers[at, c.RANKED_AT]) for at in ranked]
            rivals.remove(int(ledger.book.workers[member, c.RANKED_AT]))
            found.append(float(rivals[self.size - 1]) if len(rivals) >= self.size else math.inf)
        return found

    def _ranked(self, ledger: Ledger) -> list[int]:
        """Those who are there, cheapest first."""
        rows = ledger.book.workers[: ledger.total(c.WORKERS)]
        there = np.flatnonzero(rows[:, c.JOINED]).tolist()
        return sorted(there, key=lambda at: (int(rows[at, c.RANKED_AT]), at))


@contextmanager
def known() -> Iterator[None]:
    """Let the registry know the policy, so that a store's campaign can be opened again."""
    policies.names()
    with mock.patch.dict(policies._entries):
        policies.register("cheapest")(Cheapest)
        yield


NAMES = ("ann", "bob", "cleo", "dev")
PRICES = (3, 5, 8, 13)


def make(mechanism: Any, policy: Policy | None = None, **changes: Any) -> Campaign:
    """A campaign of four workers and a few tasks."""
    raw: dict[str, Any] = {
        "workers": [Worker(name, price) for name, price in zip(NAMES, PRICES, strict=True)],
        "tasks": [f"t{number}" for number in range(6)],
        "options": ["no", "yes"],
        "policy": policy or Cheapest(),
        "mechanism": mechanism,
        "seed": 1,
        "name": "auction",
    }
    return Campaign.create(**{**raw, **changes})


def resampling(gamma: float = 0.1, c_max: Any = 20) -> dict[str, Any]:
    """The mechanism that raises bids at random."""
    return {"name": "self-resampling", "c_max": c_max, "gamma": gamma}
