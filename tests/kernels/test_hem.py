"""Hierarchical EM, against a reading with dictionaries and loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import betaln

from askwise.kernels.hem import (
    LAMBDAS,
    RHOS,
    SkillAnswers,
    SkillBeliefs,
    agreements,
    chance,
    choose_shares,
    count_softly,
    expect,
    refit,
    side_margins,
    weigh_shares,
)

TABLE = [
    # Task, worker, label: five tasks in two contexts, four workers.
    (0, 0, 1), (0, 1, 1), (0, 2, 0), (1, 0, 0), (1, 1, 0), (1, 3, 1), (2, 0, 1), (2, 2, 1),
    (2, 3, 0), (3, 1, 0), (3, 2, 1), (3, 3, 1), (4, 0, 0), (4, 1, 1), (4, 2, 0), (4, 3, 0),
]  # fmt: skip
CONTEXTS = (0, 0, 0, 1, 1)


def coded(table, contexts, classes, truth=None, start=None):
    """The table as the kernels take it, beginning with the shares of the votes."""
    table = sorted(table)
    tasks, workers = len(contexts), max(worker for _, worker, _ in table) + 1
    pairs = sorted({(contexts[task], worker) for task, worker, _ in table})
    votes = np.zeros((tasks, classes))
    for task, _, label in table:
        votes[task, label] += 1
    answers = SkillAnswers(
        np.searchsorted([task for task, _, _ in table], np.arange(tasks + 1)),
        np.array([pairs.index((contexts[task], worker)) for task, worker, _ in table]),
        np.array([label for _, _, label in table]),
        np.array(contexts),
        np.full(tasks, -1) if truth is None else np.array(truth),
    )
    beliefs = SkillBeliefs(
        np.array([worker for _, worker in pairs]),
        np.array([context for context, _ in pairs]),
        np.zeros((len(pairs), classes, classes)),
        np.zeros((workers, classes, classes)),
        np.zeros((max(contexts) + 1, classes + 1)),
        votes / votes.sum(axis=1, keepdims=True) if start is None else start.copy(),
        np.array([1.0, 0.0]),
    )
    return answers, beliefs


class Reading:
    """The notes' model for two classes, word by word."""

    def __init__(self, table, contexts, lam, rho):
        self.table, self.contexts, self.lam, self.rho = table, contexts, lam, rho

    def counts(self, q):
        r, w = {}, {}
        for task, worker, label in self.table:
            for c in (0, 1):
                key = (self.contexts[task], worker, c)
                kind = r if label == c else w
                kind[key] = kind.get(key, 0.0) + q[task][c]
        return r, w

    def borrowed(self, count, context, worker, c):
        def at(s, k):
            return count.get((s, worker, k), 0.0)

        others = {s for s in self.contexts if s != context}
        return self.lam * at(context, 1 - c) + self.rho * sum(
            at(s, c) + self.lam * at(s, 1 - c) for s in others
        )

    def accuracy(self, r, w, context, worker, c):
        R, W = self.borrowed(r, context, worker, c), self.borrowed(w, context, worker, c)
        own_r, own_w = r.get((context, worker, c), 0.0), w.get((context, worker, c), 0.0)
        return min(0.99, max(0.01, (4 + own_r + R) / (6 + own_r + own_w + R + W)))

    def round(self, q):
        r, w = self.counts(q)
        found = []
        for task in range(len(q)):
            s = self.contexts[task]
            alike = [at for at in range(len(q)) if self.contexts[at] == s]
            prior = (2 + sum(q[at][1] for at in alike)) / (4 + len(alike))
            odds = math.log(prior / (1 - prior))
            for i, worker, label in self.table:
                if i == task:
                    plus = self.accuracy(r, w, s, worker, 1)
                    minus = self.accuracy(r, w, s, worker, 0)
                    odds += math.log(plus / (1 - minus) if label else (1 - plus) / minus)
            p = 1 / (1 + math.exp(-odds))
            found.append((1 - p, p))
        return found

    def evidence(self, q):
        r, w = self.counts(q)
        total = 0.0
        for context, worker, c in {*r, *w}:
            R, W = (self.borrowed(each, context, worker, c) for each in (r, w))
            own = r.get((context, worker, c), 0.0), w.get((context, worker, c), 0.0)
            total += betaln(4 + R + own[0], 2 + W + own[1]) - betaln(4 + R, 2 + W)
        return total


@pytest.mark.parametrize(("lam", "rho"), [(1.0, 0.0), (0.3, 0.0), (0.0, 0.1), (0.3, 1.0)])
def test_rounds_of_em_are_those_of_a_plain_reading(lam, rho):
    answers, beliefs = coded(TABLE, CONTEXTS, 2)
    beliefs.shares[:] = lam, rho
    reading = Reading(TABLE, CONTEXTS, lam, rho)
    q = [tuple(row) for row in beliefs.posterior]
    logs = np.zeros(beliefs.counts.shape)
    count_softly(answers, beliefs)
    evidence = np.zeros((len(LAMBDAS), len(RHOS)))
    weigh_shares(beliefs, evidence)
    assert evidence[LAMBDAS.index(lam), RHOS.index(rho)] == pytest.approx(reading.evidence(q))
    for _ in range(4):
        expect(answers, beliefs, logs)
        count_softly(answers, beliefs)
        q = reading.round(q)
        np.testing.assert_allclose(beliefs.posterior, q, rtol=1e-12)


def test_what_is_borrowed_is_what_has_most_evidence():
    answers, beliefs = coded(TABLE, CONTEXTS, 2)
    count_softly(answers, beliefs)
    choose_shares(beliefs)
    q = [tuple(row) for row in beliefs.posterior]
    best = max(
        ((lam, rho) for lam in LAMBDAS for rho in RHOS),
        key=lambda pair: Reading(TABLE, CONTEXTS, *pair).evidence(q),
    )
    assert tuple(beliefs.shares) == best


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_chances_of_all_answers_add_up_to_one(classes):
    rng = np.random.default_rng(classes)
    counts, totals = rng.gamma(1.0, size=(2, classes, classes)), np.zeros((1, classes, classes))
    totals[0] = counts.sum(axis=0)
    for lam, rho, c in ((1.0, 0.0, 0), (0.3, 0.1, 1), (0.0, 1.0, classes - 1)):
        found = sum(chance(counts, totals, 0, 0, lam, rho, c, a) for a in range(classes))
        assert found == pytest.approx(1.0)
        # Of somebody who has not answered in this context, too.
        found = sum(chance(counts, totals, -1, 0, lam, rho, c, a) for a in range(classes))
        assert found == pytest.approx(1.0)


def crowd(rng, tasks, accuracies, contexts=None, classes=2):
    """Everybody answers everything; accuracies by worker, or by context and worker."""
    truth = rng.integers(classes, size=tasks)
    contexts = np.zeros(tasks, np.int64) if contexts is None else contexts
    chances = np.atleast_2d(accuracies)[contexts]
    right = rng.random(chances.shape) < chances
    labels = np.where(right, truth[:, None], (truth[:, None] + 1) % classes)
    table = [(t, w, int(labels[t, w])) for t in range(tasks) for w in range(chances.shape[1])]
    return truth, table, contexts.tolist()


def test_three_classes_are_found():
    rng = np.random.default_rng(3)
    truth, table, contexts = crowd(rng, 60, [0.9, 0.85, 0.8, 0.7, 0.6], classes=3)
    answers, beliefs = coded(table, contexts, 3)
    count_softly(answers, beliefs)
    for _ in range(5):
        refit(answers, beliefs, 3, np.zeros(1))
    assert (beliefs.posterior.argmax(axis=1) == truth).mean() >= 0.9


def test_a_context_that_is_the_wrong_way_round_is_turned():
    rng = np.random.default_rng(4)
    truth, table, contexts = crowd(rng, 40, [0.9, 0.9, 0.8, 0.4, 0.7])
    wrong = np.stack([truth, 1 - truth], axis=1) * 0.8 + 0.1
    answers, beliefs = coded(table, contexts, 2, start=wrong)
    count_softly(answers, beliefs)
    refit(answers, beliefs, 6, np.zeros(1))
    assert (beliefs.posterior.argmax(axis=1) == truth).mean() > 0.8


def test_known_truths_stay_and_turn_a_context_whose_workers_agree_on_what_is_wrong():
    rng = np.random.default_rng(5)
    truth, table, contexts = crowd(rng, 50, [0.1, 0.1, 0.15, 0.2, 0.8])
    answers, beliefs = coded(table, contexts, 2)
    count_softly(answers, beliefs)
    for _ in range(4):
        refit(answers, beliefs, 3, np.zeros(1))
    assert (beliefs.posterior.argmax(axis=1) == truth).mean() < 0.1
    known = np.full(50, -1)
    known[:2] = truth[:2]
    sides = np.zeros(1)
    for _ in range(4):
        refit(answers._replace(truth=known), beliefs, 3, sides)
    assert beliefs.posterior[np.arange(2), truth[:2]] == pytest.approx(1.0)
    assert (beliefs.posterior.argmax(axis=1) == truth).mean() > 0.9
    assert sides[0] > 3


def test_margins_are_large_where_workers_agree_and_small_where_they_are_split():
    rng = np.random.default_rng(6)
    margins = []
    for accuracies in ([0.9] * 6, [0.9, 0.9, 0.9, 0.1, 0.1, 0.1]):
        _, table, contexts = crowd(rng, 40, accuracies)
        answers, beliefs = coded(table, contexts, 2)
        count_softly(answers, beliefs)
        for _ in range(5):
            refit(answers, beliefs, 3, np.zeros(1))
        found = np.zeros(1)
        side_margins(beliefs, np.zeros(1), found)
        margins.append(found[0])
    assert margins[0] > 20
    assert margins[1] < 3


@pytest.mark.parametrize("mirrored", [False, True])
def test_contexts_agree_unless_those_who_are_right_elsewhere_seem_wrong(mirrored):
    rng = np.random.default_rng(7)
    contexts = np.repeat([0, 1, 2], 40)
    truth, table, _ = crowd(rng, 120, [0.95, 0.9, 0.7, 0.7, 0.6, 0.6], 0 * contexts)
    believed = np.where(mirrored & (contexts == 2), 1 - truth, truth)
    answers, beliefs = coded(table, contexts.tolist(), 2, start=np.eye(2)[believed])
    count_softly(answers, beliefs)
    found = np.zeros(3)
    agreements(beliefs, found)
    assert (found[2] < 0) == mirrored
