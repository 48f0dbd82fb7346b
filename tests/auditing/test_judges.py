"""Each judge against the majority of people, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.auditing import Interval, check
from askwise.auditing.intervals import paired, share
from askwise.auditing.judges import class_rates, kappa
from askwise.core.errors import InvalidProblem
from tests.auditing.tables import columns, sheet


def rows(text: str, labels: str = "ny") -> np.ndarray:
    return np.eye(len(labels))[[labels.index(each) for each in text]]


def test_kappa_by_hand() -> None:
    # Of 50 tasks both say yes on 20, both no on 15, the judge alone yes on 5, people alone on 10.
    said, truth = "y" * 20 + "n" * 15 + "y" * 5 + "n" * 10, "y" * 20 + "n" * 15 + "n" * 5 + "y" * 10
    found = kappa(rows(said), rows(truth))
    assert found is not None
    # p = .7; the judge says yes on .5 and people on .6, so c = .5 .6 + .5 .4 = .5.
    assert found.value == pytest.approx(0.4)
    # The variance of Fleiss, Cohen and Everitt (1969).
    p = np.array([[0.4, 0.1], [0.2, 0.3]])  # judge yes, no x people yes, no
    ours, theirs, agree, chance = p.sum(axis=1), p.sum(axis=0), 0.7, 0.5
    k = (agree - chance) / (1 - chance)
    diagonal = sum(p[i, i] * (1 - (ours[i] + theirs[i]) * (1 - k)) ** 2 for i in range(2))
    beside = (1 - k) ** 2 * sum(
        p[i, j] * (theirs[i] + ours[j]) ** 2 for i in range(2) for j in range(2) if i != j
    )
    variance = (diagonal + beside - (k - chance * (1 - k)) ** 2) / ((1 - chance) ** 2 * 50)
    half = 1.959963984540054 * variance**0.5
    # Wilson's interval of .7 of 50 is [.5625, .8090], so [.125, .618] in kappa at c = .5.
    wilson = share(35, 50)
    assert wilson is not None
    assert found.low == pytest.approx(min(0.4 - half, 2 * wilson.low - 1))
    assert found.high == pytest.approx(max(0.4 + half, 2 * wilson.high - 1))


def test_kappa_of_a_judge_who_is_always_right_is_not_proved_by_five_tasks() -> None:
    found = kappa(rows("nynyn"), rows("nynyn"))
    assert found is not None
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low < 0.3


def test_kappa_is_not_defined_where_everybody_always_says_the_same() -> None:
    assert kappa(rows("yyy"), rows("yyy")) is None
    assert kappa(rows(""), rows("")) is None


def test_rates_by_class_by_hand() -> None:
    # Truth aaaabbbcc, said aaabbbcca.
    found = {each.label: each for each in class_rates(rows("aaabbbcca", "abc"),
             rows("aaaabbbcc", "abc"), tuple("abc"))}  # fmt: skip
    assert {name: each.tasks for name, each in found.items()} == {"a": 4, "b": 3, "c": 2}
    rates = {name: (each.tpr, each.tnr) for name, each in found.items()}
    values = {k: tuple(e.value for e in each if e is not None) for k, each in rates.items()}
    # a: 3 of 4; of the 5 others one is called a. b: 2 of 3; of 6 one. c: 1 of 2; of 7 one.
    assert values == {
        "a": pytest.approx((3 / 4, 4 / 5)),
        "b": pytest.approx((2 / 3, 5 / 6)),
        "c": pytest.approx((1 / 2, 6 / 7)),
    }
    tpr = found["a"].tpr
    assert tpr is not None
    # Wilson: (.75 + z2/8 +- z sqrt(.1875/4 + z2/64)) / (1 + z2/4), z2 = 3.8415.
    assert (tpr.low, tpr.high) == pytest.approx((0.300642, 0.954413), abs=1e-5)


def test_a_class_that_is_never_or_always_the_truth_has_one_rate_only() -> None:
    no, yes = class_rates(rows("nyy"), rows("yyy"), ("n", "y"))
    assert no.tpr is None
    assert no.tnr is not None
    assert no.tnr.value == pytest.approx(2 / 3)
    assert yes.tnr is None


def test_ties_of_people_count_by_share() -> None:
    card = check(sheet({"gpt": "yyn"}), sheet({"ann": "yyy", "bob": "ynn"}))
    (judge,) = card.judges
    # t1 right; t2 and t3 are tied, so half a task each.
    assert judge.accuracy is not None
    assert judge.accuracy.value == pytest.approx(2 / 3)
    assert card.people.tied == 2
    assert [each.tasks for each in judge.classes] == [1.0, 2.0]


def test_failures_are_told_and_are_no_wrong_verdicts() -> None:
    (judge,) = check(sheet({"gpt": "y.n."}), sheet({"ann": "yyyy"})).judges
    assert (judge.verdicts, judge.tasks, judge.failures.value) == (4, 2, 0.5)
    assert judge.accuracy is not None
    assert judge.accuracy.value == 0.5


def test_a_judge_who_was_asked_twice_counts_by_share() -> None:
    verdicts = columns([("t1", "gpt", "y"), ("t1", "gpt", "n"), ("t2", "gpt", "y")])
    card = check(verdicts, sheet({"ann": "yy"}))
    assert card.judges[0].accuracy is not None
    assert card.judges[0].accuracy.value == 0.75
    assert any("1 verdict of a judge who had given one" in each for each in card.remarks)


ORDERS = [
    *(("t1", "gpt", "y", "ab"), ("t1", "gpt", "y", "ba")),
    *(("t2", "gpt", "y", "ab"), ("t2", "gpt", "n", "ba")),
    *(("t3", "gpt", "n", "ab"), ("t3", "gpt", "n", "ba")),
    *(("t4", "gpt", "y", "ab"), ("t4", "gpt", "", "ba")),
    *(("t1", "llama", "y", "ab"), ("t2", "llama", "y", "ab")),
]


def test_flips_between_orders_by_hand() -> None:
    card = check(columns(ORDERS, "order"), sheet({"ann": "yyyy"}), order="order")
    gpt, llama = card.judges
    assert llama.flips is None
    assert gpt.flips is not None
    # t1, t2 and t3 were seen in both orders, t2 flips; of t1 and t3 one is right; t2 half.
    assert (gpt.flips.tasks, gpt.flips.share.value) == (3, pytest.approx(1 / 3))
    assert gpt.flips.same_accuracy is not None
    assert gpt.flips.same_accuracy.value == 0.5
    assert gpt.flips.changed_accuracy is not None
    assert gpt.flips.changed_accuracy.value == 0.5
    # t1 1, t2 1/2, t3 0, t4 1 by its one verdict.
    assert gpt.accuracy is not None
    assert gpt.accuracy.value == pytest.approx(2.5 / 4)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([row for row in ORDERS if row[3] == "ab"], "has the one value 'ab'"),
        ([("t1", "gpt", "y", "ab"), ("t2", "gpt", "y", "ba")], "no judge gave a verdict on one"),
        ([("t1", "gpt", "y", "ab"), ("t2", "gpt", "y", "")], "order is empty in row 2"),
    ],
)
def test_orders_that_tell_nothing_are_refused(rows: list[tuple[str, ...]], words: str) -> None:
    with pytest.raises(InvalidProblem, match=words):
        check(columns(rows, "order"), sheet({"ann": "yyyy"}), order="order")


# Intervals.


@pytest.mark.parametrize("right", [0.6, 0.8, 0.95])
@pytest.mark.parametrize("tasks", [30, 200])
def test_intervals_cover_accuracy_and_kappa(right: float, tasks: int) -> None:
    rng = np.random.default_rng(17)
    covered = np.zeros(2)
    runs = 1000
    truth_share = 0.6
    # P(both agree) = right; the judge says yes on .6 right + .4 (1 - right).
    yes = truth_share * right + (1 - truth_share) * (1 - right)
    chance = yes * truth_share + (1 - yes) * (1 - truth_share)
    true_kappa = (right - chance) / (1 - chance)
    for _ in range(runs):
        truth = (rng.random(tasks) < truth_share).astype(int)
        said = np.where(rng.random(tasks) < right, truth, 1 - truth)
        of_share = share(float((said == truth).sum()), tasks)
        of_kappa = kappa(np.eye(2)[said], np.eye(2)[truth])
        assert of_share is not None
        assert of_kappa is not None
        covered += [_in(of_share, right), _in(of_kappa, true_kappa)]
    # 95% less four standard errors of 1000 runs.
    assert (covered / runs >= 0.95 - 4 * (0.95 * 0.05 / runs) ** 0.5).all()


def _in(found: Interval, value: float) -> bool:
    return found.low <= value <= found.high


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=60))
def test_a_paired_interval_holds_the_mean_and_is_never_empty(differences: list[float]) -> None:
    found = paired(np.array(differences))
    assert found.value == pytest.approx(sum(differences) / len(differences))
    assert -1.0 <= found.low <= found.value <= found.high <= 1.0
    assert found.low < found.high


@given(st.integers(1, 200), st.floats(0, 1))
def test_a_share_lies_within_its_interval(tries: int, part: float) -> None:
    found = share(part * tries, tries)
    assert found is not None
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
