"""The model of hem, against a reading with dictionaries and loops."""

from __future__ import annotations

import numpy as np
import pytest

from askwise.kernels.hem import (
    FULL_ROUNDS,
    JUDGED,
    MEAN,
    RIGHT,
    SETTLED,
    SkillAnswers,
    SkillBeliefs,
    fit,
    lift_of,
    new_beliefs,
)
from tests.kernels.hem.reading import Given, Reading


def coded(
    given: list[Given], contexts: list[int], classes: int, truths: dict[int, int] | None = None
) -> tuple[SkillAnswers, SkillBeliefs]:
    """A table as the kernels take it, and room for what is believed."""
    table = sorted(given, key=lambda each: each.task)
    tasks, workers = len(contexts), max(each.worker for each in table) + 1
    pairs = sorted({(contexts[each.task], each.worker) for each in table})
    known = np.full(tasks, -1)
    for task, true in (truths or {}).items():
        known[task] = true
    answers = SkillAnswers(
        np.searchsorted([each.task for each in table], np.arange(tasks + 1)),
        np.array([pairs.index((contexts[each.task], each.worker)) for each in table]),
        np.array([each.label for each in table]),
        np.array([each.weight for each in table]),
        np.array(contexts),
        known,
    )
    beliefs = new_beliefs(len(pairs), workers, classes, max(contexts) + 1, tasks)._replace(
        worker=np.array([worker for _, worker in pairs]),
        place=np.array([place for place, _ in pairs]),
    )
    return answers, beliefs


def random_table(
    seed: int, classes: int, places: int = 1, told: int = 0, weighted: bool = False
) -> tuple[list[Given], list[int], dict[int, int]]:
    """Some ten tasks with none to four answers each; workers are right two times in three."""
    rng = np.random.default_rng(seed)
    tasks, workers = 12, 5
    contexts = [task % places for task in range(tasks)]
    truth = rng.integers(classes, size=tasks)
    given = []
    for task in range(tasks):
        for worker in rng.choice(workers, size=rng.integers(0, 5), replace=False):
            right = rng.random() < 2 / 3
            label = truth[task] if right else rng.integers(classes)
            weight = float(rng.choice([1.0, 1 / 1.4, 1 / 1.8])) if weighted else 1.0
            given.append(Given(task, int(worker), int(label), weight))
    truths = {int(task): int(truth[task]) for task in rng.choice(tasks, size=told, replace=False)}
    return given, contexts, truths


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("classes", "places", "told", "weighted"),
    [
        (2, 1, 0, False), (2, 1, 3, False), (2, 3, 0, False), (2, 3, 4, True), (3, 1, 0, True),
        (3, 2, 3, False), (5, 1, 4, True), (5, 2, 0, False), (11, 1, 3, False), (11, 2, 3, True),
    ],
)  # fmt: skip
def test_a_fit_is_that_of_a_plain_reading(
    seed: int, classes: int, places: int, told: int, weighted: bool
) -> None:
    given, contexts, truths = random_table(seed, classes, places, told, weighted)
    answers, beliefs = coded(given, contexts, classes, truths)
    reading = Reading(given, contexts, classes, truths)
    used, _ = fit(answers, beliefs, FULL_ROUNDS, SETTLED, False)
    assert used == reading.fit(FULL_ROUNDS)
    for task in range(len(contexts)):
        expected = reading.q.get(task, [1.0 / classes] * classes)
        np.testing.assert_allclose(beliefs.posterior[task], expected, rtol=0, atol=1e-9)
    same_counts(beliefs, reading)


def test_of_answers_bought_in_turn_the_first_says_how_common_classes_are() -> None:
    given, contexts, truths = random_table(3, 3, 2, 3)
    # The kernel's are listed with the first at the end, as a campaign lists them.
    answers, beliefs = coded(given[::-1], contexts, 3, truths)
    fit(answers, beliefs, FULL_ROUNDS, SETTLED, True)
    reading = Reading(given, contexts, 3, truths)
    reading.in_turn = True
    reading.fit(FULL_ROUNDS)
    for s in range(2):
        np.testing.assert_allclose(beliefs.shares[s], reading.shares[s], rtol=0, atol=1e-9)


def test_a_rare_answer_that_is_asked_about_again_does_not_make_its_class_rarer() -> None:
    # Half of the tasks are first said to be 0; those are asked about until somebody says 1.
    given = []
    for task in range(100):
        said = [0, 0, 1] if task % 2 else [1]
        given += [Given(task, (task + at) % 10, label) for at, label in enumerate(said)]
    found = {}
    for in_turn in (True, False):
        answers, beliefs = coded(given[::-1], [0] * 100, 2)
        fit(answers, beliefs, FULL_ROUNDS, SETTLED, in_turn)
        found[in_turn] = float(np.exp(beliefs.shares[0, 0]))
    assert found[True] == pytest.approx(0.5, abs=0.02)
    assert found[False] < 0.36


def test_who_never_names_a_class_is_not_believed_to_be_right_on_it() -> None:
    # Five name both classes equally often; one says 0 of 40 tasks that nobody else answers.
    given = [Given(task, task % 5, task // 5 % 2) for task in range(100)]
    given += [Given(100 + task, 5, 0) for task in range(40)]
    answers, beliefs = coded(given, [0] * 140, 2)
    fit(answers, beliefs, FULL_ROUNDS, SETTLED, False)
    share = float(np.exp(beliefs.shares[0, 1]))
    assert lift_of(beliefs, 5, 1) == pytest.approx((1 + 2 / (2 + 20 * share)) / 2)
    assert lift_of(beliefs, 5, 1) < 0.65 < lift_of(beliefs, 0, 1)


def test_who_always_gives_the_same_answer_does_not_decide_how_common_it_is() -> None:
    # One worker says 1 of 90 tasks; ten others, of one task each, say 0.
    given = [Given(task, 0, 1) for task in range(90)]
    given += [Given(90 + at, 1 + at, 0) for at in range(10)]
    answers, beliefs = coded(given, [0] * 100, 2)
    fit(answers, beliefs, FULL_ROUNDS, SETTLED, False)
    # The root of 90 against 10, and two tasks of each class beforehand.
    share = (2 + 100 * 90**0.5 / (90**0.5 + 10)) / 104
    assert np.exp(beliefs.shares[0, 1]) == pytest.approx(share)


def same_counts(beliefs: SkillBeliefs, reading: Reading) -> None:
    """What kernels have counted is what the reading has."""
    classes = reading.classes
    assert beliefs.crowd[MEAN] == pytest.approx(reading.m, abs=1e-9)
    for w in range(len(beliefs.totals)):
        expected = [reading.right[w], reading.judged[w]]
        np.testing.assert_allclose(beliefs.totals[w, [RIGHT, JUDGED]], expected, atol=1e-9)
        for name in ("right_on", "judged_on", "due_on", "wrong", "alone"):
            short = {"right_on": "right", "judged_on": "seen", "due_on": "due"}.get(name, name)
            expected = [getattr(reading, name)[w, c] for c in range(classes)]
            found = getattr(beliefs, short)[w]
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7, err_msg=name)
    for row, (w, s) in enumerate(zip(beliefs.worker, beliefs.place, strict=True)):
        expected = [reading.right_in[w, s], reading.judged_in[w, s]]
        np.testing.assert_allclose(beliefs.shown[row, [RIGHT, JUDGED]], expected, atol=1e-9)
    for c in range(classes):
        for a in set(range(classes)) - {c}:
            assert beliefs.errors[c, a] == pytest.approx(reading.errors[c, a], abs=1e-7)


def test_an_accuracy_in_the_mean_over_classes_is_that_of_a_plain_reading() -> None:
    given, contexts, truths = random_table(5, 3, 2, 3)
    answers, beliefs = coded(given, contexts, 3, truths)
    fit(answers, beliefs, FULL_ROUNDS, SETTLED, False)
    reading = Reading(given, contexts, 3, truths)
    reading.fit(FULL_ROUNDS)
    for w in range(5):
        chances = [
            reading.factor(w, c) * o / (1 - o) for c in range(3) if (o := reading.accuracy(w))
        ]
        mean = sum(each / (1 + each) for each in chances) / 3
        found = lift_of(beliefs, w, 2)
        assert found == pytest.approx(min(mean, reading.most_by_answers(w)), abs=1e-9)


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_chances_of_all_answers_add_up_to_one(classes: int) -> None:
    given, contexts, truths = random_table(7, classes, 2, 2)
    reading = Reading(given, contexts, classes, truths)
    reading.fit(FULL_ROUNDS)
    for w, s, c in [(0, 0, 0), (1, 1, 1), (2, 0, classes - 1)]:
        total = sum(reading.chance(w, s, c, a) for a in range(classes))
        assert total == pytest.approx(1.0)
