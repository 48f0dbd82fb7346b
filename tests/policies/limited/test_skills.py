"""Skills of B-KUBE's workers: least squares by hand, and the cases it has as limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from askwise import Campaign, Task, Worker
from askwise.core.errors import AskwiseError
from askwise.policies.limited.skills import fill_needs, read_skills

RULE = {"name": "fixed", "n": 3}
WORKERS = [Worker("a", 1), Worker("b", 1), Worker("c", 1)]
KINDS = {"letters": ["french", "law"], "menus": "french"}


def labelling(kinds: Sequence[str], **parameters: Any) -> Campaign:
    return Campaign.create(
        workers=WORKERS,
        tasks=[Task(f"t{at}", context=kind) for at, kind in enumerate(kinds)],
        options=["x", "y"],
        budget=100,
        policy={"name": "b-kube", **parameters},
        stopping=RULE,
        seed=1,
    )


def answer(campaign: Campaign, says: dict[str, str]) -> None:
    """Have everyone answer the task in hand: one who disagrees with the others comes last."""
    for worker in sorted(
        says, key=lambda name: list(says.values()).count(says[name]), reverse=True
    ):
        campaign.tell(campaign.ask(workers=[worker])[0].id, says[worker])


def known(campaign: Campaign) -> dict[str, dict[str, Any]]:
    """Of each worker what is known on the task in hand."""
    asked = campaign.ask()[0].id
    found = campaign.explain(asked).candidates
    campaign.expire(asked)
    return {str(each.worker): dict(each.details) for each in found}


def test_an_estimate_is_that_of_least_squares_with_a_prior() -> None:
    # c is wrong on a letter and right on a menu; overall, french, law: (1, .5, .5) and (1, 1, 0).
    campaign = labelling(["letters", "menus", "letters"], skills=KINDS, pooling=4)
    answer(campaign, {"a": "x", "b": "x", "c": "y"})
    answer(campaign, {"a": "x", "b": "x", "c": "x"})
    found = known(campaign)["c"]
    needs, right = np.array([[1, 0.5, 0.5], [1, 1, 0]]), np.array([0.0, 1.0])
    precision = needs.T @ needs + np.diag([0, 4, 4])
    letter = needs[0]
    assert found["accuracy"] == pytest.approx(letter @ np.linalg.solve(precision, needs.T @ right))
    assert found["answers"] == pytest.approx(1 / (letter @ np.linalg.solve(precision, letter)))
    assert 0 < found["accuracy"] < 0.5
    assert 1 < found["answers"] < 2


def test_much_pooling_is_one_accuracy_and_little_is_one_for_each_skill() -> None:
    kinds = ["birds", "cars", "birds", "cars"]
    skills = {"birds": "birds", "cars": "cars"}
    plain, apart = labelling(kinds), labelling(kinds, by_context=True)
    pooled = labelling(kinds, skills=skills, pooling=1e6)
    loose = labelling(kinds, skills=skills, pooling=0.01)
    for campaign in (plain, apart, pooled, loose):
        answer(campaign, {"a": "x", "b": "x", "c": "y"})
        answer(campaign, {"a": "x", "b": "x", "c": "x"})
    for one, other, near in ((plain, pooled, 1e-5), (apart, loose, 0.02)):
        expected, found = known(one)["c"], known(other)["c"]
        for detail in ("answers", "accuracy"):
            assert found[detail] == pytest.approx(expected[detail], abs=near)


def test_who_is_known_is_known_in_a_context_that_comes_later() -> None:
    campaign = labelling(["letters"], skills=KINDS, pooling=4)
    answer(campaign, {"a": "x", "b": "x", "c": "y"})
    campaign.add(tasks=[Task("late", context="menus"), Task("other", context="maps")])
    late = known(campaign)
    # A letter says something about menus, so nobody has to be tried again.
    precision = np.outer([1, 0.5, 0.5], [1, 0.5, 0.5]) + np.diag([0, 4, 4])
    menu = np.array([1.0, 1, 0])
    assert late["c"]["answers"] == pytest.approx(1 / (menu @ np.linalg.solve(precision, menu)))
    assert late["a"]["accuracy"] == pytest.approx(1)
    answer(campaign, {"a": "x", "b": "x", "c": "y"})
    # A context without skills goes by what a worker is overall.
    assert known(campaign)["c"]["accuracy"] == pytest.approx(0, abs=1e-9)


def test_needs_are_shares_of_the_skills_named_in_order() -> None:
    needs = np.zeros((3, 3))
    fill_needs(read_skills({"p": {"u": 3, "t": 1}, "q": "t"}), {"q": 0, "p": 1, None: 2}, needs)
    assert needs.tolist() == [[1, 1, 0], [1, 0.25, 0.75], [1, 0, 0]]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"skills": {}}, "skills"),
        ({"skills": "french"}, "skills"),
        ({"skills": {"letters": []}}, "skills"),
        ({"skills": {"letters": 3}}, "skills"),
        ({"skills": {"letters": {"law": 0}}}, "skills"),
        ({"skills": {"letters": [f"s{at}" for at in range(21)]}}, "skills"),
        ({"skills": KINDS, "pooling": 0}, "pooling"),
        ({"skills": KINDS, "by_context": True}, "by_context"),
    ],
)
def test_bad_skills_are_refused_by_name(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(AskwiseError) as caught:
        labelling(["letters"], **changes)
    assert caught.value.field == field
