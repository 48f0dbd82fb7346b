"""Shares of classes by PPI++."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.auditing import check, ppi_mean
from askwise.auditing.intervals import normal
from tests.auditing.tables import noisy, sheet


@pytest.mark.parametrize("seed", range(40))
def test_it_equals_ppi_python(seed: int) -> None:
    ppi = pytest.importorskip("ppi_py", reason="ppi-python is the referee of PPI++")
    rng = np.random.default_rng(seed)
    n, more = int(rng.integers(5, 200)), int(rng.integers(5, 2000))
    truths = (rng.random(n) < rng.random()).astype(float)
    chance = rng.random() if seed % 4 else 1.0
    guesses = np.where(rng.random(n) < chance, truths, rng.integers(0, 2, n))
    further = rng.choice([0.0, 0.5, 1.0], more)
    found, weight = ppi_mean(truths, guesses, further)
    if np.concatenate([guesses, further]).std() == 0:
        pytest.skip("no variance: the referee divides by 0")
    value = ppi.ppi_mean_pointestimate(truths, guesses, further)
    low, high = ppi.ppi_mean_ci(truths, guesses, further, alpha=0.05)
    assert found.value == pytest.approx(float(np.squeeze(value)), abs=1e-9)
    assert found.low == pytest.approx(float(np.squeeze(low)), abs=1e-9)
    assert found.high == pytest.approx(float(np.squeeze(high)), abs=1e-9)
    low, high = ppi.ppi_mean_ci(truths, guesses, further, alpha=0.05, lam=weight)
    assert found.low == pytest.approx(float(np.squeeze(low)), abs=1e-9)
    assert found.high == pytest.approx(float(np.squeeze(high)), abs=1e-9)


def test_by_hand() -> None:
    # cov = mean(1 1, 0 0, 1 1, 0 1) - .5 .75 = .5 - .375 = .125; all 12 guesses have 7 ones, so
    # variance 7/12 5/12 12/11 = .265152; lambda = .125 / (1.5 .265152) = .314286.
    truths, guesses = np.array([1.0, 0, 1, 0]), np.array([1.0, 0, 1, 1])
    further = np.array([1.0, 1, 1, 1, 0, 0, 0, 0])
    found, weight = ppi_mean(truths, guesses, further)
    assert weight == pytest.approx(0.125 / (1.5 * 7 * 5 / (12 * 11)))
    assert found.value == pytest.approx(weight * 0.5 + 0.5 - weight * 0.75)
    # Truth minus lambda guess: 1 - w, 0, 1 - w, -w.
    rest = np.array([1 - weight, 0, 1 - weight, -weight])
    half = 1.959963984540054 * (weight**2 * 0.25 / 8 + rest.var() / 4) ** 0.5
    assert found.high - found.value == pytest.approx(half)


@given(
    st.lists(st.booleans(), min_size=2, max_size=40),
    st.lists(st.booleans(), min_size=1, max_size=40),
    st.booleans(),
)
def test_guesses_that_tell_nothing_leave_the_interval_of_people(
    truths: list[bool], further: list[bool], guess: bool
) -> None:
    told = np.array(truths, float)
    found, weight = ppi_mean(told, np.full(len(told), float(guess)), np.array(further, float))
    alone = normal(told)
    assert weight == 0.0
    ends = found.value, found.low, found.high
    assert ends == pytest.approx((alone.value, alone.low, alone.high), abs=1e-12)


def test_guesses_against_the_truth_are_not_followed() -> None:
    truths = np.array([0.0, 1.0] * 20)
    found, weight = ppi_mean(truths, 1.0 - truths, truths)
    assert weight == 0.0
    assert found.value == 0.5


def test_good_judges_narrow_the_interval_and_wrong_ones_are_corrected() -> None:
    verdicts, people = noisy(3, {"a": 0.95, "b": 0.95, "c": 0.95}, tasks=2000, people=5)
    # A judge who calls a quarter of what is no a yes.
    rng = np.random.default_rng(1)
    verdicts["label"] = [
        "y" if label == "n" and rng.random() < 0.25 else label for label in verdicts["label"]
    ]
    first = {f"t{at}" for at in range(1, 201)}
    some = [row for row, task in enumerate(people["task"]) if task in first]
    humans = {name: [column[row] for row in some] for name, column in people.items()}
    yes = check(verdicts, humans).shares[1]
    true = check(verdicts, people).shares[1].human.value
    assert yes.ppi is not None
    assert yes.naive.low > true + 0.02
    assert yes.ppi.low <= true <= yes.ppi.high
    assert yes.ppi.high - yes.ppi.low < 0.8 * (yes.human.high - yes.human.low)


def test_with_every_task_answered_by_people_nothing_is_inferred() -> None:
    card = check(sheet({"gpt": "ynyn"}), sheet({"ann": "yyyn"}))
    assert [each.ppi for each in card.shares] == [None, None]
    assert [each.human.value for each in card.shares] == [0.25, 0.75]
    assert any("PPI++ has nothing to infer" in each for each in card.remarks)


def test_shares_stay_between_0_and_1() -> None:
    card = check(sheet({"gpt": "yyyyyyyn"}), sheet({"ann": "yyyn"}))
    for each in card.shares:
        for found in (each.naive, each.human, each.ppi):
            assert found is not None
            assert 0.0 <= found.low <= found.value <= found.high <= 1.0
