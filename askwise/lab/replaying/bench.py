"""Contenders on a world of labels: a policy and what makes answers of its labels, how right they
are, and what they spend.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from askwise.aggregation import Aggregator, aggregation
from askwise.aggregation.answers import answers_in, code_answers
from askwise.aggregation.base import LabelAggregator
from askwise.core import draws
from askwise.core.compiling import bind
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.money import Amount
from askwise.core.problem import Problem
from askwise.core.registry import from_label, label_of
from askwise.kernels import Array, Draw
from askwise.kernels.votes import leading_option
from askwise.lab.simulate import Outcome, simulate
from askwise.lab.worlds import RecordedWorld, Recording
from askwise.lab.worlds.recorded import shuffled
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.policies import LabelsItself, Policy, policies

ACCURACY, SPENT = range(2)
SPLIT = " by context"


@dataclass(frozen=True)
class Contender:
    """A policy, and what makes answers of what it asked: itself, or an aggregator.

    Parameters
    ----------
    policy : Policy
        Whom to ask.
    aggregator : Aggregator, optional
        Without one the policy's own answers count, or the majority if it has none.
    split : bool
        Whether the aggregator learns in each context alone.
    """

    policy: Policy
    aggregator: Aggregator | None = None
    split: bool = False

    @property
    def series(self) -> str:
        """How it is called in tables and figures."""
        policy = label_of(self.policy)
        if self.aggregator is None:
            return policy
        return f"{policy} with {label_of(self.aggregator)}{SPLIT if self.split else ''}"

    def fits(self, problem: Problem) -> bool:
        """Whether the policy can work on a problem: some take two options only."""
        try:
            self.policy.check(problem)
        except InvalidProblem:
            return False
        return True


@cache
def contender(label: str) -> Contender:
    """Read ``policy``, ``policy with aggregator`` or ``policy with aggregator by context``.

    Examples
    --------
    >>> contender("round-robin with majority").series
    'round-robin with majority'
    >>> contender("round-robin with one-coin by context").split
    True
    """
    policy, _, rule = label.partition(" with ")
    made = policies.make(from_label(policy.strip()))
    if not rule:
        return Contender(made)
    split = rule.rstrip().endswith(SPLIT)
    maker = aggregation.make(from_label(rule.strip().removesuffix(SPLIT)))
    if split and not isinstance(maker, LabelAggregator):
        raise InvalidParameter(
            f"policies has {label!r}: {maker.name!r} learns nothing that contexts could part",
            field="policies",
        )
    return Contender(made, maker, split)


def final_answers(
    each: Contender, problem: Problem, outcome: Outcome, seed: int, number: int
) -> Array:
    """The option that each task is given in the end; -1 where there is none."""
    draw = Draw(*draws.stream(seed, draws.AGGREGATION, number), 0)
    ledger, tasks = outcome.ledger, range(len(problem.tasks))
    if isinstance(each.aggregator, LabelAggregator) and each.split:
        return by_context(each.aggregator, ledger, len(tasks))
    if each.aggregator is not None:
        named = each.aggregator.labels(problem, ledger, tasks, draw, outcome.state)
    elif isinstance(each.policy, LabelsItself):
        named = each.policy.labels(problem, outcome.state, ledger, tasks, draw)
    else:
        options = np.zeros(len(problem.tasks), np.int64)
        _voting()(ledger.book.votes, ledger.book.tasks, len(problem.options), draw, options)
        return options
    return np.array([-1 if option is None else int(option) for option, _ in named])


def by_context(aggregator: LabelAggregator, ledger: Ledger, tasks: int) -> Array:
    """Answers of an aggregator that is fitted to the tasks of each context alone."""
    named = np.full(tasks, -1)
    found = answers_in(ledger)
    if found is None:
        return named
    answers, rows, options = found
    task_of = np.repeat(np.arange(answers.tasks), answers.per_task)
    for context in np.unique(answers.contexts):
        mine = answers.contexts[task_of] == context
        places, coded = np.unique(task_of[mine], return_inverse=True)
        _, workers = np.unique(answers.workers[mine], return_inverse=True)
        given, labels = np.unique(answers.labels[mine], return_inverse=True)
        fitted = aggregator.solve(code_answers(coded, workers, labels))
        named[rows[places]] = options[given[fitted.labels]]
    return named


def _leading_options(votes: Array, tasks: Array, options: int, draw: Draw, named: Array) -> None:
    """Name what the aggregator ``majority`` would name for each task, all in one go."""
    for task in range(len(named)):
        named[task] = -1
        if tasks[task, c.TASK_ANSWERED] > 0:
            named[task] = leading_option(votes, task, 0, options, draw, task)


@cache
def _voting() -> Any:
    return bind(_leading_options, "labels")


class Bench:
    """A world of labels on which contenders are run: what they share is made once.

    Parameters
    ----------
    recording : Recording
        Who would answer what.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.world: RecordedWorld = recording.answering()
        self._campaigns: dict[Amount | None, tuple[Problem, Ledger]] = {}

    def in_another_order(self, seed: int, number: int) -> Bench:
        """The same answers with tasks and workers in another order: ties go by order."""
        return Bench(shuffled(self.recording, seed, number))

    def campaign(self, budget: Amount | None) -> tuple[Problem, Ledger]:
        """The problem that a requester with this budget sees, and its fresh ledger."""
        if budget not in self._campaigns:
            problem = self.recording.problem(budget)
            self._campaigns[budget] = problem, Ledger(problem)
        return self._campaigns[budget]

    def measure(
        self,
        contenders: Sequence[Contender],
        budget: Amount | None,
        seed: int,
        number: int,
        window: int = 1,
        outcomes: dict[Policy, Outcome] | None = None,
    ) -> Array:
        """Accuracy and spending of each; not a number for one that can't work on this.

        A policy that several name is run once; ``outcomes`` has those that were run already.
        """
        problem, ledger = self.campaign(budget)
        outcomes = {} if outcomes is None else outcomes
        found = np.zeros((len(contenders), 2))
        for at, each in enumerate(contenders):
            if not each.fits(problem):
                found[at] = np.nan
                continue
            if each.policy not in outcomes:
                outcomes[each.policy] = simulate(
                    *(each.policy, problem, self.world),
                    seed=seed,
                    replication=number,
                    ledger=ledger,
                    window=window,
                )
            outcome = outcomes[each.policy]
            answers = final_answers(each, problem, outcome, seed, number)
            found[at] = self.recording.accuracy(answers), outcome.spent
        return found
