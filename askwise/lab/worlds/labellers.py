"""Simulated workers who label tasks: who is good at what, drawn as a table of answers.

The three models of paper 002, section 5.1, in their heterogeneous form, and four beyond it. The
table is a pure function of the seed and the number of the world, so all policies that are
compared face the same crowd.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from askwise.core import draws
from askwise.core.compiling import bind
from askwise.core.errors import InvalidParameter, nearest
from askwise.kernels import Array, Draw, uniform
from askwise.kernels.votes import leading_option
from askwise.lab.worlds.recorded import Recording

HAMMER = 1.0
GOOD, NORMAL, BAD = 0.9, 0.6, 0.3
"""Accuracies of section 5.1."""

COPIED = 3
"""How many others a lazy worker looks at."""


@dataclass(frozen=True)
class LabellerCrowd:
    """How each worker answers in each context.

    Parameters
    ----------
    chances : array of contexts x workers x options x options
        Probability of an answer (last) where an option (last but one) is true.
    later : array of the same shape, optional
        After a worker changed.
    changes : array, optional
        The share of the budget at which each worker changes.
    voices : int array, optional
        Whose draw decides a worker's answer: those with one voice and the same chances give the
        same answers. Everybody's own if not given.
    lazy : bool array, optional
        Who gives no answer of their own, but what most of three others answered.
    """

    chances: Array
    later: Array | None = None
    changes: Array | None = None
    voices: Array | None = None
    lazy: Array | None = None

    @property
    def workers(self) -> int:
        """How many there are."""
        return int(self.chances.shape[1])

    @property
    def options(self) -> int:
        """How many options a task has."""
        return int(self.chances.shape[2])

    def label(self, truth: Array, contexts: Array, seed: int, number: int) -> Recording:
        """Everybody's answer to every task, in the ``number``-th world of a seed."""
        stream = draws.stream(seed, draws.WORLD, number)
        voices = np.arange(self.workers) if self.voices is None else self.voices
        tables: list[Array] = []
        for chances in (self.chances, self.later):
            if chances is not None:
                first, reaches = len(tables) * self.workers, np.cumsum(chances, axis=3)
                labels = np.zeros((len(truth), self.workers), np.int64)
                _drawing(stream, truth, contexts, reaches, voices, first, labels)
                if self.lazy is not None:
                    own, idle = np.flatnonzero(~self.lazy), np.flatnonzero(self.lazy)
                    _copying(stream, own, idle, self.options, first, labels)
                tables.append(labels)
        made = Recording.complete(tables[0], truth, self.options, contexts)
        if self.later is None:
            return made
        return replace(made, later=tables[1].ravel(), changes=self.changes)


@dataclass(frozen=True)
class LabellerPool:
    """Workers to be drawn: how many, for how many contexts and options, by which stream."""

    workers: int
    contexts: int
    options: int
    stream: tuple[int, int]

    def chance(self, worker: int, index: int) -> float:
        """A number from [0, 1) that belongs to a worker."""
        return float(uniform(Draw(self.stream[0], self.stream[1], worker), index))

    def pick(self, worker: int, index: int, count: int) -> int:
        """One of this many, evenly."""
        return min(int(self.chance(worker, index) * count), count - 1)

    def good_at(self) -> Array:
        """The context that each worker is good at: drawn evenly, for each alone."""
        return np.array([self.pick(at, 0, self.contexts) for at in range(self.workers)])

    def coins(self, good: Array, high: float, low: float) -> Array:
        """Accuracies by context and worker: high in the good context, low in others."""
        accuracy = np.full((self.contexts, self.workers), low)
        accuracy[good, np.arange(self.workers)] = high
        return accuracy

    def by_accuracy(self, accuracy: Array) -> Array:
        """Chances of workers whose errors are spread evenly over the wrong options."""
        wrong = (1.0 - accuracy)[..., None, None] / (self.options - 1)
        right = accuracy[..., None, None]
        return np.where(np.eye(self.options, dtype=bool), right, wrong)


def spammer_hammer(pool: LabellerPool) -> LabellerCrowd:
    """Each worker is right in one context and guesses in the others."""
    return LabellerCrowd(pool.by_accuracy(pool.coins(pool.good_at(), HAMMER, 1.0 / pool.options)))


def one_coin(pool: LabellerPool) -> LabellerCrowd:
    """Each worker is right nine times in ten in one context, six times in the others."""
    return LabellerCrowd(pool.by_accuracy(pool.coins(pool.good_at(), GOOD, NORMAL)))


def malicious(pool: LabellerPool) -> LabellerCrowd:
    """As one-coin, but in one of the other contexts right only three times in ten."""
    good = pool.good_at()
    accuracy = pool.coins(good, GOOD, NORMAL)
    if pool.contexts > 1:
        for worker in range(pool.workers):
            accuracy[_another(pool, worker, good), worker] = BAD
    return LabellerCrowd(pool.by_accuracy(accuracy))


def confused(pool: LabellerPool) -> LabellerCrowd:
    """Confusion matrices: each worker, context and true option has its accuracy (.4 to .95).

    What is given instead of the truth is uneven as well: a worker may take one option for
    another and never for a third.
    """
    chances = np.zeros((pool.contexts, pool.workers, pool.options, pool.options))
    for worker in range(pool.workers):
        index = 0
        for context in range(pool.contexts):
            for true in range(pool.options):
                shares = np.array(
                    [-math.log1p(-pool.chance(worker, index + at)) for at in range(pool.options)]
                )
                right = 0.4 + 0.55 * pool.chance(worker, index + pool.options)
                index += pool.options + 1
                shares[true] = 0.0
                row = (1.0 - right) * shares / shares.sum()
                row[true] = right
                chances[context, worker, true] = row
    return LabellerCrowd(chances)


def drifting(pool: LabellerPool) -> LabellerCrowd:
    """One-coin workers who change what they are good at, each at a share of the budget drawn."""
    good = pool.good_at()
    then = np.array([_another(pool, worker, good) for worker in range(pool.workers)])
    return LabellerCrowd(
        pool.by_accuracy(pool.coins(good, GOOD, NORMAL)),
        later=pool.by_accuracy(pool.coins(then, GOOD, NORMAL)),
        changes=np.array([pool.chance(worker, 2) for worker in range(pool.workers)]),
    )


def lazy(pool: LabellerPool, share: float = 1 / 3) -> LabellerCrowd:
    """One-coin workers, and a share who give what most of three of them gave."""
    idle = np.arange(pool.workers) >= pool.workers - round(share * pool.workers)
    return LabellerCrowd(pool.by_accuracy(pool.coins(pool.good_at(), GOOD, NORMAL)), lazy=idle)


def colluding(pool: LabellerPool, share: float = 0.2) -> LabellerCrowd:
    """One-coin workers, and a group who all give one answer, right three times in ten."""
    first = pool.workers - round(share * pool.workers)
    accuracy = pool.coins(pool.good_at(), GOOD, NORMAL)
    accuracy[:, first:] = BAD
    voices = np.minimum(np.arange(pool.workers), first)
    return LabellerCrowd(pool.by_accuracy(accuracy), voices=voices)


MODELS: dict[str, Callable[[LabellerPool], LabellerCrowd]] = {
    model.__name__.replace("_", "-"): model
    for model in (spammer_hammer, one_coin, malicious, confused, drifting, lazy, colluding)
}
"""Worker models by name; the first three are the paper's."""


def check_models(names: tuple[str, ...], field: str) -> None:
    """Refuse a model that there is not."""
    for name in names:
        if name not in MODELS:
            raise InvalidParameter(
                f"{field} has {name!r}: no such worker model, {nearest(name, MODELS)}", field=field
            )


def label_tasks(
    model: str, truth: Array, contexts: Array, options: int, workers: int, seed: int, number: int
) -> Recording:
    """Draw workers of a model and their answers to all tasks, as the ``number``-th world."""
    kinds = int(contexts.max()) + 1
    pool = LabellerPool(workers, kinds, options, draws.stream(seed, draws.MARKET, number))
    return MODELS[model](pool).label(truth, contexts, seed, number)


def _another(pool: LabellerPool, worker: int, good: Array) -> int:
    """A context other than the good one, drawn evenly; the same where there is one only."""
    if pool.contexts == 1:
        return 0
    return int(good[worker] + 1 + pool.pick(worker, 1, pool.contexts - 1)) % pool.contexts


def _draw_answers(
    stream: tuple[int, int],
    truth: Array,
    contexts: Array,
    reaches: Array,
    voices: Array,
    first: int,
    labels: Array,
) -> None:
    """Draw each answer: one number per task and voice, from index ``first`` on."""
    options = reaches.shape[3]
    for task in range(len(truth)):
        draw = Draw(stream[0], stream[1], task)
        for worker in range(len(voices)):
            chance = uniform(draw, first + voices[worker])
            option = 0
            while (
                option < options - 1
                and chance >= reaches[contexts[task], worker, truth[task], option]
            ):
                option += 1
            labels[task, worker] = option


def _copy_answers(
    stream: tuple[int, int], own: Array, idle: Array, options: int, first: int, labels: Array
) -> None:
    """Let idle workers give what most of a few others gave; a tie is broken evenly."""
    seen = min(COPIED, len(own))
    order = own.copy()
    votes = np.zeros((1, options), np.int64)
    for task in range(len(labels)):
        draw = Draw(stream[0], stream[1], task)
        for worker in idle:
            votes[:] = 0
            # Beyond the answers' own indices, which end at twice the number of workers.
            index = 2 * labels.shape[1] + (first + worker) * (COPIED + 1)
            for place in range(seen):
                left = len(order) - place
                at = place + min(int(uniform(draw, index + place) * left), left - 1)
                order[at], order[place] = order[place], order[at]
                votes[0, labels[task, order[place]]] += 1
            labels[task, worker] = leading_option(votes, 0, 0, options, draw, index + COPIED)


_drawing = bind(_draw_answers, "labellers")
_copying = bind(_copy_answers, "labellers")
