"""What is measured of contenders on recorded labels, and how curves are read."""

from __future__ import annotations

import numpy as np
import pytest

from askwise.aggregation import aggregation
from askwise.core import draws
from askwise.core.draws import Draw
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.figures import Row
from askwise.lab.papers.labels.studies.common import (
    accuracy_at,
    curve_of,
    reached_at,
    standard_error,
)
from askwise.lab.replaying.bench import Bench, contender, final_answers
from askwise.lab.results import mean_row
from askwise.lab.simulate import simulate
from askwise.lab.worlds import Recording
from askwise.lab.worlds.labellers import label_tasks


def small() -> Recording:
    rng = np.random.default_rng(3)
    truth, contexts = rng.integers(0, 2, 30), rng.integers(0, 2, 30)
    return label_tasks("one-coin", truth, contexts, 2, 6, 1, 0)


def test_measuring_counts_what_was_bought_and_what_came_out_right() -> None:
    bench = Bench(small())
    labels = ("random-pairs", "random-pairs with one-coin")
    found = bench.measure([contender(label) for label in labels], 180, 1, 0)
    # Money for everything: the majority of six answers, ties drawn, counted apart.
    assert found[:, 1].tolist() == [180, 180]
    votes = np.array([np.bincount(row, minlength=2) for row in small().label.reshape(30, 6)])
    sure = (votes[np.arange(30), small().truth] > 3).mean()
    tied = (votes[:, 0] == 3).mean()
    assert sure <= found[0, 0] <= sure + tied
    again = bench.measure([contender(labels[1])], 180, 1, 0)
    assert again[0].tolist() == found[1].tolist()


def test_the_vote_in_one_go_is_the_aggregators() -> None:
    bench = Bench(small())
    problem, ledger = bench.campaign(70)
    naive = contender("random-pairs")
    outcome = simulate(naive.policy, problem, bench.world, seed=2, replication=5, ledger=ledger)
    draw = Draw(*draws.stream(2, draws.AGGREGATION, 5), 0)
    named = aggregation.make("majority").labels(problem, outcome.ledger, range(30), draw)
    expected = [-1 if label.value is None else int(label.value) for label in named]
    assert final_answers(naive, problem, outcome, 2, 5).tolist() == expected
    explicit = contender("random-pairs with majority")
    assert final_answers(explicit, problem, outcome, 2, 5).tolist() == expected


def test_an_aggregator_by_context_learns_in_each_context_alone() -> None:
    # With all answers bought it is the same as a campaign for each context.
    rng = np.random.default_rng(4)
    truth, contexts = rng.integers(0, 2, 80), rng.integers(0, 2, 80)
    whole = label_tasks("malicious", truth, contexts, 2, 12, 1, 0)
    labels = whole.label.reshape(80, 12)
    plain, split = (
        contender(f"random-pairs with one-coin{words}") for words in ("", " by context")
    )
    right = 0.0
    for context in range(2):
        inside = contexts == context
        part = Recording.complete(labels[inside], truth[inside], 2)
        count = int(inside.sum())
        right += count * Bench(part).measure([plain], 12 * count, 1, 0)[0, 0]
    found = Bench(whole).measure([plain, split], 960, 1, 0)[:, 0]
    assert found[1] == pytest.approx(right / 80)
    # Each worker is good here and bad there: over both contexts nobody stands out.
    assert found[1] > found[0]
    with pytest.raises(InvalidParameter, match="learns nothing"):
        contender("random-pairs with mean by context")


def test_a_policy_that_can_not_work_on_a_set_is_left_out() -> None:
    truth = np.arange(30) % 3
    three = label_tasks("one-coin", truth, np.zeros(30, np.int64), 3, 5, 1, 0)
    found = Bench(three).measure([contender("optkg"), contender("random-pairs")], 60, 1, 0)
    assert np.isnan(found[0]).all()
    assert found[1, 1] == 60
    problem, _ = Bench(three).campaign(60)
    with pytest.raises(InvalidProblem):
        contender("optkg").policy.check(problem)


def test_the_standard_error_is_that_of_the_values() -> None:
    values = [0.8, 0.9, 0.7, 0.95]
    row = mean_row(values, series="s", x=1, metric="accuracy")
    assert standard_error(row) == pytest.approx(np.std(values, ddof=1) / 2)
    assert standard_error(mean_row([0.5], series="s", x=1, metric="accuracy")) == 0


def test_curves_are_read_between_their_points() -> None:
    curve = np.array([[0.9, 4.0], [0.7, 2.0]])
    assert accuracy_at(curve, 3.5) == pytest.approx(0.85)
    assert np.isnan(accuracy_at(curve, 5.0))
    rows = [Row("p", "s", x, "accuracy", y, y, y, 1) for x, y in ((1, 0.6), (2, 0.8), (4, 0.9))]
    known = curve_of(rows, "p", "s")
    assert reached_at(known, 0.7) == pytest.approx(1.5)
    assert reached_at(known, 0.5) == 1
    assert reached_at(known, 0.95) is None
