"""Tempering and maps of confidence: by hand, by brute force, and what always holds."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.compiling import forced, in_plain_python
from askwise.kernels.calibration import (
    INTERCEPT_WIDTH,
    SLOPE_WIDTH,
    UNSAID,
    contested_limit,
    count_evidence,
    count_voices,
    damping,
    family_share,
    fit_map,
    judge_workers,
    map_rows,
    mapped,
    score_in,
    score_rows,
    temper_row,
    temper_rows,
    told_apart,
)
from askwise.kernels.calibration.mapping import loss_of_map, set_confidence, sigmoid
from askwise.kernels.calibration.tempering import CONTESTED, SURE


def evidence(tasks, *, once, families):
    """Weights of the answers of these workers to tasks, in order."""
    starts = np.cumsum([0, *map(len, tasks)])
    weights = np.zeros(starts[-1])
    workers = np.array([worker for task in tasks for worker in task])
    room = np.zeros(max(families) + 1 if families else 0)
    count_evidence(starts, workers, np.array(once), np.array(families), room, weights)
    return weights.tolist()


def voices(tasks, *, once, families, dependence, in_all):
    """How many voices tasks have, and how dependent they are."""
    starts = np.cumsum([0, *map(len, tasks)])
    workers = np.array([worker for task in tasks for worker in task])
    room = np.zeros(max(families) + 1 if families else 0)
    counts, dependences = np.zeros(len(tasks)), np.zeros(len(tasks))
    of_workers = np.array(once), np.array(families), np.array(dependence, float)
    count_voices(starts, workers, *of_workers, in_all, room, counts, dependences)
    return counts.tolist(), dependences.tolist()


def test_answers_of_a_family_count_their_mean_and_a_little_more():
    # Three of one family: 3 / (1 + 2 * .4) = 5/3 answers, 5/9 each.
    found = evidence([[0, 1, 2, 3], [0, 3]], once=[True] * 4, families=[0, 0, 0, -1])
    assert found == pytest.approx([5 / 9, 5 / 9, 5 / 9, 1.0, 1.0, 1.0])
    assert family_share(1.0) == 1.0
    assert family_share(11.0) == pytest.approx(1 / 5)


def test_repeated_answers_of_a_person_count_once_and_those_of_a_crowd_each():
    found = evidence([[0, 0, 1, 1, 1]], once=[True, False], families=[-1, -1])
    assert found == pytest.approx([0.5, 0.5, 1.0, 1.0, 1.0])
    # A crowd of a family: its three draws count 5/3 together.
    assert evidence([[0, 0, 0]], once=[False], families=[0]) == pytest.approx([5 / 9] * 3)


def test_two_of_a_family_are_less_than_two_voices_and_a_crowd_as_many_as_it_gave_answers():
    tasks = [[0, 1, 2, 3, 3], [0, 1]]
    who = {"once": [True, True, True, False], "families": [0, 0, -1, -1]}
    counts, _ = voices(tasks, **who, dependence=[2, 2, 1, 1], in_all=3)
    assert counts == pytest.approx([3 + 2 / 1.4, 2 / 1.4])


def test_dependence_is_that_of_the_kinds_and_of_the_share_of_the_panel_where_none_is_said():
    who = {"once": [True] * 4, "families": [-1] * 4, "in_all": 4}
    _, known = voices([[0, 1, 2, 3]], **who, dependence=[2, 2, 1, 1])
    assert known == [1.5]
    _, unsaid = voices([[0, 1], [0, 1, 2, 3]], **who, dependence=[UNSAID] * 4)
    assert unsaid == [1.5, 2.0]


def test_log_odds_are_divided_by_one_and_the_root_of_the_other_voices():
    # Ten persons: 1 / (1 + 3) of the log-odds.
    assert damping(10.0, 1.0) == 0.25
    assert damping(5.0, 2.0) == pytest.approx(1 / 5)
    assert damping(1.0, 2.0) == 1.0
    table = np.array([[0.9, 0.1], [0.5, 0.5], [16 / 21, 4 / 21], [1.0, 0.0]])
    for row in range(2):
        temper_row(table, row, 2, 0.25, 10.0)
    assert table[0, 0] == pytest.approx(9**0.25 / (1 + 9**0.25))
    assert table[1].tolist() == [0.5, 0.5]
    temper_row(table, 2, 2, 0.5, 3.0)
    assert table[2].tolist() == pytest.approx([2 / 3, 1 / 3])
    # No answer counts for more than one that is right 97 times in 100.
    temper_row(table, 3, 2, 1.0, 1.0)
    assert table[3].tolist() == pytest.approx([0.97, 0.03])
    assert math.exp(SURE) == pytest.approx(0.97 / 0.03)


def test_many_classes_are_tempered_by_their_ratios():
    table = np.array([[0.64, 0.16, 0.16, 0.04]])
    temper_row(table, 0, 4, 0.5, 9.0)
    assert table[0].tolist() == pytest.approx([0.8 / 1.8, 0.4 / 1.8, 0.4 / 1.8, 0.2 / 1.8])


def test_no_truth_leaves_confidences_as_they_are():
    found = fit_map(np.zeros(0), np.zeros(0))
    assert found == (0.5, 0.0, 0.0, 0.0, 0.0, 0.0)
    assert mapped(found, math.log(9)) == pytest.approx(0.9)


def test_one_truth_moves_little_and_a_hundred_move_far():
    score = math.log(0.95 / 0.05)
    moves = []
    for count in (1, 2, 10, 100):
        found = fit_map(np.full(count, score), np.zeros(count))
        moves.append(0.95 - mapped(found, score))
    assert moves == sorted(moves)
    assert moves[0] < 0.5
    assert moves[-1] > 0.85


@pytest.mark.parametrize("right", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("score", [-30.0, -2.0, 0.0, 2.0, 30.0])
@pytest.mark.parametrize("count", [1, 2, 20, 1000])
def test_tied_scores_all_right_all_wrong_or_tied_give_a_finite_map(right, score, count):
    found = fit_map(np.full(count, score), np.full(count, right))
    assert all(math.isfinite(each) for each in found)
    assert 0.0 <= found.kept <= 1.0
    assert 0.0 < mapped(found, score) <= 1.0


@pytest.mark.parametrize("seed", range(4))
def test_the_map_is_where_a_fine_grid_finds_the_least_loss(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(1.0, 2.0, 40)
    right = (rng.random(40) < 1 / (1 + np.exp(0.7 - 0.5 * scores))).astype(float)
    found = fit_map(scores, right)
    best = loss_of_map(scores, right, found.intercept, found.log_slope)
    for a in np.linspace(-3, 3, 121):
        for b in np.linspace(-3, 3, 121):
            z = a + math.exp(b) * scores
            loss = float(np.sum(np.logaddexp(0, z) - right * z))
            loss += a * a / (2 * INTERCEPT_WIDTH**2) + b * b / (2 * SLOPE_WIDTH**2)
            assert loss >= best - 1e-9


def test_what_is_kept_is_the_evidence_by_brute_force():
    rng = np.random.default_rng(7)
    scores = rng.normal(1.0, 1.0, 60)
    right = (rng.random(60) < 1 / (1 + np.exp(-scores))).astype(float)
    found = fit_map(scores, right)
    # Numerical integration over both parameters, on a grid of eight standard deviations.
    a = np.linspace(-4 * INTERCEPT_WIDTH, 4 * INTERCEPT_WIDTH, 601)
    b = np.linspace(-4 * SLOPE_WIDTH, 4 * SLOPE_WIDTH, 401)
    z = a[:, None, None] + np.exp(b)[None, :, None] * scores
    like = np.exp((right * z - np.logaddexp(0, z)).sum(axis=2))
    prior = np.exp(-0.5 * (a[:, None] / INTERCEPT_WIDTH) ** 2 - 0.5 * (b / SLOPE_WIDTH) ** 2)
    prior /= prior.sum()
    some = float((like * prior).sum())
    none = float(np.exp((right * scores - np.logaddexp(0, scores)).sum()))
    assert found.kept == pytest.approx(none / (none + some), abs=0.02)


def test_a_map_follows_truths_that_contradict_agreement():
    rng = np.random.default_rng(3)
    # Standard errors of about .1 for the intercept and .05 for the slope.
    scores = rng.normal(2.0, 1.0, 3000)
    right = (rng.random(3000) < 1 / (1 + np.exp(1.0 - 0.5 * scores))).astype(float)
    found = fit_map(scores, right)
    assert found.kept < 0.01
    assert found.intercept == pytest.approx(-1.0, abs=0.3)
    assert math.exp(found.log_slope) == pytest.approx(0.5, abs=0.15)


truths = st.lists(
    st.tuples(st.floats(-30, 30), st.sampled_from([0.0, 0.5, 1.0])), min_size=0, max_size=30
)


@given(told=truths, low=st.floats(-30, 30), high=st.floats(-30, 30))
def test_a_surer_score_is_never_less_probable(told, low, high):
    scores, right = (np.array([each[at] for each in told]) for at in range(2))
    found = fit_map(scores, right)
    low, high = min(low, high), max(low, high)
    assert 0.0 <= mapped(found, low) <= mapped(found, high) <= 1.0


@st.composite
def rows(draw):
    classes = draw(st.integers(2, 6))
    raw = np.array([draw(st.floats(0, 1)) for _ in range(classes)])
    raw[draw(st.integers(0, classes - 1))] += draw(st.sampled_from([0.0, 1e-3, 1.0]))
    return (np.ones(classes) if raw.sum() == 0 else raw) / max(raw.sum(), 1e-300)


@given(row=rows(), sure=st.floats(0, 1))
def test_a_row_keeps_its_label_its_order_and_its_sum(row, sure):
    if not np.isfinite(row).all() or abs(row.sum() - 1) > 1e-9:
        return
    label = int(np.argmax(row))
    table = row[None].copy()
    set_confidence(table, 0, len(row), label, sure)
    found = table[0]
    assert found.sum() == pytest.approx(1.0)
    assert (found >= 0).all()
    assert found[label] >= found.max() - 1e-9
    assert found[label] >= 1 / len(row) - 1e-9
    for one in range(len(row)):
        for other in range(len(row)):
            if row[one] > row[other]:
                assert found[one] >= found[other] - 1e-9


def test_the_rest_is_shared_as_before_and_never_more_than_the_label_has():
    table = np.array([[0.4, 0.3, 0.2, 0.1], [0.4, 0.35, 0.15, 0.1], [0.5, 0.5, 0.0, 0.0]])
    set_confidence(table, 0, 4, 0, 0.7)
    assert table[0].tolist() == pytest.approx([0.7, 0.15, 0.1, 0.05])
    # .3 for the label leaves .7, of which the second would have .408: it has .3, the others .4.
    set_confidence(table, 1, 4, 0, 0.3)
    assert table[1].tolist() == pytest.approx([0.3, 0.3, 0.24, 0.16], abs=1e-6)
    assert table[1, 0] > table[1, 1] + 1e-7
    # Two tied classes stay tied, whatever the map says.
    set_confidence(table, 2, 4, 0, 0.9)
    assert table[2].tolist() == pytest.approx([0.5, 0.5, 0.0, 0.0])
    set_confidence(table, 2, 4, 0, 0.4)
    assert table[2].tolist() == pytest.approx([0.4, 0.4, 0.1, 0.1])


def test_scores_are_bounded():
    table = np.array([[1.0, 0.0], [0.0, 1.0], [0.75, 0.25]])
    assert [score_in(table, row, 2, 0) for row in range(3)] == [30.0, -30.0, math.log(3)]


def everything(seed):
    """Drawn answers and beliefs, and room for what is computed."""
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(rng.integers(1, 8, size=50))])
    workers = np.concatenate([np.sort(rng.integers(0, 9, size=n)) for n in np.diff(starts)])
    once, families = rng.random(9) < 0.5, rng.integers(-1, 3, size=9)
    dependence = rng.choice([UNSAID, 1.0, 2.0], size=9)
    table = rng.dirichlet(np.full(4, 0.3), size=50)
    room, weights = np.zeros(3), np.zeros(starts[-1])
    counts, dependences = np.zeros(50), np.zeros(50)
    labels = np.argmax(table, axis=1)
    right = (rng.random(50) < 0.6).astype(float)
    who = once, families, dependence
    return starts, workers, who, table, (room, weights, counts, dependences), labels, right


def run(kernels, seed):
    starts, workers, (once, families, dependence), table, spaces, labels, right = everything(seed)
    room, weights, counts, dependences = spaces
    evidence_of, voices_of, judge, apart, temper, fit, score, place = kernels
    given_labels = np.random.default_rng(seed).integers(0, 4, size=len(workers))
    evidence_of(starts, workers, once, families, room, weights)
    voices_of(starts, workers, once, families, dependence, 7, room, counts, dependences)
    votes, judged, agreed = np.zeros(4), np.zeros(9), np.zeros(9)
    judge(starts, workers, given_labels, votes, judged, agreed)
    apart_now = apart(judged, agreed)
    temper(starts, given_labels, weights, counts, dependences, apart_now, votes, table)
    scores, every = np.zeros(50), np.arange(50)
    score(table, labels, every, scores)
    found = fit(scores, right)
    place(found, labels, every, table)
    return [
        *judged,
        *agreed,
        apart_now,
        *weights,
        *counts,
        *dependences,
        *scores,
        *found,
        *table.ravel(),
    ]


ALL = (
    count_evidence,
    count_voices,
    judge_workers,
    told_apart,
    temper_rows,
    fit_map,
    score_rows,
    map_rows,
)


@pytest.mark.compiled
def test_compiled_and_plain_agree_to_the_last_bit():
    plain = [in_plain_python(each) for each in ALL]
    for seed in range(5):
        with forced():
            compiled = run(ALL, seed)
        assert compiled == run(plain, seed)


def test_no_map_makes_a_tie_of_what_is_none():
    table = np.array([[0.51, 0.49], [0.4, 0.6]])
    set_confidence(table, 0, 2, 0, 0.1)
    set_confidence(table, 1, 2, 1, 0.5)
    assert (table[[0, 1], [0, 1]] - table[[0, 1], [1, 0]] > 1e-7).all()
    assert table.ravel().tolist() == pytest.approx([0.5] * 4, abs=1e-5)


def judged_in(tasks):
    """Judgements of three workers and more; a task is a list of pairs of worker and label."""
    starts = np.cumsum([0, *map(len, tasks)])
    workers, labels = (np.array([each[at] for task in tasks for each in task]) for at in range(2))
    judged, agreed = np.zeros(workers.max() + 1), np.zeros(workers.max() + 1)
    room = np.zeros(labels.max() + 1)
    judge_workers(starts, workers, labels, room, judged, agreed)
    return judged, agreed


def test_workers_are_judged_by_the_vote_of_the_others():
    # 0 and 1 agree, 2 does not: to 0 and 1 the others are tied, 2 has both against them.
    judged, agreed = judged_in([[(0, 1), (1, 1), (2, 0)], [(0, 1)]])
    assert judged.tolist() == [0.0, 0.0, 1.0]
    assert agreed.tolist() == [0.0, 0.0, 0.0]
    judged, agreed = judged_in([[(0, 1), (1, 1), (2, 1), (3, 0)]])
    assert (judged.tolist(), agreed.tolist()) == ([1.0] * 4, [1.0, 1.0, 1.0, 0.0])


def judged_one_by_one(task, worker, label):
    """Whether a worker is judged by the others' vote, and agrees: by counting it for them alone."""
    others = Counter(said for who, said in task if who != worker)
    first = others.most_common(2)
    tied = not first or (len(first) == 2 and first[0][1] == first[1][1])
    return (0.0, 0.0) if tied else (1.0, float(first[0][0] == label))


def test_judging_all_at_once_is_judging_each_by_the_others():
    rng = np.random.default_rng(3)
    tasks = [
        list(enumerate(rng.integers(0, rng.integers(1, 5), size=rng.integers(1, 9)).tolist()))
        for _ in range(400)
    ]
    judged, agreed = np.zeros(8), np.zeros(8)
    for task in tasks:
        for worker, label in task:
            one, right = judged_one_by_one(task, worker, label)
            judged[worker] += one
            agreed[worker] += right
    found = judged_in(tasks)
    assert [each.tolist() for each in found] == [judged.tolist(), agreed.tolist()]
    assert 0 < agreed.sum() < judged.sum() < sum(map(len, tasks))


def test_chance_tells_nobody_apart_and_a_difference_does():
    rng = np.random.default_rng(2)
    tries = np.full(50, 40.0)
    assert not told_apart(tries, rng.binomial(40, 0.7, size=50).astype(float))
    skills = np.where(np.arange(50) < 25, 0.6, 0.8)
    assert told_apart(tries, rng.binomial(40, skills).astype(float))
    for judged, agreed in (([0.0], [0.0]), ([5.0], [2.0]), ([5.0, 4.0], [5.0, 4.0])):
        assert not told_apart(np.array(judged), np.array(agreed))


def test_a_label_that_does_not_lead_the_vote_is_believed_little():
    assert sigmoid(contested_limit(0.0, 0.2, False)) <= 0.7
    assert sigmoid(contested_limit(-3.0, 0.2, True)) <= 0.8
    # Two votes ahead of ten: two sure answers more, a quarter of each.
    found = contested_limit(2.0, 0.25, False) - CONTESTED
    assert found == pytest.approx(SURE / 2)
    starts, labels = np.array([0, 4]), np.array([0, 0, 1, 1])
    table = np.array([[0.999, 0.001]])
    temper_rows(starts, labels, np.ones(4), np.array([4.0]), np.ones(1), False, np.zeros(2), table)
    assert table[0, 0] == pytest.approx(0.7, abs=1e-5)
