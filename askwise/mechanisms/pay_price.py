"""Pay each answer at the price it was asked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from askwise.core.book import ASSIGNMENTS, COST, OUT, SETTLED, STATUS, WORKER
from askwise.core.ledger import Ledger
from askwise.core.problem import Problem
from askwise.mechanisms.base import Mechanism, Owed, mechanisms


@mechanisms.register("pay-price")
@dataclass(frozen=True)
class PayPrice(Mechanism):
    """Every answer is paid the worker's price; no bidding."""

    def settle(self, problem: Problem, ledger: Ledger, beliefs: Any = None) -> list[Owed]:
        """Add up the prices of settled and of outstanding assignments."""
        rows = ledger.book.assignments[: ledger.total(ASSIGNMENTS)]
        size = len(ledger.workers)
        settled, out = rows[rows[:, STATUS] == SETTLED], rows[rows[:, STATUS] == OUT]
        answers = np.bincount(settled[:, WORKER], minlength=size)
        # Integer sums: a float weight would round beyond 2**53 micro-units.
        paid, reserved = np.zeros(size, np.int64), np.zeros(size, np.int64)
        np.add.at(paid, settled[:, WORKER], settled[:, COST])
        np.add.at(reserved, out[:, WORKER], out[:, COST])
        return [
            Owed(worker.id, int(answers[at]), int(paid[at]), int(reserved[at]), "price per answer")
            for at, worker in enumerate(ledger.workers)
        ]
