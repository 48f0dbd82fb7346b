"""The threshold of a cascade: by hand, by brute force, and valid in every small world."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from askwise.auditing.limits import limit_at_once
from askwise.policies.labels.cascade import thresholds


@pytest.mark.parametrize(("tasks", "wrong", "tested"), [(7, 2, 3), (9, 4, 5), (8, 8, 2), (6, 1, 6)])
@pytest.mark.parametrize("doubt", [0.05, 0.2, 0.5])
def test_the_most_errors_are_those_of_all_samples(
    tasks: int, wrong: int, tested: int, doubt: float
) -> None:
    samples = [sum(at < wrong for at in each) for each in combinations(range(tasks), tested)]
    shares = [sum(each <= most for each in samples) / len(samples) for most in range(tested + 1)]
    due = max((most for most, share in enumerate(shares) if share <= doubt), default=-1)
    assert thresholds.most_wrong(tasks, wrong, tested, doubt) == due


def test_the_most_errors_are_those_of_an_audit_with_one_look() -> None:
    for tasks in (40, 333, 5000):
        for tested in (10, 39):
            wrong = thresholds.too_many(0.1, tasks)
            found = thresholds.most_wrong(tasks, wrong, tested, 0.1)
            assert found == limit_at_once(tasks, wrong, tested, 0.1)


def test_nothing_is_too_many_where_all_may_be_wrong() -> None:
    assert thresholds.most_wrong(5, 6, 3, 0.1) == 3


def votes_of(*tasks: Any) -> Any:
    return np.array(tasks)


def test_a_stage_counts_by_how_often_its_word_for_an_option_is_right() -> None:
    # One judge says option 0 three times and is right twice, and option 1 once, rightly.
    votes = votes_of([[1, 0]], [[1, 0]], [[1, 0]], [[0, 1]])
    found = thresholds.weights_of(votes, np.array([0, 0, 1, 1]))
    overall = (3 + 1) / (4 + 2)
    for option, (right, named) in enumerate([(2, 3), (1, 1)]):
        share = (right + 10 * overall) / (named + 10)
        assert found[0, option] == pytest.approx(math.log(share / (1 - share)))


def test_a_stage_below_chance_does_not_count() -> None:
    votes = votes_of([[1, 0]], [[1, 0]], [[0, 1]])
    assert thresholds.weights_of(votes, np.array([1, 1, 0])).tolist() == [[0.0, 0.0]]


def test_a_score_is_the_lead_of_weighted_shares() -> None:
    # Stage 1: 3 of 4 for option 0 at weight 2; stage 2 is all for option 1 at weight 3.
    votes = votes_of([[3, 1], [0, 2]])
    standing = thresholds.standings(votes, np.array([[2.0, 2.0], [3.0, 3.0]]))
    assert standing[0].tolist() == [[1.5, 0.5], [1.5, 3.5]]
    scores, named = thresholds.scores_of(standing, np.array([2]), np.array([0.5]))
    assert scores[0] == pytest.approx([1.0 + 5e-8, 2.0 + 5e-8], abs=1e-12)
    assert named[0].tolist() == [0, 1]
    partly, _ = thresholds.scores_of(standing, np.array([1]), np.array([0.5]))
    assert partly[0, 1] == 0.0


def test_the_threshold_is_the_first_score_with_too_many_errors() -> None:
    scores = np.array([[4.0, 0.0], [3.0, 0.0], [1.0, 2.5], [0.5, 0.5]])
    wrong = np.array([[False, True], [True, True], [True, True], [False, False]])
    assert thresholds.lowest_threshold(scores, wrong, 2) == 0.0
    assert thresholds.lowest_threshold(scores, wrong, 1) == 2.5
    assert thresholds.lowest_threshold(scores, wrong, 0) == 3.0
    assert thresholds.lowest_threshold(scores, wrong, -1) == math.inf


def test_lower_thresholds_may_settle_a_task_earlier() -> None:
    scores = np.array([[1.0, 3.0]])
    assert [thresholds.settled_by(scores, t)[0] for t in (0.5, 1.0, 3.0)] == [0, 1, -1]


def test_what_is_out_of_reach_is_settled_by_no_answers() -> None:
    rng = np.random.default_rng(2)
    refuted = 0
    for _ in range(300):
        weights, threshold = rng.random((3, 3)) * 2, float(rng.random() * 3)
        votes = rng.integers(0, 3, (1, 3, 3))
        before = thresholds.standings(votes[:, :1], weights[:1])[:, 0]
        if thresholds.within_reach(before, weights[1:], threshold)[0]:
            continue
        for _ in range(20):
            later = np.concatenate([votes[:, :1], rng.integers(0, 3, (1, 2, 3))], axis=1)
            standing = thresholds.standings(later, weights)
            scores, _ = thresholds.scores_of(standing, np.array([3]), np.array([0.99]))
            assert (scores[:, 1:] <= threshold).all()
        refuted += 1
    assert refuted > 30


TASKS, SAMPLE, ERROR, CONFIDENCE = 8, 4, 0.25, 0.88
"""Three tested tasks without an error: by luck with 4 of 35, if 3 of 7 are wrong: 0.114 of 0.12."""


def world_of(number: int) -> tuple[Any, Any, Any]:
    """Judges in two stages who err, many of them together: votes, truths and lots."""
    rng = np.random.default_rng(number)
    truths = rng.integers(0, 2, TASKS)
    hard = rng.random(TASKS) < 0.2 + 0.1 * (number % 4)
    votes = np.zeros((TASKS, 2, 2), np.int64)
    for stage, panel in enumerate((1 + number % 3, 1)):
        for _ in range(panel):
            said = np.where(hard ^ (rng.random(TASKS) < 0.15), 1 - truths, truths)
            votes[np.arange(TASKS), stage, said] += 1
    return votes, truths, rng.random(TASKS)


def over_all_samples(number: int) -> tuple[float, float]:
    """Share of samples after which too many labels are wrong, and of tasks that are settled."""
    votes, truths, lots = world_of(number)
    complete, rows = np.full(TASKS, 2), np.arange(TASKS)
    false, settled = [], []
    for first in range(TASKS):
        for tested in combinations(rows[rows != first].tolist(), SAMPLE - 1):
            sample = np.array([first, *tested])
            found = thresholds.calibrate(
                *(votes[sample], complete[sample], truths[sample], lots[sample]),
                tasks=TASKS,
                error=ERROR,
                confidence=CONFIDENCE,
            )
            standing = thresholds.standings(votes, found.weights)
            scores, named = thresholds.scores_of(standing, complete, lots)
            stage = thresholds.settled_by(scores, found.threshold)
            # What was learned from has its truth; tested tasks count as they were labelled.
            wrong = (stage >= 0) & (named[rows, stage] != truths) & (rows != first)
            false.append(int(wrong.sum()) >= thresholds.too_many(ERROR, TASKS))
            settled.append(float((stage >= 0).mean()))
    return float(np.mean(false)), float(np.mean(settled))


def test_over_all_samples_too_many_are_wrong_no_more_often_than_allowed() -> None:
    assert thresholds.for_learning(SAMPLE) == 1
    false, settled = zip(*(over_all_samples(number) for number in range(4)), strict=True)
    assert max(false) <= 4 / 35
    # Not by settling nothing, nor where nothing could go wrong.
    assert np.mean(settled) > 0.2
    assert max(false) > 0.05
