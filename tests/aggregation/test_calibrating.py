"""Confidences that are reported: tempered, calibrated by truths, and as they were with temper=0."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise import Campaign, Worker
from askwise.aggregation import aggregation, code_answers
from askwise.aggregation.calibrating import band_width, reported
from askwise.aggregation.fitted import Fitted
from askwise.core.errors import InvalidParameter
from askwise.core.scoring import calibration_error
from askwise.kernels.calibration import LEAST_TRUTHS
from tests.aggregation.tables import METHODS, drawn, tables

by_method = pytest.mark.parametrize("method", METHODS)
SHARES = ("majority", "wawa", "zero-based-skill")


def quick(method: str, **more: Any) -> Any:
    few = {"mace": {"restarts": 2, "max_iterations": 5}, "glad": {"max_iterations": 3}}
    return aggregation.make({"name": method, **few.get(method, {}), **more})


def coded(table: Any, **more: Any) -> Any:
    columns = (table[name].astype("category").cat.codes.to_numpy() for name in table)
    return code_answers(*(np.asarray(each, np.int64) for each in columns), **more)


@by_method
@settings(max_examples=15)
@given(table=tables())
def test_labels_are_those_of_the_method_and_temper_0_is_the_method_itself(
    method: str, table: Any
) -> None:
    answers = coded(table)
    found = quick(method).solve(answers)
    same = quick(method, temper=0).report(answers)
    assert same.probabilities.tolist() == found.probabilities.tolist()
    told = quick(method).report(answers)
    assert told.labels.tolist() == found.labels.tolist()
    assert told.rests_on == "agreement"
    assert told.calibration is None
    # Never surer than the method itself, nor of an other class.
    assert (told.confidence <= found.confidence + 1e-9).all()
    np.testing.assert_allclose(told.probabilities.sum(axis=1), 1.0)


def test_ten_of_undeclared_kind_count_like_a_third() -> None:
    # Ten of a hundred workers: r is 1.1, and log-odds are divided by 1 + 1.1 sqrt(9) = 4.3.
    table = {
        "task": [f"t{task}" for task in range(10) for _ in range(10)],
        "worker": list(range(100)),
        "label": ["a"] * 7 + ["b"] * 3 + ["b"] * 90,
    }
    odds = math.log(0.8 / 0.2)

    def solve(answers: Any) -> Fitted:
        probabilities = np.full((10, 2), 0.5)
        probabilities[0] = [1 / (1 + math.exp(-4 * odds)), 1 / (1 + math.exp(4 * odds))]
        return Fitted(probabilities, np.ones(100), np.ones(100, int))

    found = reported(solve, coded(pd.DataFrame(table)))
    assert found.confidence[0] == pytest.approx(1 / (1 + math.exp(-4 * odds / 4.3)))


@pytest.mark.parametrize("method", sorted(set(METHODS) - set(SHARES)))
def test_twenty_against_twenty_is_nearly_a_toss_up(method: str) -> None:
    # Forty workers, whose skills can't be told apart: on every task each half says something else.
    rng = np.random.default_rng(5)
    rows = []
    for task in range(30):
        half = rng.permutation(40)
        rows += [(task, who, "yes" if at < 20 else "no") for at, who in enumerate(half)]
    found = quick(method).fit(pd.DataFrame(rows, columns=["task", "worker", "label"]))
    assert found.confidence_.max() <= 0.7


@by_method
def test_parameters_that_make_no_sense_are_refused(method: str) -> None:
    for wrong in (-1, 1001, math.nan, "much", True):
        with pytest.raises(
            InvalidParameter, match=r"temper is .*: give a number from 0"
        ) as refused:
            quick(method, temper=wrong)
        assert refused.value.field == "temper"


def test_a_larger_temper_is_less_sure() -> None:
    table, _ = drawn(3, tasks=40, crowd=8, classes=3, each=5)
    sure = [quick("one-coin", temper=each).fit(table).confidence_ for each in (0.1, 1, 5, 1000)]
    for more, less in pairwise(sure):
        assert (less <= more + 1e-12).all()
    assert sure[-1].max() < 0.4


@by_method
def test_truths_are_counted_and_say_when_confidences_are_calibrated(method: str) -> None:
    table, truths = drawn(1, tasks=60, crowd=10, classes=2, each=5)
    for told in (0, 1, 2, LEAST_TRUTHS - 1, LEAST_TRUTHS, 30):
        found = quick(method).report(coded(table, truths=_told(truths, told)))
        assert found.rests_on == ("calibrated" if told >= LEAST_TRUTHS else "agreement")
        used = 0 if method in SHARES and told < LEAST_TRUTHS else told
        assert (found.calibration.truths if found.calibration else 0) == used
        assert (found.confidence >= 0.5).all()
        assert found.labels[:told].tolist() == truths[:told].tolist()
        assert (found.confidence[:told] == 1.0).all()


def _told(truths: Any, count: int) -> Any:
    told = np.full(len(truths), -1)
    told[:count] = truths[:count]
    return told


@by_method
def test_all_tasks_known_need_no_map(method: str) -> None:
    table, truths = drawn(2, tasks=20, crowd=6, classes=3, each=4)
    found = quick(method).report(coded(table, truths=truths.to_numpy()))
    assert (found.confidence == 1.0).all()
    assert band_width(found) == 0.0


def test_a_truth_does_not_judge_itself() -> None:
    # Three truths: 0 and 2 are hidden together, then 1. None is hidden in what is reported.
    seen = []

    def solve(answers: Any) -> Fitted:
        seen.append(answers.truths.tolist())
        return aggregation.make("one-coin").solve(answers)

    table, truths = drawn(0, tasks=8, crowd=5, classes=2, each=3)
    told = _told(truths, 3)
    reported(solve, coded(table, truths=told))
    a, b, c = told[:3]
    rest = [-1] * 5
    assert seen == [[a, b, c, *rest], [-1, b, -1, *rest], [a, -1, c, *rest]]


def together(seed: int) -> tuple[Any, Any]:
    """Answers of ten workers who err once in ten, on a quarter of the tasks nine times in ten."""
    rng = np.random.default_rng(seed)
    truths = rng.integers(2, size=400)
    rows = []
    for task, truth in enumerate(truths):
        chance = 0.9 if rng.random() < 0.25 else 0.1
        for who in range(10):
            wrong = rng.random() < chance
            rows.append((task, who, int(truth) ^ int(wrong)))
    return pd.DataFrame(rows, columns=["task", "worker", "label"]), truths


@pytest.mark.parametrize("method", ["dawid-skene", "majority", "one-coin", "weighted-majority"])
def test_fifty_truths_find_out_workers_who_err_together(method: str) -> None:
    # A quarter of the labels is wrong, and answers alone call nearly all of them sure: with
    # temper=0 the error of calibration is above .2. Fifty truths leave a standard error of
    # sqrt(.25 * .75 / 50) = .06; twice that and what ten bins of 350 tasks cost is .15.
    table, truths = together(4)
    gold = pd.Series(truths, name="label").sample(50, random_state=1)
    rest = np.setdiff1d(np.arange(400), gold.index)

    def error(**how: Any) -> float:
        found = quick(method, **how).fit(table, gold=gold)
        right = (found.labels_[rest] == truths[rest]).to_numpy(float)
        return float(calibration_error(found.confidence_[rest].to_numpy(), right) or 0.0)

    calibrated = error()
    assert calibrated < 0.15
    if method != "majority":
        assert error(temper=0) > 0.2


def test_more_truths_narrow_the_band() -> None:
    table, truths = together(4)
    widths = []
    for told in (0, 20, 100):
        found = quick("one-coin").report(coded(table, truths=_told(truths, told)))
        widths += [band_width(found), band_width(found, 20)]
    assert widths[1] < widths[0]
    assert widths[3] < widths[2]
    assert widths[5] < widths[4]
    assert widths[4] < widths[2] < widths[0]


def test_what_twenty_more_truths_promise_is_what_they_do() -> None:
    table, truths = together(6)
    promised = band_width(quick("one-coin").report(coded(table, truths=_told(truths, 40))), 40)
    kept = band_width(quick("one-coin").report(coded(table, truths=_told(truths, 80))))
    assert kept == pytest.approx(promised, rel=0.3)


def test_the_vote_has_its_shares_until_there_are_truths() -> None:
    table = {"task": [1, 1, 1, 2], "worker": [1, 2, 3, 1], "label": ["a", "a", "b", "a"]}
    found = quick("majority").fit(table)
    assert found.confidence_.tolist() == pytest.approx([2 / 3, 1.0])
    assert found.rests_on_ == "agreement"
    assert quick("majority").fit(table, gold={2: "a"}).confidence_[1] == pytest.approx(2 / 3)
    # Of ten such tasks six were right: about as often as the share with one vote more, divided,
    # says, (2 + 1/2) / 4.
    more = pd.concat([pd.DataFrame(table).query("task == 1").assign(task=at) for at in range(11)])
    told = quick("majority").fit(more, gold={at: "a" if at < 6 else "b" for at in range(10)})
    assert told.rests_on_ == "calibrated"
    assert told.confidence_[10] == pytest.approx(2.5 / 4, abs=0.03)


@given(data=st.data())
@settings(max_examples=20)
def test_confidences_never_fall_below_one_in_so_many_classes(data: Any) -> None:
    table = data.draw(tables())
    tasks = sorted(table["task"].unique())
    labels = sorted(table["label"].unique())
    gold = {task: data.draw(st.sampled_from(labels)) for task in tasks[::2]}
    for method in ("majority", "one-coin"):
        found = quick(method).fit(table, gold=gold)
        assert (found.confidence_ >= 1 / found.probas_.shape[1] - 1e-9).all()
        np.testing.assert_allclose(found.confidence_, found.probas_.max(axis=1), atol=1e-9)


def test_in_a_campaign_truths_calibrate_the_vote_and_ties_are_drawn_as_before() -> None:
    workers = [Worker(f"w{at}", 1) for at in range(4)]
    made = [
        Campaign.create(
            workers=workers,
            tasks=[f"t{at:02}" for at in range(40)],
            options=["no", "yes"],
            policy="uniform",
            aggregation="majority",
            seed=7,
        )
        for _ in range(2)
    ]
    for campaign in made:
        for each in campaign.ask(limit=160):
            # Two against two on the last twenty tasks, all agreed on the others.
            split = int(each.task[1:]) >= 20
            campaign.tell(each.id, "yes" if split and int(each.worker[1]) < 2 else "no")
    plain, told = made
    for at in range(12):
        told.truth(f"t{at:02}", "no")
    before = {each.task: each for each in plain.answers()}
    after = {each.task: each for each in told.answers()}
    for task in (f"t{at:02}" for at in range(20, 40)):
        assert after[task].value == before[task].value
        assert after[task].confidence == pytest.approx(0.5)
    assert len({after[f"t{at}"].value for at in range(20, 40)}) == 2
    # Agreed on by all four, and right on all twelve that were looked at.
    assert before["t15"].confidence == 1.0
    assert 0.85 < after["t15"].confidence < 1.0
