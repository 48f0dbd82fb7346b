"""What a stopping rule is, and the registry of rules."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from askwise.core.checks import whole
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.money import NO_CAP, Amount, from_micro, to_micro
from askwise.core.problem import UNLIMITED, Problem
from askwise.core.registry import Registry
from askwise.kernels import Array, Draw, Fact, step, uniform
from askwise.ledger import Book, Ledger
from askwise.ledger import columns as c

# What judging may say.
GO_ON, CONFIDENT, LOW_CONFIDENCE, OVER_BUDGET = range(4)

OUTCOMES = ("open", "confident", "low_confidence", "over_budget")
"""The same in words."""

# Cells of a ruling; scratch space follows, four cells per option.
OPTION, SURE, SCRATCH = range(3)


class Verdict(NamedTuple):
    """A task is finished: its option (None in a utility campaign), how sure, and why.

    ``outcome`` is ``confident``, ``low_confidence`` (the horizon came first) or ``over_budget``.
    """

    option: int | None
    outcome: str
    confidence: float | None = None


@dataclass(frozen=True)
class StoppingRule(ABC):
    """When a task has been asked often enough. Independent of the policy.

    Has state of its own, written only by ``absorb``; ``verdict`` reads. Verdicts are taken
    after each answer; folding a log applies the CLOSED it finds and never asks the rule.
    """

    name: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    outcomes: ClassVar[tuple[str, ...]] = ("options",)
    most_options: ClassVar[int | None] = None
    """The most options that it can tell apart; None for any number."""
    guarantees: ClassVar[bool] = False
    """Whether it keeps a stated error on every instance, rather than trading error for cost."""
    promise: ClassVar[str] = ""
    """What exactly it guarantees or trades, and what it assumes."""
    dial: ClassVar[str] = ""
    """The parameter that trades error for cost."""
    version: ClassVar[int] = 1

    def check(self, problem: Problem) -> None:
        """Refuse a problem that this rule can't work on."""
        kind, count, wrong = "options" if problem.options else "utility", len(problem.options), ""
        if kind not in self.outcomes:
            wrong = f"works on {' or '.join(self.outcomes)}, this campaign has {kind}"
        elif problem.taskless:
            wrong = "closes tasks, this campaign has none"
        elif self.most_options is not None and count > self.most_options:
            limit = f"works on {self.most_options} options"
            wrong = f"{limit}, this campaign has {count}: use another rule"
        if wrong:
            raise InvalidProblem(f"stopping {self.name!r} {wrong}", field="stopping")

    def turned(self, value: float) -> StoppingRule:
        """The same rule with its dial at a value."""
        if not self.dial:
            raise InvalidParameter(
                f"stopping {self.name!r} has no parameter that trades error for cost",
                field="stopping",
            )
        return replace(self, **{self.dial: value})

    @property
    def learns(self) -> bool:
        """Whether facts teach it anything."""
        return type(self).absorb is not StoppingRule.absorb

    def start(self, problem: Problem, ledger: Ledger) -> Any:
        """State before anything has happened: a NamedTuple of arrays, or () for none."""
        return ()

    def grow(self, state: Any, ledger: Ledger) -> Any:
        """Copy the state into larger arrays, if need be, after workers or tasks were added."""
        return state

    def absorb(self, problem: Problem, state: Any, ledger: Ledger, fact: Fact, draw: Draw) -> None:
        """Learn from a fact that the ledger has already taken in."""
        return None

    @abstractmethod
    def verdict(
        self,
        problem: Problem,
        state: Any,
        ledger: Ledger,
        task: int,
        draw: Draw,
        beliefs: Any = None,
    ) -> Verdict | None:
        """Whether a task is finished, and with which option. The task has an answer."""

    def guess(
        self, problem: Problem, state: Any, ledger: Ledger, task: int, draw: Draw
    ) -> tuple[int | None, float | None]:
        """The option that the rule would name if it had to, and how sure it is."""
        return None, None

    def at_cap(self, ledger: Ledger, task: int) -> bool:
        """Whether one more answer might cost a task more than it may; asked after a failure."""
        return False


class Limits(NamedTuple):
    """The most answers, and the most micro-units, that a question may take."""

    horizon: int
    cap: int


@step
def at_limit(book: Book, task: int, limits: Limits) -> int:
    """Say whether horizon or cap end a question that the rule would go on with.

    The cap counts what is out, and one more answer at the highest price there is: so it is
    never exceeded when answers come one at a time.
    """
    tasks, workers = book.tasks, book.workers
    if tasks[task, c.TASK_ANSWERED] >= limits.horizon:
        return LOW_CONFIDENCE
    if limits.cap < NO_CAP:
        dearest = 0
        for worker in range(book.totals[c.WORKERS]):
            if workers[worker, c.JOINED] == 1:
                dearest = max(dearest, workers[worker, c.PRICE])
        cost = tasks[task, c.TASK_SPENT] + dearest
        at = tasks[task, c.TASK_LAST]
        while at >= 0:
            if book.assignments[at, c.STATUS] == c.OUT:
                cost += book.assignments[at, c.COST]
            at = book.assignments[at, c.BEFORE_OF_TASK]
        if cost > limits.cap:
            return OVER_BUDGET
    return GO_ON


@dataclass(frozen=True)
class KernelRule(StoppingRule):
    """A rule that reads votes only, by one kernel: the same live and in the lab.

    ``kernel`` is ``judge(book, params, task, draw, ruling) -> code``. It writes the option it
    would name now into ``ruling[OPTION]`` and how sure it is into ``ruling[SURE]``, and may use
    the cells from SCRATCH on.
    """

    _: KW_ONLY
    horizon: int | None = None
    cap: Amount | None = None
    kernel: ClassVar[Callable[..., int]]

    def __post_init__(self) -> None:
        if self.horizon is not None:
            whole(self.horizon, "horizon", least=1)
        if self.cap is not None:
            object.__setattr__(self, "cap", amount_above_0(self.cap, "cap"))

    def check(self, problem: Problem) -> None:
        """The cap must leave room for an answer of each worker."""
        super().check(problem)
        for worker in problem.workers:
            if worker.micro > self.limits().cap:
                raise InvalidProblem(
                    f"cap is {self.cap}: an answer of worker {worker.id!r} costs {worker.price}",
                    field="cap",
                )

    @property
    def judge(self) -> Callable[..., int]:
        """The kernel that this instance is judged by."""
        return type(self).kernel

    @property
    def observe(self) -> Callable[..., None] | None:
        """The kernel that this instance learns by, if it does: ``observe(book, params, fact)``.

        It writes into the arrays of the state, which are among the parameters then.
        """
        return None

    @property
    def learns(self) -> bool:
        """Whether facts teach it anything."""
        return self.observe is not None

    def absorb(self, problem: Problem, state: Any, ledger: Ledger, fact: Fact, draw: Draw) -> None:
        """Run the learning kernel."""
        if self.observe is not None:
            self.observe(ledger.book, self.params_with(ledger, state), fact)

    @abstractmethod
    def params(self) -> Any:
        """Parameters as the kernel takes them: a number, or a NamedTuple of plain numbers."""

    def params_for(self, ledger: Ledger) -> Any:
        """The same where they are about the workers that a campaign has."""
        return self.params()

    def params_with(self, ledger: Ledger, state: Any) -> Any:
        """The same with what the rule has learned, where it learns."""
        return self.params_for(ledger)

    def limits(self) -> Limits:
        """Horizon and cap as plain numbers."""
        return Limits(
            UNLIMITED if self.horizon is None else self.horizon,
            NO_CAP if self.cap is None else to_micro(self.cap, "cap"),
        )

    def verdict(
        self,
        problem: Problem,
        state: Any,
        ledger: Ledger,
        task: int,
        draw: Draw,
        beliefs: Any = None,
    ) -> Verdict | None:
        """Run the kernel; where it would go on, see whether horizon or cap end the question."""
        code, option, sure = self._ruled(problem, state, ledger, task, draw)
        if code == GO_ON and ledger.book.tasks[task, c.TASK_ANSWERED]:
            code = at_limit(ledger.book, task, self.limits())
        return None if code == GO_ON else Verdict(option, OUTCOMES[code], sure)

    def guess(
        self, problem: Problem, state: Any, ledger: Ledger, task: int, draw: Draw
    ) -> tuple[int | None, float | None]:
        """What the kernel would name now; nothing before the first answer."""
        return self._ruled(problem, state, ledger, task, draw)[1:]

    def at_cap(self, ledger: Ledger, task: int) -> bool:
        """By the same count as after an answer."""
        return bool(at_limit(ledger.book, task, self.limits()) == OVER_BUDGET)

    def _ruled(
        self, problem: Problem, state: Any, ledger: Ledger, task: int, draw: Draw
    ) -> tuple[int, int | None, float | None]:
        if not ledger.book.tasks[task, c.TASK_ANSWERED]:
            return GO_ON, None, None
        ruling = new_ruling(len(problem.options))
        code = self.judge(ledger.book, self.params_with(ledger, state), task, draw, ruling)
        option, sure = int(ruling[OPTION]), float(ruling[SURE])
        return (code, option, sure) if option >= 0 else (code, None, None)


def new_ruling(options: int) -> Array:
    """Room for a ruling and the scratch space of its kernel."""
    return np.zeros(SCRATCH + 4 * max(1, options))


def amount_above_0(amount: Amount, field: str) -> str:
    """Take money as text, in its plainest form."""
    micro = to_micro(amount, field)
    if micro == 0:
        raise InvalidParameter(f"{field} is 0: give an amount above 0", field=field)
    return str(from_micro(micro))


@step
def name_largest(options: int, draw: Draw, index: int, ruling: Array) -> float:
    """Name the option with the largest scratch cell, ties by a draw; returns that cell."""
    largest = -math.inf
    ties = 0
    for option in range(options):
        value = ruling[SCRATCH + option]
        if value > largest:
            largest = value
            ties = 1
        elif value == largest:
            ties += 1
    pick = min(int(uniform(draw, index) * ties), ties - 1) if ties > 1 else 0
    for option in range(options):
        if ruling[SCRATCH + option] == largest:
            if pick == 0:
                ruling[OPTION] = option
                break
            pick -= 1
    return largest


@step
def name_likeliest(options: int, draw: Draw, source: int, ruling: Array) -> float:
    """Write the likeliest option and its posterior probability; returns that of an error."""
    best = name_largest(options, draw, 2 * source + 1, ruling)
    others = -1.0
    for option in range(options):
        others += math.exp(ruling[SCRATCH + option] - best)
    ruling[SURE] = 1.0 / (1.0 + others)
    return others / (1.0 + others)


@step
def no_option(book: Book, ruling: Array) -> bool:
    """In a utility campaign there is no option to name."""
    if book.totals[c.OPTIONS] == 0:
        ruling[OPTION] = -1.0
        ruling[SURE] = 0.0
        return True
    return False


stopping: Registry[StoppingRule] = Registry("stopping", "askwise.stopping")
"""All stopping rules by name."""
