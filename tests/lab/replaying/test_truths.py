"""Truths that a replay tells at its start."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest

from askwise.lab.replaying.bench import Bench
from tests.lab.replaying.recordings import Make, run


def many(tasks: int = 12) -> tuple[str, dict[str, str]]:
    """Answers of two who are right and two who are wrong: only truths tell who is who."""
    said = {"ann": "yes no", "bob": "yes no", "eve": "no yes", "max": "no yes"}
    rows = [
        f"t{at} {who} {answers.split()[at % 2]}"
        for at in range(tasks)
        for who, answers in said.items()
    ]
    return ", ".join(rows), {f"t{at}": ("yes", "no")[at % 2] for at in range(tasks)}


@pytest.mark.parametrize(
    "policy", ["random-pairs with dawid-skene", "random-pairs with weighted-majority(learn=truths)"]
)
def test_truths_teach_those_who_learn_and_others_pass_them_over(make: Make, policy: str) -> None:
    answers, gold = many()
    against = ["random-pairs with majority"]
    told = run(make(answers), gold, budget=48, policy=policy, against=against, truths=4)
    assert told.final(policy).mean == 1.0
    assert told.final(against[0]).mean == 0.5
    assert (told.truths, told.measured, told.everything[0]) == (4, 8, 0.5)
    assert told.final_measures(against[0]).ties == 8
    assert any("Truths told at the start of each run, at no cost: 4." in r for r in told.remarks)
    none = run(make(answers), gold, budget=48, policy=policy, against=against)
    assert none.final(policy).mean == 0.5
    assert (none.truths, none.measured) == (0, 12)


def test_the_same_truths_are_told_to_all_policies_and_others_in_another_run(make: Make) -> None:
    answers, gold = many()
    seen: list[tuple[int, str, list[tuple[int, int]]]] = []
    grade = Bench.grade

    def listening(bench: Bench, each: Any, budget: Any, seed: int, number: int, *more: Any) -> Any:
        seen.append((number, each.series, bench.truths))
        return grade(bench, each, budget, seed, number, *more)

    with mock.patch.object(Bench, "grade", listening):
        run(make(answers), gold, truths=3, runs=2)
    by_run = [{str(truths) for number, _, truths in seen if number == run} for run in (0, 1)]
    assert [len(each) for each in by_run] == [1, 1]
    assert by_run[0] != by_run[1]
    assert len({series for _, series, _ in seen}) == 2


def test_everything_is_measured_where_nothing_is_told(make: Make) -> None:
    # In each run one of t0 (right), t1 (tied) and t2 (wrong) is told: the mean of what is left.
    found = run(make(), truths=1, runs=4)
    assert found.measured == 2
    assert found.everything[0] in {total / 8 for total in range(2, 7)}


def test_a_policy_that_waits_for_truths_is_told_and_that_is_said(make: Make) -> None:
    found = run(make(), policy="ccb-ns", against=["random-pairs"])
    (remark,) = (each for each in found.remarks if "waits for truths" in each)
    assert remark.startswith("ccb-ns waits for truths and is told those of tasks that it asked")
