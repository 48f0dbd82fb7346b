"""The study of plans that come true."""

from decimal import Decimal

import numpy as np
import pytest

from askwise import Worker
from askwise.core.errors import InvalidParameter
from askwise.figures import Row
from askwise.lab.experiment import with_settings
from askwise.lab.papers.labels.studies.planning import (
    METRICS,
    REALITIES,
    Reality,
    answers_of,
    setting_of,
)
from askwise.lab.rehearsing.planner import plan_campaign
from askwise.lab.rehearsing.worlds import GuessedWorlds


def test_hard_tasks_are_hard_for_all_and_trusted_workers_are_right() -> None:
    reality = Reality(lambda seed: None, 8000, lambda rng: rng, 0.1, options=3, hard=1.0)  # type: ignore[arg-type, return-value]
    staff = (Worker("a", 1), Worker("b", 1), Worker("vet", 1, trusted=True))
    rng = np.random.default_rng(1)
    world = answers_of(rng, reality, np.array([0.7, 0.7, 0.5]), staff, 8000)
    right = world.label.reshape(8000, 3) == world.truth[:, None]
    assert right[:, 2].all()
    # The mean of a logistic of log(7/3) + N(0, 1) is 0.669, its variance 0.0359: by quadrature.
    assert abs(right[:, 0].mean() - 0.669) < 3 * (0.669 * 0.331 / 8000) ** 0.5
    correlation = np.corrcoef(right[:, 0], right[:, 1])[0, 1]
    assert abs(correlation - 0.0359 / (0.669 * 0.331)) < 3 / 8000**0.5


@pytest.mark.parametrize("name", REALITIES)
def test_what_is_guessed_has_the_workers_tasks_and_options_of_reality(name: str) -> None:
    reality = REALITIES[name]()
    guess = reality.guess(0)
    assert (guess.tasks, guess.options) == (reality.tasks, reality.options)
    assert len(reality.accuracy(np.random.default_rng(0))) == len(guess.staff)


def test_the_setting_is_what_the_plan_chose_or_its_target() -> None:
    made = plan_campaign(
        GuessedWorlds(REALITIES["three-people"]().guess(0).workers, 6),  # type: ignore[attr-defined]
        budget=3,
        runs=10,
    )
    chosen = setting_of(made, "cheapest")
    assert chosen is not None
    assert (chosen.budget, chosen.target, chosen.total) == (Decimal(3), None, made.total)
    assert setting_of(made, "target") is None


def test_campaigns_that_came_as_planned_are_counted() -> None:
    experiment = with_settings("plan-honest", {})
    values = dict(zip(METRICS, (3.0, 0.9, 1.5, 0.1, 0.8), strict=True))
    rows = [
        Row(world, "cheapest", 1.0, metric, value, value, value, 20)
        for world in ("one", "two")
        for metric, value in values.items()
    ]
    assert experiment.differences(rows) == [
        "cheapest: the cost lies in the plan's 80% range in 36 of 40 campaigns, the error in 32; "
        "the range is 1.50 to 1 in the median."
    ]


@pytest.mark.slow
def test_a_campaign_costs_what_the_plan_says() -> None:
    experiment = with_settings("plan-honest", {"worlds": "three-people", "plan_runs": "10"})
    (cell,) = experiment.cells()
    found = experiment.sample(cell, 0, 0)
    assert found.shape == (2 * len(METRICS),)
    assert found[METRICS.index("covered")] == 1.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"worlds": "pliot"}, "worlds has 'pliot': no such world, did you mean 'pilot'"),
        ({"plan_runs": "3"}, "plan_runs is 3: give a whole number from 10"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        with_settings("plan-honest", settings)
    assert message in str(caught.value)
