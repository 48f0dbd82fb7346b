"""Labels of recorded answers: aggregated, measured against known truths, put into words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from askwise.aggregation import Answers, Fitted, LabelAggregator, aggregation, code_answers
from askwise.aggregation.answers import Kin, code_workers
from askwise.aggregation.base import Partitioned
from askwise.aggregation.calibrating import band_width
from askwise.aggregation.features import FORETOLD, features_of
from askwise.aggregation.parts import Split
from askwise.aggregation.ranking import leads_and_shares, sureness_of
from askwise.aggregation.steps import agreements
from askwise.core.arrays import Array
from askwise.core.compiling import allowed
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.problem import Worker
from askwise.core.registry import label_of
from askwise.core.scoring import (
    Bin,
    ScoredLabels,
    brier_score,
    calibration_error,
    log_loss,
    reliability,
    right_shares,
    vote_weights,
    wilson_ends,
)
from askwise.data.labels import LabelTable
from askwise.kernels.grouping import group_ranges
from askwise.lab.planning.pictures import count
from askwise.lab.planning.plan import Estimate

MORE = 20
"""Truths of which it is said what they would be worth."""


def wilson(hits: float, tries: int) -> Estimate:
    """A share with Wilson's 95% interval; a tie may be right by a part.

    Examples
    --------
    >>> found = wilson(8, 10)
    >>> found.mean, round(found.low, 3), round(found.high, 3)
    (0.8, 0.49, 0.943)
    """
    return Estimate(hits / tries, *wilson_ends(hits, tries))


@dataclass(frozen=True)
class Truths:
    """Known truths, and what they are good for here.

    Parameters
    ----------
    by_task : mapping of task to label
        Of tasks that have an answer.
    elsewhere : int
        How many more are of tasks that have none.
    source : str
        The file.
    """

    by_task: Mapping[str, str]
    elsewhere: int
    source: str


class Measured(NamedTuple):
    """How good labels and confidences are, on tasks whose truth is known.

    Attributes
    ----------
    right : mapping of int to float
        How right the label of each task is.
    ties : int
        How many of them are tied.
    ece, log_loss, brier : float or None
        Expected calibration error, log loss and Brier score.
    bins : list of Bin
        How often labels of similar confidence are right.
    """

    right: Mapping[int, float]
    ties: int
    ece: float | None
    log_loss: float | None
    brier: float | None
    bins: list[Bin]


@dataclass(frozen=True, eq=False)
class Aggregated:
    """Labels found for a table of answers, and how good they are as far as it is known.

    Parameters
    ----------
    table : LabelTable
        The answers.
    method : str
        The aggregator, with the parameters that differ from their defaults.
    answers : Answers
        The answers by task.
    fitted : Fitted
        What it found.
    gold : Truths, optional
        Truths to measure against.
    learned : Truths, optional
        Truths that the aggregator was given.
    contexts : array of int, optional
        The context of each task, where the aggregator was given them.
    """

    table: LabelTable
    method: str
    answers: Answers
    fitted: Fitted
    gold: Truths | None
    learned: Truths | None
    contexts: Array | None = None

    @cached_property
    def _measured(self) -> Measured | None:
        if self.gold is None:
            return None
        given = {} if self.learned is None else self.learned.by_task
        rows = [
            at
            for at, task in enumerate(self.table.task_names)
            if task in self.gold.by_task and task not in given
        ]
        if not rows:
            return None
        names = self.table.label_names
        told = [self.gold.by_task[self.table.task_names[at]] for at in rows]
        # A truth that nobody gave is a class without any probability.
        every = (*names, *sorted(set(told) - set(names)))
        code = {name: at for at, name in enumerate(every)}
        truths = np.array([code[name] for name in told])
        probabilities = np.zeros((len(rows), len(every)))
        probabilities[:, : len(names)] = self.fitted.probabilities[rows]
        named, sure = self.fitted.labels[rows], self.fitted.confidence[rows]
        right, tied = right_shares(ScoredLabels(named, sure, probabilities), truths)
        return Measured(
            dict(zip(rows, right.tolist(), strict=True)),
            ties=int(tied.sum()),
            ece=calibration_error(sure, right),
            log_loss=log_loss(probabilities, truths),
            brier=brier_score(probabilities, truths),
            bins=reliability(sure, right),
        )

    @property
    def measured(self) -> Mapping[int, float]:
        """How right each task is labelled, where that is known and was not given.

        From 0 to 1: of k labels that are tied each is right once in k.
        """
        return {} if self._measured is None else self._measured.right

    @property
    def scores(self) -> Measured | None:
        """How good labels and confidences are, where that is known."""
        return self._measured

    @property
    def accuracy(self) -> Estimate | None:
        """The share of measured tasks that are labelled right, ties by share."""
        right = self.measured
        return wilson(sum(right.values()), len(right)) if right else None

    @property
    def worker_names(self) -> tuple[str, ...]:
        """All workers; the last is what features foretell, where there are any."""
        names = self.table.worker_names
        if len(self.fitted.counts) == len(names):
            return names
        return (*names, FORETOLD if FORETOLD not in names else f"{FORETOLD} of tasks")

    @property
    def truths(self) -> int:
        """How many truths confidences are calibrated by."""
        return 0 if self.fitted.calibration is None else self.fitted.calibration.truths

    def rests_on(self, tasks: Sequence[str]) -> list[str]:
        """On what the confidence of each of these tasks rests."""
        given = {} if self.learned is None else self.learned.by_task
        word = self.fitted.rests_on
        return ["truth" if task in given else word for task in tasks]

    def basis(self) -> str:
        """On what confidences rest, and what more truths would be worth."""
        now, then = band_width(self.fitted), band_width(self.fitted, MORE)
        if self.truths:
            from_what = f"{self.fitted.rests_on}, by {count(self.truths, 'truth')}"
            more = f"{MORE} more truths"
        else:
            from_what, more = "agreement alone, without a truth", f"{MORE} truths to learn from"
        return (
            f"{from_what}. {more}, of tasks drawn at random, would narrow the 95% interval of a "
            f"confidence from +-{now:.2f} to +-{then:.2f} on average"
        )

    @cached_property
    def agreement(self) -> float:
        """The share of answers that are the label named for their task."""
        return float(agreements(self.answers, self.fitted.labels).sum() / len(self.table))

    @cached_property
    def sureness(self) -> Array:
        """A score to rank labels by: leads in weighted votes, and agreement on such labels."""
        answers, options = self.answers, len(self.table.label_names)
        of_workers = vote_weights(self.fitted.quality, options)
        named = self.fitted.labels
        found = np.empty((2, answers.tasks))
        for first, last in group_ranges(answers.starts):
            here = slice(int(answers.starts[first]), int(answers.starts[last]))
            tasks = np.repeat(np.arange(last - first), np.diff(answers.starts[first : last + 1]))
            votes = tasks, answers.labels[here], of_workers[answers.workers[here]]
            found[:, first:last] = leads_and_shares(*votes, named[first:last], options)
        return sureness_of(found[0], found[1], named, options, self.contexts)

    def least_sure(self, most: int) -> list[int]:
        """The tasks with the least confidence, in order; those whose truth was given are sure."""
        order = np.argsort(self.fitted.confidence, kind="stable")
        return [int(at) for at in order[:most]]

    def ranked(self) -> list[int]:
        """All workers, the best first: by the lower end of the interval of their quality."""
        low, high = self.fitted.interval
        return [int(at) for at in np.lexsort((np.arange(len(low)), -high, -low))]

    def worst(self, most: int) -> list[int]:
        """The workers whose interval ends lowest: no luck makes them good. In order."""
        return [int(at) for at in np.argsort(self.fitted.interval[1], kind="stable")[:most]]

    def votes(self, task: int) -> list[tuple[str, int]]:
        """The labels given to a task and how often, the most frequent first."""
        starts = self.answers.starts
        given = self.answers.labels[starts[task] : starts[task + 1]]
        counts = np.bincount(given, minlength=len(self.table.label_names))
        order = sorted(np.flatnonzero(counts).tolist(), key=lambda label: -counts[label])
        return [(self.table.label_names[label], int(counts[label])) for label in order]

    def remarks(self) -> Iterator[str]:
        """What a reader should know before trusting the numbers."""
        table, fitted = self.table, self.fitted
        if table.duplicates:
            did = "dropped" if table.dropped else "counted like the others"
            yield f"{count(table.duplicates, 'answer')} to a task answered before, {did}."
        if len(table.label_names) == 1:
            yield f"All answers are {table.label_names[0]!r}: there is nothing to decide."
        once = int((fitted.counts == 1).sum())
        if once:
            verb = "has" if once == 1 else "have"
            yield f"{count(once, 'worker')} {verb} one answer only: hardly known."
        for truths, what in ((self.gold, "measure with"), (self.learned, "learn from")):
            if truths is not None and truths.elsewhere:
                yield (
                    f"{count(truths.elsewhere, 'truth')} to {what} of tasks without an answer: "
                    "passed over."
                )
        if self.gold is not None and len(self.measured) < len(self.gold.by_task):
            both = len(self.gold.by_task) - len(self.measured)
            yield f"{count(both, 'truth')} to measure with learned from too: not measured."
        if not fitted.converged:
            yield (
                f"Stopped after {fitted.iterations} iterations, before it had settled: raise "
                "max_iterations."
            )

    def to_json(self) -> dict[str, Any]:
        """As plain values, for programs."""
        table, fitted, accuracy = self.table, self.fitted, self.accuracy
        scores = self.scores
        return {
            "source": table.source,
            "tasks": len(table.task_names),
            "workers": len(table.worker_names),
            "answers": len(table),
            "labels": list(table.label_names),
            "duplicates": table.duplicates,
            "dropped": table.dropped,
            "method": self.method,
            "iterations": fitted.iterations,
            "converged": fitted.converged,
            "accuracy": None
            if accuracy is None
            else {**accuracy.to_json(), "tasks": len(self.measured)},
            "ties": None if scores is None else scores.ties,
            "ece": None if scores is None else scores.ece,
            "log_loss": None if scores is None else scores.log_loss,
            "brier": None if scores is None else scores.brier,
            "reliability": [] if scores is None else [each._asdict() for each in scores.bins],
            "rests_on": fitted.rests_on,
            "truths": self.truths,
            "band": band_width(fitted),
            "band_with_more_truths": {"truths": MORE, "band": band_width(fitted, MORE)},
            "agreement": self.agreement,
            "least_sure": [self._task(at) for at in self.least_sure(10)],
            "best_workers": [self.worker(at) for at in self.ranked()[:5]],
            "worst_workers": [self.worker(at) for at in self.worst(5)],
            "remarks": list(self.remarks()),
        }

    def _task(self, at: int) -> dict[str, Any]:
        return {
            "task": self.table.task_names[at],
            "label": self.table.label_names[self.fitted.labels[at]],
            "confidence": float(self.fitted.confidence[at]),
            "votes": dict(self.votes(at)),
        }

    def worker(self, at: int) -> dict[str, Any]:
        """What is known of a worker."""
        low, high = self.fitted.interval
        return {
            "worker": self.worker_names[at],
            "answers": int(self.fitted.counts[at]),
            "quality": float(self.fitted.quality[at]),
            "low": float(low[at]),
            "high": float(high[at]),
            **{name: float(values[at]) for name, values in self.fitted.of_workers.items()},
        }


def aggregate(
    table: LabelTable,
    method: LabelAggregator,
    *,
    gold: Truths | None = None,
    learned: Truths | None = None,
    contexts: Mapping[str, str] | None = None,
    workers: Mapping[str, Worker] | None = None,
    features: Mapping[str, Sequence[float]] | None = None,
    split: Split | None = None,
) -> Aggregated:
    """Label the tasks of a table.

    Parameters
    ----------
    table : LabelTable
        The answers.
    method : LabelAggregator
        How.
    gold : Truths, optional
        Truths that measure, and that the method does not see.
    learned : Truths, optional
        Truths that the method learns from.
    contexts : mapping of task to context, optional
        The kind of every task, for methods that use it.
    workers : mapping of a name to a Worker, optional
        Of which kinds and families workers are; those without an answer are passed over.
    features : mapping of task to numbers, optional
        Features of tasks, whose prediction is one more worker.
    split : callable, optional
        Divides the tasks, for methods that go over them part by part.
    """
    known, truths = table.knowing({} if learned is None else learned.by_task)
    kinds = None
    if contexts is not None and method.uses_contexts:
        missing = next((task for task in table.task_names if task not in contexts), None)
        if missing is not None:
            raise InvalidProblem(
                f"contexts lack task {missing!r}: give every task's", field="contexts"
            )
        named = sorted({contexts[task] for task in table.task_names})
        code = {name: at for at, name in enumerate(named)}
        found = (code[contexts[task]] for task in table.task_names)
        kinds = np.fromiter(found, np.int32, count=len(table.task_names))
    of_workers: tuple[Any, Any] = (None, None)
    if workers is not None:
        if not any(name in workers for name in table.worker_names):
            raise InvalidProblem(
                f"workers has nobody in common with {table.source}: it has "
                f"{next(iter(workers), None)!r}, the other has {table.worker_names[0]!r}",
                field="workers",
            )
        said = {name: Kin(each.kind, each.family) for name, each in workers.items()}
        of_workers = code_workers(table.worker_names, said)
    with allowed("grouping"):
        answers = code_answers(
            *(known.tasks, known.workers, known.labels),
            truths=truths,
            contexts=kinds,
            classes=len(known.label_names),
            kinds=of_workers[0],
            families=of_workers[1],
        )
    rows = None
    if features is not None:
        place = {task: at for at, task in enumerate(table.task_names)}
        places = [place.get(task, -1) for task in features]
        rows = features_of(list(features.items()), places, table.task_names[0])
    with allowed(method.name):
        if split is not None and isinstance(method, Partitioned):
            fitted = method.report_in(answers, split, rows)
        else:
            fitted = method.report(answers, rows)
    return Aggregated(known, label_of(method), answers, fitted, gold, learned, kinds)


def methods() -> list[str]:
    """Every aggregator that labels a table of answers."""
    names = aggregation.names()
    return [name for name in names if issubclass(aggregation.get(name), LabelAggregator)]


def partitioned_methods() -> list[str]:
    """Every aggregator that goes over tasks part by part."""
    return [name for name in methods() if issubclass(aggregation.get(name), Partitioned)]


def make_method(spec: str | Mapping[str, Any]) -> LabelAggregator:
    """Build an aggregator that labels a table of answers."""
    made = aggregation.make(spec)
    if not isinstance(made, LabelAggregator):
        raise InvalidParameter(
            f"method {made.name!r} does not label a table of answers: give one of "
            f"{', '.join(methods())}",
            field="method",
        )
    return made
