"""Simulation: the same policies and rules as in a live campaign, in a compiled loop."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from askwise.aggregation import aggregation
from askwise.core import draws
from askwise.core.choices import Done, Wait
from askwise.core.compiling import allowed
from askwise.core.errors import InvalidParameter, PolicyFault
from askwise.core.labels import Label, reported
from askwise.core.money import MICRO, NO_CAP, Amount, from_micro, to_micro
from askwise.core.problem import UNLIMITED, Problem
from askwise.kernels import Array, Draw, Fact
from askwise.lab import loop as loops
from askwise.lab.bound import compiled
from askwise.lab.loop import FULL, AnyWorld
from askwise.ledger import Book, Ledger
from askwise.ledger import columns as c
from askwise.ledger import kinds as k
from askwise.ledger.proposals import Proposal, new_proposal
from askwise.ledger.queries import CODES, IDLE
from askwise.ledger.transitions import AT_PRICE, advance
from askwise.policies import AwaitsTruth, KernelPolicy, LabelsItself, Policy, VotesBy
from askwise.stopping import KernelRule, StoppingRule, Verdict
from askwise.stopping.base import GO_ON, OPTION, OUTCOMES, SURE, Limits, new_ruling

Progress = Callable[[str, int, int], None]
"""Called with what is under way, how much is done and how much there is."""


def unseen(what: str, done: int, total: int) -> None:
    """Progress that nobody wants to hear of."""


def check_seed(seed: object) -> None:
    """Refuse what draws can't be made of."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise InvalidParameter(f"seed is {seed!r}: give a number from 0 to 2**63 - 1", field="seed")


def check_budget(budget: Amount, cheapest: int, whom: str) -> int:
    """Micro-units of a budget, refused if not even the cheapest can be paid."""
    micro = to_micro(budget, "budget")
    if micro < cheapest:
        raise InvalidParameter(
            f"budget is {from_micro(micro)}: it buys nothing, the cheapest {whom} costs "
            f"{from_micro(cheapest)}",
            field="budget",
        )
    return micro


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
    """One row per task: option, how sure, which outcome (0: open), the event's number, and that of
    the event that revealed its truth (0: none)."""
    state: Any
    """What the policy believed in the end."""
    rule_state: Any = ()
    """What the rule kept in the end, if it keeps anything."""

    def closing(self, task: int) -> Verdict:
        """What a closed task was closed with."""
        option, sure, code = self.closings[task, : loops.CLOSED_CODE + 1].tolist()
        return Verdict(
            int(option) if option >= 0 else None,
            OUTCOMES[int(code)],
            sure if option >= 0 and not math.isnan(sure) else None,
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
    truths: Sequence[tuple[int, int]] = (),
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
    truths : pairs of a task and an option, optional
        Told before anything is asked, in this order.
    """
    ledger = Ledger(problem) if ledger is None else fork(ledger)
    state = policy.start(problem, ledger)
    roles = (draws.POLICY, draws.ABSORB, draws.RULE)
    streams = loops.Streams(*(draws.stream(seed, role, replication) for role in roles))
    limits = rule.limits() if isinstance(rule, KernelRule) else Limits(UNLIMITED, NO_CAP)
    ruling = new_ruling(len(problem.options))
    course = loops.new_course(window, ledger.total(c.TASKS), ruling, limits)
    workers = ledger.total(c.WORKERS)
    ledger.room_for_plan(workers)
    out, available = new_proposal(workers), np.ones(workers, np.int8)
    started = rule.start(problem, ledger) if rule else ()
    for seq, (task, option) in enumerate(truths, 1):
        # As if told to a live campaign that has just begun.
        fact, draw = Fact(k.TRUTH, task, -1, float(option), 0, -1), Draw(*streams.absorbing, seq)
        ledger.seq = course.whole[loops.SEQ] = course.closings[task, loops.TRUTH_SEQ] = seq
        advance(ledger.book, fact.kind, task, -1, -1, AT_PRICE, fact.value, seq)
        with allowed(policy.name):
            policy.absorb(problem, state, ledger, fact, draw)
        if rule is not None:
            rule.absorb(problem, started, ledger, fact, draw)
    kind: Any = type(world)
    params: Any
    if isinstance(policy, KernelPolicy) and policy.compiles and isinstance(rule, KernelRule | None):
        judge = rule.judge if rule else loops.never
        observe = (rule and rule.observe) or loops.keep_nothing
        loop = compiled(policy.kernels, kind, judge, observe)
        params = policy.params()
        judging: Any = rule.params_with(ledger, started) if rule else loops.NoParams(0)
    else:
        loop = loops.uncompiled(
            kind, choose=_choose, absorb=_absorb, observe=loops.keep_nothing, judge=_judge
        )
        naming = Draw(*draws.stream(seed, draws.AGGREGATION, replication), 0)
        params = judging = _Plain(policy, rule, started, problem, ledger, naming)
    code = FULL
    while code == FULL:
        try:
            with allowed(policy.name):
                code = loop(
                    *(ledger.book, state, params, world, judging, streams, available),
                    *(out, course),
                )
        except _LongPlan as plan:
            ledger.room_for_plan(plan.rows)
            out = new_proposal(plan.rows)
            continue
        if code == FULL:
            ledger.room_for_assignments(_likely_more(ledger))
            state = policy.grow(state, ledger)
    if code == loops.FAULTY:
        raise PolicyFault(f"policy {policy.name!r} proposed something illegal", field="policy")
    if code == c.TOO_LARGE:
        assert isinstance(policy, KernelPolicy)
        raise policy.too_large()
    ledger.seq = int(course.whole[loops.SEQ])
    ledger.utility = 0.0 if problem.options else float(course.real[loops.UTILITY])
    return Outcome(
        utility=ledger.utility,
        spent=ledger.total(c.SPENT) / MICRO,
        answers=ledger.total(c.ANSWERS),
        decisions=ledger.total(c.DECISIONS),
        ended=IDLE[code],
        ledger=ledger,
        closings=course.closings,
        state=state,
        rule_state=started,
    )


def _likely_more(ledger: Ledger) -> int:
    """Room to be made for more questions: as many as the budget buys if it goes on like this."""
    asked, spent = ledger.total(c.ASSIGNMENTS), ledger.total(c.SPENT)
    least, most = 3 * asked, 30 * asked
    left = ledger.total(c.BUDGET) - spent
    likely = asked * left / spent if spent > 0 else 0.0
    return max(1024, least, int(min(1.1 * likely, most)))


@dataclass
class _Plain:
    """A policy and a rule of which at least one is plain Python, as the loop's parameters."""

    policy: Policy
    rule: StoppingRule | None
    rule_state: Any
    problem: Problem
    ledger: Ledger
    naming: Draw
    state: Any = None
    """What the policy believes, as last seen by it."""

    def label(self, task: int) -> Label:
        """Answer and confidence of a task, as a campaign names them unless told otherwise."""
        if isinstance(self.policy, LabelsItself):
            said = self.policy.labels(self.problem, self.state, self.ledger, [task], self.naming)
        else:
            promised = self.policy.aggregation() if isinstance(self.policy, VotesBy) else None
            vote = aggregation.make(promised or "majority")
            said = [vote.label(self.problem, self.ledger, task, self.naming, self.state)]
        return reported(said, [int(self.ledger.book.tasks[task, c.TRUTH])])[0]


class _LongPlan(Exception):
    """A plan has more rows than there is room for: to be chosen again with more of it."""

    def __init__(self, rows: int) -> None:
        super().__init__(rows)
        self.rows = rows


def _choose(
    book: Book, state: Any, plain: _Plain, draw: Draw, available: Array, out: Proposal
) -> int:
    plain.state = state
    choice = plain.policy.choose(plain.problem, state, plain.ledger, draw, available)
    if isinstance(choice, Wait | Done):
        if choice == Wait("truth") and isinstance(plain.policy, AwaitsTruth):
            out.head[2] = next(iter(plain.policy.awaited(state, plain.ledger)), -1) + 1
        return CODES[choice]
    rows = int(choice.head[0])
    if rows > len(book.plan) or rows > len(out.rows):
        raise _LongPlan(rows)
    out.rows[:rows], out.odds[:rows] = choice.rows[:rows], choice.odds[:rows]
    out.head[:] = choice.head
    return c.PROPOSED


def _absorb(book: Book, state: Any, plain: _Plain, fact: Fact, draw: Draw) -> None:
    ledger, problem = plain.ledger, plain.problem
    kind, task, worker, value, note, at = fact
    fact = Fact(kind, int(task), int(worker), float(value), int(note), int(at))
    plain.state, ledger.seq = state, draw.decision
    if kind == k.ANSWER and not problem.options:
        ledger.utility += fact.value
    plain.policy.absorb(problem, state, ledger, fact, draw)
    if plain.rule is not None:
        plain.rule.absorb(problem, plain.rule_state, ledger, fact, draw)


def _judge(book: Book, plain: _Plain, task: int, draw: Draw, ruling: Array) -> int:
    if plain.rule is None:
        return GO_ON
    ledger, problem, task = plain.ledger, plain.problem, int(task)
    verdict = plain.rule.verdict(problem, plain.rule_state, ledger, task, draw, plain.state)
    if verdict is None:
        return GO_ON
    option: float | None
    option, sure = verdict.option, verdict.confidence
    if option is None and problem.options:
        # As in a campaign: the answer stays as it is at this moment.
        option, sure, _ = plain.label(task)
    ruling[OPTION] = -1.0 if option is None else option
    ruling[SURE] = np.nan if sure is None else sure
    return OUTCOMES.index(verdict.outcome)


def at_budget(ledger: Ledger, problem: Problem) -> Ledger:
    """A copy of a fresh ledger, for its problem at another budget."""
    copy = fork(ledger)
    copy.problem = problem
    copy.set_budget(problem)
    return copy


def fork(ledger: Ledger) -> Ledger:
    """Copy a ledger's arrays; names are shared, as simulations add nobody."""
    copy = object.__new__(Ledger)
    copy.__dict__.update(ledger.__dict__)
    copy.book = Book(*(array.copy() for array in ledger.book))
    return copy
