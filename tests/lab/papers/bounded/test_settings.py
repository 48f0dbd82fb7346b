"""Small runs of the studies on policies, shares for exploration and applicants."""

from __future__ import annotations

import numpy as np
import pytest

from askwise.core.money import MICRO
from askwise.figures import Row
from askwise.lab import with_settings
from askwise.lab.papers.bounded import theory
from askwise.lab.papers.bounded.studies.common import RECOMMENDED
from askwise.lab.papers.bounded.studies.correlation import lead_row, leaders
from askwise.lab.papers.bounded.studies.leading import behind_the_best, group_means
from askwise.lab.papers.bounded.studies.ratings import IGNORED, KINDS, STATED
from askwise.lab.runner import run
from askwise.policies import policies


def row(series: str, panel: str, x: float, mean: float, metric: str = "expected_share") -> Row:
    return Row(panel, series, x, metric, mean, mean - 0.001, mean + 0.001, 10)


def test_expected_shares_are_at_most_one_and_of_every_policy() -> None:
    settings = {"table1": "500", "fig2": "50", "fig4": "5", "variances": "1"}
    study = with_settings("bounded-policies", {**settings, "policies": f"{RECOMMENDED},uniform"})
    cells = [cell for cell in study.cells() if cell.budget == 50 or cell.candidates == 5]
    for cell in cells:
        shares = study.samples(cell, 3, 0, 1)
        assert shares.shape == (1, 2)
        assert np.all((shares > 0.0) & (shares <= 1.0 + 1e-12)), cell


def test_the_recommended_policy_is_the_one_that_auto_takes() -> None:
    from askwise import Campaign, Worker

    campaign = Campaign.create(workers=[Worker("a", 1)], outcome="utility", budget=5)
    assert campaign.status().policy == RECOMMENDED
    assert RECOMMENDED in policies.names()


def test_leaders_and_near_misses_are_counted_from_the_rows() -> None:
    rows = [
        row(RECOMMENDED, "Table 1", 500, 0.90),
        row("uniform", "Table 1", 500, 0.905),
        row(RECOMMENDED, "Fig. 6, B = 500", 1, 0.70),
        row("uniform", "Fig. 6, B = 500", 1, 0.75),
        row(RECOMMENDED, "Fig. 6, B = 5,000", 1, 0.90),
        row("uniform", "Fig. 6, B = 5,000", 1, 0.50),
    ]
    said = " ".join(with_settings("bounded-policies", {}).differences(rows))
    assert "Table 1: uniform leads" in said
    assert f"Fig. 6: {RECOMMENDED} leads" in said
    assert "in 2 of 3 cells (67%)" in said
    assert group_means(rows[:2]) == {RECOMMENDED: 0.90, "uniform": 0.905}


def test_the_best_rival_is_chosen_on_one_half_and_compared_on_the_other() -> None:
    # Each rival is lucky in one half: the first in replications 0 and 2, the second in 1 and 3.
    ahead = np.array([[0.4, -0.1], [-0.2, 0.5], [0.4, -0.1], [-0.2, 0.5]])
    np.testing.assert_allclose(behind_the_best(ahead), [-0.1, -0.2, -0.1, -0.2])
    assert behind_the_best(ahead[:1]).tolist() == [0.4]


def test_what_pairs_say_of_a_cell_is_counted_from_their_intervals() -> None:
    rows = [
        row(RECOMMENDED, "Table 1", 500, 0.90),
        Row("Table 1", "uniform", 500, "behind", -0.005, -0.007, -0.003, 10),
        Row("Table 1", "uniform", 5000, "behind", 0.005, -0.010, 0.020, 10),
        Row("Fig. 2", "random", 50, "behind", 0.030, 0.020, 0.040, 10),
    ]
    said = " ".join(with_settings("bounded-policies", {}).differences(rows))
    assert "within 0.01 in 2 of 3 cells (67%)" in said
    assert "within it in 1 and further behind in 1: Fig. 2 at 50 (random)" in said


def test_ratings_are_of_each_worker_and_within_the_range() -> None:
    study = with_settings("bounded-ratings", {})
    cell = study.cells()[0]
    for kind, draw in KINDS.items():
        rng = np.random.default_rng(1)
        market = study.market(cell, rng)
        ratings = np.array([draw(market, rng) for _ in range(400 // STATED)]).mean(axis=0)
        assert np.all((ratings >= 0) & (ratings <= 1)), kind
        # Means of 40 to 400 answers, each with a deviation of .3 at most: .19 is four of them.
        wanted = {"inflated": 0.5 + market.means / 2, "reversed": 1 - market.means}
        if kind != "mixed up":
            assert np.abs(ratings - wanted.get(kind, market.means)).max() < 0.19, kind


def test_what_ratings_gain_is_measured_in_pairs() -> None:
    study = with_settings("bounded-ratings", {})
    cell = study.cells()[0]
    samples = np.array([[0.9, 0.8, 0.7, 0.5, 0.5], [0.6, 0.5, 0.6, 0.5, 0.5]])
    found = {each.series: each for each in study.rows(cell, samples, 1) if each.metric == "gain"}
    assert found[RECOMMENDED].mean == pytest.approx(0.1)
    assert IGNORED not in found
    assert "right, against leaving them: learned +0.100" in " ".join(
        study.differences(list(found.values()))
    )


def test_the_best_share_for_exploration_is_named() -> None:
    results = run(
        with_settings(
            "bounded-epsilon",
            {"budgets": "500", "epsilons": "0.05,0.15", "policies": "bounded-epsilon-first"},
        ),
        reps=2,
        seed=1,
    )
    assert {(each.series, each.x) for each in results.rows if each.metric == "spent"} == {
        (series, x) for series in ("optimum", "bounded-epsilon-first") for x in (0.05, 0.15)
    }
    study = with_settings("bounded-epsilon", {"budgets": "500"})
    rows = [
        row(series, "B = 500", x, mean, "share_of_optimum")
        for series in ("bounded-epsilon-first", "budget-limited-epsilon-first")
        for x, mean in ((0.05, 0.9), (0.15, 0.8))
    ]
    assert "The best share for bounded-epsilon-first: 0.05 at 500 (0.900, .15 gives 0.800)." in (
        study.differences(rows)
    )


def test_small_shares_that_beat_the_papers_are_named_where_intervals_are_apart() -> None:
    study = with_settings("bounded-epsilon", {"budgets": "500,5000"})
    means = {"B = 500": (0.89, 0.88, 0.85), "B = 5,000": (0.89, 0.851, 0.85)}
    rows = [
        row(series, panel, x, mean, "share_of_optimum")
        for series in ("bounded-epsilon-first", "budget-limited-epsilon-first")
        for panel, at in means.items()
        for x, mean in zip((0.02, 0.05, 0.15), at, strict=True)
    ]
    assert study.differences(rows)[-1].endswith("at B = 500 (0.880 to 0.890 against 0.850).")


def test_a_prior_that_is_better_than_the_uniform_one_is_named() -> None:
    study = with_settings("bounded-random", {"budgets": "500"})
    rows = [
        row("random", "", 500, 0.45, "share_of_optimum"),
        row("random(prior=cheap)", "", 500, 0.60, "share_of_optimum"),
        row("random(prior=expensive)", "", 500, 0.451, "share_of_optimum"),
    ]
    said = " ".join(study.differences(rows))
    assert "random(prior=cheap) against a uniform draw: better at 500 (0.600" in said
    assert "random(prior=expensive) against a uniform draw: no clear difference at 500" in said


def test_the_bars_of_fig_1_hold_every_job_once() -> None:
    study = with_settings("bounded-applicants", {})
    inside = np.array([study.samples(cell, 5, 0, 30)[:, 0] for cell in study.cells()])
    np.testing.assert_array_equal(inside.sum(axis=0), np.ones(30))


@pytest.mark.parametrize("budget", [500, 5000])
def test_where_the_papers_headline_fails_the_page_says_so(budget: int) -> None:
    study = with_settings("bounded-table1", {"budgets": str(budget)})
    rival = "budget-limited-epsilon-first(epsilon=0.05)"
    rows = [
        row("bounded-epsilon-first", "", budget, 0.83, "share_of_optimum"),
        row(rival, "", budget, 0.86, "share_of_optimum"),
    ]
    said = next(line for line in study.differences(rows) if "headline" in line)
    assert f"{budget:,} (0.860 against 0.830)" in said
    assert not any("headline" in line for line in study.differences(rows[:1]))


def test_the_bound_is_a_line_in_figs_6_and_7() -> None:
    study = with_settings("bounded-correlation", {"policies": "uniform"})
    cell = study.cells()[4]
    found = study.rows(cell, study.samples(cell, 1, 0, 2), 1)
    bounds = [each for each in found if study.drawn_as_reference(each)]
    assert [(each.series, each.metric) for each in bounds] == [
        ("theorem-1(epsilon=0.15)", "share_of_optimum")
    ]
    assert "guarantees nothing here" in " ".join(study.differences(found))


def test_the_sufficient_budget_is_a_row_for_each_share_and_a_sentence() -> None:
    study = with_settings("bounded-regret", {"budgets": "500,1000", "policies": "uniform"})
    results = run(study, reps=2, seed=1)
    needed = {each.x: each for each in results.rows if each.metric == "sufficient_budget"}
    assert list(needed) == [0.1, 0.5, 0.9]
    markets = [study.market(study.cells()[0], np.random.default_rng([1, each])) for each in (0, 1)]
    by_hand = [
        theory.sufficient_budget(0.5, each.prices / MICRO, each.means, 0.95) for each in markets
    ]
    assert needed[0.5].mean == pytest.approx(np.mean(by_hand))
    said = next(line for line in study.differences(results.rows) if "B_0(alpha)" in line)
    assert f"50% from {np.mean(by_hand):,.0f}," in said
    assert "The largest budget here is 1,000." in said


def test_who_leads_is_told_in_pairs() -> None:
    # The first is ahead of the second by .1 in every replication, whatever the market was like.
    shares = np.array([[0.9, 0.8, 0.1], [0.3, 0.2, 0.1], [0.6, 0.5, 0.05]])
    lead = lead_row(shares, ("a", "b", "c"), {"x": 1.0, "panel": "noise 1"})
    # 0.2, 0.8 and 0.55 to the third: Student's interval of three reaches below .1.
    assert (lead.series, lead.metric) == ("a", "lead")
    assert lead.mean == pytest.approx((0.8 + 0.2 + 0.55) / 3)
    assert lead.ci_low < 0
    assert lead_row(shares[:, :2], ("a", "b"), {"x": 1.0, "panel": ""}).ci_low == pytest.approx(0.1)


def test_leads_that_are_not_sure_are_too_close_to_tell() -> None:
    rows = [
        Row("noise 1", "uniform", 1.0, "lead", 0.02, 0.01, 0.03, 9),
        Row("noise 1", "uniform", 2.0, "lead", 0.02, -0.01, 0.05, 9),
        Row("noise 1", "random", 5.0, "lead", 0.02, 0.01, 0.03, 9),
        Row("noise 1", "random", 0.0, "lead", 0.02, 0.01, 0.03, 9),
    ]
    assert leaders(rows) == "uniform (1), random (1), too close to tell (1 of 3)"
