"""What the policies of the limited-information family share: inference, estimates, answers.

Paper 001: A. Rangi, M. Franceschetti, "Multi-armed bandit algorithms for crowdsourcing systems
with online estimation of workers' ability", AAMAS 2018.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from askwise.core.checks import one_of, real
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.labels import NO_LABEL, Label, told
from askwise.core.problem import Problem, Worker
from askwise.core.registry import LATER
from askwise.kernels import Array, Draw, Fact, kernel, step, uniform
from askwise.kernels.knapsack.ordering import marked
from askwise.kernels.votes import leading_option
from askwise.ledger import Book, Ledger
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.policies.base import KernelPolicy
from askwise.policies.capabilities import Explains, LabelsItself

PAPER = "001"


INFERENCES = ("majority", "weighted-majority", "map")
MAJORITY, WEIGHTED, POSTERIOR, GIVEN = range(4)

# Columns of a record (one row per worker): answers seen; their number times the value
# contribution, so that the bounded family's `mean` is the latter; how many agreed with the vote.
COUNT, WORTH, AGREED = range(3)

PRIOR = 2.0
"""Answers that a worker's accuracy is worth before they gave any, where it weights votes."""

LEAST, MOST = 0.01, 0.99
"""Accuracies are taken as no smaller and no larger where votes are weighted by their odds: (9)
asks for a bounded inference function."""

LEVEL = 1e-9
"""Contributions that differ by less are level: sums in another order differ in the last bit."""

Function = tuple[tuple[float, ...], ...]
"""f(l, l'): a row for each label that is contributed to, a column for each that was given."""


@step
def accuracy(record: Array, worker: int, options: int) -> float:
    """Estimate of p_k for weights: as if, before, they had been right half-way from chance."""
    before = PRIOR * (1.0 + 1.0 / options) / 2.0
    p = (record[worker, AGREED] + before) / (record[worker, COUNT] + PRIOR)
    return min(max(p, LEAST), MOST)


@step
def contributions(record: Array, worker: int, inference: int, options: int) -> tuple[float, float]:
    """f_k(l, l) and f_k(l, l') of the inference functions with a name, in units of Q.

    An accuracy that is worse than chance gets no weight in a weighted vote; log-odds count it
    in favour of the other labels, and f_k is never negative, as (9) asks.
    """
    if inference == MAJORITY:
        return 1.0, 0.0
    p = accuracy(record, worker, options)
    if inference == WEIGHTED:
        return max(0.0, p - (1.0 - p) / (options - 1.0)), 0.0
    odds = math.log(p * (options - 1.0) / (1.0 - p)) / largest_odds(options)
    if odds >= 0.0:
        return odds, 0.0
    return 0.0, -odds


@step
def largest_odds(options: int) -> float:
    """Q of the log-odds: the largest |log p (L - 1) / (1 - p)| there is."""
    return max(
        math.log(MOST * (options - 1.0) / (1.0 - MOST)),
        -math.log(LEAST * (options - 1.0) / (1.0 - LEAST)),
    )


@kernel
def value_of(record: Array, given: Array, worker: int, inference: int, options: int) -> float:
    """Theorem 5.1, (11): the value contribution, the expectation by the empirical p_k.

    The minimum is over the wrong labels, the errors are spread evenly over them. Where it is not
    the same for every true label, the mean over them.
    """
    p = record[worker, AGREED] / record[worker, COUNT]
    wrong = (1.0 - p) / (options - 1.0)
    if inference != GIVEN:
        same, other = contributions(record, worker, inference, options)
        return (same - other) * (p - wrong)
    total = 0.0
    for true in range(options):
        least = math.inf
        for label in range(options):
            if label != true:
                lead = 0.0
                for said in range(options):
                    chance = p if said == true else wrong
                    lead += chance * (given[worker, true, said] - given[worker, label, said])
                least = min(least, lead)
        total += least
    return total / options


@kernel
def support(
    book: Book, record: Array, given: Array, inference: int, task: int, label: int
) -> float:
    """s_{i,l} of (9): what all answers to a task contribute to a label, by current estimates."""
    cells, options = book.cells, book.totals[c.OPTIONS]
    if inference == MAJORITY:
        return float(book.votes[task, label])
    total = 0.0
    if inference == POSTERIOR and given.shape[1] > 0:
        # No worker has a table here: the first row has what the labels' prior contributes.
        total = given[0, 0, label]
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        worker = cells[cell, c.CELL_WORKER]
        if inference == GIVEN:
            for said in range(options):
                total += cells[cell, c.VOTES + said] * given[worker, label, said]
        else:
            same, other = contributions(record, worker, inference, options)
            agree = cells[cell, c.VOTES + label]
            total += agree * same + (cells[cell, c.CELL_ANSWERS] - agree) * other
        cell = cells[cell, c.NEXT_CELL]
    return total


@kernel
def supports(book: Book, record: Array, given: Array, inference: int, task: int) -> Array:
    """What all answers to a task contribute to each label."""
    sums = np.empty(book.totals[c.OPTIONS], np.float64)
    for label in range(sums.shape[0]):
        sums[label] = support(book, record, given, inference, task, label)
    return sums


@kernel
def decision(
    book: Book, record: Array, given: Array, inference: int, task: int, draw: Draw, index: int
) -> int:
    """(10): the label with the largest contributions; a tie is broken by the draw at ``index``."""
    if inference == MAJORITY:
        return leading_option(book.votes, task, 0, book.totals[c.OPTIONS], draw, index)
    sums = supports(book, record, given, inference, task)
    leaders = marked(sums >= sums.max() - LEVEL)
    count = leaders.shape[0]
    return int(leaders[min(int(uniform(draw, index) * count), count - 1)])


@step
def was_right(
    book: Book, record: Array, given: Array, inference: int, fact: Fact, draw: Draw
) -> bool:
    """Section 5: after an answer, its worker was right if it is what (10) now says.

    The answer itself is among those that (10) goes by. Where the truth was told, that counts.
    """
    voted = book.tasks[fact.task, c.TRUTH]
    if voted < 0:
        voted = decision(book, record, given, inference, fact.task, draw, 0)
    return int(fact.value) == voted


@step
def learn(book: Book, record: Array, given: Array, inference: int, fact: Fact, draw: Draw) -> None:
    """Count an answer, and whether it was right, in its worker's record."""
    if fact.kind != k.ANSWER:
        return
    worker = fact.worker
    right = was_right(book, record, given, inference, fact, draw)
    record[worker, COUNT] += 1.0
    if right:
        record[worker, AGREED] += 1.0
    # A negative estimate counts as zero in every plan.
    value = max(0.0, value_of(record, given, worker, inference, book.totals[c.OPTIONS]))
    record[worker, WORTH] = record[worker, COUNT] * value


def inference_function(given: object) -> str | Function:
    """Read an inference function: its name, or a table f(l, l')."""
    if isinstance(given, str):
        return one_of(given, "inference", INFERENCES)
    if not isinstance(given, Sequence) or isinstance(given, bytes) or len(given) < 2:
        raise InvalidParameter(
            f"inference is {given!r}: give one of {', '.join(INFERENCES)}, or a table with a row "
            "and a column for each label",
            field="inference",
        )
    rows = []
    for row in given:
        if isinstance(row, str | bytes) or not isinstance(row, Sequence) or len(row) != len(given):
            raise InvalidParameter(
                f"inference has a row {row!r}: give {len(given)} numbers, one for each label",
                field="inference",
            )
        rows.append(
            tuple(real(f, "inference", "numbers from 0 to 1", least=0, most=1) for f in row)
        )
    return tuple(rows)


@dataclass(frozen=True)
class LimitedPolicy(KernelPolicy, Explains, LabelsItself):
    """Base of the family: tasks with options, prices above zero, judged by the running vote."""

    inference: str | Sequence[Sequence[float]] = "majority"
    label_prior: Sequence[float] | None = field(default=None, kw_only=True, metadata=LATER)
    paper: ClassVar[str] = PAPER
    outcomes: ClassVar[tuple[str, ...]] = ("options",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "inference", inference_function(self.inference))
        if self.label_prior is not None:
            object.__setattr__(self, "label_prior", self._read_prior(self.label_prior))

    def _read_prior(self, given: object) -> tuple[float, ...]:
        if self.inference != "map":
            raise InvalidParameter(
                f"label_prior is {given!r}, but inference is {self.inference!r}: only 'map' has "
                "a prior",
                field="label_prior",
            )
        if isinstance(given, str | bytes) or not isinstance(given, Sequence) or len(given) < 2:
            raise InvalidParameter(
                f"label_prior is {given!r}: give a number for each label, such as [0.9, 0.1]",
                field="label_prior",
            )
        valid = "a number above 0 and at most 1 for each label"
        shares = [real(share, "label_prior", valid, least=1e-9, most=1) for share in given]
        if abs(sum(shares) - 1) > 0.005:
            raise InvalidParameter(
                f"label_prior sums to {sum(shares):.6g}: give shares that sum to 1",
                field="label_prior",
            )
        return tuple(shares)

    def check(self, problem: Problem) -> None:
        """Tables and prior must have the problem's labels."""
        super().check(problem)
        if self.label_prior is not None and len(self.label_prior) != len(problem.options):
            raise InvalidProblem(
                f"label_prior has {len(self.label_prior)} shares: give one for each of the "
                f"{len(problem.options)} options",
                field="label_prior",
            )
        if self.code == GIVEN:
            for worker in problem.workers:
                self._table(problem, worker)

    def check_worker(self, worker: Worker) -> None:
        """Efficiencies (value per price) need prices above zero."""
        if worker.micro == 0:
            raise InvalidProblem(
                f"price of worker {worker.id!r} is 0: policy {self.name!r} divides values by "
                "prices and needs prices above 0",
                field="price",
            )

    def inference_of(self, problem: Problem, worker: Worker) -> Sequence[Sequence[float]] | None:
        """f_k(l, l') of a worker as a table of numbers from 0 to 1; None where a name says it.

        Override it to give every worker their own, from what you know about them: which
        labels they confuse, say. It may not depend on answers, and must be the same at each call.
        """
        return None if isinstance(self.inference, str) else self.inference

    @property
    def code(self) -> int:
        """Of the inference function, as kernels take it."""
        own = type(self).inference_of is not LimitedPolicy.inference_of
        if own or not isinstance(self.inference, str):
            return GIVEN
        return INFERENCES.index(self.inference)

    def tables(self, problem: Problem, ledger: Ledger) -> Array:
        """Room for the table of each worker, if there are tables, filled for those there are.

        Of the prior of ``map`` the first row has the log-odds against the rarest label, in units of
        Q: MAP adds them to the answers' (section 5), and contributions are never negative.
        """
        options = len(problem.options)
        if self.code == POSTERIOR and self.label_prior is not None:
            priors = np.zeros((len(ledger.book.workers), 1, options))
            shares = np.array(self.label_prior)
            priors[0, 0] = np.log(shares / shares.min()) / largest_odds(options)
            return priors
        size = options if self.code == GIVEN else 0
        held = np.zeros((len(ledger.book.workers), size, size))
        self.fill(problem, ledger, held)
        return held

    def fill(self, problem: Problem, ledger: Ledger, held: Array) -> None:
        """Write the tables of all who joined."""
        if self.code == GIVEN:
            for at, worker in enumerate(ledger.workers):
                held[at] = self._table(problem, worker)

    def _table(self, problem: Problem, worker: Worker) -> Function:
        table = inference_function(self.inference_of(problem, worker))
        if isinstance(table, str) or len(table) != len(problem.options):
            raise InvalidProblem(
                f"inference is {table!r} for worker {worker.id!r}: give a table with a row and a "
                f"column for each of the {len(problem.options)} options",
                field="inference",
            )
        return table

    def absorb(self, problem: Problem, state: Any, ledger: Ledger, fact: Fact, draw: Draw) -> None:
        """Run the absorbing kernel; a worker who joins brings their table."""
        if fact.kind == k.JOINED:
            self.fill(problem, ledger, state.given)
        super().absorb(problem, state, ledger, fact, draw)

    def record(self, state: Any, ledger: Ledger, task: int) -> Array:
        """What is known of the workers, for a task."""
        return state.beliefs

    def labels(
        self, problem: Problem, state: Any, ledger: Ledger, tasks: Sequence[int], draw: Draw
    ) -> list[Label]:
        """Decision rule (10); the confidence is the label's share of all contributions.

        With ``map`` it is the label's probability if estimates were right, and labels as likely as
        ``label_prior`` says, or equally.
        """
        book, code, options = ledger.book, self.code, len(problem.options)
        found: list[Label] = []
        for task in tasks:
            truth = int(book.tasks[task, c.TRUTH])
            if truth >= 0:
                found.append(told(truth))
                continue
            if book.tasks[task, c.TASK_ANSWERED] == 0:
                found.append(NO_LABEL)
                continue
            record = self.record(state, ledger, task)
            label = int(decision(book, record, state.given, code, task, draw, task))
            sums = supports(book, record, state.given, code, task)
            if code == POSTERIOR:
                sums = np.exp((sums - sums.max()) * largest_odds(options))
            total = float(sums.sum())
            share = float(sums[label]) / total if total > 0 else 1.0 / options
            found.append(Label(float(label), share, "agreement"))
        return found
