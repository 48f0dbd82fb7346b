"""Contenders run on a world of labels: how right each is, and what it spends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from askwise.core.arrays import Array
from askwise.core.money import Amount
from askwise.core.problem import Problem
from askwise.lab.replaying.contenders import Contender, final_answers
from askwise.lab.simulate import Outcome, simulate
from askwise.lab.worlds import RecordedWorld, Recording
from askwise.lab.worlds.recorded import shuffled
from askwise.ledger.ledger import Ledger
from askwise.policies import Policy

ACCURACY, SPENT = range(2)


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

    def answered_by(self, recording: Recording) -> Bench:
        """The same tasks, workers and campaigns with other answers."""
        other = Bench(recording)
        other._campaigns = self._campaigns
        return other

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
                    each.policy,
                    problem,
                    self.world,
                    seed=seed,
                    replication=number,
                    ledger=ledger,
                    window=window,
                )
            outcome = outcomes[each.policy]
            answers = final_answers(each, problem, outcome, seed, number)
            found[at] = self.recording.accuracy(answers), outcome.spent
        return found
