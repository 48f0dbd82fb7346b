"""What a policy is, and the registry of policies."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from askwise.core.choices import Done, Wait
from askwise.core.errors import InvalidProblem, TooLarge
from askwise.core.problem import Problem, Worker
from askwise.core.records import by_reference
from askwise.core.registry import Registry
from askwise.kernels import Array, Draw, Fact, step
from askwise.ledger import Book, Ledger, Proposal
from askwise.ledger import columns as c
from askwise.ledger.proposals import new_proposal
from askwise.ledger.queries import IDLE

State = Any
"""A NamedTuple of arrays."""

Axes = Mapping[str, str]
"""Names of the State's arrays by what their first axis is (or first two: ``"context worker"``), so
that a campaign can enlarge them as it grows: ``{"worker": "beliefs weights", "task": "keys"}``.
``"cell"`` is a pair of task and worker that was asked, ``"assignment"`` one that was handed out.
"""

_AXES = {
    "worker": ("workers", c.WORKERS),
    "task": ("tasks", c.TASKS),
    "cell": ("cells", c.CELLS),
    "assignment": ("assignments", c.ASSIGNMENTS),
    "context": ("contexts", c.CONTEXTS),
}
"""The ledger's array along each axis, and where it counts the rows in use."""


class Kernels(NamedTuple):
    """The two module-level functions that a compiled policy consists of.

    ``choose(book, state, params, draw, available, out) -> code`` reads; it writes only ``out``.
    ``absorb(book, state, params, fact, draw)`` writes ``state``.
    """

    choose: Callable[..., int]
    absorb: Callable[..., None]


class NoSettings(NamedTuple):
    """The parameters of a policy that has none: compiled code takes no empty tuple."""

    none: int = 0


@by_reference
class Nothing(NamedTuple):
    """The beliefs of a policy that has none."""

    none: Array


@step
def learn_nothing(book: Book, state: Any, params: Any, fact: Fact, draw: Draw) -> None:
    """The absorbing kernel of a policy that facts teach nothing."""
    return


@dataclass(frozen=True)
class Policy(ABC):
    """Whom to ask next. Holds hyper-parameters only; beliefs live in the State.

    Facts (money, limits, pending work, closed tasks) are the ledger's: a policy reads them
    there and keeps no books of its own. What only some can do is in
    :mod:`askwise.policies.capabilities`.
    """

    name: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    outcomes: ClassVar[tuple[str, ...]] = ("utility",)
    """The outcome spaces it can work with: ``utility``, ``options``."""
    needs_budget: ClassVar[bool] = True
    notes: ClassVar[tuple[str, ...]] = ("choose",)
    """What a decision may be for, in a word each; the first is the usual one."""
    version: ClassVar[int] = 1
    """Of the beliefs' layout and meaning: a snapshot of another version is refolded."""
    axes: ClassVar[Axes] = {}
    """What the rows of the State's arrays are; see ``Axes``."""

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

    def grow(self, state: State, ledger: Ledger) -> State:
        """Copy beliefs into larger arrays after workers or tasks were added."""
        grown = {}
        for name, sizes in self._along_axes(ledger):
            array = getattr(state, name)
            due = tuple(room for room, _ in sizes)
            if any(have < want for have, want in zip(array.shape, due, strict=False)):
                larger = np.zeros((*due, *array.shape[len(due) :]), array.dtype)
                larger[tuple(slice(size) for size in array.shape)] = array
                grown[name] = larger
        return state._replace(**grown) if grown else state

    def used(self, state: State, ledger: Ledger) -> dict[str, Array]:
        """The part of the beliefs that counts: what snapshots keep and equality is about."""
        kept = dict(state._asdict())
        for name, sizes in self._along_axes(ledger):
            kept[name] = kept[name][tuple(slice(count) for _, count in sizes)]
        return kept

    def size_along(self, axis: str, ledger: Ledger) -> tuple[int, int]:
        """How many rows there is room for along an axis, and how many are in use."""
        array, count = _AXES[axis]
        return len(getattr(ledger.book, array)), ledger.total(count)

    def _along_axes(self, ledger: Ledger) -> Iterator[tuple[str, list[tuple[int, int]]]]:
        """Each field that ``axes`` names, with its size along each of its axes."""
        for axes, names in self.axes.items():
            for name in names.split():
                yield name, [self.size_along(axis, ledger) for axis in axes.split()]

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

    @property
    def compiles(self) -> bool:
        """Whether the kernels can run with these parameters; if not, ``choose`` is plain Python."""
        return True

    def params(self) -> Any:
        """Hyper-parameters as a NamedTuple of plain numbers, as the kernels take them."""
        return NoSettings()

    @cached_property
    def _params(self) -> Any:
        """The same, worked out once: every event of a campaign takes them."""
        return self.params()

    def start(self, problem: Problem, ledger: Ledger) -> State:
        """Nothing to believe, unless a policy says otherwise."""
        return Nothing(np.zeros(0))

    def choose(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw, available: Array
    ) -> Proposal | Wait | Done:
        """Run the choosing kernel."""
        out = new_proposal(ledger.total(c.WORKERS))
        given = (self._params, draw, available, out)
        code = ledger.calls.with_state(self.kernels.choose, ledger.book, state, *given)
        if code == c.TOO_LARGE:
            raise self.too_large()
        return out if code == c.PROPOSED else IDLE[code]

    def too_large(self) -> TooLarge:
        """Say that an exact decision of this size is not affordable."""
        return TooLarge(
            f"policy {self.name!r} can't plan a problem of this size exactly: use "
            "a policy that approximates, or prices with a larger common divisor",
            field="policy",
        )

    def absorb(
        self, problem: Problem, state: State, ledger: Ledger, fact: Fact, draw: Draw
    ) -> None:
        """Run the absorbing kernel."""
        absorb = self.kernels.absorb
        if absorb is not learn_nothing:
            ledger.calls.with_state(absorb, ledger.book, state, self._params, fact, draw)


policies: Registry[Policy] = Registry("policy", "askwise.policies")
"""All policies by name."""
