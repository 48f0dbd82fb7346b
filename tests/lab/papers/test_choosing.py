"""`auto-choice`: what auto picks in each family's worlds, and how it is compared."""

from __future__ import annotations

import numpy as np
import pytest

from askwise.core.errors import AskwiseError
from askwise.lab.experiment import Cell, with_settings
from askwise.lab.papers.choosing import FAMILIES, AutoChoices, chosen_by_auto

PICKED = {
    "utility": "gittins-knapsack",
    "crowds with two options": "virt-ucb(try_after=4.0) until posterior(learn=100)",
    "crowds with three options": "glr-directed until joint-glr(beta=2.995732)",
    "labels": "hem",
    "labels at prices": "hem",
}


@pytest.mark.parametrize("family", FAMILIES)
def test_auto_picks_what_its_table_says(family: str) -> None:
    problem = FAMILIES[family].worlds[0](1, 0).problem
    assert chosen_by_auto(problem).series == PICKED[family]


@pytest.mark.parametrize("family", FAMILIES)
def test_what_a_run_is_worth_is_between_nothing_and_all(family: str) -> None:
    setting = FAMILIES[family].worlds[0](1, 0)
    if not setting.problem.options:
        return
    tasks = len(setting.problem.tasks)
    nothing = setting.worth(None, np.full(tasks, -1))
    assert nothing == pytest.approx(1 / len(setting.problem.options))
    # Of all constant answers together, each task is answered right by one.
    constant = [
        setting.worth(None, np.full(tasks, option))
        for option in range(len(setting.problem.options))
    ]
    assert sum(constant) == pytest.approx(1)


def test_the_best_fixed_choice_is_found_on_the_mean_and_compared_in_pairs() -> None:
    experiment = AutoChoices(families=("labels at prices",))
    family = FAMILIES["labels at prices"]
    samples = np.zeros((3, len(family.worlds), 1 + len(family.choices)))
    samples[:, :, 0] = 0.8
    # One choice is best on the mean, though another is best in the first world.
    best, other = (1 + family.choices.index(name) for name in ("bbta", "optkg"))
    samples[:, :, best] = np.array([0.8, 0.9, 1.0])[:, None]
    samples[:, 0, other] = 1.0
    rows = experiment.rows(Cell("labels at prices", 0.0), samples.reshape(3, -1), 0)
    (behind,) = [row for row in rows if row.metric == "behind"]
    assert behind.series == "bbta"
    assert behind.mean == pytest.approx(0.1)
    # Student's t for differences of 0, 0.1 and 0.2.
    assert behind.ci_high - behind.mean == pytest.approx(4.3027 * 0.1 / np.sqrt(3), rel=1e-4)
    said = experiment.differences(rows)[0]
    assert "auto is behind: less by 0.100" in said
    assert said.endswith("furthest behind in number 1, where optkg has 0.200 more.")


def test_one_replication_is_enough_for_a_table() -> None:
    experiment = AutoChoices(families=("labels at prices",))
    rows = experiment.rows(Cell("labels at prices", 0.0), np.full((1, 4 * 8), 0.5), 0)
    assert {row.n for row in rows} == {1}


def test_families_are_named_as_settings() -> None:
    assert with_settings("auto-choice", {"families": "labels, utility"}) == AutoChoices(
        ("labels", "utility")
    )
    with pytest.raises(AskwiseError, match="families has 'lables': did you mean 'labels'"):
        with_settings("auto-choice", {"families": "lables"})
