"""A world of like yes-or-no tasks: each worker is right with a probability of their own (000).

Where some tasks are hard, the paper's assumption fails: workers are then wrong together.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from askwise.core import draws
from askwise.core.money import MICRO
from askwise.core.problem import Problem, Task
from askwise.core.records import by_reference
from askwise.kernels import Array, Draw, step, uniform
from askwise.lab.worlds.base import staff

OPTIONS = ("no", "yes")

POOR_SHARE = 6 / 11
"""Of the workers of section 6.3, 600 in 1,100 are poor and expensive; other n keep the mix."""
POOR_QUALITY = 2 / 3
LOWEST_COST, HIGHEST_COST = 10, 20


@by_reference
class AssuredWorld(NamedTuple):
    """The workers' qualities, the truth of each task, and the key of the draws.

    ``hard`` marks tasks on which all have the quality ``on_hard`` instead.
    """

    qualities: Array
    truths: Array
    keys: Array
    hard: Array
    on_hard: float


@step
def assured_reply(world: AssuredWorld, task: int, worker: int, k: int, elapsed: float) -> float:
    """Give the right option with the worker's quality, the other one else."""
    keys, truth = world.keys, world.truths[task]
    quality = world.on_hard if world.hard[task] else world.qualities[worker]
    right = uniform(Draw(keys[0], keys[1], task), worker) < quality
    return float(truth if right else 1 - truth)


@step
def assured_truth(world: AssuredWorld, task: int) -> int:
    """Reveal what is true of a task."""
    return int(world.truths[task])


@dataclass(frozen=True)
class WorkerPool:
    """Workers with costs and hidden qualities.

    Parameters
    ----------
    costs : int64 array
        What an answer costs each worker, in micro-units.
    qualities : float array
        Probability of a right answer.
    """

    costs: Array
    qualities: Array

    def problem(self, tasks: int, costs: Array | None = None, budget: int | None = None) -> Problem:
        """The campaign that the requester sees; workers may ask for other prices than their costs.

        Built without reading it in: ten thousand tasks a sample are not worth checking.
        """
        asked = self.costs if costs is None else costs
        return Problem(
            workers=staff(asked, [None] * len(asked)),
            tasks=tuple(Task(f"t{at}") for at in range(tasks)),
            options=OPTIONS,
            budget=budget,
        )

    def answering(
        self, seed: int, replication: int, tasks: int, share: float = 0.0, on_hard: float = 0.5
    ) -> AssuredWorld:
        """The world of one replication: the same answers whatever is asked, and by whom.

        Each task is hard with probability ``share``: everybody is right about it with ``on_hard``.
        """
        key = draws.stream(seed, draws.WORLD, replication)
        rng = np.random.default_rng(key)
        truths = rng.integers(2, size=tasks)
        hard = rng.random(tasks) < share
        return AssuredWorld(self.qualities, truths, np.array(key, np.int64), hard, on_hard)


def paper_pool(rng: np.random.Generator, workers: int = 1100) -> WorkerPool:
    """Draw the instance of section 6.3: poor workers at 20, others of cost 10 to 20, 2/3 to 1."""
    poor = round(workers * POOR_SHARE)
    costs = np.full(workers, HIGHEST_COST * MICRO, np.int64)
    qualities = np.full(workers, POOR_QUALITY)
    varied = workers - poor
    drawn = rng.uniform(LOWEST_COST, HIGHEST_COST, varied) * MICRO
    costs[poor:] = np.rint(drawn).astype(np.int64)
    qualities[poor:] = rng.uniform(POOR_QUALITY, 1.0, varied)
    return WorkerPool(costs, qualities)
