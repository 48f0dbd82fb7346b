"""What a policy is, and the registry of policies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from askwise.core.allocation import Allocation, Assurance
from askwise.core.arrays import Array
from askwise.core.choices import Done, Wait
from askwise.core.draws import Draw
from askwise.core.errors import InvalidProblem, TooLarge
from askwise.core.events import Fact
from askwise.core.problem import Problem, Worker
from askwise.core.registry import Registry
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.ledger.proposals import Proposal, new_proposal
from askwise.ledger.queries import IDLE

State = Any
"""A NamedTuple of arrays."""


class Kernels(NamedTuple):
    """The two module-level functions that a compiled policy consists of.

    ``choose(book, state, params, draw, available, out) -> code`` reads; it writes only ``out``.
    ``absorb(book, state, params, fact, draw)`` writes ``state``.
    """

    choose: Callable[..., int]
    absorb: Callable[..., None]


@dataclass(frozen=True, slots=True)
class Score:
    """What a policy thought of one worker when it decided; ``index`` is what it ranks by."""

    worker: str
    index: float | None
    details: dict[str, float]


@dataclass(frozen=True)
class Policy(ABC):
    """Whom to ask next. Holds hyper-parameters only; beliefs live in the State.

    Facts (money, limits, pending work, closed tasks) are the ledger's: a policy reads them
    there and keeps no books of its own.
    """

    name: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    outcomes: ClassVar[tuple[str, ...]] = ("utility",)
    """The outcome spaces it can work with: ``utility``, ``options``."""
    needs_budget: ClassVar[bool] = True
    plans: ClassVar[bool] = False
    """Whether it decides on a plan for all who joined (``ask(workers=)`` then restricts only
    the handing out) rather than among those available."""
    repeats: ClassVar[bool] = False
    """Whether its workers are crowds: unless a campaign says otherwise, they are asked about the
    same task again and again."""
    notes: ClassVar[tuple[str, ...]] = ("choose",)
    """What a decision may be for, in a word each; the first is the usual one."""
    rule: ClassVar[str] = ""
    """The rule in words, for explanations."""
    version: ClassVar[int] = 1
    """Of the beliefs' layout and meaning: a snapshot of another version is refolded."""
    per_worker: ClassVar[tuple[str, ...]] = ()
    """Fields of the State with one row a worker; they grow when workers join."""
    per_task: ClassVar[tuple[str, ...]] = ()
    """Fields of the State with one row a task."""
    per_cell: ClassVar[tuple[str, ...]] = ()
    """Fields of the State with one row a pair of task and worker, as in the ledger's cells."""
    per_assignment: ClassVar[tuple[str, ...]] = ()
    """Fields of the State with one row an assignment."""
    per_context: ClassVar[tuple[str, ...]] = ()
    """Fields of the State with one row a context."""
    per_skill: ClassVar[tuple[str, ...]] = ()
    """Fields of the State with one row a context and one column a worker."""
    awaits_truth: ClassVar[bool] = False
    """Whether it learns from the truth of tasks and may answer ``Wait("truth")``."""
    admits: ClassVar[bool] = True
    """Whether workers may join after the start."""
    labels_itself: ClassVar[bool] = False
    """Whether it says itself what the answers are (``labels``), by what it believes of workers."""

    def check(self, problem: Problem) -> None:
        """Refuse a problem that this policy can't work on."""
        kind = "options" if problem.options else "utility"
        if kind not in self.outcomes:
            raise InvalidProblem(
                f"policy {self.name!r} works on {' or '.join(self.outcomes)}, "
                f"this campaign has {kind}",
                field="policy",
            )
        if self.needs_budget and problem.budget is None:
            raise InvalidProblem(
                f"budget is missing: policy {self.name!r} needs one", field="budget"
            )
        for worker in problem.workers:
            self.check_worker(worker)

    def check_size(self, options: int, workers: int) -> None:
        """Refuse (TooLarge) a size at which one decision would take long, of a new campaign or of
        one that workers join.

        A policy whose decisions take longer than a few seconds at some size, without the compiler,
        states a limit here; ``workers`` counts those who left as well. Campaigns that are there
        already open whatever their size.
        """
        return None

    def refuse_size(self, what: str, value: int, limit: int, field: str, remedy: str) -> None:
        """Raise TooLarge if ``value``, which is ``what`` a decision's time grows with, exceeds
        ``limit``.
        """
        if value > limit:
            raise TooLarge(
                f"{what} is {value:,}: up to {limit:,}, policy {self.name!r} decides within "
                f"seconds; {remedy}",
                field=field,
            )

    def check_worker(self, worker: Worker) -> None:
        """Refuse a worker, there from the start or joining, whom it can't deal with."""
        return None

    @abstractmethod
    def start(self, problem: Problem, ledger: Ledger) -> State:
        """Beliefs before anything has happened, with a row for each row of capacity."""

    @abstractmethod
    def choose(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw, available: Array
    ) -> Proposal | Wait | Done:
        """Decide whom to ask. Changes neither state nor ledger."""

    @abstractmethod
    def absorb(
        self, problem: Problem, state: State, ledger: Ledger, fact: Fact, draw: Draw
    ) -> None:
        """Learn from a fact that the ledger has already taken in."""

    def scores(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw, available: Array
    ) -> list[Score]:
        """What the policy thinks of each worker, for explanations."""
        return []

    def labels(
        self, problem: Problem, state: State, ledger: Ledger, tasks: Sequence[int], draw: Draw
    ) -> list[tuple[float | None, float | None]]:
        """Answer (an option's index) and confidence of each task; only if ``labels_itself``."""
        raise NotImplementedError(f"policy {self.name!r} leaves the answers to the aggregation")

    def needs_gold(
        self, problem: Problem, state: State, ledger: Ledger
    ) -> list[tuple[str | None, list[str]]]:
        """Contexts in which answers alone can't tell who is right, each with tasks to settle it."""
        return []

    def allocation(self) -> Allocation | None:
        """How bids decide who works; None if no mechanism is proved for it."""
        return None

    def critical_bids(
        self, problem: Problem, state: State, ledger: Ledger, members: Sequence[int]
    ) -> list[float]:
        """For each of a chosen set the highest bid (micro-units) at which he were still in it."""
        raise NotImplementedError(f"policy {self.name!r} has no critical bids")

    def assurances(
        self, problem: Problem, state: State, ledger: Ledger, tasks: Sequence[int]
    ) -> list[Assurance] | None:
        """How sure each task's answer is by the bounds on qualities; None if it keeps none."""
        return None

    def grow(self, state: State, ledger: Ledger) -> State:
        """Copy beliefs into larger arrays after workers or tasks were added."""
        grown = {}
        book = ledger.book
        for names, shape in (
            (self.per_worker, (len(book.workers),)),
            (self.per_task, (len(book.tasks),)),
            (self.per_cell, (len(book.cells),)),
            (self.per_assignment, (len(book.assignments),)),
            (self.per_context, (len(book.contexts),)),
            (self.per_skill, (len(book.contexts), len(book.workers))),
        ):
            for name in names:
                array = getattr(state, name)
                if any(have < due for have, due in zip(array.shape, shape, strict=False)):
                    larger = np.zeros((*shape, *array.shape[len(shape) :]), array.dtype)
                    larger[tuple(slice(size) for size in array.shape)] = array
                    grown[name] = larger
        return state._replace(**grown) if grown else state

    def used(self, state: State, ledger: Ledger) -> dict[str, Array]:
        """The part of the beliefs that counts: what snapshots keep and equality is about."""
        kept = dict(state._asdict())
        for names, column in (
            (self.per_worker, c.WORKERS),
            (self.per_task, c.TASKS),
            (self.per_cell, c.CELLS),
            (self.per_assignment, c.ASSIGNMENTS),
            (self.per_context, c.CONTEXTS),
            (self.per_skill, c.CONTEXTS),
        ):
            for name in names:
                kept[name] = kept[name][: ledger.total(column)]
        for name in self.per_skill:
            kept[name] = kept[name][:, : ledger.total(c.WORKERS)]
        return kept

    def restore(self, problem: Problem, ledger: Ledger, kept: dict[str, Array]) -> State:
        """Rebuild beliefs from what ``used`` gave."""
        fresh = self.start(problem, ledger)
        for name, array in kept.items():
            getattr(fresh, name)[tuple(slice(size) for size in array.shape)] = array
        return fresh


@dataclass(frozen=True)
class KernelPolicy(Policy):
    """A policy whose choosing and absorbing are kernels: the same two live and in the lab."""

    kernels: ClassVar[Kernels]
    instead: ClassVar[str] = "a policy that approximates"
    """What to use where an exact decision is not affordable."""

    @property
    def compiles(self) -> bool:
        """Whether the kernels can run with these parameters; if not, ``choose`` is plain Python."""
        return True

    @abstractmethod
    def params(self) -> Any:
        """Hyper-parameters as a NamedTuple of plain numbers, as the kernels take them."""

    def choose(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw, available: Array
    ) -> Proposal | Wait | Done:
        """Run the choosing kernel."""
        out = new_proposal(ledger.total(c.WORKERS))
        code = self.kernels.choose(ledger.book, state, self.params(), draw, available, out)
        if code == c.TOO_LARGE:
            raise self.too_large()
        return out if code == c.PROPOSED else IDLE[code]

    def too_large(self) -> TooLarge:
        """Say that an exact decision of this size is not affordable."""
        return TooLarge(
            f"policy {self.name!r} can't plan a problem of this size exactly: use "
            f"{self.instead}, or prices with a larger common divisor",
            field="policy",
        )

    def absorb(
        self, problem: Problem, state: State, ledger: Ledger, fact: Fact, draw: Draw
    ) -> None:
        """Run the absorbing kernel."""
        self.kernels.absorb(ledger.book, state, self.params(), fact, draw)


policies: Registry[Policy] = Registry("policy", "askwise.policies")
"""All policies by name."""
