"""Simulation: the same policies and rules as in a live campaign, in a compiled loop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from askwise.core import draws
from askwise.core.arrays import Array
from askwise.core.choices import Done, Wait
from askwise.core.compiling import allowed
from askwise.core.draws import Draw
from askwise.core.errors import InvalidParameter, PolicyFault
from askwise.core.events import Fact
from askwise.core.money import MICRO, NO_CAP
from askwise.core.problem import UNLIMITED, Problem
from askwise.lab.loop import (
    ANSWER_KIND,
    ASKED_KIND,
    CLOSED_CODE,
    CLOSED_KIND,
    CLOSED_SEQ,
    DECIDED_KIND,
    FAULTY,
    FULL,
    REPLIES,
    SEQ,
    TRUTH_KIND,
    TRUTH_SEQ,
    TRUTHS,
    UTILITY,
    AnyWorld,
    NoParams,
    Rulings,
    Streams,
    compiled,
    never,
    next_truth,
    times_asked,
)
from askwise.ledger import columns as c
from askwise.ledger.columns import Book
from askwise.ledger.ledger import Ledger
from askwise.ledger.proposals import fault, new_proposal
from askwise.ledger.queries import IDLE, next_task
from askwise.ledger.transitions import close_task, decide, hand_out, settle
from askwise.policies.base import KernelPolicy, Policy
from askwise.stopping.base import (
    CONFIDENT,
    OUTCOMES,
    KernelRule,
    Limits,
    StoppingRule,
    Verdict,
    new_ruling,
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
    """One row a task: option, how sure, which outcome (0: open), the event's number, and that of
    the event that revealed its truth (0: none)."""
    state: Any
    """What the policy believed in the end."""

    def closing(self, task: int) -> Verdict:
        """What a closed task was closed with."""
        option, sure, code = self.closings[task, : CLOSED_CODE + 1].tolist()
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
    closings = np.zeros((ledger.total(c.TASKS), 5))
    if not (isinstance(policy, KernelPolicy) and policy.compiles) or not isinstance(
        rule, KernelRule | None
    ):
        plain = _Plain(policy, problem, world, rule, ledger, state, streams, closings, window)
        with allowed(policy.name):
            ended = plain.run()
        return _outcome(ledger, ended, closings, plain.state)
    workers = ledger.total(c.WORKERS)
    ledger.room_for_plan(workers)
    kind: Any = type(world)
    loop = compiled(policy.kernels, kind, rule.judge if rule else never)
    rulings = Rulings(
        rule.params() if rule else NoParams(0),
        rule.limits() if rule else Limits(UNLIMITED, NO_CAP),
        new_ruling(len(problem.options)),
        closings,
    )
    out, available, tally = new_proposal(workers), np.ones(workers, np.int8), np.zeros(3)
    params, due = policy.params(), np.zeros(window)
    while True:
        with allowed(policy.name):
            code = loop(
                *(ledger.book, state, params, world, rulings, streams, available),
                *(out, tally, due),
            )
        if code != FULL:
            break
        ledger.room_for_assignments(max(1024, 3 * len(ledger.book.assignments)))
        state = policy.grow(state, ledger)
    if code == FAULTY:
        raise PolicyFault(f"policy {policy.name!r} proposed something illegal", field="policy")
    if code == c.TOO_LARGE:
        raise policy.too_large()
    ledger.seq = int(tally[SEQ])
    ledger.utility = 0.0 if problem.options else float(tally[UTILITY])
    return _outcome(ledger, IDLE[code], closings, state)


def _outcome(ledger: Ledger, ended: Wait | Done, closings: Array, state: Any) -> Outcome:
    return Outcome(
        utility=ledger.utility,
        spent=ledger.total(c.SPENT) / MICRO,
        answers=ledger.total(c.ANSWERS),
        decisions=ledger.total(c.DECISIONS),
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
    tally: Array = field(default_factory=lambda: np.zeros(3))

    def run(self) -> Wait | Done:
        """Ask and answer to the end."""
        ledger, policy = self.ledger, self.policy
        if self.rule is not None and type(self.rule).absorb is not StoppingRule.absorb:
            raise InvalidParameter(
                f"stopping {self.rule.name!r} keeps a state: the lab runs rules that read votes",
                field="stopping",
            )
        available = np.ones(ledger.total(c.WORKERS), np.int8)
        while True:
            draw = Draw(*self.streams.choosing, ledger.total(c.DECISIONS))
            choice = policy.choose(self.problem, self.state, ledger, draw, available)
            if isinstance(choice, Wait | Done):
                if self.due:
                    self._answer()
                elif choice != Wait("truth") or not self._reveal():
                    return choice
                continue
            if fault(ledger.book, choice, available) != c.FINE:
                raise PolicyFault(
                    f"policy {policy.name!r} proposed something illegal", field="policy"
                )
            ledger.room_for_plan(int(choice.head[0]))
            decide(ledger.book, choice)
            self._take_in(DECIDED_KIND, -1, -1, np.nan, int(choice.head[1]), -1)
            for row in range(ledger.total(c.PLAN_ROWS)):
                while ledger.book.plan[row, c.PLAN_COUNT] > 0:
                    self._ask(row)
                    if len(self.due) == self.window:
                        self._answer()

    def _ask(self, row: int) -> None:
        ledger = self.ledger
        ledger.room_for_assignments(1)
        book = ledger.book
        worker, task = int(book.plan[row, c.PLAN_WORKER]), int(book.plan[row, c.PLAN_TASK])
        if self.problem.taskless:
            named, task = -1, 0
        else:
            task = task if task >= 0 else int(next_task(book, worker))
            named = task
        k = int(times_asked(book, task, worker))
        elapsed = ledger.total(c.SPENT) / ledger.total(c.BUDGET)
        at = int(hand_out(book, row, task, ledger.seq + 1, np.inf))
        self._take_in(ASKED_KIND, named, worker, np.nan, 0, at)
        self.due[at] = float(REPLIES[type(self.world)](self.world, task, worker, k, elapsed))

    def _answer(self) -> None:
        """Settle what was asked first."""
        ledger = self.ledger
        at = min(self.due)
        value = self.due.pop(at)
        task, worker = (int(ledger.book.assignments[at, column]) for column in (c.TASK, c.WORKER))
        ledger.utility += 0.0 if self.problem.options else value
        settle(ledger.book, at, value)
        self._take_in(ANSWER_KIND, task, worker, value, 0, at)
        self._judge(task)

    def _reveal(self) -> bool:
        """Let the next truth come, if there is one."""
        task = int(next_truth(self.ledger.book, self.tally))
        truth = int(TRUTHS[type(self.world)](self.world, task)) if task >= 0 else -1
        if truth >= 0:
            self.ledger.book.tasks[task, c.TRUTH] = truth
            self._take_in(TRUTH_KIND, task, -1, float(truth), 0, -1)
            self.closings[task, TRUTH_SEQ] = self.ledger.seq
        return truth >= 0

    def _judge(self, task: int) -> None:
        ledger = self.ledger
        if self.rule is None or ledger.book.tasks[task, c.CLOSED]:
            return
        draw = Draw(*self.streams.judging, ledger.seq)
        verdict = self.rule.verdict(self.problem, (), ledger, task, draw, self.state)
        if verdict is None:
            return
        option = -1.0 if verdict.option is None else float(verdict.option)
        code = OUTCOMES.index(verdict.outcome)
        close_task(ledger.book, task)
        self._take_in(CLOSED_KIND, task, -1, option, int(code == CONFIDENT), -1)
        sure = verdict.confidence or 0.0
        self.closings[task, : CLOSED_SEQ + 1] = option, sure, code, ledger.seq

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
