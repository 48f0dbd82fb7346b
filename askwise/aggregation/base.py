"""What an aggregator is, and the registry of aggregators."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from askwise.aggregation.answers import Answers, answers_in
from askwise.aggregation.calibrating import Solve, reported
from askwise.aggregation.features import Features, with_prediction
from askwise.aggregation.fitted import Fitted
from askwise.aggregation.parts import OnePart, Split
from askwise.core.arrays import Array
from askwise.core.checks import real, whole
from askwise.core.compiling import allowed
from askwise.core.draws import Draw
from askwise.core.errors import InvalidParameter
from askwise.core.labels import NO_LABEL, Label, told
from askwise.core.problem import Problem
from askwise.core.registry import LATER, Registry
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger


@dataclass(frozen=True)
class Aggregator(ABC):
    """Answer and confidence of a task, from its answers and a policy's beliefs where it has any."""

    name: ClassVar[str] = ""
    outcomes: ClassVar[tuple[str, ...]] = ("options",)
    paper: ClassVar[str] = ""

    @abstractmethod
    def label(
        self, problem: Problem, ledger: Ledger, task: int, draw: Draw, beliefs: Any = None
    ) -> Label:
        """Answer of a task, its confidence and what that rests on; None if unknown."""

    def is_by_task(self, ledger: Ledger) -> bool:
        """Whether a label depends on its task's answers and truth, and on nothing else."""
        return False

    def labels(
        self,
        problem: Problem,
        ledger: Ledger,
        tasks: Sequence[int],
        draw: Draw,
        beliefs: Any = None,
    ) -> list[Label]:
        """Answers of several tasks; methods that learn from all answers learn once."""
        return [self.label(problem, ledger, task, draw, beliefs) for task in tasks]


class Learned:
    """What ``fit`` leaves behind, as pandas objects.

    It stands beside the parameters: two aggregators with the same parameters are equal,
    whatever they have learned.

    Attributes
    ----------
    labels_ : Series
        The label of each task.
    confidence_ : Series
        Its probability, by task.
    probas_ : DataFrame
        Probabilities: a row for each task, a column for each label.
    workers_ : DataFrame
        Columns ``worker``, ``answers``, ``quality`` (the probability that their answer is
        right), ``low`` and ``high`` (its 95% interval), then what the method itself estimates.
        Quality is the mean, and the interval the middle 95%, of the Beta distribution that
        Jeffreys' prior and the right and wrong answers make. An answer counts as right with
        the probability of its label; so the interval takes the labels as known, and is too
        narrow where they are not.
    tasks_ : DataFrame
        Columns ``task``, ``answers``, ``label``, ``confidence``, then what the method itself
        estimates.
    errors_ : DataFrame or None
        Where the method learns how workers err: the probability that a worker gives a label,
        with a row for each worker and label that they ever gave, a column for each true label.
    rests_on_ : str
        What the probabilities rest on: "agreement" (answers and a model of workers alone) or
        "calibrated" (known truths of ten tasks or more as well).
    iterations_ : int
        Number of iterations.
    converged_ : bool
        Whether it stopped because nothing changed any more, and not because it had to.
    """

    labels_: Any
    confidence_: Any
    probas_: Any
    workers_: Any
    tasks_: Any
    errors_: Any
    rests_on_: str
    iterations_: int
    converged_: bool


@dataclass(frozen=True)
class LabelAggregator(Aggregator, Learned):
    """An aggregator that computes on all answers at once; a subclass writes only ``solve``.

    What is reported is not what ``solve`` finds, but what ``report`` makes of it. Labels are the
    same. Probabilities are tempered, because answers are less independent than models assume, and
    calibrated by known truths; :attr:`Learned.rests_on_` says which.

    Parameters
    ----------
    temper : float, optional
        How dependent answers are on each other: the log-odds of a task with F voices are divided
        by 1 + temper sqrt(F - 1). By default 1 for persons and crowds, 2 for models, and 1 plus the
        share of all voices that answered the task where the kinds of workers are not given. 0
        reports probabilities as the method finds them, and calibrates nothing.
    """

    temper: float | None = field(default=None, kw_only=True, metadata=LATER)
    uses_contexts: ClassVar[bool] = False
    finds_shares: ClassVar[bool] = False
    """Whether ``solve`` finds shares of votes, which are not probabilities: they stay as they are
    until truths are known."""

    def __post_init__(self) -> None:
        if self.temper is not None:
            valid = "a number from 0 (independent) to 1000, or leave it out"
            real(self.temper, "temper", valid, least=0.0, most=1000.0)

    @abstractmethod
    def solve(self, answers: Answers) -> Fitted:
        """Find the classes of all tasks and the quality of all workers; changes nothing.

        Tasks whose truth is known keep it, with probability 1, and teach the quality of those
        who answered them.
        """

    def report(self, answers: Answers, features: Features | None = None) -> Fitted:
        """Solve, temper, and calibrate by the truths that are known; changes nothing.

        Without truths it solves once, else three times: truths judge fits that do not know them.
        With features of tasks, what they foretell is one more worker, the last.
        """
        return self._reported(self.solve, answers, features)

    def _reported(self, solve: Solve, answers: Answers, features: Features | None) -> Fitted:
        if self.temper == 0:
            return solve(answers if features is None else with_prediction(solve, answers, features))
        shares = self.finds_shares
        return reported(solve, answers, temper=self.temper, shares=shares, features=features)

    def fit(
        self,
        data: Any,
        gold: Any = None,
        contexts: Any = None,
        workers: Any = None,
        features: Any = None,
    ) -> Self:
        """Learn from a table of answers.

        Parameters
        ----------
        data : DataFrame or mapping of columns
            With the columns ``task``, ``worker`` and ``label``. All answers count, also those
            of one worker to one task.
        gold : Series, DataFrame (task, label) or mapping of task to label, optional
            Known truths: these tasks keep them, and teach the quality of workers. Tasks
            without an answer are passed over.
        contexts : Series, DataFrame (task, context) or mapping of task to context, optional
            The kind of each task, for methods that use it.
        workers : DataFrame or mapping of columns, optional
            What workers are: the columns ``worker`` and, if wanted, ``kind`` ("person", "model" or
            "crowd") and ``family`` (a name that workers who err together share). An empty cell
            says nothing; workers without an answer are passed over. The answers of a family to a
            task count as their mean and a little more.
        features : DataFrame or mapping of task to numbers, optional
            Features of tasks, embeddings say: a row or a sequence of numbers for each, all of the
            same width; a DataFrame has tasks in its index or in a column ``task``. What a
            cross-fitted regression on them foretells is one more worker, "features".

        Returns
        -------
        self
            With what was learned: see :class:`Learned`.
        """
        from askwise.aggregation.frames import code_features, code_frame, learned_frames

        if contexts is not None and not self.uses_contexts:
            raise InvalidParameter(
                f"contexts: {self.name!r} does not use them; leave them out", field="contexts"
            )
        with allowed(self.name):
            answers, names = code_frame(data, gold, contexts, workers)
            rows = None if features is None else code_features(features, names.tasks)
            fitted = self.report(answers, rows)
        for attribute, value in learned_frames(answers, fitted, names).items():
            # Parameters are frozen; what is learned is not a parameter.
            object.__setattr__(self, attribute, value)
        return self

    def fit_predict(
        self,
        data: Any,
        gold: Any = None,
        contexts: Any = None,
        workers: Any = None,
        features: Any = None,
    ) -> Any:
        """Learn from a table of answers; returns the label of each task, as a Series."""
        return self.fit(data, gold, contexts, workers, features).labels_

    def label(
        self, problem: Problem, ledger: Ledger, task: int, draw: Draw, beliefs: Any = None
    ) -> Label:
        """Learn from all answers of the campaign, and answer for one task."""
        return self.labels(problem, ledger, [task], draw, beliefs)[0]

    def labels(
        self,
        problem: Problem,
        ledger: Ledger,
        tasks: Sequence[int],
        draw: Draw,
        beliefs: Any = None,
    ) -> list[Label]:
        """Learn once from all answers of the campaign, and answer for several tasks."""
        known: dict[int, Label] = {}
        found = answers_in(ledger)
        if found is not None:
            answers, rows, options = found
            fitted = self.report(answers)
            named = self.named(fitted, rows, draw)
            values = options[named].astype(np.float64).tolist()
            sure = fitted.probabilities[np.arange(len(named)), named].tolist()
            known = {
                row: Label(value, confidence, fitted.rests_on)
                for row, value, confidence in zip(rows.tolist(), values, sure, strict=True)
            }
        truths = [int(ledger.book.tasks[task, c.TRUTH]) for task in tasks]
        return [
            told(truth) if truth >= 0 else known.get(task, NO_LABEL)
            for task, truth in zip(tasks, truths, strict=True)
        ]

    def named(self, fitted: Fitted, tasks: Array, draw: Draw) -> Array:
        """The class that is named for each of the campaign's tasks that have an answer."""
        return fitted.labels


@dataclass(frozen=True)
class Iterative(LabelAggregator):
    """A method that goes on until what it finds hardly changes; see each for what that means."""

    max_iterations: int = 100
    tolerance: float = 1e-5

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.max_iterations, "max_iterations", least=1)
        real(self.tolerance, "tolerance", "0 or more", least=0.0)


@dataclass(frozen=True)
class Partitioned(LabelAggregator):
    """A method that goes over tasks part by part, wherever the parts are kept.

    What it finds is the same however tasks are divided, but for the rounding of sums.
    """

    def solve(self, answers: Answers) -> Fitted:
        """Solve with all tasks in one part, in this process."""
        return self.solve_in(answers, OnePart)

    @abstractmethod
    def solve_in(self, answers: Answers, split: Split) -> Fitted:
        """Solve with the tasks divided by ``split``; see :mod:`askwise.aggregation.parts`."""

    def report_in(self, answers: Answers, split: Split, features: Features | None = None) -> Fitted:
        """Report, as ``report`` does, what it finds with the tasks divided by ``split``."""
        return self._reported(lambda given: self.solve_in(given, split), answers, features)


aggregation: Registry[Aggregator] = Registry("aggregation", "askwise.aggregation")
"""All aggregators by name."""
