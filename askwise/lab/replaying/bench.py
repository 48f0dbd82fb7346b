"""Worlds of labels on which contenders are run: how right they are, how sure, what they spend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from askwise.core import draws
from askwise.core.money import Amount, to_micro
from askwise.core.problem import Problem
from askwise.core.scoring import TIE, ScoredLabels, least_calibration_error, right_shares, score
from askwise.kernels import Array
from askwise.lab.loop import CLOSED_CODE
from askwise.lab.replaying.contenders import Contender, contender
from askwise.lab.replaying.final import final_answers, final_labels
from askwise.lab.simulate import Outcome, at_budget, simulate
from askwise.lab.worlds import RecordedWorld, Recording
from askwise.lab.worlds.recorded import shuffled
from askwise.ledger.ledger import Ledger
from askwise.policies import Policy
from askwise.stopping import StoppingRule
from askwise.stopping.base import CONFIDENT

__all__ = [
    "ACCURACY",
    "SPENT",
    "Bench",
    "Contender",
    "Grade",
    "KnownOutcomes",
    "contender",
    "draw_truths",
    "final_answers",
    "final_labels",
]

ACCURACY, SPENT = range(2)

KnownOutcomes = dict[tuple[Policy, StoppingRule | None], Outcome]
"""What was run already on a bench, at one budget and in one order."""


class Grade(NamedTuple):
    """What one run came to on the tasks that are measured; not a number where there is none.

    ``ties`` and ``done`` are numbers of tasks, ``wrong`` is how many of the latter are wrong, a
    tie by its share. ``done`` is not a number where neither a rule nor a target can say so.
    ``least_ece`` is what ``ece`` would be by chance, if labels were right as often as they say.
    """

    accuracy: float
    spent: float
    ties: float
    ece: float
    log_loss: float
    done: float
    wrong: float
    least_ece: float = math.nan


def draw_truths(recording: Recording, count: int, seed: int, number: int) -> Array:
    """Tasks whose truth is told, drawn at random; more of them begin with the same."""
    known = np.flatnonzero(recording.truth >= 0)
    rng = np.random.default_rng(draws.stream(seed, draws.TRUTHS, number))
    return rng.permutation(known)[:count]


class Bench:
    """A world of labels on which contenders are run: what they share is made once.

    Parameters
    ----------
    recording : Recording
        Who would answer what.
    told : tasks, optional
        Their truth is told before anything is asked, and they are not measured.
    """

    def __init__(self, recording: Recording, told: Sequence[int] | Array = ()) -> None:
        self.recording = recording
        self.world: RecordedWorld = recording.answering()
        self.truths = [(int(task), int(recording.truth[task])) for task in told]
        measured = recording.truth.copy()
        measured[[task for task, _ in self.truths]] = -1
        self.measured = replace(recording, truth=measured)
        """The recording with the truths that are measured by."""
        self._campaigns: dict[Amount | None, tuple[Problem, Ledger]] = {}

    def in_another_order(self, seed: int, number: int, truths: int = 0) -> Bench:
        """The same answers with tasks and workers in another order: ties go by order.

        ``truths`` of its tasks, drawn at random, are told.
        """
        made = shuffled(self.recording, seed, number)
        return Bench(made, draw_truths(made, truths, seed, number))

    def campaign(self, budget: Amount | None) -> tuple[Problem, Ledger]:
        """The problem that a requester with this budget sees, and its fresh ledger.

        Tasks and workers are read once: at another budget only the money differs.
        """
        if budget not in self._campaigns:
            if self._campaigns:
                problem, ledger = next(iter(self._campaigns.values()))
                amount = None if budget is None else to_micro(budget, "budget")
                problem = replace(problem, budget=amount)
                self._campaigns[budget] = problem, at_budget(ledger, problem)
            else:
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
    ) -> Array:
        """Accuracy and spending of each; not a number for one that can't work on this.

        A policy that several name is run once. A tie is named by a draw.
        """
        problem, _ = self.campaign(budget)
        outcomes: KnownOutcomes = {}
        found = np.zeros((len(contenders), 2))
        for at, each in enumerate(contenders):
            if not each.fits(problem):
                found[at] = np.nan
                continue
            outcome = self._outcome(each, budget, seed, number, window, outcomes)
            answers = final_answers(each, problem, outcome, seed, number)
            found[at] = self.measured.accuracy(answers), outcome.spent
        return found

    def grade(
        self,
        each: Contender,
        budget: Amount | None,
        seed: int,
        number: int,
        window: int = 1,
        outcomes: KnownOutcomes | None = None,
    ) -> Grade:
        """How right and how sure a contender is, a tie by its share, and what it spends."""
        problem, _ = self.campaign(budget)
        outcomes = {} if outcomes is None else outcomes
        outcome = self._outcome(each, budget, seed, number, window, outcomes)
        labels = final_labels(each, problem, outcome, seed, number)
        measured = np.flatnonzero(self.measured.truth >= 0)
        labels, truths = ScoredLabels(*(a[measured] for a in labels)), self.measured.truth[measured]
        accuracy, ties, ece, loss = score(labels, truths)
        done = wrong = math.nan
        if each.rule is not None or each.target > 0:
            called = outcome.closings[measured, CLOSED_CODE] == CONFIDENT
            if each.target > 0:
                # Not a number, where no confidence is reported, is not above anything.
                called |= labels.confidence >= 1.0 - each.target - TIE
            right, _ = right_shares(labels, truths)
            done, wrong = float(called.sum()), float((1.0 - right[called]).sum())
        reported = labels.confidence[np.isfinite(labels.confidence)]
        least = None if ece is None else least_calibration_error(reported)
        found = (accuracy, outcome.spent, ties, ece, loss, done, wrong, least)
        return Grade(*(math.nan if each is None else float(each) for each in found))

    def _outcome(
        self,
        each: Contender,
        budget: Amount | None,
        seed: int,
        number: int,
        window: int,
        outcomes: KnownOutcomes,
    ) -> Outcome:
        problem, ledger = self.campaign(budget)
        run = each.policy, each.rule
        if run not in outcomes:
            outcomes[run] = simulate(
                *(each.policy, problem, self.world),
                rule=each.rule,
                seed=seed,
                replication=number,
                ledger=ledger,
                window=window,
                truths=self.truths,
            )
        return outcomes[run]
