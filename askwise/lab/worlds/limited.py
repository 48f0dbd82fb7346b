"""A world of workers who label: each has an accuracy and a price."""

from dataclasses import dataclass

import numpy as np

from askwise.core.arrays import Array
from askwise.core.money import MICRO
from askwise.core.problem import Problem, Task
from askwise.lab.worlds.base import staff
from askwise.lab.worlds.crowds import Survey, SurveyWorld, two_options


@dataclass(frozen=True)
class Labellers:
    """Workers with accuracies and prices, for tasks with two labels.

    Parameters
    ----------
    accuracies : float array
        The probability of each to give the right label, to any task, each time they are asked.
    prices : int64 array
        In micro-units.
    """

    accuracies: Array
    prices: Array

    @property
    def values(self) -> Array:
        """Value contributions under majority voting, 2p - 1 (001, Theorem 5.1)."""
        return 2.0 * self.accuracies - 1.0

    def problem(self, tasks: int, limit: int, budget: int, *, repeat: bool = True) -> Problem:
        """The campaign of a requester with this many tasks and this budget (micro-units)."""
        return Problem(
            workers=staff(self.prices, [limit] * len(self.prices)),
            tasks=tuple(Task(f"t{at}") for at in range(tasks)),
            options=("o0", "o1"),
            budget=budget,
            repeat=repeat,
        )

    def answering(self, seed: int, replication: int, tasks: int) -> SurveyWorld:
        """What they would answer in one replication: the same for every policy."""
        survey = Survey(two_options(*self.accuracies), shuffled=False)
        return survey.answering(seed, replication * tasks, tasks)


def labellers(rng: np.random.Generator, workers: int, spammers: int = 0) -> Labellers:
    """Draw workers as in 001, section 6: p ~ U[.5, 1], v = 2p - 1, price ~ U[v, 1 + v].

    This many of them, anywhere among the others, are ``spammers``: they answer at random and have
    the prices of v = 0. With the same generator the others are the same, spammers or not.
    """
    accuracies = rng.uniform(0.5, 1.0, workers)
    above = rng.uniform(0.0, 1.0, workers)
    accuracies[rng.permutation(workers)[:spammers]] = 0.5
    prices = np.maximum(1, np.round((2.0 * accuracies - 1.0 + above) * MICRO))
    return Labellers(accuracies, prices.astype(np.int64))
