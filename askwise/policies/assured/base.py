"""The base of the policies of paper 000: parameters, explanations, what is assured."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np

from askwise.core.allocation import Assurance, FixedWorkers
from askwise.core.checks import between, one_of, real, whole
from askwise.core.choices import Done, Wait
from askwise.core.compiling import heavy_kernel
from askwise.core.errors import AskwiseError, InvalidParameter, InvalidProblem, TooLarge
from askwise.core.money import MICRO
from askwise.core.problem import Problem
from askwise.core.registry import LATER
from askwise.kernels import Array, Draw
from askwise.ledger import Book, Ledger
from askwise.ledger import columns as c
from askwise.ledger.proposals import Proposal, new_proposal
from askwise.ledger.queries import IDLE, can_be_asked
from askwise.policies.assured import common as a
from askwise.policies.assured import plain
from askwise.policies.assured.choosing import choose, find_members
from askwise.policies.assured.common import (
    INFORMED,
    Params,
    State,
    bound,
    is_under_way,
    new_state,
    record,
)
from askwise.policies.assured.earlier import read_records
from askwise.policies.assured.foreseeing import is_found
from askwise.policies.assured.gaps import gap_in_pool
from askwise.policies.assured.learning import absorb
from askwise.policies.assured.sets import ErrorFunction, Target, error_probability
from askwise.policies.assured.sets.base import function_of
from askwise.policies.assured.sets.checking import ensure_error_function
from askwise.policies.assured.sets.codes import FORGIVEN, LINEAR, OTHER
from askwise.policies.assured.sets.inputs import solver_of
from askwise.policies.assured.sets.kernels import meets
from askwise.policies.assured.watching import lowered
from askwise.policies.base import Axes, KernelPolicy, Kernels
from askwise.policies.capabilities import (
    Assures,
    AwaitsTruth,
    BoundsCost,
    Explains,
    LimitsSize,
    PlansForAll,
    Score,
    VotesBy,
)

# How a task stands: not begun or answers out, all there, all there of all who could be asked.
UNDER_WAY, COMPLETE, EVERYONE = range(3)


@cache
def target_of(error: str, solver: str, alpha: float) -> Target:
    """The target in plain numbers; parameters are strings and numbers, so it is made once."""
    return function_of(error).target(alpha, solver)


@heavy_kernel
def standing(book: Book, state: State, task: int, members: Array, allowed: Array) -> int:
    """Mark who has answered a task, and say how it stands."""
    find_members(book, task, members, allowed)
    if state.tasks[task, a.NOTE] == 0 or is_under_way(book, task):
        return UNDER_WAY
    for worker in range(allowed.shape[0]):
        if allowed[worker]:
            return COMPLETE
    return EVERYONE


@dataclass(frozen=True)
class AssuredPolicy(
    KernelPolicy, Explains, PlansForAll, AwaitsTruth, FixedWorkers, LimitsSize, BoundsCost, VotesBy
):
    """Base of the family: a set of workers for each task, by bounds on their qualities."""

    alpha: float = 0.1
    error: str = "majority"
    solver: str = "auto"
    floor: float = 0.5
    ahead: int = 1
    earlier: Sequence[tuple[str, int, int]] = field(default=(), metadata=LATER)

    paper: ClassVar[str] = a.PAPER
    outcomes: ClassVar[tuple[str, ...]] = ("options",)
    needs_budget: ClassVar[bool] = False
    version: ClassVar[int] = 2
    notes: ClassVar[tuple[str, ...]] = ("explore", "exploit", "unreachable", "mend")
    kernels: ClassVar[Kernels] = Kernels(choose, absorb)
    axes: ClassVar[Axes] = {"worker": "workers intervals known", "task": "tasks"}
    kind: ClassVar[int]
    """The rule by which sets are chosen."""

    def __post_init__(self) -> None:
        between(self.alpha, "alpha", 0, 0.5)
        solver_of(self.solver)
        below = math.nextafter(1.0, 0.0)
        real(self.floor, "floor", "a number from 0.5, below 1", least=0.5, most=below)
        whole(self.ahead, "ahead", least=1)
        object.__setattr__(self, "earlier", read_records(self.earlier))
        if not isinstance(self.error, str):
            raise InvalidParameter(
                f"error is {self.error!r}: give the name of an error function, such as "
                "'majority' or 'hoeffding-linear(epsilon=0.2)'",
                field="error",
            )
        try:
            function = function_of(self.error)
        except AskwiseError as wrong:
            raise InvalidParameter(f"error is {self.error!r}: {wrong}", field="error") from wrong
        # Before any money is spent.
        ensure_error_function(function)
        if self.solver == "classes":
            self._target(float(self.alpha))

    # What subclasses have more of.

    def planned(self) -> float:
        """The error that sets are planned for: alpha, or less."""
        return self.alpha

    def bounding(self) -> tuple[float, int]:
        """mu, and which bounds."""
        return 1.0, a.BY_MEAN

    def params(self) -> Params:
        """As plain numbers."""
        mu, bounds = self.bounding()
        return Params(
            rule=self.kind,
            goal=self._target(self.planned()),
            check=self._target(float(self.alpha)),
            mu=mu,
            bounds=bounds,
            floor=float(self.floor),
            ahead=int(self.ahead),
            rounds=INFORMED if self.earlier else 0,
        )

    def _target(self, alpha: float) -> Target:
        # "auto" is the paper's GA where it has one; else exact as long as that is quick.
        solver = "greedy" if self.solver == "auto" and self.is_linear else self.solver
        return target_of(self.error, solver, alpha)

    @property
    def function(self) -> ErrorFunction:
        """The error function."""
        return function_of(self.error)

    @property
    def is_linear(self) -> bool:
        """Whether the error function is the linear form, which GA solves."""
        return self.function.code == LINEAR

    @property
    def solves_exactly(self) -> bool:
        """Whether the set is the cheapest there is, always: "auto" does not promise it."""
        return self.solver == "exact"

    @property
    def minimiser(self) -> Literal["exact", "classes", "greedy"]:
        """How the set is found, as far as bids are concerned: "auto" promises nothing more."""
        if self.solver == "exact" or self.solver == "classes":
            return self.solver  # type: ignore[return-value]
        return "greedy"

    def aggregation(self) -> dict[str, Any] | None:
        """The one whose error the function is."""
        return self.function.aggregation()

    @property
    def compiles(self) -> bool:
        """Whether kernels can decide: not with an error function of a user's own."""
        return self.function.code != OTHER

    def check(self, problem: Problem) -> None:
        """Refuse tasks with options that the error is not known for, and workers asked twice."""
        super().check(problem)
        policy, field, why = f"policy {self.name!r}", "", ""
        misfit = self.function.misfit(len(problem.options))
        unasked = float(self.function.probability(np.empty(0)))
        if unasked <= self.alpha:
            field = "alpha"
            why = (
                f"is {self.alpha:g}: error {self.error!r} of {policy} is {unasked:g} if nobody is "
                "asked; give less than that"
            )
        elif misfit:
            field = "options"
            why = f"are {', '.join(problem.options)}: error {self.error!r} of {policy} {misfit}"
        elif problem.repeat:
            field, why = "repeat", f"is true: {policy} asks each worker once about a task"
        elif not problem.workers:
            field = "workers"
            why = f"is empty: {policy} takes nobody in after the start, give at least one"
        if field:
            raise InvalidProblem(f"{field} {why}", field=field)
        if not self.compiles:
            plain.check_size(self.error, self.solver, len(problem.workers))

    def check_size(self, options: int, workers: int) -> None:
        """Refuse an exact search that is unlikely to end, before anybody is paid for it."""
        known = tuple(getattr(self, "qualities", ()))
        if self.solves_exactly and self.compiles and not is_found(self.params(), workers, known):
            raise self.too_large()

    def start(self, problem: Problem, ledger: Ledger) -> State:
        """What earlier campaigns showed of the workers, if anything."""
        book = ledger.book
        state = new_state(len(book.workers), len(book.tasks))
        params, size = self.params(), ledger.total(c.WORKERS)
        known = {worker: (right, count) for worker, right, count in self.earlier}
        for at, worker in enumerate(ledger.workers):
            if worker.id in known:
                state.workers[at, a.RIGHT], state.workers[at, a.COUNT] = known[worker.id]
                record(state, params, size, at)
        return state

    def choose(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw, available: Array
    ) -> Proposal | Wait | Done:
        """Run the kernel, or its source where the error function is Python."""
        if self.compiles:
            return super().choose(problem, state, ledger, draw, available)
        decide = plain.choose_with(self.error, self.solver)
        out = new_proposal(ledger.total(c.WORKERS))
        code = decide(ledger.book, state, self.params(), draw, available, out)
        return out if code == c.PROPOSED else IDLE[code]

    def too_large(self) -> TooLarge:
        """Say that the exact search for a set has hit its limit."""
        return TooLarge(
            f"policy {self.name!r} can't find the cheapest set among these workers exactly: use "
            "solver='classes', which goes with bids too, or 'auto', which takes the best one found",
            field="solver",
        )

    def interval(
        self, state: State, ledger: Ledger, error: str | None = None
    ) -> tuple[Array, Array]:
        """Lower and upper bounds on the workers' qualities as they are now.

        For the policy's error function, or another.
        """
        size = ledger.total(c.WORKERS)
        lower, upper = np.empty(size), np.empty(size)
        params = self.params()
        if error is not None:
            params = params._replace(check=target_of(error, "auto", float(self.alpha)))
        bound(state, params, lower, upper)
        return lower, upper

    def scores(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw, available: Array
    ) -> list[Score]:
        """Cost by what a worker adds at best, their bounds and their record."""
        lower, upper = self.interval(state, ledger)
        gap = self.gap(state, ledger)
        found = []
        for at, worker in enumerate(ledger.workers):
            facts = state.workers[at]
            count, cost = int(facts[a.COUNT]), int(ledger.book.workers[at, c.RANKED_AT]) / MICRO
            gain = 2.0 * float(upper[at]) - 1.0
            details = {
                "lower": float(lower[at]),
                "upper": float(upper[at]),
                "count": float(count),
                "in_set": float(facts[a.IN_SET]),
            }
            if count:
                details["mean"] = int(facts[a.RIGHT]) / count
            if gap is not None and facts[a.IN_SET]:
                details["gap"] = gap
            found.append(Score(worker.id, cost / gain if gain > 0.0 else None, details))
        return found

    def gap(self, state: State, ledger: Ledger) -> float | None:
        """By what share the cheapest set may cost less than the one that exploration came to.

        Of those who can be asked, at the bounds that the set was chosen by. 0 if it is proved to be
        the cheapest; None as long as there is none, and where nothing is known: with an error
        function that is plain Python and a solver that does not try all sets.
        """
        size = ledger.total(c.WORKERS)
        chosen = state.workers[:size, a.IN_SET] == 1
        params = self.params()
        if params.miss >= 0.0 or not chosen.any():
            return None
        if self.solves_exactly or (not self.compiles and self.solver == "auto"):
            return 0.0
        if not self.compiles:
            return None
        lower, upper = self.interval(state, ledger)
        gone = state.workers[:size, a.DROPPED] == 1
        pool = [
            at
            for at in range(size)
            if chosen[at] or (not gone[at] and can_be_asked(ledger.book, at))
        ]
        costs = ledger.book.workers[pool, c.RANKED_AT]
        hope = (lower if self.kind == a.FIXED else upper)[pool]
        return gap_in_pool(params, costs, hope, chosen[pool])


@dataclass(frozen=True)
class BoundingPolicy(AssuredPolicy, Assures):
    """Those that keep an interval around each worker's quality."""

    mu: float = 0.05
    bounds: str = a.BOUNDS[a.ANYTIME]

    def __post_init__(self) -> None:
        super().__post_init__()
        between(self.mu, "mu", 0, 1)
        one_of(self.bounds, "bounds", a.BOUNDS)

    def bounding(self) -> tuple[float, int]:
        """As given."""
        return float(self.mu), a.BOUNDS.index(self.bounds)

    def assurances(
        self, problem: Problem, state: State, ledger: Ledger, tasks: Sequence[int]
    ) -> list[Assurance]:
        """The error of those who answered each task, at the present lower bounds.

        What audits have shown it to exceed them by is added.
        """
        slack = float(state.watch[a.SLACK])
        size = ledger.total(c.WORKERS)
        lower, _ = self.interval(state, ledger)
        votes, _ = self.interval(state, ledger, "majority")
        members, allowed = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
        known: dict[bytes, tuple[float, float, bool, bool]] = {}
        found = []
        for task in tasks:
            how = standing(ledger.book, state, task, members, allowed)
            # Most tasks were answered by the same few sets.
            key = members.tobytes()
            if key not in known:
                known[key] = (
                    *self._errors(lower[members], votes[members], slack),
                    slack > 0.0 and self._errors(lower[members], votes[members], 0.0)[2],
                )
            error, majority, assured, refuted = known[key]
            outcome = "not_assured"
            if how == UNDER_WAY:
                outcome = "open"
            elif assured:
                outcome = "assured"
            elif refuted:
                outcome = "assurance_failed"
            elif state.tasks[task, a.NOTE] == a.UNREACHABLE + 1:
                outcome = "target_not_reachable"
            elif how == EVERYONE:
                outcome = "everyone_asked"
            found.append(Assurance(outcome, error, majority))
        return found

    def _errors(self, qualities: Array, votes: Array, slack: float) -> tuple[float, float, bool]:
        """Error by the function and by majority, and whether the target is met.

        It must be met by the function and, unless that is the error of labels or bounds it, by the
        majority too: the linear form does so only from 1/2 + epsilon on, the most likely error
        never, and the weights of a weighted vote are learned, not known.
        """
        error = min(1.0, float(self.function.probability(qualities)) + slack)
        majority = min(1.0, error_probability("majority", votes) + slack)
        if slack >= self.alpha:
            return error, majority, False
        is_met = meets if self.compiles else plain.solvers(self.error, self.solver)["meets"]
        everyone = np.ones(len(qualities), np.bool_)
        target = lowered(self._target(float(self.alpha)), slack)
        assured = bool(is_met(target, qualities, everyone))
        if not self.function.is_of_labels:
            assured = assured and majority <= self.alpha * (1.0 + FORGIVEN)
        return error, majority, assured
