"""Workers know the class of a task, or else guess in a way of their own."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import scipy

from askwise.aggregation.answers import Answers
from askwise.aggregation.base import Iterative, aggregation
from askwise.aggregation.fitted import Fitted
from askwise.aggregation.steps import MANY, fitted_softly, keep_truth, sized, work_of
from askwise.core.checks import flag, real, whole
from askwise.core.draws import AGGREGATION, Draw, stream, uniform
from askwise.kernels import Array, kernel


class Habits(NamedTuple):
    """What is believed of workers.

    Attributes
    ----------
    states : array, workers x 2
        The probability that each worker guesses, and that they know.
    guesses : array, workers x classes
        What each worker answers when they guess.
    """

    states: Array
    guesses: Array


@kernel
def expect(
    answers: Answers,
    log_guessed: Array,
    gain: Array,
    known: Array,
    probabilities: Array,
    knowing: Array,
    guessing: Array,
) -> float:
    """E-step: posteriors of the classes, and how often workers knew and guessed what.

    Returns the logarithm of the marginal likelihood. ``gain`` is what an answer adds to the
    logarithm for its own label beyond that for others, ``known`` the probability that its giver
    knew if it is right.
    """
    starts, workers, labels = answers.starts, answers.workers, answers.labels
    truths, classes = answers.truths, probabilities.shape[1]
    for worker in range(len(knowing)):
        knowing[worker] = 0.0
        for label in range(classes):
            guessing[worker, label] = 0.0
    total = 0.0
    for task in range(len(starts) - 1):
        common = -math.log(classes)
        for label in range(classes):
            probabilities[task, label] = 0.0
        for at in range(starts[task], starts[task + 1]):
            worker, label = workers[at], labels[at]
            common += log_guessed[worker, label]
            probabilities[task, label] += gain[worker, label]
        if truths[task] >= 0:
            total += common + probabilities[task, truths[task]]
            keep_truth(probabilities, task, truths[task], classes)
        else:
            most = probabilities[task, 0]
            for label in range(1, classes):
                most = max(most, probabilities[task, label])
            mass = 0.0
            for label in range(classes):
                chance = math.exp(probabilities[task, label] - most)
                probabilities[task, label] = chance
                mass += chance
            for label in range(classes):
                probabilities[task, label] /= mass
            total += common + most + math.log(mass)
        for at in range(starts[task], starts[task + 1]):
            worker, label = workers[at], labels[at]
            knew = probabilities[task, label] * known[worker, label]
            knowing[worker] += knew
            guessing[worker, label] += 1.0 - knew
    return total


@kernel
def draw_rows(draw: Draw, first: int, noise: float, rows: Array) -> None:
    """Fill rows with draws from 1 to 2 + noise, each row scaled to sum to 1."""
    width = rows.shape[1]
    for row in range(len(rows)):
        total = 0.0
        for at in range(width):
            rows[row, at] = 1.0 + (1.0 + noise) * uniform(draw, first + row * width + at)
            total += rows[row, at]
        for at in range(width):
            rows[row, at] /= total


@aggregation.register("mace")
@dataclass(frozen=True)
class Mace(Iterative):
    """Learn how often each worker knows the class, and what they answer otherwise, by EM.

    All classes are equally probable. On each task worker w knows the class with probability
    k[w] and gives it; else they guess, label c with probability g[w, c], whatever the task. The
    E-step counts how often they knew and what they guessed; the M-step makes probabilities of these
    counts: variational Bayes with priors (digamma of counts and priors), or plain shares after
    adding 0.01 / K. Of several random starting points, the one that reaches the largest likelihood
    counts.

    Priors, starting points and steps are those of crowd-kit's ``MACE``, with these differences: its
    restarts all begin at the same point; it takes workers and labels in the order of their
    appearance in one place and sorted in another, so that the two agree only where these orders are
    the same; it always runs all iterations, whereas here it ends when the likelihood no longer
    changes. ``workers_`` has k[w] as ``competence``. The starting point decides between labels that
    the answers leave tied: in the same way for the same seed.

    Parameters
    ----------
    max_iterations : int
        Maximum number of iterations from each starting point.
    tolerance : float
        It ends when the log-likelihood per answer changes by less than this.
    restarts : int
        Number of starting points.
    variational : bool
        Whether to use variational Bayes; otherwise plain EM, which does not use the three priors.
    prior_guesses, prior_knows : float
        Answers added to the number guessed, and to the number known.
    prior_labels : float
        Guesses added for each label.
    noise : float
        How much the starting points differ.
    seed : int
        Random seed of the starting points.
    temper : float, optional
        How dependent answers are on each other; see :class:`LabelAggregator`. 0 treats them as
        independent.

    Assumes that a worker who knows is right, and that guesses do not depend on the task.

    Not for honest workers who mistake one class for another: ``dawid-skene`` learns that. It is
    meant for crowds in which some workers do not look at the task.

    References
    ----------
    D. Hovy, T. Berg-Kirkpatrick, A. Vaswani, E. Hovy, *Learning whom to trust with MACE*,
    NAACL 2013.

    Examples
    --------
    >>> from askwise.aggregation import aggregation
    >>> table = {
    ...     "task": [f"t{task}" for task in range(6) for worker in range(3)],
    ...     "worker": ["ann", "bob", "spam"] * 6,
    ...     "label": ["a", "a", "a", "b", "b", "a"] * 3,
    ... }
    >>> found = aggregation.make("mace").fit(table)
    >>> (found.workers_["competence"] > 0.5).tolist()
    [True, True, False]
    """

    max_iterations: int = 50
    tolerance: float = 1e-6
    restarts: int = 10
    variational: bool = True
    prior_guesses: float = 0.5
    prior_knows: float = 0.5
    prior_labels: float = 10.0
    noise: float = 0.5
    seed: int = 0
    paper: ClassVar[str] = "literature"

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.restarts, "restarts", least=1)
        flag(self.variational, "variational")
        for name in ("prior_guesses", "prior_knows", "prior_labels"):
            real(getattr(self, name), name, "a number from 1e-3 to 1e6", least=1e-3, most=1e6)
        real(self.noise, "noise", "a number from 0 to 1000", least=0.0, most=1000.0)
        whole(self.seed, "seed", least=0)

    def solve(self, answers: Answers) -> Fitted:
        """Climb from every beginning; keep the best."""
        best, most = None, -math.inf
        for restart in range(self.restarts):
            found, likelihood = self.climb(answers, self.begin(answers, restart))
            if best is None or likelihood > most:
                best, most = found, likelihood
        assert best is not None
        return best

    def begin(self, answers: Answers, restart: int) -> Habits:
        """Draw a beginning."""
        crowd, classes = answers.crowd, answers.classes
        habits = Habits(np.zeros((crowd, 2)), np.zeros((crowd, classes)))
        draw = Draw(*stream(self.seed, AGGREGATION, restart), 0)
        fill = sized(draw_rows, work_of(answers))
        fill(draw, 0, float(self.noise), habits.states)
        fill(draw, 2 * crowd, float(self.noise), habits.guesses)
        return habits

    def climb(self, answers: Answers, habits: Habits) -> tuple[Fitted, float]:
        """Iterate from a beginning; returns also the logarithm of the marginal likelihood."""
        counts = answers.per_worker
        probabilities = np.zeros((answers.tasks, answers.classes))
        knowing, guessing = np.zeros(answers.crowd), np.zeros((answers.crowd, answers.classes))
        e_step = sized(expect, MANY * work_of(answers))
        likelihood, converged, iteration = -math.inf, False, -1
        while True:
            guessed = habits.states[:, :1] * habits.guesses
            either = guessed + habits.states[:, 1:]
            before = likelihood
            known = habits.states[:, 1:] / either
            likelihood = e_step(
                *(answers, np.log(guessed), np.log(either / guessed), known),
                *(probabilities, knowing, guessing),
            )
            iteration += 1
            converged = bool(abs(likelihood - before) < self.tolerance * len(answers.labels))
            if converged or iteration == self.max_iterations:
                break
            habits = self._habits(np.column_stack([counts - knowing, knowing]), guessing)
        knows = {"competence": habits.states[:, 1] / habits.states.sum(axis=1)}
        found = {"iterations": iteration, "converged": converged, "of_workers": knows}
        return fitted_softly(answers, probabilities, **found), likelihood

    def _habits(self, states: Array, guesses: Array) -> Habits:
        """M-step: probabilities from counts."""
        if not self.variational:
            added = 0.01 / guesses.shape[1]
            return Habits(_shares(states + added), _shares(guesses + added))
        priors = np.array([self.prior_guesses, self.prior_knows])
        return Habits(_damped(states + priors), _damped(guesses + self.prior_labels))


def _shares(rows: Array) -> Array:
    return rows / rows.sum(axis=1, keepdims=True)


def _damped(rows: Array) -> Array:
    """Exponentials of the expected logarithms under Dirichlet distributions."""
    digamma = scipy.special.digamma
    return np.exp(digamma(rows) - digamma(rows.sum(axis=1, keepdims=True)))
