"""hem against a second reading of the design notes, written apart from it, two options."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import betaln

from askwise.campaign.state import CampaignState
from askwise.core.choices import Batch
from askwise.testing.sessions import spec_of_campaign
from tests.policies.labels.campaigns import campaign_of


class Notes:
    """The notes' H-EM: everything is counted anew from posteriors whenever it is needed."""

    def __init__(self, contexts: str, workers: int, budget: int) -> None:
        self.contexts, self.workers, self.budget = contexts, workers, budget
        self.given: dict[int, dict[int, int]] = {}
        self.q: dict[int, float] = {}
        self.lam, self.rho = 1.0, 0.0
        self.used, self.news = 0, 0

    def table(self) -> dict[tuple[str, int, int], list[float]]:
        """Soft counts [right, wrong] by context, worker and class."""
        found: dict[tuple[str, int, int], list[float]] = {}
        for task, answers in self.given.items():
            for worker, label in answers.items():
                for c, share in ((0, 1 - self.q[task]), (1, self.q[task])):
                    row = found.setdefault((self.contexts[task], worker, c), [0.0, 0.0])
                    row[label != c] += share
        return found

    def lent(self, table: Any, s: str, j: int, c: int, lam: float, rho: float) -> list[float]:
        def at(context: str, kind: int) -> np.ndarray:
            return np.array(table.get((context, j, kind), [0.0, 0.0]))

        total = lam * at(s, 1 - c)
        for other in sorted(set(self.contexts) - {s}):
            total = total + rho * (at(other, c) + lam * at(other, 1 - c))
        return [float(each) for each in total]

    def accuracy(self, table: Any, s: str, j: int, c: int) -> tuple[float, float]:
        """Accuracy, and the answers it rests on."""
        r, w = table.get((s, j, c), (0.0, 0.0))
        right, wrong = self.lent(table, s, j, c, self.lam, self.rho)
        n = 6 + r + w + right + wrong
        return min(0.99, max(0.01, (4 + r + right) / n)), n

    def ratio(self, table: Any, s: str, j: int, label: int) -> float:
        plus, minus = self.accuracy(table, s, j, 1)[0], self.accuracy(table, s, j, 0)[0]
        return math.log(plus / (1 - minus)) if label else math.log((1 - plus) / minus)

    def prior(self, s: str) -> float:
        alike = [self.q[task] for task in self.q if self.contexts[task] == s]
        share = (2 + sum(alike)) / (4 + len(alike))
        return math.log(share / (1 - share))

    def take(self, task: int, worker: int, label: int) -> None:
        s = self.contexts[task]
        odds = logit(self.q[task]) if task in self.q else self.prior(s)
        self.q[task] = expit(odds + self.ratio(self.table(), s, worker, label))
        self.given.setdefault(task, {})[worker] = label
        self.used += 1
        self.news += 1
        if self.news >= max(30, 0.1 * self.used):
            self.news = 0
            self.refit(3)

    def refit(self, rounds: int) -> None:
        table = self.table()

        def evidence(lam: float, rho: float) -> float:
            total = 0.0
            for (s, j, c), (r, w) in table.items():
                right, wrong = self.lent(table, s, j, c, lam, rho)
                total += betaln(4 + right + r, 2 + wrong + w) - betaln(4 + right, 2 + wrong)
            return total

        grid = [(lam, rho) for lam in (1, 0.3, 0) for rho in (0, 0.03, 0.1, 0.3, 1)]
        self.lam, self.rho = max(grid, key=lambda each: evidence(*each))
        if self.rho == 0:
            for s in set(self.contexts):
                pairs = {j for t, j, _ in table if t == s}
                belief = 0.0
                for j in pairs:
                    both = np.add(table.get((s, j, 0), (0, 0)), table.get((s, j, 1), (0, 0)))
                    belief += math.log((1 + both[0]) / (1 + both[1]))
                if belief < 0:
                    for task in self.q:
                        if self.contexts[task] == s:
                            self.q[task] = 1 - self.q[task]
        for _ in range(rounds):
            table = self.table()
            priors = {s: self.prior(s) for s in set(self.contexts)}
            self.q = {
                task: expit(
                    priors[self.contexts[task]]
                    + sum(self.ratio(table, self.contexts[task], j, y) for j, y in answers.items())
                )
                for task, answers in self.given.items()
            }

    def ranks(self) -> dict[int, tuple[int, float]]:
        """Where each task stands: the lowest is next."""
        late = 2 * self.used >= self.budget or self.budget <= len(self.contexts)
        # A task of n answers may get one more below a cap of 5 + 3 * used / N, in whole answers.
        cap = 5 + 3 * self.used // len(self.contexts)
        found = {}
        for task in range(len(self.contexts)):
            n = len(self.given.get(task, ()))
            if n == self.workers:
                continue
            score = abs(logit(self.q[task])) + 0.1 * n if n else 0.0
            if n >= cap:
                found[task] = (2, score)
            elif late:
                found[task] = (0, score)
            else:
                found[task] = (0, -score) if score < 2.2 else (1, score)
        return found

    def merits(self, task: int) -> dict[int, float]:
        table = self.table()
        found = {}
        for j in set(range(self.workers)) - set(self.given.get(task, ())):
            found[j] = 0.0
            for c in (0, 1):
                acc, n = self.accuracy(table, self.contexts[task], j, c)
                found[j] += (acc + math.sqrt(acc * (1 - acc) / (n + 1))) / 2
        return found


def logit(p: float) -> float:
    return math.log(p / (1 - p))


def expit(x: float) -> float:
    return 1 / (1 + math.exp(-x))


@pytest.mark.parametrize(
    ("seed", "tasks", "workers", "budget"), [(1, 14, 6, 80), (2, 20, 5, 95), (3, 30, 4, 29)]
)
def test_a_whole_run_is_that_of_the_design_notes(
    seed: int, tasks: int, workers: int, budget: int
) -> None:
    rng = np.random.default_rng(seed)
    contexts = "".join(rng.choice(list("ab"), size=tasks))
    truth = rng.integers(2, size=tasks)
    skill = rng.uniform(0.45, 0.95, size=(2, workers))
    places = np.array([ord(each) - ord("a") for each in contexts])
    right = rng.random((tasks, workers)) < skill[places]
    labels = np.where(right, truth[:, None], 1 - truth[:, None])
    campaign = campaign_of(workers, contexts, budget=budget, seed=seed)
    notes = Notes(contexts, workers, budget)
    state = CampaignState(spec_of_campaign(campaign))
    refits = 0
    while isinstance(batch := campaign.ask(), Batch):
        task, worker = int(str(batch[0].task)[1:]), int(batch[0].worker[1:])
        ranks, merits = notes.ranks(), notes.merits(task)
        level, best = min(ranks.values())
        # Equal ones may differ in the last bits, by the order of summing.
        assert ranks[task][0] == level
        assert ranks[task][1] == pytest.approx(best, abs=1e-9)
        assert merits[worker] == pytest.approx(max(merits.values()), abs=1e-9)
        label = int(labels[task, worker])
        campaign.tell(batch[0].id, ("no", "yes")[label])
        notes.take(task, worker, label)
        refits += notes.news == 0
        for event in campaign.log(after=state.seq):
            state.fold(event)
        for each, q in notes.q.items():
            assert state.beliefs.posterior[each, 1] == pytest.approx(q, abs=1e-9)
        assert state.beliefs.shares.tolist() == [notes.lam, notes.rho]
    assert notes.used == min(budget, tasks * workers)
    assert refits == budget // 30
    notes.refit(6)
    for answer in campaign.answers():
        at = int(str(answer.task)[1:])
        if at in notes.q:
            sure = max(notes.q[at], 1 - notes.q[at])
            assert answer.confidence == pytest.approx(sure, abs=1e-9)
            assert answer.value == ("yes" if notes.q[at] > 0.5 else "no")
        else:
            assert answer.value is None
