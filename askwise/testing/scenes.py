"""The small campaigns that policies and rules are put through."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from askwise.campaign import Campaign
from askwise.core import draws
from askwise.core.errors import AskwiseError
from askwise.core.problem import Problem, Task, Worker, make_problem
from askwise.core.registry import spec_of
from askwise.policies import AwaitsTruth, Policy
from askwise.stopping.base import StoppingRule

LEASE = 10.0

PRICES = (3, 5, 2, 7, 2, 11)
LIMITS = (9, 4, 3, 50, 1, 6)
"""Of the first workers; later ones repeat them. Two prices are equal, a limit is one."""


def worker_number(at: int, **changes: Any) -> Worker:
    """Make the worker ``w<at>``."""
    worker = Worker(f"w{at}", PRICES[at % 6], LIMITS[at % 6])
    return replace(worker, **changes)


STARS = [np.array([at * 7 % 5, at * 3 % 5, at % 4]) / 4.0 for at in range(64)]
"""What each of 64 workers has been rated: their answers are near one of these."""


def utility(worker: int, k: int) -> float:
    """The k-th answer of a worker, from 0 to 1; always the same."""
    key = draws.threefry(*draws.stream(5, draws.WORLD, 0), worker, 0)
    x, y = draws.threefry(*key, k, 0)
    return float(0.9 * STARS[worker][(x * 3) >> 32] + 0.1 * (y / 2**32))


@dataclass(frozen=True)
class Scene:
    """A small campaign: workers w0, w1, ..., their answers fixed beforehand."""

    workers: int = 6
    budget: str | None = "90"
    tasks: int = 0
    options: tuple[str, ...] = ()
    repeat: bool | None = None
    rule: dict[str, Any] | None = None
    contexts: int = 0
    """Tasks take turns in this many contexts."""
    named: bool = False
    """Whether every third task names who may be asked: two of three workers."""
    trusted: int | None = None
    """The worker whose answers are the truth."""
    truths: bool = False
    """Whether truths are told in between, not only to a policy that waits for one."""

    kinds: bool = False
    """Whether workers are a model, a crowd and a person by turns, the models of one family."""

    renamed: bool = False
    """Whether workers have other names, which sort the other way round."""

    @property
    def names(self) -> list[str]:
        """The workers' names."""
        return [f"n{100 - at}" if self.renamed else f"w{at}" for at in range(self.workers)]

    def worker(self, at: int, **changes: Any) -> Worker:
        """The worker ``w<at>`` as they are in this scene."""
        if self.kinds:
            changes = {"kind": ("model", "crowd", "person")[at % 3], **changes}
            changes |= {"family": "twins"} if at % 3 == 0 else {}
        return worker_number(at, **changes)

    def work(self) -> list[Task]:
        """The tasks."""
        some = tuple(name for at, name in enumerate(self.names) if at % 3 != 2)
        return [
            Task(
                f"t{at}",
                context=f"c{at % self.contexts}" if self.contexts else None,
                workers=some if self.named and at % 3 == 1 else None,
            )
            for at in range(self.tasks)
        ]

    def facts(self) -> dict[str, Any]:
        """What a requester says of it."""
        return {
            "workers": [
                self.worker(at, id=name, trusted=at == self.trusted)
                for at, name in enumerate(self.names)
            ],
            "tasks": self.work(),
            "options": self.options,
            "outcome": None if self.options else "utility",
            "budget": self.budget,
            "repeat": self.repeat,
        }

    def problem(self) -> Problem:
        """What a policy is asked to take on."""
        return make_problem(**self.facts())

    def create(self, policy: Policy, **more: Any) -> Campaign:
        """Start it."""
        raw = {**self.facts(), "stopping": self.rule, "seed": 1, "name": "scene", **more}
        return Campaign.create(policy=policy, **raw)

    def answer(self, worker: int, task: int, k: int) -> float | str:
        """What a worker answers about a task when asked for the k-th time."""
        value = utility(worker, k + 100 * task)
        return self.options[int(value * len(self.options))] if self.options else value

    def truth(self, task: int) -> str:
        """What is true of a task, for policies that are told."""
        return self.options[task % 2]


UNITS = Scene()
TASKS = Scene(workers=4, tasks=5, budget="70", named=True)
REPEATED = Scene(workers=4, tasks=3, budget="60", repeat=True)
RULED = Scene(workers=5, tasks=4, budget="60", rule={"name": "fixed", "n": 2})
VOTES = replace(RULED, options=("no", "yes"))
POLL = Scene(workers=4, tasks=4, options=("no", "yes"), budget="120", repeat=True)
THREE = ("no", "yes", "maybe")
CROWDS = replace(POLL, options=THREE, rule={"name": "posterior", "error": 0.2, "horizon": 12})
LABELS = Scene(workers=5, tasks=7, options=THREE, budget="90", contexts=2, named=True, trusted=3)
ASSURED = Scene(workers=5, tasks=6, options=("no", "yes"), budget="150", named=True, truths=True)
MIXED = Scene(workers=5, tasks=4, budget="90", repeat=True, named=True, kinds=True)
MIXED_VOTES = replace(MIXED, options=THREE, contexts=2)
ONCE = Scene(workers=5, tasks=5, options=("no", "yes"), budget="110", kinds=True, truths=True)
UNCAPPED = Scene(workers=3, budget=None)


def scenes_for(policy: Policy) -> list[Scene]:
    """List the scenes that a policy can play in."""
    scenes = [UNITS, TASKS, REPEATED, RULED, VOTES, POLL, CROWDS, LABELS, UNCAPPED]
    scenes += [MIXED, MIXED_VOTES]
    if isinstance(policy, AwaitsTruth):
        scenes += [ASSURED, ONCE]
    return [scene for scene in scenes if plays_in(policy, scene.problem())]


def plays_in(policy: Policy, problem: Problem) -> bool:
    """Whether a policy takes a problem on."""
    try:
        policy.check(problem)
    except AskwiseError:
        return False
    return True


def ending(rule: StoppingRule, horizon: int) -> dict[str, Any]:
    """Write a rule down with a horizon, unless it has one: in small campaigns many never stop."""
    spec = spec_of(rule)
    if spec.get("horizon", 0) is None:
        spec["horizon"] = horizon
    return spec
