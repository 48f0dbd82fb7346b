"""A world of crowds with hidden distributions over a question's options."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from askwise.core import draws
from askwise.core.compiling import bind, step
from askwise.core.money import Amount
from askwise.core.problem import Problem, make_problem
from askwise.core.records import by_reference
from askwise.kernels import Array, Draw, uniform


@by_reference
class SurveyWorld(NamedTuple):
    """Hidden distributions as arrays; kind, order and right option of each question.

    ``reaches[kind, crowd, option]`` is the probability of an answer up to this option, the right
    one first. ``order[question, worker]`` is the crowd that a worker is on this question, and
    ``right[question]`` the option that is right there.
    """

    reaches: Array
    kinds: Array
    order: Array
    right: Array
    keys: Array
    first: int


@step
def survey_reply(world: SurveyWorld, task: int, worker: int, k: int, elapsed: float) -> float:
    """What a crowd answers to a question when asked for the k-th time."""
    reaches, keys = world.reaches, world.keys
    kind, crowd = world.kinds[task], world.order[task, worker]
    options = reaches.shape[2]
    draw = Draw(keys[0], keys[1], world.first + task)
    chance = uniform(draw, k * reaches.shape[1] + crowd)
    option = 0
    while option < options - 1 and chance >= reaches[kind, crowd, option]:
        option += 1
    return float((option + world.right[task]) % options)


@step
def survey_truth(world: SurveyWorld, task: int) -> int:
    """Reveal the option that is right."""
    return int(world.right[task])


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
        Whether the order of crowds is newly drawn for each question (among crowds of one price,
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
        """The campaign that a requester with this many questions sees."""
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
        order = np.tile(np.arange(self.crowds), (questions, 1))
        right = np.zeros(questions, np.int64)
        drawn = np.zeros(questions, np.int64)
        stream = draws.stream(seed, draws.MARKET, 0)
        groups = self._groups() if self.shuffled else np.arange(self.crowds)
        _drawing(stream, first, len(self.responses), self.options, groups, drawn, order, right)
        keys = np.array(draws.stream(seed, draws.WORLD, 0), np.int64)
        reaches = np.cumsum(self.responses, axis=2)
        return SurveyWorld(reaches, drawn if kinds is None else kinds, order, right, keys, first)

    def _groups(self) -> Array:
        """For each crowd the first of its price: within such a group the order is shuffled."""
        prices = [str(price) for price in (self.prices or (1,) * self.crowds)]
        return np.array([prices.index(price) for price in prices])


def _draw_questions(
    stream: tuple[int, int],
    first: int,
    kinds: int,
    options: int,
    groups: Array,
    drawn: Array,
    order: Array,
    right: Array,
) -> None:
    """Draw each question's kind, its right option and the order of its crowds."""
    crowds = len(groups)
    for at in range(len(drawn)):
        draw = Draw(stream[0], stream[1], first + at)
        drawn[at] = int(uniform(draw, 0) * kinds)
        right[at] = int(uniform(draw, 1) * options)
        # Fisher and Yates, each place against the earlier ones of its group.
        for place in range(crowds):
            members = 0
            for other in range(place + 1):
                members += groups[other] == groups[place]
            pick = int(uniform(draw, 2 + place) * members)
            for other in range(place + 1):
                if groups[other] == groups[place]:
                    if pick == 0:
                        order[at, other], order[at, place] = order[at, place], order[at, other]
                        break
                    pick -= 1


_drawing = bind(_draw_questions, "survey")


def two_options(*chances: float) -> Array:
    """Crowds that give the right one of two options with these probabilities: one kind."""
    right = np.array(chances, np.float64)
    return np.stack([right, 1.0 - right], axis=1)[None]
