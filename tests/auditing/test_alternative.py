"""The alternative annotator test, against a table worked out by hand and against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from askwise.auditing.alternative import AlternativeTest, alternative_test
from tests.auditing.tables import ballots, noisy

# 32 tasks, three people and a judge f. Left out in turn, with the agreement of both with the two
# others, and d = W_h - W_f:
#
#   tasks   ann bob cleo  f    ann left out      bob left out      cleo left out
#      20   y   y   y     y    1 = 1     d  0    1 = 1     d  0    1 = 1     d  0
#       8   n   y   y     y    0 < 1     d -1    1/2 = 1/2 d  0    1/2 = 1/2 d  0
#       4   y   y   y     n    1 > 0     d +1    1 > 0     d +1    1 > 0     d +1
#
#           mean d         sum of d^2   s^2 = (sum - 32 mean^2) / 31   s / sqrt 32
#   ann     -4/32 = -.125  12           11.5 / 31 = .370968            .107670
#   others   4/32 =  .125   4            3.5 / 31 = .112903            .059399
#
# f is at least as good on 28 of 32 tasks against everybody: .875. ann is against f on 24 of 32,
# .75, the others on all.
PEOPLE = {
    "ann": "y" * 20 + "n" * 8 + "y" * 4,
    "bob": "y" * 32,
    "cleo": "y" * 32,
}
JUDGE = {"f": "y" * 28 + "n" * 4}


def outcome(epsilon: float) -> AlternativeTest:
    found = alternative_test(ballots(JUDGE, PEOPLE), 0, epsilon=epsilon)
    assert found is not None
    return found


# Student's t with 31 degrees of freedom at (mean - epsilon) / (s / sqrt 32), and thresholds
# .05 k / (3 (1 + 1/2 + 1/3)) = .00909, .01818, .02727:
@pytest.mark.parametrize(
    ("epsilon", "t", "won"),
    [
        # P(T < -2.0897) = .0225 > .00909; P(T < .4209) = .66.
        (0.1, (-2.0897, 0.4209, 0.4209), (False, False, False)),
        # P(T < -3.0185) = .0025 < .00909; P(T < -1.2627) = .108.
        (0.2, (-3.0185, -1.2627, -1.2627), (True, False, False)),
        # .0002 and .0030 twice: the third is below .02727, so all are.
        (0.3, (-3.9473, -2.9462, -2.9462), (True, True, True)),
    ],
)
def test_a_table_worked_out_by_hand(
    epsilon: float, t: tuple[float, ...], won: tuple[bool, ...]
) -> None:
    found = outcome(epsilon)
    assert [each.human for each in found.humans] == ["ann", "bob", "cleo"]
    assert [each.tasks for each in found.humans] == [32, 32, 32]
    assert [each.advantage for each in found.humans] == [0.875, 0.875, 0.875]
    assert [each.human_advantage for each in found.humans] == [0.75, 1.0, 1.0]
    for each, value in zip(found.humans, t, strict=True):
        assert each.p_value == pytest.approx(stats.t.cdf(value, 31), abs=1e-4)
    assert tuple(each.won for each in found.humans) == won
    assert found.winning_rate == sum(won) / 3
    assert found.passes == (sum(won) / 3 >= 0.5)
    assert found.advantage == 0.875
    assert found.left_out == 0


@pytest.mark.parametrize("seed", range(5))
def test_it_agrees_with_a_plain_loop_and_scipys_tests(seed: int) -> None:
    verdicts, people = noisy(seed, {"f": 0.8}, tasks=60, people=5, labels="abc")
    rng = np.random.default_rng(seed)
    answers: dict[str, dict[str, str]] = {}
    kept = [row for row in range(len(people["task"])) if rng.random() < 0.8]
    for row in kept:
        answers.setdefault(people["task"][row], {})[people["worker"][row]] = people["label"][row]
    said = dict(zip(verdicts["task"], verdicts["label"], strict=True))
    some = {name: [column[row] for row in kept] for name, column in people.items()}
    from askwise.auditing import check

    found = check(verdicts, some, epsilon=0.15).judges[0].alternative
    assert found is not None
    p_values = []
    for each in found.humans:
        ahead, d = [], []
        for task, by in answers.items():
            others = [label for human, label in by.items() if human != each.human]
            if each.human in by and others:
                of_judge = others.count(said[task]) / len(others)
                of_human = others.count(by[each.human]) / len(others)
                ahead.append(of_judge >= of_human)
                d.append(int(of_human >= of_judge) - int(of_judge >= of_human))
        assert each.tasks == len(d)
        assert each.advantage == pytest.approx(np.mean(ahead))
        p_values.append(stats.ttest_1samp(d, 0.15, alternative="less").pvalue)
        assert each.p_value == pytest.approx(p_values[-1], abs=1e-12)
    corrected = stats.false_discovery_control(p_values, method="by")
    assert [each.won for each in found.humans] == [bool(each <= 0.05) for each in corrected]


def test_people_with_few_tasks_are_left_out() -> None:
    people = PEOPLE | {"dan": "y" * 29 + "---"}
    found = alternative_test(ballots(JUDGE, people), 0, epsilon=0.2)
    assert found is not None
    assert found.left_out == 1
    assert "dan" not in {each.human for each in found.humans}


def test_without_thirty_tasks_in_common_there_is_no_test() -> None:
    short = {name: labels[:29] for name, labels in PEOPLE.items()}
    assert alternative_test(ballots(JUDGE, short), 0, epsilon=0.2) is None
    alone = {"ann": PEOPLE["ann"]}
    assert alternative_test(ballots(JUDGE, alone), 0, epsilon=0.2) is None


def test_where_nothing_varies_epsilon_decides() -> None:
    same = dict.fromkeys(("ann", "bob"), "y" * 40)
    good, bad = ballots({"f": "y" * 40}, same), ballots({"f": "y" + "n" * 39, "g": "y" * 40}, same)
    won = alternative_test(good, 0, epsilon=0.1)
    lost = alternative_test(bad, 0, epsilon=0.1)
    assert won is not None
    assert lost is not None
    assert [each.p_value for each in won.humans] == [0.0, 0.0]
    assert (won.winning_rate, lost.winning_rate) == (1.0, 0.0)


def test_a_failure_is_no_task_of_the_test() -> None:
    found = alternative_test(ballots({"f": "." * 2 + "y" * 30}, PEOPLE), 0, epsilon=0.2)
    assert found is not None
    assert [each.tasks for each in found.humans] == [30, 30, 30]
