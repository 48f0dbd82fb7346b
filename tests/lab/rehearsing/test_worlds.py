"""Worlds as they may turn out, from guesses and from records."""

import numpy as np
import pytest

from askwise import Worker
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.data import GuessedWorker
from askwise.lab.rehearsing.worlds import GuessedWorlds, RecordedWorlds
from askwise.lab.worlds import Recording


def guessed(
    *accuracies: float | tuple[float, float], family: str | None = None
) -> list[GuessedWorker]:
    return [
        GuessedWorker(Worker(f"w{at}", 1, family=family), each)
        for at, each in enumerate(accuracies)
    ]


def rights(world: Recording) -> np.ndarray:
    """Who is right on what: tasks x workers."""
    table = world.label.reshape(world.tasks, world.workers)
    return np.asarray(table == world.truth[:, None], float)


def test_accuracies_lie_in_their_ranges_and_trusted_workers_are_always_right() -> None:
    workers = [*guessed((0.6, 0.7), (0.9, 0.95)), GuessedWorker(Worker("vet", 9, trusted=True))]
    worlds = GuessedWorlds(workers, 4000, 3, correlation=(0.0, 0.0))
    for number in range(3):
        world = worlds.draw(1, number)
        shares = rights(world).mean(axis=0)
        # Three standard errors of 4,000 answers are 0.024 at the most.
        assert 0.6 - 0.024 <= shares[0] <= 0.7 + 0.024
        assert 0.9 - 0.024 <= shares[1] <= 0.95 + 0.024
        assert shares[2] == 1.0
        assert world.trusted == (2,)


def test_a_single_number_is_a_guess_that_may_be_off() -> None:
    worlds = GuessedWorlds(guessed(0.8), 2000, correlation=(0.0, 0.0))
    found = [rights(worlds.draw(0, number)).mean() for number in range(60)]
    # Beta(16, 4): a standard deviation of 0.087, of whose estimate from 60 three errors are 0.024.
    assert abs(np.std(found) - 0.087) < 0.03
    assert abs(np.mean(found) - 0.8) < 3 * 0.087 / 60**0.5


def test_errors_come_together_as_the_correlations_say() -> None:
    alone = GuessedWorlds(guessed((0.8, 0.8), (0.8, 0.8)), 20_000, 3, correlation=(0.2, 0.2))
    kin = guessed((0.8, 0.8), (0.8, 0.8), family="gpt")
    family = GuessedWorlds(kin, 20_000, 3, (0.1, 0.1), family_correlation=0.5)
    for worlds, expected in ((alone, 0.2), (family, 0.5)):
        right = rights(worlds.draw(3, 0))
        assert abs(right.mean() - 0.8) < 0.015
        # A correlation of 20,000 pairs has a standard error of 0.01 at the most.
        assert abs(np.corrcoef(right.T)[0, 1] - expected) < 0.03


def test_worlds_are_settled_by_seed_and_number() -> None:
    worlds = GuessedWorlds(guessed(0.8, 0.7), 50)
    assert (worlds.draw(1, 2).label == worlds.draw(1, 2).label).all()
    assert (worlds.draw(1, 2).label != worlds.draw(1, 3).label).any()


def record(truth: list[int]) -> Recording:
    """Two workers; the first answered all tasks, the second the even ones."""
    count = len(truth)
    task = np.array([*range(count), *range(0, count, 2)])
    worker = np.array([0] * count + [1] * ((count + 1) // 2))
    label = task % 2
    return Recording(task, worker, label, count, 2, 2, np.array(truth))


STAFF = (Worker("ann", 1), Worker("bob", 2))


def test_tasks_are_drawn_from_the_record_with_all_their_answers() -> None:
    world = RecordedWorlds(record([0, 1] * 6), STAFF, 40).draw(0, 0)
    assert world.tasks == 40
    assert [str(price) for price in world.prices] == ["1", "2"]
    for task in range(40):
        mine = world.task == task
        # Labels tell which of the recorded tasks it is: even ones have two answers.
        even = world.label[mine][0] == 0
        assert sorted(world.worker[mine]) == ([0, 1] if even else [0])
        assert world.truth[task] == (0 if even else 1)


def test_a_truth_that_is_not_known_is_as_probable_as_it_is_believed() -> None:
    beliefs = np.tile([0.25, 0.75], (12, 1))
    worlds = RecordedWorlds(record([-1] * 12), STAFF, 12, beliefs)
    drawn = np.concatenate([worlds.draw(0, number).truth for number in range(200)])
    # Tasks of one world share truths: 2,400 draws are worth 1,200 or more.
    assert abs(drawn.mean() - 0.75) < 3 * (0.75 * 0.25 / 1200) ** 0.5


def test_bad_worlds_are_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"correlation is 0\.5-0\.2"):
        GuessedWorlds(guessed(0.8), 10, correlation=(0.5, 0.2))
    with pytest.raises(InvalidParameter, match="family_correlation is 1"):
        GuessedWorlds(guessed(0.8), 10, family_correlation=1.0)
    with pytest.raises(InvalidProblem, match="accuracy of worker 'ann' is missing"):
        GuessedWorlds([GuessedWorker(Worker("ann", 1))], 10)
    with pytest.raises(InvalidProblem, match="workers is empty"):
        GuessedWorlds([], 10)
    with pytest.raises(InvalidProblem, match="truth of a task is not known"):
        RecordedWorlds(record([-1] * 12), STAFF, 10)
