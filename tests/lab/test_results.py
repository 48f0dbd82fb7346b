from __future__ import annotations

import csv
import math
import os

import numpy as np
import pytest

from askwise.core.errors import InvalidParameter
from askwise.figures import Row
from askwise.lab.results import Results, mean_row, ratio_row

ROW = Row("A", "uniform", 500, "utility", 2.0, 1.0, 3.0, 10)
RESULTS = Results(
    "bounded.table1",
    seed=7,
    reps=10,
    params={"budgets": [500, 5000], "world": "market, ε"},
    rows=(ROW, Row("", 'odd "name",\n<b>', 0.1, "share_of_optimum", 0.1 + 0.2, 0.0, 1.0, 3)),
)


def test_mean_interval_is_students_t_worked_out_by_hand() -> None:
    # Mean 5, squared deviations 9+1+1+1+0+0+4+16 = 32, s = sqrt(32/7), t(.975; 7) = 2.364624.
    row = mean_row([2, 4, 4, 4, 5, 5, 7, 9], series="a", x=1, metric="utility", panel="p")
    half = 2.364624 * math.sqrt(32 / 7) / math.sqrt(8)
    assert (row.panel, row.series, row.x, row.metric, row.n) == ("p", "a", 1, "utility", 8)
    assert row.mean == 5
    assert row.ci_low == pytest.approx(5 - half, abs=1e-5)
    assert row.ci_high == pytest.approx(5 + half, abs=1e-5)


def test_mean_interval_of_many_values_is_the_normal_one() -> None:
    row = mean_row([0, 1] * 5000, series="a", x=1, metric="utility")
    assert row.ci_high - row.mean == pytest.approx(1.96 * 0.5 / 100, rel=1e-3)


def test_interval_of_one_replication_is_the_value_itself() -> None:
    row = mean_row([3.5], series="a", x=1, metric="utility")
    assert (row.ci_low, row.mean, row.ci_high, row.n) == (3.5, 3.5, 3.5, 1)
    row = ratio_row([1.0], [4.0], series="a", x=1, metric="share", seed=0)
    assert (row.ci_low, row.mean, row.ci_high, row.n) == (0.25, 0.25, 0.25, 1)


def test_ratio_is_a_ratio_of_means_and_not_a_mean_of_ratios() -> None:
    row = ratio_row([1, 9], [2, 10], series="a", x=1, metric="share", seed=0)
    assert row.mean == 10 / 12


def test_bootstrap_interval_contains_the_ratio_and_is_the_same_for_the_same_seed() -> None:
    generator = np.random.default_rng(5)
    below = generator.uniform(50, 150, 300)
    above = below * generator.uniform(0.4, 0.8, 300)
    rows = [ratio_row(above, below, series="a", x=1, metric="share", seed=s) for s in (3, 3, 4)]
    assert rows[0] == rows[1]
    assert rows[0] != rows[2]
    assert rows[0].ci_low < rows[0].mean < rows[0].ci_high


def test_bootstrap_interval_has_the_width_of_the_delta_method() -> None:
    # Var(ratio) = Var(above - r * below) / (n * mean(below)^2); 4000 resamples put the ends
    # of the interval within about 3% of theirs, so 10% can't flicker.
    generator = np.random.default_rng(11)
    below = generator.normal(100, 10, 2000)
    above = 0.6 * below + generator.normal(0, 8, 2000)
    row = ratio_row(above, below, series="a", x=1, metric="share", seed=2, resamples=4000)
    residual = above - row.mean * below
    half = 1.96 * residual.std() / (math.sqrt(2000) * below.mean())
    assert (row.ci_high - row.ci_low) / 2 == pytest.approx(half, rel=0.1)


def test_bootstrap_pairs_replications() -> None:
    # Each pair has the same ratio, so there is nothing to be unsure of.
    below = np.array([0.1, 3.0, 7.7, 100.0])
    row = ratio_row(below / 3, below, series="a", x=1, metric="share", seed=1)
    assert row.ci_low <= row.mean <= row.ci_high
    assert row.ci_high - row.ci_low < 1e-12


def test_bootstrap_draws_in_blocks_and_fills_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("askwise.lab.results._BLOCK", 70)
    row = ratio_row(range(1, 11), [10] * 10, series="a", x=1, metric="share", seed=1)
    assert 0.1 <= row.ci_low < 0.55 < row.ci_high <= 1.0


@pytest.mark.parametrize("bad", [[1.0, math.nan], [math.inf], [], [[1.0, 2.0]]])
def test_samples_that_are_not_finite_or_not_a_list_are_refused(bad: list[float]) -> None:
    with pytest.raises(InvalidParameter, match="values"):
        mean_row(bad, series="a", x=1, metric="utility")
    with pytest.raises(InvalidParameter, match="numerator"):
        ratio_row(bad, [1.0, 1.0], series="a", x=1, metric="share", seed=0)


def test_ratios_without_a_meaning_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="as many as numerator"):
        ratio_row([1, 2], [1], series="a", x=1, metric="share", seed=0)
    with pytest.raises(InvalidParameter, match="mean other than 0"):
        ratio_row([1, 2], [0, 0], series="a", x=1, metric="share", seed=0)
    with pytest.raises(InvalidParameter, match="fewer zeros"):
        ratio_row([1, 2], [0, 1], series="a", x=1, metric="share", seed=0)


def test_results_survive_json() -> None:
    assert Results.from_json(RESULTS.to_json()) == RESULTS
    empty = Results("e", 1, 1, {}, ())
    assert Results.from_json(empty.to_json()) == empty


def test_json_has_one_row_a_line_and_exactly_the_documented_fields() -> None:
    text = RESULTS.to_json()
    line = next(line for line in text.splitlines() if '"uniform"' in line)
    assert line.strip().rstrip(",") == (
        '{"panel": "A", "series": "uniform", "x": 500, "metric": "utility", '
        '"mean": 2.0, "ci_low": 1.0, "ci_high": 3.0, "n": 10}'
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not valid JSON"),
        ("[]", "experiment, seed, reps, params, rows"),
        (RESULTS.to_json().replace('"seed"', '"sed"'), "sed"),
        (RESULTS.to_json().replace('"mean": 2.0, ', ""), r"rows\[0\]"),
        (RESULTS.to_json().replace('"mean": 2.0', '"mean": NaN'), "NaN"),
    ],
)
def test_broken_json_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        Results.from_json(text)


def test_parameters_that_json_does_not_know_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="params"):
        Results("e", 1, 1, {"a": math.nan}).to_json()


def test_csv_has_the_rows(tmp_path: os.PathLike[str]) -> None:
    path = RESULTS.write_csv(os.path.join(tmp_path, "deep", "results.csv"))
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [line["series"] for line in lines] == [row.series for row in RESULTS.rows]
    assert float(lines[1]["mean"]) == RESULTS.rows[1].mean
