"""Judges together: errors in common, and who could be spared."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.auditing import check
from askwise.auditing.panels import contribution, correlations, effective_judges, errors_together
from tests.auditing.tables import ballots, noisy, sheet


def test_the_effective_number_by_hand() -> None:
    # Errors of three judges on eight tasks; a and b err alike, c apart.
    errors = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1], *[[0, 0, 0]] * 2, [0, 1, 1],
                       [0, 0, 1]], float)  # fmt: skip
    # All three err on half of the tasks, so variance 1/4. a and b: both on 3 of 8, so covariance
    # 3/8 - 1/4 = 1/8 and correlation 1/2. a and c: both on 2, so 0. b and c: both on 2, so 0.
    found = errors_together(errors, np.ones((8, 3), bool))
    assert found.correlation is not None
    assert found.effective is not None
    assert found.correlation.value == pytest.approx(1 / 6)
    assert found.effective.value == pytest.approx(3 / (1 + 2 / 6))
    assert found.counted == 3
    matrix = correlations(errors, np.ones((8, 3), bool))
    assert matrix == pytest.approx(np.array([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]]))


def test_judges_who_err_alike_are_worth_one() -> None:
    errors = np.repeat((np.arange(40) % 4 == 0).astype(float)[:, None], 5, axis=1)
    found = errors_together(errors, np.ones(errors.shape, bool))
    assert found.effective is not None
    assert (found.effective.value, found.effective.low, found.effective.high) == pytest.approx(
        (1, 1, 1)
    )


@pytest.mark.parametrize("seed", range(3))
def test_independent_judges_are_worth_all_of_them(seed: int) -> None:
    errors = (np.random.default_rng(seed).random((3000, 5)) < 0.3).astype(float)
    found = errors_together(errors, np.ones(errors.shape, bool))
    assert found.effective is not None
    # A correlation of 0 has a standard error of 1 / sqrt(3000 * 10) = .006 here.
    assert found.effective.value > 5 / (1 + 4 * 0.024)
    assert found.effective.high <= 5.0


def test_below_zero_a_correlation_counts_as_zero() -> None:
    assert effective_judges(2, -0.9) == 2.0


@given(st.integers(2, 6), st.integers(4, 60), st.integers(0, 2**32 - 1))
def test_the_mean_is_that_of_all_pairs(judges: int, tasks: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    errors = rng.choice([0.0, 0.5, 1.0], (tasks, judges))
    errors[0], errors[1] = 0.0, 1.0
    known = np.ones(errors.shape, bool)
    found = errors_together(errors, known).correlation
    assert found is not None
    plain = np.corrcoef(errors.T)
    upper = np.triu_indices(judges, 1)
    assert found.value == pytest.approx(plain[upper].mean(), abs=1e-9)
    assert correlations(errors, known) == pytest.approx(plain, abs=1e-9)


def test_correlations_are_on_the_tasks_that_two_judges_share() -> None:
    rng = np.random.default_rng(5)
    errors = (rng.random((200, 3)) < 0.4).astype(float)
    known = rng.random((200, 3)) < 0.7
    found = correlations(errors, known)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        both = known[:, one] & known[:, other]
        plain = np.corrcoef(errors[both, one], errors[both, other])[0, 1]
        assert found[one, other] == pytest.approx(plain)


def test_judges_who_never_err_are_left_out_and_named() -> None:
    card = check(
        sheet({"a": "yyyy", "b": "ynyy", "c": "ynny"}), sheet({"ann": "yyyy", "bob": "yyyy"})
    )
    assert card.panel.counted == 2
    assert card.panel.correlations[0] == (None, None, None)
    assert any("1 judge always or never right" in each for each in card.remarks)


def test_the_bootstrap_covers_the_correlation() -> None:
    rng = np.random.default_rng(2)
    covered = 0
    for run in range(200):
        # Errors with probability .3, which two judges have in common with probability .5.
        common = rng.random(150) < 0.3
        own = rng.random((150, 2)) < 0.3
        errors = np.where(rng.random((150, 2)) < 0.5**0.5, common[:, None], own).astype(float)
        found = errors_together(errors, np.ones(errors.shape, bool), seed=run).correlation
        assert found is not None
        covered += found.low <= 0.5 <= found.high
    # Percentiles of 150 tasks cover a little less than 95%.
    assert covered >= 200 * 0.88


def test_what_a_judge_adds_by_hand() -> None:
    table = ballots({"a": "yyyy", "b": "yynn", "c": "ynny"}, {"ann": "yyyy"})
    # All: y, y, n, y: 3/4. Without a: y, tie, n, tie: (1 + 1/2 + 0 + 1/2) / 4.
    gain = contribution(table, 0).gain
    assert gain is not None
    assert gain.value == pytest.approx(3 / 4 - 2 / 4)
    # Without b: y, tie, tie, y: 3/4 as well.
    gain = contribution(table, 1).gain
    assert gain is not None
    assert gain.value == pytest.approx(0.0)
    # With so few tasks nothing is sure.
    assert contribution(table, 1).effect == "unclear"


def test_a_judge_whom_nobody_could_replace_has_no_gain_to_tell() -> None:
    found = contribution(ballots({"a": "yy--", "b": "--yy"}, {"ann": "yyyy"}), 0)
    assert found.gain is not None  # on t3 and t4, where a has no say
    assert found.gain.value == 0.0
    assert contribution(ballots({"a": "yy"}, {"ann": "yy"}), 0).gain is None


def test_copies_add_nothing_and_bad_judges_harm() -> None:
    verdicts, people = noisy(
        1, {"a": 0.9, "b": 0.9, "c": 0.9, "d": 0.2, "e": 0.2}, tasks=3000, people=5
    )
    words = {each.judge: each.effect for each in check(verdicts, people).panel.contributions}
    assert words == {"a": "helps", "b": "helps", "c": "helps", "d": "harms", "e": "harms"}
    verdicts, people = noisy(2, {"a": 0.95}, tasks=3000, people=5)
    copies = [{**verdicts, "worker": [name] * 3000} for name in "abc"]
    every = {key: [cell for copy in copies for cell in copy[key]] for key in verdicts}
    found = check(every, people)
    assert {each.effect for each in found.panel.contributions} == {"nothing"}
    assert any("3 judges add nothing, each taken alone" in each for each in found.remarks)


def test_families_are_told_apart() -> None:
    verdicts, people = noisy(4, {"a": 0.8, "c": 0.8}, tasks=500)
    twin = {key: list(column) for key, column in verdicts.items()}
    for row, worker in enumerate(verdicts["worker"]):
        if worker == "a":
            for key, column in twin.items():
                column.append("b" if key == "worker" else verdicts[key][row])
    panel = check(twin, people, families={"a": "x", "b": "x", "c": "z"}).panel
    assert panel.within_families == pytest.approx(1.0)
    assert panel.between_families is not None
    assert abs(panel.between_families) < 0.2
