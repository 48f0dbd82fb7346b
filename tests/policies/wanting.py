"""A policy that is sure enough by agreement alone, and wants truths to make that a probability."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar
from unittest import mock

from askwise.core.choices import Done, Wait
from askwise.core.problem import Problem
from askwise.kernels import Array, Draw
from askwise.ledger import Ledger, Proposal
from askwise.ledger import columns as c
from askwise.ledger.queries import IDLE
from askwise.policies import GoldRequest, SuggestsGold, drawn_at_random, policies
from askwise.policies.labels.random_pairs import RandomPairs

WANTED = 50
LISTED = 3


@dataclass(frozen=True)
class Wanting(RandomPairs, SuggestsGold):
    """Random pairs until every task has an answer."""

    name: ClassVar[str] = "wanting"

    def choose(
        self, problem: Problem, state: Any, ledger: Ledger, draw: Draw, available: Array
    ) -> Proposal | Wait | Done:
        total = ledger.total(c.TASKS)
        if (ledger.book.tasks[:total, c.TASK_ANSWERED] > 0).all():
            return IDLE[c.DONE_AGREEMENT]
        return super().choose(problem, state, ledger, draw, available)

    def needs_gold(
        self, problem: Problem, state: Any, ledger: Ledger, draw: Draw
    ) -> list[GoldRequest]:
        total = ledger.total(c.TASKS)
        told = int((ledger.book.tasks[:total, c.TRUTH] >= 0).sum())
        if told >= WANTED:
            return []
        tasks = drawn_at_random(ledger, draw, LISTED)
        return [GoldRequest(None, tasks, "calibration", WANTED - told)]


@contextmanager
def wanting() -> Iterator[None]:
    """Have the policy in the registry for a while."""
    with mock.patch.dict(policies._entries, {"wanting": Wanting}):
        yield
