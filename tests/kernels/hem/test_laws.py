"""Laws of the model of hem, and crowds that it must see through."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.kernels.hem import (
    FULL_ROUNDS,
    JUDGED,
    RIGHT,
    SETTLED,
    SkillBeliefs,
    agreements,
    count_in,
    fit,
    judge_held_out,
    lift_of,
    rate_ease,
    side_margins,
)
from tests.kernels.hem.reading import Given, Reading
from tests.kernels.hem.test_hem import coded, random_table


def crowd(
    seed: int, tasks: int, chances: list[float] | list[list[float]], classes: int = 2,
    contexts: list[int] | None = None,
) -> tuple[np.ndarray, list[Given], list[int]]:  # fmt: skip
    """Everybody answers everything; chances by worker, or by context and worker."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=tasks)
    places = [0] * tasks if contexts is None else contexts
    of_tasks = np.atleast_2d(chances)[places]
    right = rng.random(of_tasks.shape) < of_tasks
    said = np.where(right, truth[:, None], (truth[:, None] + 1) % classes)
    table = [Given(t, w, int(said[t, w])) for t in range(tasks) for w in range(said.shape[1])]
    return truth, table, places


def fitted(
    table: list[Given], contexts: list[int], classes: int, truths: dict[int, int] | None = None
) -> SkillBeliefs:
    answers, beliefs = coded(table, contexts, classes, truths)
    fit(answers, beliefs, FULL_ROUNDS, SETTLED, False)
    return beliefs


TABLES = st.builds(
    random_table, st.integers(0, 500), st.sampled_from([2, 3, 9]), st.sampled_from([1, 2]),
    st.integers(0, 4), st.booleans(),
).filter(lambda table: table[0])  # fmt: skip


@settings(max_examples=20)
@given(table=TABLES)
def test_probabilities_of_a_task_add_up_to_one(table) -> None:
    answers, contexts, truths = table
    beliefs = fitted(answers, contexts, 9, truths)
    np.testing.assert_allclose(beliefs.posterior.sum(axis=1), 1.0)
    for task, true in truths.items():
        assert beliefs.posterior[task, true] == 1.0


@settings(max_examples=20)
@given(table=TABLES)
def test_what_is_taken_back_and_counted_in_again_leaves_everything_as_it_was(table) -> None:
    rows, contexts, truths = table
    answers, beliefs = coded(rows, contexts, 9, truths)
    fit(answers, beliefs, FULL_ROUNDS, SETTLED, False)
    before = [each.copy() for each in beliefs]
    for amount in (-1.0, 1.0):
        count_in(beliefs, answers.skill[0], rows[0].task, answers.label[0], 0.6, amount)
    for task in range(len(contexts)):
        judge_held_out(answers, beliefs, task, np.zeros((2, len(beliefs.worker))), np.zeros(9))
    for name, old, new in zip(SkillBeliefs._fields, before, beliefs, strict=True):
        np.testing.assert_allclose(new, old, rtol=0, atol=1e-12, err_msg=name)


def test_a_task_is_held_out_as_if_its_answers_had_taught_nothing() -> None:
    _, table, contexts = crowd(6, 40, [0.9, 0.8, 0.7, 0.6])
    answers, beliefs = coded(table, contexts, 2)
    fit(answers, beliefs, FULL_ROUNDS, SETTLED, False)
    reading = Reading(table, contexts, 2)
    reading.fit(FULL_ROUNDS)
    room, found = np.zeros((2, len(beliefs.worker))), np.zeros(2)
    for task in range(40):
        judge_held_out(answers, beliefs, task, room, found)
        np.testing.assert_allclose(found, reading.held_out(task), rtol=0, atol=1e-9)
        label = beliefs.posterior[task].argmax()
        assert found[label] <= beliefs.posterior[task, label] + 1e-9


def test_who_is_asked_about_contested_tasks_alone_is_seen_to_have_had_hard_ones() -> None:
    rng = np.random.default_rng(1)
    truth, hard = rng.integers(2, size=400), rng.random(400) < 0.4
    right = rng.random((400, 4)) < np.where(hard, 0.55, 0.9)[:, None]
    said = np.where(right, truth[:, None], 1 - truth[:, None])
    contested = said[:, 0] != said[:, 1]
    table = [
        Given(t, w, int(said[t, w])) for t in range(400) for w in range(4) if w < 2 or contested[t]
    ]
    answers, beliefs = coded(table, [0] * 400, 2)
    fit(answers, beliefs, FULL_ROUNDS, SETTLED, False)
    shown = beliefs.totals[:, RIGHT] / beliefs.totals[:, JUDGED]
    ease = np.zeros(4)
    rate_ease(answers, beliefs, np.zeros(len(answers.skill)), ease)
    reading = Reading(table, [0] * 400, 2)
    reading.fit(FULL_ROUNDS)
    assert ease == pytest.approx([reading.ease(w) for w in range(4)], abs=1e-9)
    # All four are equally good; the last two show less, for they had the hard tasks.
    assert shown[2:].mean() < shown[:2].mean() - 0.1
    assert ease[2:].mean() < -0.1 < 0.0 < ease[:2].mean()


def test_three_classes_are_found() -> None:
    truth, table, contexts = crowd(3, 60, [0.9, 0.85, 0.8, 0.7, 0.6], 3)
    beliefs = fitted(table, contexts, 3)
    assert (beliefs.posterior.argmax(axis=1) == truth).mean() >= 0.9


def test_twelve_classes_are_found() -> None:
    truth, table, contexts = crowd(3, 60, [0.9, 0.8, 0.7, 0.6], 12)
    beliefs = fitted(table, contexts, 12)
    assert (beliefs.posterior.argmax(axis=1) == truth).mean() >= 0.85


def test_truths_show_who_is_right_where_most_agree_on_what_is_wrong() -> None:
    truth, table, contexts = crowd(5, 60, [0.2, 0.2, 0.25, 0.9, 0.95])
    alone = fitted(table, contexts, 2)
    assert (alone.posterior.argmax(axis=1) == truth).mean() < 0.5
    taught = fitted(table, contexts, 2, {task: int(truth[task]) for task in range(12)})
    assert (taught.posterior.argmax(axis=1) == truth)[12:].mean() > 0.9


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_who_presses_one_button_is_right_by_chance_in_the_mean_over_classes(classes: int) -> None:
    _, table, contexts = crowd(8, 100, [0.8] * 5, classes)
    table += [Given(task, 5, 1) for task in range(100)]
    beliefs = fitted(table, contexts, classes)
    # Shrunk towards the crowd by a few answers a class.
    assert lift_of(beliefs, 5, 1) == pytest.approx(1 / classes, abs=0.1)
    assert min(lift_of(beliefs, worker, 1) for worker in range(5)) > 0.65


def test_a_common_class_does_not_make_a_presser_of_its_button_good() -> None:
    rng = np.random.default_rng(2)
    truth = (rng.random(200) < 0.1).astype(int)
    table = [
        Given(t, w, int(truth[t] ^ (rng.random() > 0.8))) for t in range(200) for w in range(4)
    ]
    table += [Given(task, 4, 0) for task in range(200)]
    beliefs = fitted(table, [0] * 200, 2)
    others = [lift_of(beliefs, worker, 1) for worker in range(4)]
    assert lift_of(beliefs, 4, 1) < 0.6 < min(others)


def test_contexts_in_which_different_workers_are_good_are_told_apart() -> None:
    chances = [[0.9 if w % 3 == s else 0.55 for w in range(6)] for s in range(3)]
    truth, table, contexts = crowd(4, 240, chances, contexts=[task % 3 for task in range(240)])
    by_context = fitted(table, contexts, 2)
    as_one = fitted(table, [0] * 240, 2)
    found = (by_context.posterior.argmax(axis=1) == truth).mean()
    assert found > (as_one.posterior.argmax(axis=1) == truth).mean()
    assert found > 0.85


def test_a_context_in_which_most_are_wrong_leans_on_who_is_right_elsewhere() -> None:
    chances = [[0.95, 0.95, 0.9, 0.6, 0.6, 0.6, 0.6], [0.95, 0.95, 0.9, 0.3, 0.3, 0.3, 0.3]]
    truth, table, contexts = crowd(6, 160, chances, contexts=[task % 2 for task in range(160)])
    beliefs = fitted(table, contexts, 2)
    wrong_side = np.array(contexts) == 1
    assert (beliefs.posterior.argmax(axis=1) == truth)[wrong_side].mean() > 0.85


def test_margins_are_large_where_workers_agree_and_small_where_they_are_split() -> None:
    margins = []
    for chances in ([0.9] * 6, [0.9, 0.9, 0.9, 0.1, 0.1, 0.1]):
        _, table, contexts = crowd(6, 40, chances)
        found = np.zeros(1)
        side_margins(fitted(table, contexts, 2), found)
        margins.append(found[0])
    assert margins[0] > 20
    assert margins[1] < 3


@pytest.mark.parametrize("mirrored", [False, True])
def test_contexts_agree_unless_those_who_are_right_elsewhere_seem_wrong(mirrored: bool) -> None:
    contexts = [task // 40 for task in range(120)]
    truth, table, _ = crowd(7, 120, [0.95, 0.9, 0.7, 0.7, 0.6, 0.6])
    # All truths told, of the last context the wrong way round.
    told = {t: int(truth[t] ^ (mirrored and contexts[t] == 2)) for t in range(120)}
    found = np.zeros(3)
    agreements(fitted(table, contexts, 2, told), found)
    assert (found[2] < 0) == mirrored
