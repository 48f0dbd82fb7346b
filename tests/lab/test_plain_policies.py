"""Policies in plain Python in the lab: as large as recorded sets are, and without the compiler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from askwise.core.arrays import Array
from askwise.core.choices import Done, Wait
from askwise.core.compiling import plain_time
from askwise.core.draws import Draw
from askwise.core.events import Fact
from askwise.core.problem import Problem
from askwise.lab import simulate
from askwise.lab.worlds import Recording
from askwise.ledger import vectors
from askwise.ledger.ledger import Ledger
from askwise.ledger.proposals import Proposal, ask_one
from askwise.ledger.transitions import advance
from askwise.policies import Policy


class Nothing(NamedTuple):
    """No beliefs."""


@dataclass(frozen=True)
class FewestVotes(Policy):
    """Ask about the open task with the fewest votes the cheapest worker who may be asked."""

    name: ClassVar[str] = "fewest-votes"
    outcomes: ClassVar[tuple[str, ...]] = ("options",)

    def start(self, problem: Problem, ledger: Ledger) -> Nothing:
        return Nothing()

    def choose(
        self, problem: Problem, state: Any, ledger: Ledger, draw: Draw, available: Array
    ) -> Proposal | Wait | Done:
        tasks, prices = np.flatnonzero(vectors.open_tasks(ledger)), vectors.prices(ledger)
        for task in tasks[np.argsort(vectors.asked_about(ledger)[tasks], kind="stable")]:
            workers = np.flatnonzero(vectors.may_be_asked(ledger, task) & (available == 1))
            if len(workers):
                return ask_one(workers[np.argmin(prices[workers])], task)
        return vectors.nobody(ledger, available)

    def absorb(self, problem: Problem, state: Any, ledger: Ledger, fact: Fact, draw: Draw) -> None:
        return None


def recorded(tasks: int, workers: int, each: int) -> Recording:
    """As many answers to every task, by different workers, four in five of them right."""
    rng = np.random.default_rng(1)
    task, truth = np.repeat(np.arange(tasks), each), rng.integers(0, 2, tasks)
    who = np.concatenate([rng.choice(workers, each, replace=False) for _ in range(tasks)])
    right = rng.random(len(task)) < 0.8
    label = np.where(right, truth[task], 1 - truth[task])
    prices = tuple(int(price) for price in rng.integers(1, 5, workers))
    return Recording(task, who, label, tasks, workers, 2, truth, prices=prices)


def test_it_replays_a_large_recording_fairly_and_to_the_end() -> None:
    world = recorded(200, 41, 10)
    outcome = simulate(FewestVotes(), world.problem(750), world.answering(), seed=1)
    assert outcome.ended == Done("budget")
    asked = vectors.asked_about(outcome.ledger)
    assert asked.max() - asked.min() <= 1
    everything = simulate(FewestVotes(), world.problem(10_000), world.answering(), seed=1)
    assert (everything.answers, everything.ended) == (2000, Done("tasks"))


@pytest.mark.compiled
def test_its_loop_never_waits_for_the_compiler() -> None:
    world, before = recorded(20, 8, 5), plain_time(advance).calls
    outcome = simulate(FewestVotes(), world.problem(1000), world.answering(), seed=1)
    assert outcome.answers == 100
    # Called by way of Numba, it would be compiled after seconds of a replay, for a minute.
    assert plain_time(advance).calls == before
