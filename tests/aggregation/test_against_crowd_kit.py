"""The same answers as crowd-kit's, on drawn tables and on recorded answers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, settings

from askwise.aggregation.answers import code_answers
from askwise.aggregation.base import aggregation
from askwise.aggregation.frames import code_frame
from askwise.aggregation.mace import Habits, Mace
from tests.aggregation.tables import LARGE, SMALL, drawn, recorded, tables
from tests.paths import DATA

pytestmark = pytest.mark.filterwarnings("ignore")

CLEAR = 1e-6
"""Where its two largest probabilities are nearer, crowd-kit leaves the label to rounding."""


def crowdkit() -> Any:
    """Imported when it is used: it takes seconds, in every process of a run."""
    return pytest.importorskip("crowdkit.aggregation")


def theirs(name: str, table: Any) -> Any:
    """Probabilities by crowd-kit, rows and columns sorted."""
    found = getattr(crowdkit(), name)().fit(table)
    return found.probas_.sort_index().sort_index(axis=1)


def untempered(name: str) -> Any:
    """The method, with the probabilities that it finds itself, as crowd-kit's."""
    return aggregation.make({"name": name, "temper": 0})


def check_same(mine: Any, other: Any, within: float) -> None:
    """The same probabilities, and the same labels where there is no tie."""
    assert list(mine.probas_.columns) == list(other.columns)
    assert list(mine.probas_.index) == list(other.index)
    np.testing.assert_allclose(mine.probas_, other, atol=within)
    ordered = np.sort(other.to_numpy(), axis=1)
    clear = np.ones(len(other), bool)
    if ordered.shape[1] > 1:
        clear = ordered[:, -1] - ordered[:, -2] > 2 * within
    assert (mine.labels_[clear] == other.idxmax(axis=1)[clear]).all()


@settings(max_examples=max(8, settings().max_examples // 12))
@given(tables(repeats=False))
def test_dawid_skene_on_small_tables(table: Any) -> None:
    mine = untempered("dawid-skene").fit(table)
    check_same(mine, theirs("DawidSkene", table), CLEAR)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("seed", "classes"), [(0, 2), (1, 5)])
def test_dawid_skene_and_one_coin_on_drawn_answers(seed: int, classes: int) -> None:
    table, _ = drawn(seed, tasks=60, crowd=12, classes=classes, each=5)
    for name, their in (("dawid-skene", "DawidSkene"), ("one-coin", "OneCoinDawidSkene")):
        mine = untempered(name).fit(table)
        check_same(mine, theirs(their, table), CLEAR)


def test_dawid_skene_counts_answers_given_twice_as_crowd_kit_does() -> None:
    table, _ = drawn(7, tasks=40, crowd=8, classes=3, each=4)
    table = pd.concat([table, table.sample(frac=0.3, random_state=1)], ignore_index=True)
    mine = untempered("dawid-skene").fit(table)
    check_same(mine, theirs("DawidSkene", table), CLEAR)


def test_dawid_skene_with_known_truths() -> None:
    table, truths = drawn(8, tasks=60, crowd=12, classes=3, each=4)
    gold = truths[:20]
    mine = untempered("dawid-skene").fit(table, gold=gold)
    other = crowdkit().DawidSkene().fit(table, true_labels=gold)
    check_same(mine, other.probas_.sort_index().sort_index(axis=1), CLEAR)
    errors = other.errors_.reindex(mine.errors_.index)[mine.errors_.columns]
    np.testing.assert_allclose(mine.errors_, errors, atol=1e-6)


@pytest.mark.parametrize("name", SMALL)
def test_dawid_skene_on_recorded_answers(name: str) -> None:
    if not (DATA / name).is_dir():
        pytest.skip("the recorded answers are not here")
    table = recorded(name)
    mine = untempered("dawid-skene").fit(table)
    other = crowdkit().DawidSkene().fit(table)
    assert mine.iterations_ == len(other.loss_history_)
    assert (mine.labels_ == other.labels_.sort_index()).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_dawid_skene_on_many_recorded_answers(name: str) -> None:
    test_dawid_skene_on_recorded_answers(name)


def weighted(table: Any, skills: Any) -> Any:
    """crowd-kit's vote with skills: what its Wawa and ZeroBasedSkill end with."""
    return (
        crowdkit().MajorityVote().fit(table, skills=skills).probas_.sort_index().sort_index(axis=1)
    )


@pytest.mark.parametrize(
    ("name", "their"), [("wawa", "Wawa"), ("zero-based-skill", "ZeroBasedSkill")]
)
def test_votes_by_skill(name: str, their: str) -> None:
    # Two classes and five answers: no vote is tied, where the two differ.
    table, _ = drawn(1, tasks=50, crowd=11, classes=2, each=5)
    mine = aggregation.make(name).fit(table)
    skills = getattr(crowdkit(), their)().fit(table).skills_.sort_index()
    np.testing.assert_allclose(mine.workers_["skill"], skills, atol=1e-12)
    check_same(mine, weighted(table, skills), 1e-9)


@pytest.mark.parametrize("classes", [pytest.param(2, marks=pytest.mark.slow), 4])
def test_glad(classes: int) -> None:
    table, _ = drawn(classes, tasks=20, crowd=8, classes=classes, each=5)
    mine = untempered("glad").fit(table)
    # Conjugate gradients stop at a slope of .01: rounding may move where.
    check_same(mine, theirs("GLAD", table), 0.01)


def in_order(seed: int, classes: int) -> Any:
    """A full table whose workers and labels appear in order (else crowd-kit mixes them up)."""
    table, _ = drawn(seed, tasks=40, crowd=6, classes=classes, each=6)
    table = table.sort_values(["task", "worker"], ignore_index=True)
    table.loc[: classes - 1, "label"] = range(classes)
    return table


@pytest.mark.sampled(2)
@pytest.mark.parametrize("variational", [True, False])
@pytest.mark.parametrize("classes", [2, 4])
def test_mace_from_the_same_beginning(classes: int, variational: bool) -> None:
    table = in_order(classes, classes)
    other = crowdkit().MACE(n_restarts=1, method="vb" if variational else "em").fit(table)
    noise = scipy.stats.uniform(1, 1.5)
    rows = [noise.rvs(size=(6, width), random_state=0) for width in (2, classes)]
    answers, names = code_frame(table)
    method = Mace(variational=variational, tolerance=0.0)
    fitted, _ = method.climb(
        answers, Habits(*(each / each.sum(axis=1, keepdims=True) for each in rows))
    )
    assert fitted.iterations == 50
    np.testing.assert_allclose(
        fitted.probabilities, other.probas_[list(names.labels)].sort_index(), atol=1e-6
    )


def test_majority_is_crowd_kits_where_no_vote_is_tied() -> None:
    table, _ = drawn(3, tasks=50, crowd=11, classes=2, each=5)
    mine = aggregation.make("majority").fit(table)
    check_same(mine, theirs("MajorityVote", table), 1e-12)


def test_codes_from_arrays_are_those_of_a_table() -> None:
    table, _ = drawn(4, tasks=20, crowd=5, classes=3, each=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answers, _ = code_frame(table)
        same = code_answers(*(table[each].to_numpy() for each in ("task", "worker", "label")))
    for one, other in zip(answers, same, strict=True):
        assert np.array_equal(one, other)
