"""Simulation: the same policies and rules as in a live campaign, in a compiled loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from askwise.core import book as columns
from askwise.core import draws
from askwise.core.book import (
    ANSWERS,
    ASKED,
    ASSIGNMENTS,
    BUDGET,
    CELL_ANSWERS,
    CELL_OUT,
    CELLS,
    CLOSED,
    DECISIONS,
    FINE,
    PENDING,
    PLAN_COUNT,
    PLAN_ROWS,
    PLAN_TASK,
    PLAN_WORKER,
    PROPOSED,
    SPENT,
    TASK,
    TASKLESS,
    WORKER,
    Array,
    Book,
    Proposal,
    cell_of,
    new_proposal,
    next_task,
)
from askwise.core.booking import close_task, decide, fault, hand_out, settle
from askwise.core.choices import IDLE, Done, Wait
from askwise.core.compiling import bind, step
from askwise.core.draws import Draw
from askwise.core.errors import InvalidParameter, PolicyFault
from askwise.core.events import Fact, Kind
from askwise.core.ledger import Ledger
from askwise.core.money import MICRO, NO_CAP
from askwise.core.problem import UNLIMITED, Problem
from askwise.lab.worlds.base import World, reply_with_utility
from askwise.lab.worlds.recorded import RecordedWorld, recorded_reply
from askwise.lab.worlds.survey import SurveyWorld, survey_reply
from askwise.policies.base import KernelPolicy, Policy
from askwise.stopping.base import (
    CONFIDENT,
    GO_ON,
    OPTION,
    OUTCOMES,
    SURE,
    KernelRule,
    Limits,
    StoppingRule,
    Verdict,
    at_limit,
    new_ruling,
)

FULL, FAULTY = -1001, -1002

DECIDED_KIND, ASKED_KIND, ANSWER_KIND, CLOSED_KIND = (
    int(kind) for kind in (Kind.DECIDED, Kind.ASKED, Kind.ANSWER, Kind.CLOSED)
)

UTILITY, SEQ = range(2)

# Columns of `closings`, one row a task: option, how sure, which outcome, and the event's number.
CLOSED_OPTION, CLOSED_SURE, CLOSED_CODE, CLOSED_SEQ = range(4)

AnyWorld = World | SurveyWorld | RecordedWorld

REPLIES: dict[type, Callable[..., float]] = {
    World: reply_with_utility,
    SurveyWorld: survey_reply,
    RecordedWorld: recorded_reply,
}
"""How each kind of world answers."""


class Streams(NamedTuple):
    """Keys of the draws: of choosing, absorbing and judging."""

    choosing: tuple[int, int]
    absorbing: tuple[int, int]
    judging: tuple[int, int]


class Rulings(NamedTuple):
    """A rule's parameters and limits, room for one ruling, and what was closed."""

    params: Any
    limits: Limits
    ruling: Array
    closings: Array


class NoParams(NamedTuple):
    """Stands for the parameters of a rule where there is none."""

    none: int


def _unbound(*_: Any) -> int:
    raise NotImplementedError("the loop is compiled once its kernels are bound")


choose = absorb = reply = judge = _unbound


@step
def never(book: Book, params: NoParams, task: int, draw: Draw, ruling: Array) -> int:
    """Stands for the kernel of a rule where there is none."""
    return GO_ON


@step
def times_asked(book: Book, task: int, worker: int) -> int:
    """How often a pair was asked before; of a campaign without tasks, the worker."""
    if book.totals[columns.OPTIONS] == 0:
        return book.workers[worker, ASKED]
    cell = cell_of(book, task, worker)
    return book.cells[cell, CELL_OUT] + book.cells[cell, CELL_ANSWERS] if cell >= 0 else 0


def run_campaign(
    book: Book,
    state: Any,
    params: Any,
    world: Any,
    rulings: Rulings,
    streams: Streams,
    available: Array,
    out: Proposal,
    tally: Array,
    due: Array,
) -> int:
    """Ask and answer until the policy has nothing more to ask, or an array is full.

    ``choose`` and ``absorb`` are bound to a policy's kernels, ``reply`` to a world's, ``judge``
    to a rule's. As many questions are out at a time as ``due`` has room for answers; they are
    answered in the order of asking, and all of them before the end is believed. With room for
    one, the order of events is that of a live campaign in which each answer is told before the
    next ask.
    """
    totals, plan, tasks = book.totals, book.plan, book.tasks
    assignments, ruling, closings = book.assignments, rulings.ruling, rulings.closings
    choosing, absorbing, judging = streams.choosing, streams.absorbing, streams.judging
    window = len(due)
    code = PROPOSED
    row = 0
    while True:
        while row < totals[PLAN_ROWS] and plan[row, PLAN_COUNT] <= 0:
            row += 1
        pending = totals[PENDING]
        if pending == window or (pending > 0 and code != PROPOSED):
            at = totals[ANSWERS]
            task, worker, value = assignments[at, TASK], assignments[at, WORKER], due[at % window]
            tally[UTILITY] += value
            tally[SEQ] += 1
            draw = Draw(absorbing[0], absorbing[1], int(tally[SEQ]))
            settle(book, at, value)
            absorb(book, state, params, Fact(ANSWER_KIND, task, worker, value, 0, at), draw)
            if tasks[task, CLOSED] == 0:
                draw = Draw(judging[0], judging[1], int(tally[SEQ]))
                ruled = judge(book, rulings.params, task, draw, ruling)
                if ruled == GO_ON:
                    ruled = at_limit(book, task, rulings.limits)
                if ruled != GO_ON:
                    tally[SEQ] += 1
                    draw = Draw(absorbing[0], absorbing[1], int(tally[SEQ]))
                    closings[task, CLOSED_OPTION] = ruling[OPTION]
                    closings[task, CLOSED_SURE] = ruling[SURE]
                    closings[task, CLOSED_CODE] = ruled
                    closings[task, CLOSED_SEQ] = tally[SEQ]
                    close_task(book, task)
                    sure = 1 if ruled == CONFIDENT else 0
                    fact = Fact(CLOSED_KIND, task, -1, ruling[OPTION], sure, -1)
                    absorb(book, state, params, fact, draw)
            code = PROPOSED
        elif row < totals[PLAN_ROWS]:
            if totals[ASSIGNMENTS] == len(assignments):
                return FULL
            worker = plan[row, PLAN_WORKER]
            task = plan[row, PLAN_TASK]
            named = task
            if totals[TASKLESS] == 1:
                task = 0
            elif task < 0:
                task = next_task(book, worker)
                named = task
            k = times_asked(book, task, worker)
            if k == 0 and totals[CELLS] == len(book.cells):
                return FULL
            elapsed = totals[SPENT] / totals[BUDGET]
            tally[SEQ] += 1
            draw = Draw(absorbing[0], absorbing[1], int(tally[SEQ]))
            at = hand_out(book, row, task, int(tally[SEQ]), np.inf)
            absorb(book, state, params, Fact(ASKED_KIND, named, worker, np.nan, 0, at), draw)
            due[at % window] = reply(world, task, worker, k, elapsed)
        elif code != PROPOSED:
            return code
        else:
            out.head[0] = 0
            out.head[1] = 0
            draw = Draw(choosing[0], choosing[1], totals[DECISIONS])
            code = choose(book, state, params, draw, available, out)
            if code == PROPOSED:
                if fault(book, out, available) != FINE:
                    return FAULTY
                decide(book, out)
                row = 0
                tally[SEQ] += 1
                draw = Draw(absorbing[0], absorbing[1], int(tally[SEQ]))
                fact = Fact(DECIDED_KIND, -1, -1, np.nan, out.head[1], -1)
                absorb(book, state, params, fact, draw)


@cache
def _compiled(policy: Any, world: Any, judging: Callable[..., int]) -> Any:
    label = f"{policy.__module__}.{policy.name}_{world.__name__}_{judging.__module__}"
    return bind(
        run_campaign,
        f"{label}.{judging.__name__}",
        choose=policy.kernels.choose,
        absorb=policy.kernels.absorb,
        reply=REPLIES[world],
        judge=judging,
    )


@dataclass(frozen=True)
class Outcome:
    """What one simulated campaign came to."""

    utility: float
    spent: float
    answers: int
    decisions: int
    ended: Wait | Done
    ledger: Ledger
    closings: Array
    """One row a task: option, how sure, which outcome (0: open), the event's number."""
    state: Any
    """What the policy believed in the end."""

    def closing(self, task: int) -> Verdict:
        """What a closed task was closed with."""
        option, sure, code, _ = self.closings[task].tolist()
        return Verdict(
            int(option) if option >= 0 else None,
            OUTCOMES[int(code)],
            sure if option >= 0 else None,
        )


def simulate(
    policy: Policy,
    problem: Problem,
    world: AnyWorld,
    *,
    rule: StoppingRule | None = None,
    seed: int,
    replication: int = 0,
    ledger: Ledger | None = None,
    window: int = 1,
) -> Outcome:
    """Run one campaign to its end.

    Parameters
    ----------
    rule : StoppingRule, optional
        Closes tasks; must be given as a kernel if the policy is.
    ledger : Ledger, optional
        A fresh ledger of the problem to copy: saves reading the problem for every policy.
    window : int
        How many questions may be out at a time; answers come in the order of asking.
    """
    ledger = Ledger(problem) if ledger is None else fork(ledger)
    state = policy.start(problem, ledger)
    streams = Streams(
        draws.stream(seed, draws.POLICY, replication),
        draws.stream(seed, draws.ABSORB, replication),
        draws.stream(seed, draws.RULE, replication),
    )
    closings = np.zeros((ledger.total(columns.TASKS), 4))
    if not (isinstance(policy, KernelPolicy) and isinstance(rule, KernelRule | None)):
        plain = _Plain(policy, problem, world, rule, ledger, state, streams, closings, window)
        ended = plain.run()
        return _outcome(ledger, ended, closings, plain.state)
    workers = ledger.total(columns.WORKERS)
    ledger._reserve_plan(workers)
    kind: Any = type(world)
    loop = _compiled(type(policy), kind, rule.judge if rule else never)
    rulings = Rulings(
        rule.params() if rule else NoParams(0),
        rule.limits() if rule else Limits(UNLIMITED, NO_CAP),
        new_ruling(len(problem.options)),
        closings,
    )
    out, available, tally = new_proposal(workers), np.ones(workers, np.int8), np.zeros(2)
    params, due = policy.params(), np.zeros(window)
    while True:
        code = loop(ledger.book, state, params, world, rulings, streams, available, out, tally, due)
        if code != FULL:
            break
        ledger.room_for_assignments(max(1024, 3 * len(ledger.book.assignments)))
        state = policy.grow(state, ledger)
    if code == FAULTY:
        raise PolicyFault(f"policy {policy.name!r} proposed something illegal", field="policy")
    if code == columns.TOO_LARGE:
        raise policy.too_large()
    ledger.seq = int(tally[SEQ])
    ledger.utility = 0.0 if problem.options else float(tally[UTILITY])
    return _outcome(ledger, IDLE[code], closings, state)


def _outcome(ledger: Ledger, ended: Wait | Done, closings: Array, state: Any) -> Outcome:
    return Outcome(
        utility=ledger.utility,
        spent=ledger.total(SPENT) / MICRO,
        answers=ledger.total(columns.ANSWERS),
        decisions=ledger.total(DECISIONS),
        ended=ended,
        ledger=ledger,
        closings=closings,
        state=state,
    )


@dataclass
class _Plain:
    """The compiled loop's steps, one by one from Python: for policies and rules without kernels."""

    policy: Policy
    problem: Problem
    world: AnyWorld
    rule: StoppingRule | None
    ledger: Ledger
    state: Any
    streams: Streams
    closings: Array
    window: int
    due: dict[int, float] = field(default_factory=dict)

    def run(self) -> Wait | Done:
        """Ask and answer to the end."""
        ledger, policy = self.ledger, self.policy
        if self.rule is not None and type(self.rule).absorb is not StoppingRule.absorb:
            raise InvalidParameter(
                f"stopping {self.rule.name!r} keeps a state: the lab runs rules that read votes",
                field="stopping",
            )
        available = np.ones(ledger.total(columns.WORKERS), np.int8)
        while True:
            draw = Draw(*self.streams.choosing, ledger.total(DECISIONS))
            choice = policy.choose(self.problem, self.state, ledger, draw, available)
            if isinstance(choice, Wait | Done):
                if not self.due:
                    return choice
                self._answer()
                continue
            if fault(ledger.book, choice, available) != FINE:
                raise PolicyFault(
                    f"policy {policy.name!r} proposed something illegal", field="policy"
                )
            ledger._reserve_plan(int(choice.head[0]))
            decide(ledger.book, choice)
            self._take_in(DECIDED_KIND, -1, -1, np.nan, int(choice.head[1]), -1)
            for row in range(ledger.total(PLAN_ROWS)):
                while ledger.book.plan[row, PLAN_COUNT] > 0:
                    self._ask(row)
                    if len(self.due) == self.window:
                        self._answer()

    def _ask(self, row: int) -> None:
        ledger = self.ledger
        ledger.room_for_assignments(1)
        book = ledger.book
        worker, task = int(book.plan[row, PLAN_WORKER]), int(book.plan[row, PLAN_TASK])
        if self.problem.taskless:
            named, task = -1, 0
        else:
            task = task if task >= 0 else int(next_task(book, worker))
            named = task
        k = int(times_asked(book, task, worker))
        elapsed = ledger.total(SPENT) / ledger.total(BUDGET)
        at = int(hand_out(book, row, task, ledger.seq + 1, np.inf))
        self._take_in(ASKED_KIND, named, worker, np.nan, 0, at)
        self.due[at] = float(REPLIES[type(self.world)](self.world, task, worker, k, elapsed))

    def _answer(self) -> None:
        """Settle what was asked first."""
        ledger = self.ledger
        at = min(self.due)
        value = self.due.pop(at)
        task, worker = (int(ledger.book.assignments[at, column]) for column in (TASK, WORKER))
        ledger.utility += 0.0 if self.problem.options else value
        settle(ledger.book, at, value)
        self._take_in(ANSWER_KIND, task, worker, value, 0, at)
        self._judge(task)

    def _judge(self, task: int) -> None:
        ledger = self.ledger
        if self.rule is None or ledger.book.tasks[task, CLOSED]:
            return
        draw = Draw(*self.streams.judging, ledger.seq)
        verdict = self.rule.verdict(self.problem, (), ledger, task, draw, self.state)
        if verdict is None:
            return
        option = -1.0 if verdict.option is None else float(verdict.option)
        code = OUTCOMES.index(verdict.outcome)
        close_task(ledger.book, task)
        self._take_in(CLOSED_KIND, task, -1, option, int(code == CONFIDENT), -1)
        self.closings[task] = option, verdict.confidence or 0.0, code, ledger.seq

    def _take_in(self, kind: int, task: int, worker: int, value: float, note: int, at: int) -> None:
        self.ledger.seq += 1
        self.state = self.policy.grow(self.state, self.ledger)
        fact, draw = (
            Fact(kind, task, worker, value, note, at),
            Draw(*self.streams.absorbing, self.ledger.seq),
        )
        self.policy.absorb(self.problem, self.state, self.ledger, fact, draw)


def fork(ledger: Ledger) -> Ledger:
    """Copy a ledger's arrays; names are shared, as simulations add nobody."""
    copy = object.__new__(Ledger)
    copy.__dict__.update(ledger.__dict__)
    copy.book = Book(*(array.copy() for array in ledger.book))
    return copy
