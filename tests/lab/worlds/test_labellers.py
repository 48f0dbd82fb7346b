"""Simulated labellers: answers follow their models, and filled tables their recorded part."""

from __future__ import annotations

import math

import numpy as np
import pytest

from askwise.core.errors import InvalidParameter
from askwise.lab.worlds import Recording
from askwise.lab.worlds.completion import complete, largest_penalty, soft_impute
from askwise.lab.worlds.labellers import (
    MODELS,
    LabellerCrowd,
    LabellerPool,
    check_models,
    colluding,
    drifting,
    label_tasks,
    lazy,
    malicious,
    spammer_hammer,
)

TASKS, WORKERS = 900, 20


def tasks(options: int = 2, contexts: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    return rng.integers(0, options, TASKS), rng.integers(0, contexts, TASKS)


def table_of(recording: Recording) -> np.ndarray:
    return recording.label.reshape(recording.tasks, recording.workers)


def margin(chance: float, count: int) -> float:
    """Five standard errors: one in two million is beyond."""
    return 5 * math.sqrt(chance * (1 - chance) / count) + 1e-12


@pytest.mark.sampled(1)
@pytest.mark.parametrize("options", [2, 4])
def test_each_worker_is_as_right_as_their_model_says_in_each_context(options: int) -> None:
    truth, contexts = tasks(options)
    allowed = {
        "spammer-hammer": (1.0, 1.0 / options),
        "one-coin": (0.9, 0.6),
        "malicious": (0.9, 0.6, 0.3),
    }
    for model, levels in allowed.items():
        labels = table_of(label_tasks(model, truth, contexts, options, WORKERS, 3, 0))
        seen = set()
        for worker in range(WORKERS):
            found = []
            for context in range(3):
                inside = contexts == context
                share = float(np.mean(labels[inside, worker] == truth[inside]))
                level = min(levels, key=lambda each: abs(each - share))
                assert abs(share - level) <= margin(level, int(inside.sum()))
                found.append(level)
            assert found.count(levels[0]) == 1
            if model == "malicious":
                assert sorted(found) == [0.3, 0.6, 0.9]
            seen.add(tuple(found))
        # Three contexts to be good at, each for about a third of 20 workers: one of them is left
        # out with probability 3 * (2/3) ** 20 < .001.
        assert len({row.index(levels[0]) for row in seen}) == 3


def test_errors_are_spread_evenly_over_the_wrong_options() -> None:
    truth, contexts = tasks(4, 1)
    labels = table_of(label_tasks("one-coin", truth, contexts, 4, WORKERS, 3, 0))
    shifts = ((labels - truth[:, None]) % 4).ravel()
    shares = np.bincount(shifts, minlength=4) / shifts.size
    # One context: everybody is good at it.
    assert shares[0] == pytest.approx(0.9, abs=margin(0.9, shifts.size))
    assert shares[1:] == pytest.approx([0.1 / 3] * 3, abs=margin(0.1 / 3, shifts.size))


def test_the_good_context_is_drawn_evenly_for_each_worker_alone() -> None:
    good = LabellerPool(9000, 3, 2, (7, 8)).good_at()
    counts = np.bincount(good, minlength=3) / 9000
    assert counts == pytest.approx([1 / 3] * 3, abs=margin(1 / 3, 9000))


def test_the_same_seed_and_number_give_the_same_crowd_and_others_another() -> None:
    truth, contexts = (each[:60] for each in tasks())
    for model in MODELS:
        first, again, other, elsewhere = (
            table_of(label_tasks(model, truth, contexts, 2, WORKERS, seed, number))
            for seed, number in ((1, 0), (1, 0), (1, 1), (2, 0))
        )
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)
        assert not np.array_equal(first, elsewhere)


def test_a_hand_made_crowd_answers_by_its_confusion_matrix() -> None:
    # Worker 0 takes 0 for 1 and 1 for 2, always; worker 1 is right; 2 says 2 whatever is true.
    chances = np.zeros((1, 3, 3, 3))
    chances[0, 0, [0, 1, 2], [1, 2, 2]] = 1.0
    chances[0, 1, [0, 1, 2], [0, 1, 2]] = 1.0
    chances[0, 2, :, 2] = 1.0
    truth = np.array([0, 1, 2, 1])
    made = LabellerCrowd(chances).label(truth, np.zeros(4, np.int64), 1, 0)
    assert table_of(made).tolist() == [[1, 0, 2], [2, 1, 2], [2, 2, 2], [2, 1, 2]]
    assert made.later is None


def test_confused_workers_have_rows_that_are_distributions_with_the_accuracies_promised() -> None:
    chances = MODELS["confused"](LabellerPool(WORKERS, 3, 4, (1, 2))).chances
    assert chances.shape == (3, WORKERS, 4, 4)
    assert chances.sum(axis=3) == pytest.approx(np.ones((3, WORKERS, 4)))
    right = np.diagonal(chances, axis1=2, axis2=3)
    assert right.min() >= 0.4
    assert right.max() <= 0.95
    # Errors are uneven: the mean largest of three shares of 1 is 11/18, evenly it would be 1/3.
    wrong = chances.copy()
    wrong[..., range(4), range(4)] = 0.0
    shares = wrong.max(axis=3) / wrong.sum(axis=3)
    assert shares.mean() == pytest.approx(11 / 18, abs=0.06)


def test_drifting_workers_change_what_they_are_good_at_at_their_share_of_the_budget() -> None:
    truth, contexts = tasks()
    crowd = drifting(LabellerPool(WORKERS, 3, 2, (3, 4)))
    made = crowd.label(truth, contexts, 1, 0)
    assert made.later is not None
    assert made.changes is not None
    assert ((made.changes >= 0) & (made.changes < 1)).all()
    before, after = table_of(made), made.later.reshape(TASKS, WORKERS)
    for worker in range(WORKERS):
        best = []
        for labels in (before, after):
            shares = [
                np.mean(labels[contexts == context, worker] == truth[contexts == context])
                for context in range(3)
            ]
            best.append(int(np.argmax(shares)))
            assert max(shares) == pytest.approx(0.9, abs=margin(0.9, 900))
        assert best[0] != best[1]
    world = made.answering()
    assert np.array_equal(world.labels, np.stack([made.label, made.later], axis=1))


def test_lazy_workers_give_what_most_of_three_others_gave() -> None:
    # All others right: so are the lazy. All others wrong: so are they.
    truth, contexts = tasks(3, 1)
    idle = np.arange(5) >= 3
    for right in (1.0, 0.0):
        chances = np.full((1, 5, 3, 3), (1 - right) / 2)
        chances[..., range(3), range(3)] = right
        labels = table_of(LabellerCrowd(chances, lazy=idle).label(truth, contexts, 1, 0))
        agree = (labels[:, 3:] == truth[:, None]).mean()
        if right:
            assert agree == 1.0
        else:
            # Wrong answers of two kinds: three votes always have a majority, never the truth.
            assert agree == 0.0
    # Two options, independent others of accuracy .6: a majority of three is right p^3 + 3p^2 q.
    chances = np.full((1, 9, 2, 2), 0.4)
    chances[..., range(2), range(2)] = 0.6
    truth, contexts = tasks(2, 1)
    labels = table_of(LabellerCrowd(chances, lazy=np.arange(9) >= 8).label(truth, contexts, 1, 0))
    share = np.mean(labels[:, 8] == truth)
    assert share == pytest.approx(0.648, abs=margin(0.648, TASKS))
    assert int(lazy(LabellerPool(30, 3, 2, (1, 2))).lazy.sum()) == 10  # type: ignore[union-attr]


def test_colluding_workers_give_one_answer_and_others_their_own() -> None:
    truth, contexts = tasks(3)
    crowd = colluding(LabellerPool(WORKERS, 3, 3, (5, 6)))
    labels = table_of(crowd.label(truth, contexts, 1, 0))
    group = labels[:, 16:]
    assert (group == group[:, :1]).all()
    share = np.mean(group[:, 0] == truth)
    assert share == pytest.approx(0.3, abs=margin(0.3, TASKS))
    assert not (labels[:, :16] == labels[:, :1]).all(axis=0)[1:].any()


def test_with_one_context_everyone_is_good_and_nobody_malicious() -> None:
    pool = LabellerPool(4, 1, 2, (1, 2))
    assert np.diagonal(malicious(pool).chances[0], axis1=1, axis2=2) == pytest.approx(
        np.full((4, 2), 0.9)
    )
    assert np.diagonal(spammer_hammer(pool).chances[0], axis1=1, axis2=2).min() == 1.0


def test_a_model_that_there_is_not_is_named() -> None:
    with pytest.raises(InvalidParameter, match="did you mean 'malicious'") as caught:
        check_models(("one-coin", "malicous"), "models")
    assert caught.value.field == "models"


def test_soft_impute_recovers_a_matrix_of_low_rank() -> None:
    rng = np.random.default_rng(0)
    true = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 40))
    known = rng.random(true.shape) < 0.6
    found = soft_impute(true, known, 0.05, rounds=3000, tolerance=1e-10)
    off = np.linalg.norm((found - true)[~known]) / np.linalg.norm(true[~known])
    assert off < 0.02


def test_soft_impute_meets_the_conditions_of_its_optimum() -> None:
    # Subgradient: the residual on what is known has spectral norm at most the penalty, and its
    # inner product with the solution is penalty times the nuclear norm.
    rng = np.random.default_rng(1)
    values = rng.normal(size=(12, 9))
    known = rng.random(values.shape) < 0.7
    penalty = 0.4 * largest_penalty(values, known)
    found = soft_impute(values, known, penalty, rounds=5000, tolerance=1e-16)
    residual = np.where(known, values - found, 0.0)
    assert np.linalg.norm(residual, 2) <= penalty * (1 + 1e-5)
    nuclear = np.linalg.norm(found, "nuc")
    assert float((residual * found).sum()) == pytest.approx(penalty * nuclear, rel=1e-4)
    assert np.allclose(soft_impute(values, known, 1.001 * largest_penalty(values, known)), 0.0)


def test_a_penalty_below_zero_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="penalty is -1"):
        soft_impute(np.ones((2, 2)), np.ones((2, 2), dtype=bool), -1)


@pytest.mark.parametrize("options", [2, 3])
def test_completion_keeps_recorded_answers_and_fills_the_others_sensibly(options: int) -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, options, 90)
    full = label_tasks("one-coin", truth, np.zeros(90, np.int64), options, 20, 1, 0)
    kept = np.sort(rng.permutation(len(full.task))[: len(full.task) // 2])
    sparse = Recording(full.task[kept], full.worker[kept], full.label[kept], 90, 20, options, truth)
    made = complete(sparse)
    assert made.is_complete
    labels = table_of(made)
    assert np.array_equal(labels[sparse.task, sparse.worker], sparse.label)
    # Everybody is right in 90%: so is what is filled in, or better.
    filled = np.ones((90, 20), dtype=bool)
    filled[sparse.task, sparse.worker] = False
    assert np.mean((labels == truth[:, None])[filled]) > 0.85
    assert np.array_equal(labels, table_of(complete(sparse)))
