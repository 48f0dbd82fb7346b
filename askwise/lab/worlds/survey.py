"""A world of crowds with hidden distributions over a question's options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from askwise.core import draws
from askwise.core.book import Array
from askwise.core.compiling import step
from askwise.core.money import Amount
from askwise.core.problem import Problem, make_problem


class SurveyWorld(NamedTuple):
    """Hidden distributions as arrays; one row of the last three for each question.

    ``reaches[kind, crowd, option]`` is the probability of an answer up to this option, the right
    one first. ``order[question, worker]`` is the crowd that a worker is on this question, and
    ``right[question]`` the option that is right there.
    """

    reaches: Array
    kinds: Array
    order: Array
    right: Array
    keys: Array


@step
def survey_reply(world: SurveyWorld, task: int, worker: int, k: int, elapsed: float) -> float:
    """What a crowd answers to a question when asked for the k-th time."""
    reaches, keys = world.reaches, world.keys
    kind, crowd = world.kinds[task], world.order[task, worker]
    options = reaches.shape[2]
    x, y = draws.threefry(keys[task, 0], keys[task, 1], crowd, k)
    chance = ((x >> 5) * 67108864.0 + (y >> 6)) / 9007199254740992.0
    option = 0
    while option < options - 1 and chance >= reaches[kind, crowd, option]:
        option += 1
    return float((option + world.right[task]) % options)


@dataclass(frozen=True)
class Survey:
    """Crowds with prices, and the kinds of questions that may come.

    Parameters
    ----------
    responses : array of kinds x crowds x options
        Each crowd's distribution over the options, the right one first.
    prices : amounts, optional
        Of the crowds; 1 each by default.
    shuffled : bool
        Whether the order of crowds is drawn anew for each question (among crowds of one price,
        as prices belong to workers): ties go by order, so it matters (004, appendix D).
    """

    responses: Array
    prices: Sequence[Amount] = ()
    shuffled: bool = True

    @property
    def crowds(self) -> int:
        """How many crowds there are."""
        return int(self.responses.shape[1])

    @property
    def options(self) -> int:
        """How many options a question has."""
        return int(self.responses.shape[2])

    def problem(self, questions: int, budget: Amount | None = None) -> Problem:
        """The campaign that a requester with so many questions sees."""
        prices = self.prices or (1,) * self.crowds
        return make_problem(
            workers=[{"id": f"w{at}", "price": price} for at, price in enumerate(prices)],
            tasks=[f"q{at}" for at in range(questions)],
            options=[f"o{at}" for at in range(self.options)],
            budget=budget,
            repeat=True,
        )

    def answering(
        self, seed: int, first: int, questions: int, kinds: Array | None = None
    ) -> SurveyWorld:
        """The world for questions ``first`` on: the same for every policy, in any portion.

        ``kinds`` is each question's kind; drawn evenly if not given.
        """
        order = np.zeros((questions, self.crowds), np.int64)
        right = np.zeros(questions, np.int64)
        keys = np.zeros((questions, 2), np.int64)
        drawn = np.zeros(questions, np.int64)
        groups = self._same_price()
        for at in range(questions):
            rng = np.random.default_rng([seed, draws.WORLD, first + at])
            drawn[at] = rng.integers(len(self.responses))
            right[at] = rng.integers(self.options)
            for group in groups:
                order[at, group] = rng.permutation(group) if self.shuffled else group
            keys[at] = rng.integers(2**32, size=2)
        reaches = np.cumsum(self.responses, axis=2)
        return SurveyWorld(reaches, drawn if kinds is None else kinds, order, right, keys)

    def _same_price(self) -> list[Array]:
        prices = [str(price) for price in (self.prices or (1,) * self.crowds)]
        return [
            np.array([at for at, each in enumerate(prices) if each == price])
            for price in dict.fromkeys(prices)
        ]


def two_options(*chances: float) -> Array:
    """Crowds that give the right one of two options with these probabilities: one kind."""
    right = np.array(chances, np.float64)
    return np.stack([right, 1.0 - right], axis=1)[None]
