"""Raw agreement and Krippendorff's alpha: examples from the literature, laws, and intervals."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.auditing.reliability import Reliability, reliability


def counted(*observers: str) -> np.ndarray:
    """Votes of observers, a character for each task; a dot is no answer."""
    labels = sorted({each for observer in observers for each in observer} - {"."})
    votes = np.zeros((len(observers[0]), len(labels)), np.int64)
    for observer in observers:
        for task, label in enumerate(observer):
            if label != ".":
                votes[task, labels.index(label)] += 1
    return votes


@pytest.mark.parametrize(
    ("observers", "alpha", "answers"),
    [
        (("0100000010", "1110010000"), 0.095, 20),
        (("aabbdcccedda", "babbbccceddd"), 0.692, 24),
        (
            ("123321412...", "123322412" + "5.3", ".33323422" + "51.", "123324412" + "51."),
            0.743,
            40,
        ),
    ],
)
def test_alpha_is_that_of_krippendorffs_worked_examples(
    observers: tuple[str, ...], alpha: float, answers: int
) -> None:
    # Computing Krippendorff's alpha-reliability (2011): sections A, B and C.
    found = reliability(counted(*observers))
    assert found.alpha is not None
    assert round(found.alpha.value, 3) == alpha
    assert found.answers == answers


def test_raw_agreement_is_the_share_of_pairs_that_agree() -> None:
    # Three answers to each of two tasks: 1 of 3 pairs agrees, and 3 of 3.
    found = reliability(counted("aa", "aa", "ba"))
    assert found.agreement is not None
    assert found.agreement.value == pytest.approx((1 / 3 + 1) / 2)


def test_nothing_is_said_without_two_answers_to_a_task() -> None:
    assert reliability(np.array([[1, 0], [0, 1], [0, 0]])) == Reliability(0, 0, None, None)
    assert reliability(np.zeros((0, 2), np.int64)) == Reliability(0, 0, None, None)
    assert reliability(np.zeros((3, 0), np.int64)) == Reliability(0, 0, None, None)


def test_where_one_option_is_all_that_was_said_there_is_no_alpha() -> None:
    found = reliability(np.array([[3, 0], [2, 0]]))
    assert found.agreement is not None
    assert found.agreement.value == 1.0
    assert found.alpha is None


def test_a_few_tasks_on_which_all_agree_prove_little() -> None:
    found = reliability(counted("aabb", "aabb"))
    many = reliability(counted("ab" * 200, "ab" * 200))
    assert found.agreement is not None
    assert many.agreement is not None
    assert (found.agreement.value, found.agreement.high) == (1.0, 1.0)
    # The exact interval of 4 hits in 4 tries begins at .40, that of 400 in 400 at .991.
    assert 0.3 < found.agreement.low < 0.6
    assert 0.98 < many.agreement.low < 1.0


tables = st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=12).map(
    np.array
)


@given(tables)
def test_values_are_those_of_counting_all_pairs(votes: np.ndarray) -> None:
    found = reliability(votes)
    said = [[at for at, n in enumerate(row) for _ in range(n)] for row in votes.tolist()]
    said = [each for each in said if len(each) > 1]
    every = [each for row in said for each in row]
    assert (found.tasks, found.answers) == (len(said), len(every))
    if not said:
        return
    # Each task weighs by its answers, as in the matrix of coincidences.
    observed = sum(
        len(row) * np.mean([a == b for a, b in combinations(row, 2)]) for row in said
    ) / len(every)
    by_chance = np.mean([a == b for a, b in combinations(every, 2)])
    assert found.agreement is not None
    assert found.agreement.value == pytest.approx(observed)
    assert 0 <= found.agreement.low <= found.agreement.value <= found.agreement.high <= 1
    if by_chance < 1:
        assert found.alpha is not None
        assert found.alpha.value == pytest.approx(1 - (1 - observed) / (1 - by_chance))
        assert found.alpha.low <= found.alpha.value <= found.alpha.high
    else:
        assert found.alpha is None


@given(tables, st.permutations([0, 1, 2]))
def test_names_and_order_do_not_matter(votes: np.ndarray, order: list[int]) -> None:
    one, other = reliability(votes), reliability(votes[::-1][:, order])
    for here, there in ((one.agreement, other.agreement), (one.alpha, other.alpha)):
        assert (here is None) == (there is None)
        if here is not None and there is not None:
            assert here.to_json() == pytest.approx(there.to_json(), abs=1e-9)


def test_the_interval_is_the_jackknifes_by_leaving_out_each_task() -> None:
    votes = counted("aabbabab" * 3, "abbbaaab" * 3, "aabbbbab" * 3)
    from askwise.auditing import reliability as module

    size = votes.sum(axis=1).astype(float)
    same = (votes * (votes - 1)).sum(axis=1) / (size - 1)
    sample = module._CountedTasks(votes.astype(float), size, same, np.ones(len(votes)))
    without = [reliability(np.delete(votes, at, axis=0)) for at in range(len(votes))]
    for at, name in enumerate(("agreement", "alpha")):
        values = np.array([getattr(each, name).value for each in without])
        spread = (len(values) - 1) / len(values) * ((values - values.mean()) ** 2).sum()
        low, high = sample.ends()[at]
        assert (high - low) / 2 == pytest.approx(1.959964 * np.sqrt(spread), rel=1e-6)


def test_intervals_cover_what_they_should() -> None:
    # 400 campaigns of 30 tasks with 3 answers, right with 0.85: by the binomial, 95% intervals miss
    # at most 36 of them but for one time in a thousand.
    rng = np.random.default_rng(7)

    def drawn(tasks: int) -> np.ndarray:
        truth = rng.integers(2, size=tasks)
        said = np.where(rng.random((3, tasks)) < 0.85, truth, 1 - truth)
        return np.stack([(said == 0).sum(axis=0), (said == 1).sum(axis=0)], axis=1)

    # Two answers agree with .85^2 + .15^2 = .745; by chance with .5, so alpha is .49.
    missed = np.zeros(2)
    for _ in range(400):
        found = reliability(drawn(30))
        assert found.agreement is not None
        assert found.alpha is not None
        missed += [
            not found.agreement.low <= 0.745 <= found.agreement.high,
            not found.alpha.low <= 0.49 <= found.alpha.high,
        ]
    assert (missed <= 36).all()
