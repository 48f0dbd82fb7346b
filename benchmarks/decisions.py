"""How long one decision takes as tasks, workers or options grow, for every policy offered live.

In plain Python, as a campaign runs before anything was compiled: growth is the same, and nothing
has to be compiled. The facts are those of the policy's own campaign after a few answers; then
``choose``, which changes nothing, is timed again and again.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from benchmarks.timing import quantity, table, want

AXES = {
    "tasks": (1_000, 10_000, 100_000, 1_000_000),
    "workers": (10, 100, 1_000, 10_000),
    "options": (2, 10, 100, 1_000),
}
USUAL = {"tasks": 1_000, "workers": 10, "options": 2}
"""What the other two are while one grows."""


def _mixtures(options: int) -> int:
    from askwise.policies.crowds.mixtures import mixtures_tried

    return mixtures_tried(options, USUAL["workers"])


LAWS = {
    "1": lambda size: 1.0,
    "log N": math.log,
    "N": float,
    "K": float,
    "K log K": lambda size: size * math.log(size),
    "n": float,
    "n^2": lambda size: float(size * size),
    "mixtures": lambda size: float(USUAL["workers"] * size + _mixtures(size)),
}
STATED = {"tasks": "log N", "workers": "K log K", "options": "n"}
"""What a decision costs at most, unless a policy says otherwise."""

OTHERWISE = {
    # "Whom to ask about what" is drawn from all pairs that are left.
    ("random-pairs", "tasks"): "N",
    # It orders all tasks in each decision, in whole arrays.
    ("cascade", "tasks"): "N",
    # The spread of errors has a number for each pair of options.
    ("hem", "options"): "n^2",
    # All mixtures of two and of three crowds are tried; their number is limited.
    ("lp-thompson", "options"): "mixtures",
}

GROWS_FROM = {
    # Of two options one accuracy is drawn, otherwise a number for each of them.
    ("virt-thompson", "options"): 10,
}
"""Sizes from which growth is counted where smaller ones take another computation."""

ANSWERS = 60
"""Answers before the decision that is timed."""

CALLS = 9
LEAST = 100e-6
"""Seconds below which a decision is too short to say anything of its growth."""


class Facts(NamedTuple):
    """A problem and a fresh ledger of it."""

    problem: Any
    ledger: Any


@cache
def facts_of(outcome: str, tasks: int, workers: int, options: int, answers: int) -> Facts:
    """Workers at one price, tasks in a few contexts, enough money for a few answers."""
    from askwise.core.problem import make_problem
    from askwise.ledger.ledger import Ledger

    given: dict[str, Any] = {"outcome": "utility"}
    if outcome == "options":
        made = [{"id": f"t{at}", "context": f"c{at % 4}"} for at in range(tasks)]
        given = {"tasks": made, "options": [f"o{at}" for at in range(options)]}
    problem = make_problem(
        workers=[{"id": f"w{at}", "price": 1} for at in range(workers)], budget=answers, **given
    )
    return Facts(problem, Ledger(problem))


def seconds_of(name: str, tasks: int, workers: int, options: int) -> float | None:
    """CPU seconds of one decision; None where the policy refuses the size, or waits."""
    from askwise.core import draws
    from askwise.core.draws import Draw
    from askwise.core.errors import TooLarge
    from askwise.core.events import Event, Kind
    from askwise.lab.simulate import simulate
    from askwise.ledger.proposals import Proposal
    from askwise.policies import policies
    from askwise.policies.capabilities import AwaitsTruth, LimitsSize
    from benchmarks.labels import WORLD

    policy = policies.make(name)
    outcome = "options" if "options" in policy.outcomes else "utility"
    if isinstance(policy, LimitsSize):
        try:
            policy.check_size(options, workers)
        except TooLarge:
            return None
    available = np.ones(workers, np.int8)
    if isinstance(policy, AwaitsTruth):
        problem, fresh = facts_of(outcome, tasks, workers, options, ANSWERS + 2 * workers)
        draw = Draw(*draws.stream(1, draws.POLICY, 0), 0)
        first = policy.choose(problem, policy.start(problem, fresh), fresh, draw, available)
        asks_all = isinstance(first, Proposal) and first.head[0] == workers
    else:
        asks_all = False
    if not asks_all:
        problem, fresh = facts_of(outcome, tasks, workers, options, ANSWERS)
    ran = simulate(policy, problem, WORLD, seed=1, ledger=fresh)
    ledger = ran.ledger
    ledger.apply(Event(Kind.TOPPED_UP, ledger.seq + 1, price=1000 * problem.budget))
    times = []
    for number in range(CALLS):
        draw = Draw(*draws.stream(1, draws.POLICY, 0), number)
        begun = time.process_time()
        chosen = policy.choose(problem, ran.state, ledger, draw, available)
        times.append(time.process_time() - begun)
        if not isinstance(chosen, Proposal):
            return None
    # The least: whatever else runs on the machine only adds to it.
    return min(times)


def offered() -> list[str]:
    """Every policy but those that must be told the truth of all tasks before."""
    from askwise.policies import policies
    from askwise.policies.capabilities import KnowsTruth

    return [name for name in policies.names() if not issubclass(policies.get(name), KnowsTruth)]


def measure(chosen: list[str], scale: int) -> None:
    """In the child: print a table for each axis, with its sizes up to the ``scale``-th.

    ``chosen`` are axes and policies to be measured alone: all of either where none is.
    """
    from askwise.policies import policies

    axes = [axis for axis in AXES if axis in chosen] or list(AXES)
    names = [each for each in chosen if each not in AXES] or offered()
    for axis in axes:
        sizes = AXES[axis]
        rows = []
        for name in names:
            if axis != "workers" and "options" not in policies.get(name).outcomes:
                continue
            law = OTHERWISE.get((name, axis), STATED[axis])
            rows.append(_row(name, axis, sizes[:scale], law))
        rest = ", ".join(f"{count:,} {what}" for what, count in USUAL.items() if what != axis)
        print(f"\n  {axis} grow; {rest}; milliseconds a decision", flush=True)
        head = ["", *(f"{size:,}" for size in sizes[:scale]), "grown", "stated", "relative"]
        table([*head, "wanted", "met"], rows)
        sys.stdout.flush()
        facts_of.cache_clear()


def _row(name: str, axis: str, sizes: tuple[int, ...], law: str) -> list[str]:
    times = [seconds_of(name, **{**USUAL, axis: size}) for size in sizes]
    known = [(size, spent) for size, spent in zip(sizes, times, strict=True) if spent is not None]
    cells = [name, *("" if spent is None else quantity(1e3 * spent) for spent in times)]
    known = [each for each in known if each[0] >= GROWS_FROM.get((name, axis), 0)]
    if len(known) < 2:
        return [*cells, "", law, "", "", ""]
    (first, before), (last, after) = known[0], known[-1]
    grown = max(after, LEAST) / max(before, LEAST)
    relative = grown / (LAWS[law](last) / LAWS[law](first))
    return [*cells, f"{grown:,.1f}", law, f"{relative:.2f}", *want(relative, most=1.0)]


def main(quick: bool) -> None:
    """Run the child, which never compiles."""
    subprocess.run(
        [sys.executable, "-m", "benchmarks.decisions", "2" if quick else "4"],
        env={**os.environ, "ASKWISE_JIT": "0"},
        check=True,
    )


if __name__ == "__main__":
    measure(sys.argv[2:], int(sys.argv[1]))
