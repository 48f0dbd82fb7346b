"""Campaigns as they may go: the same worlds for every setting that is tried."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from askwise.core.arrays import Array
from askwise.core.money import MICRO, Amount
from askwise.lab.rehearsing.worlds import PossibleWorlds
from askwise.lab.replaying.bench import Bench, draw_truths
from askwise.lab.replaying.contenders import Contender
from askwise.lab.replaying.final import final_labels
from askwise.lab.simulate import Progress, simulate, unseen
from askwise.ledger import columns as c
from askwise.policies import Policy


@dataclass(frozen=True)
class Trial:
    """What one simulated campaign came to, at the tasks whose truth was not told."""

    spent: float
    wrong: Array
    """Which labels are wrong; of no answer at all, most of them are."""
    confidence: Array
    settled: Array
    """Which of these tasks a trusted worker answered."""
    answers: Array
    """How many each worker gave."""
    told: int = 0
    """How many tasks' truths were told, before it began or as it went on."""


@dataclass(frozen=True)
class Trials:
    """The results of all of them, with one setting."""

    each: tuple[Trial, ...]

    @cached_property
    def spent(self) -> Array:
        """What each campaign cost."""
        return np.array([trial.spent for trial in self.each])

    @cached_property
    def errors(self) -> Array:
        """Which share of the labels of each is wrong."""
        return np.array([trial.wrong.mean() for trial in self.each])

    @cached_property
    def told(self) -> Array:
        """How many truths were told in each."""
        return np.array([trial.told for trial in self.each], np.float64)

    @property
    def error(self) -> float:
        """Their mean."""
        return float(self.errors.mean())

    @cached_property
    def answers(self) -> Array:
        """How many each worker gave: campaigns x workers."""
        return np.array([trial.answers for trial in self.each])


class Rehearsal:
    """Possible worlds in which campaigns are run, one setting after another.

    Parameters
    ----------
    worlds : PossibleWorlds
        What may be the case.
    truths : int
        How many tasks' truths are told at the start.
    seed : int
        Of all draws.
    """

    def __init__(self, worlds: PossibleWorlds, truths: int, seed: int) -> None:
        self.worlds, self.truths, self.seed = worlds, truths, seed
        self._benches: dict[int, Bench] = {}

    def bench(self, number: int) -> Bench:
        """The ``number``-th world, drawn once."""
        if number not in self._benches:
            world = self.worlds.draw(self.seed, number)
            told = draw_truths(world, self.truths, self.seed, number)
            self._benches[number] = Bench(world, told)
        return self._benches[number]

    def run(
        self,
        policy: Policy,
        runs: int,
        budget: Amount | None = None,
        *,
        tell: Progress = unseen,
        what: str = "",
    ) -> Trials:
        """Run a campaign in each of the first worlds."""
        found = []
        for number in range(runs):
            tell(what, number, runs)
            found.append(self.trial(policy, number, budget))
        tell(what, runs, runs)
        return Trials(tuple(found))

    def trial(self, policy: Policy, number: int, budget: Amount | None) -> Trial:
        """Run a campaign in one world."""
        bench = self.bench(number)
        problem, ledger = bench.campaign(budget)
        outcome = simulate(
            *(policy, problem, bench.world),
            seed=self.seed,
            replication=number,
            ledger=ledger,
            truths=bench.truths,
        )
        labels = final_labels(Contender(policy), problem, outcome, self.seed, number)
        truth = bench.measured.truth
        known = truth >= 0
        wrong = (labels.named != truth).astype(np.float64)
        # Without any answer it is a guess.
        wrong[labels.named < 0] = 1.0 - 1.0 / bench.recording.options
        sure = np.nan_to_num(labels.confidence, nan=1.0 / bench.recording.options)
        book = outcome.ledger.book
        workers = outcome.ledger.total(c.WORKERS)
        asked = book.assignments[: outcome.ledger.total(c.ASSIGNMENTS)]
        settled = np.zeros(len(truth), bool)
        settled[asked[book.workers[asked[:, c.WORKER], c.TRUSTED] == 1, c.TASK]] = True
        return Trial(
            spent=outcome.ledger.total(c.SPENT) / MICRO,
            wrong=wrong[known],
            confidence=sure[known],
            settled=settled[known],
            answers=book.workers[:workers, c.ANSWERED].copy(),
            told=int((book.tasks[: outcome.ledger.total(c.TASKS), c.TRUTH] >= 0).sum()),
        )
