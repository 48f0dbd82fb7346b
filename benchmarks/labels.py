"""How the cost of a labelling decision grows with tasks and workers, and what a refit pauses."""

from __future__ import annotations

import statistics
import time
from typing import NamedTuple

import numpy as np

from askwise import Campaign
from askwise.core import draws
from askwise.core.arrays import Array
from askwise.core.choices import Batch
from askwise.core.compiling import step
from askwise.core.problem import Problem, make_problem
from askwise.core.registry import from_label
from askwise.lab.loop import REPLIES, TRUTHS
from askwise.lab.simulate import Outcome, simulate
from askwise.ledger.ledger import Ledger
from askwise.policies import policies
from benchmarks.timing import quantity, table, want

POLICIES = ("bbta(explore=0,refresh=0.05)", "hem")
MOST = {"bbta(explore=0,refresh=0.05)": 3.0, "hem": 10.0}
TASKS = (1_000, 10_000, 100_000, 1_000_000)
WORKERS = (10, 100, 1_000, 10_000)
CONTEXTS = 100
CROWD = 100
"""Workers while tasks grow."""
ANSWERS = 2
"""Answers per task."""


class Drawn(NamedTuple):
    """Workers right nine times of ten in every third context, six times of ten elsewhere."""

    key0: int
    key1: int


@step
def drawn_truth(world: Drawn, task: int) -> int:
    """Option 0 or 1, as if by chance."""
    return (task * 2654435761 >> 7) & 1


@step
def drawn_reply(world: Drawn, task: int, worker: int, k: int, elapsed: float) -> float:
    """Answer without a table: a million tasks times ten thousand workers are too many."""
    x, _ = draws.threefry(world.key0, world.key1, task, worker)
    right = (x / 4294967296.0) < (0.9 if (task + worker) % 3 == 0 else 0.6)
    truth = drawn_truth(world, task)
    return float(truth if right else 1 - truth)


REPLIES[Drawn], TRUTHS[Drawn] = drawn_reply, drawn_truth
WORLD = Drawn(*draws.stream(1, draws.WORLD, 0))


def problem_of(tasks: int, workers: int, budget: int) -> Problem:
    """This many tasks in a hundred contexts."""
    return make_problem(
        workers=[{"id": f"w{at}", "price": 1} for at in range(workers)],
        tasks=[{"id": f"t{at}", "context": f"c{at % CONTEXTS}"} for at in range(tasks)],
        options=["no", "yes"],
        budget=budget,
    )


def timed(label: str, problem: Problem, ledger: Ledger) -> tuple[float, Outcome]:
    """Seconds a decision, with everything around it, and the outcome."""
    policy = policies.make(from_label(label))
    begun = time.process_time()
    outcome = simulate(policy, problem, WORLD, seed=1, ledger=ledger)  # type: ignore[arg-type]
    return (time.process_time() - begun) / outcome.answers, outcome


def held(outcome: Outcome) -> int:
    """Bytes of the ledger and of what is believed."""
    arrays: tuple[Array, ...] = (*outcome.ledger.book, *outcome.state)
    return sum(array.nbytes for array in arrays)


def growth(quick: bool) -> None:
    """Tasks grow a thousandfold."""
    sizes = TASKS[:3] if quick else TASKS
    rows = []
    small = problem_of(100, 10, 200)
    for label in POLICIES:
        timed(label, small, Ledger(small))
        first = 0.0
        for tasks in sizes:
            problem = problem_of(tasks, CROWD, ANSWERS * tasks)
            seconds, outcome = timed(label, problem, Ledger(problem))
            first = first or seconds
            wanted = want(seconds / first, most=MOST[label]) if tasks == sizes[-1] else ["", ""]
            rows.append(
                [
                    label,
                    f"{tasks:,}",
                    f"{outcome.answers:,}",
                    f"{quantity(1e6 * seconds)} us",
                    f"{seconds / first:.2f}",
                    *wanted,
                    f"{held(outcome) / outcome.answers:,.0f}",
                ]
            )
    table(
        [
            "policy",
            "tasks",
            "answers",
            "a decision",
            "relative",
            "wanted",
            "met",
            "bytes per answer",
        ],
        rows,
    )


def crowds(quick: bool) -> None:
    """Workers grow a thousandfold."""
    rows = []
    tasks = 1_000 if quick else 10_000
    for label in POLICIES:
        first = 0.0
        for workers in WORKERS[:3] if quick else WORKERS:
            problem = problem_of(tasks, workers, 5_000)
            seconds, _ = timed(label, problem, Ledger(problem))
            first = first or seconds
            each = seconds / workers
            rows.append(
                [
                    label,
                    f"{workers:,}",
                    f"{quantity(1e6 * seconds)} us",
                    f"{quantity(1e9 * each)} ns",
                ]
            )
    table(["policy", "workers", "a decision", "a worker"], rows)


def pauses(quick: bool) -> None:
    """What one ``tell`` takes in a live campaign, most of the time and at its worst."""
    rows = []
    cycles = 1_000 if quick else 5_000
    for label in POLICIES:
        raw = problem_of(10_000, CROWD, 20_000).to_json()
        campaign = Campaign.create(**raw, policy=from_label(label), seed=1)
        seconds = []
        for _ in range(cycles):
            batch = campaign.ask()
            assert isinstance(batch, Batch)
            work = batch[0]
            task, worker = int(str(work.task)[1:]), int(work.worker[1:])
            answer = ("no", "yes")[int(drawn_reply(WORLD, task, worker, 0, 0.0))]
            begun = time.perf_counter()
            campaign.tell(work.id, answer)
            seconds.append(time.perf_counter() - begun)
        # The first ones may compile.
        late = sorted(seconds[cycles // 5 :])
        rows.append(
            [
                label,
                f"{quantity(1e3 * statistics.median(late))} ms",
                f"{quantity(1e3 * float(np.quantile(late, 0.99)))} ms",
                f"{quantity(1e3 * late[-1])} ms",
            ]
        )
    table(["policy", "a tell", "p99", "longest"], rows)


def main(quick: bool = False) -> None:
    """Run all."""
    print(f"labelling, {CONTEXTS} contexts, {ANSWERS} answers per task")
    growth(quick)
    crowds(quick)
    pauses(quick)


if __name__ == "__main__":
    main()
