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
from tests.kernels.hem_reading import Given, Reading


def coded(
    given: list[Given], contexts: list[int], classes: int, truths: dict[int, int] | None = None
) -> tuple[SkillAnswers, SkillBeliefs]:
    """A table as the kernels take it, and room for what is believed."""
    table = sorted(given)
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
    used, _ = fit(answers, beliefs, FULL_ROUNDS, SETTLED)
    assert used == reading.fit(FULL_ROUNDS)
    for task in range(len(contexts)):
        expected = reading.q.get(task, [1.0 / classes] * classes)
        np.testing.assert_allclose(beliefs.posterior[task], expected, rtol=0, atol=1e-9)
    same_counts(beliefs, reading)


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
    fit(answers, beliefs, FULL_ROUNDS, SETTLED)
    reading = Reading(given, contexts, 3, truths)
    reading.fit(FULL_ROUNDS)
    for w in range(5):
        chances = [
            reading.factor(w, c) * o / (1 - o) for c in range(3) if (o := reading.accuracy(w))
        ]
        mean = sum(each / (1 + each) for each in chances) / 3
        assert lift_of(beliefs, w, 2) == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_chances_of_all_answers_add_up_to_one(classes: int) -> None:
    given, contexts, truths = random_table(7, classes, 2, 2)
    reading = Reading(given, contexts, classes, truths)
    reading.fit(FULL_ROUNDS)
    for w, s, c in [(0, 0, 0), (1, 1, 1), (2, 0, classes - 1)]:
        total = sum(reading.chance(w, s, c, a) for a in range(classes))
        assert total == pytest.approx(1.0)
