"""How many audits are planned where all labels are delivered."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from askwise.auditing import Climb, draw_order, plan_audits
from askwise.auditing.plans import POWER, RANKED, WRONG, expected_answers
from askwise.core.errors import InvalidParameter


def written_out(tasks, error, confidence, audits):
    """The expected answers, set after set."""
    z = NormalDist().inv_cdf(confidence) + NormalDist().inv_cdf(POWER)
    total = 0.0
    for rate in WRONG:
        for power in RANKED:
            kept = 0.0
            for step in range(1, 81):
                share = step / 80
                made = min(audits, tasks * share)
                spread = 0.0
                if share > error:
                    unseen = 1 - made / (tasks * share)
                    spread = math.sqrt(error * (share - error) / made * unseen)
                if share > error and rate * share**power + z * spread > error:
                    break
                kept = share
            total += tasks * (1 - kept) + min(audits, tasks * kept)
    return total / len(WRONG) / len(RANKED)


@pytest.mark.parametrize(("error", "confidence"), [(0.05, 0.9), (0.1, 0.95), (0.3, 0.6)])
def test_the_plan_is_the_cheapest_of_all_numbers(error, confidence):
    tasks = 37
    costs = {n: written_out(tasks, error, confidence, n) for n in range(1, tasks + 1)}
    found = plan_audits(tasks, error=error, confidence=confidence)
    assert found.expected == pytest.approx(min(costs.values()))
    assert costs[found.audits] == pytest.approx(found.expected)


@pytest.mark.parametrize("audits", [1, 7, 60, 400])
def test_expected_answers_are_what_they_are_written_out(audits):
    expected = written_out(400, 0.1, 0.9, audits)
    assert expected_answers(400, 0.1, 0.9, audits) == pytest.approx(expected)


def test_more_labels_take_more_audits_and_a_smaller_part_of_them():
    plans = [plan_audits(tasks, error=0.1) for tasks in (50, 500, 5_000, 50_000)]
    audits = [plan.audits for plan in plans]
    shares = [plan.expected / plan.tasks for plan in plans]
    assert audits == sorted(audits)
    assert shares == sorted(shares, reverse=True)
    assert "audits included" in plans[0].why
    assert plans[0].to_json()["audits"] == plans[0].audits


def test_a_planned_draw_costs_less_than_one_for_few_audits_or_for_many():
    tasks, rng = 500, np.random.default_rng(0)
    scores = np.linspace(1, 0, tasks)
    wrong = rng.random(tasks) < 0.4 * np.linspace(0, 1, tasks)
    planned = plan_audits(tasks, error=0.1).audits

    def answers(audits):
        found = []
        for seed in range(12):
            drawn = draw_order(
                *([str(at) for at in range(tasks)], scores),
                **{"error": 0.1, "confidence": 0.9, "audits": audits, "seed": seed},
                escalate=True,
            )
            climb = Climb(drawn)
            while wanted := climb.wanted():
                climb.hear(wanted[0], bool(wrong[int(drawn.tasks[wanted[0]])]))
            inside = sum(bool(drawn.ranks[place] < climb.size) for place in climb.wrong)
            found.append(tasks - climb.size + inside)
        return np.mean(found)

    # With other seeds: 258 answers against 296 and 403, standard errors of twelve draws 12, 14, 7.
    assert answers(planned) < min(answers(planned // 3), answers(5 * planned))


@pytest.mark.parametrize(
    ("field", "value"), [("tasks", 0), ("error", 1.0), ("confidence", 0), ("tasks", 2.5)]
)
def test_bad_settings_of_a_plan_are_refused_by_name(field, value):
    given = {"tasks": 10, field: value}
    with pytest.raises(InvalidParameter) as refused:
        plan_audits(given.pop("tasks"), **given)
    assert refused.value.field == field
