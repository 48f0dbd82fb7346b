"""Plans of campaigns of people and models."""

from decimal import Decimal

import numpy as np
import pytest

from askwise import Worker
from askwise.core.errors import InvalidParameter
from askwise.data import GuessedWorker
from askwise.lab.planning.ranges import middle, money_range
from askwise.lab.rehearsing.extras import CascadePart
from askwise.lab.rehearsing.plan import cascade_text
from askwise.lab.rehearsing.planner import plan_campaign
from askwise.lab.rehearsing.worlds import GuessedWorlds
from tests.schemas import faults

VET = GuessedWorker(Worker("vet", 5, trusted=True))


def people(*accuracies: float | tuple[float, float]) -> list[GuessedWorker]:
    return [
        GuessedWorker(Worker(f"w{at}", "0.4", kind="person"), each)
        for at, each in enumerate(accuracies)
    ]


def worlds(*accuracies: float | tuple[float, float], tasks: int = 12) -> GuessedWorlds:
    return GuessedWorlds(people(*accuracies), tasks)


def test_nobody_is_asked_about_a_task_twice() -> None:
    three = worlds(0.8, 0.8, 0.8, tasks=8)
    made = plan_campaign(three, budget=100, runs=10)
    # All three answers to all eight tasks, whatever the budget.
    assert (made.answers.low, made.answers.high) == (3, 3)
    assert [part.answers for part in made.workers] == [8, 8, 8]
    assert (made.total.low, made.total.high) == (Decimal("9.6"), Decimal("9.6"))
    assert faults("plan", made.to_json()) == []
    frame = made.to_frame()
    assert frame["setting"].iloc[0] == "the plan"
    assert frame["cost_mean"].iloc[0] == Decimal("9.6")
    assert "What 8 tasks will cost: about 9.6" in made._repr_html_()
    assert made.plot().get_suptitle() == "What 8 tasks will cost: about 9.60"


def test_the_cheapest_budget_that_keeps_the_target_is_found() -> None:
    pair = worlds((0.9, 0.95), (0.9, 0.95), tasks=8)
    made = plan_campaign(pair, target_error=0.15, runs=10)
    budgets = {each.budget: each.error.mean for each in made.tried if each.target is None}
    assert made.reached
    if made.lever == "budget":
        assert made.budget in budgets
        assert all(error > 0.15 for budget, error in budgets.items() if budget < made.budget)
    assert made.alternative is not None
    assert made.alternative.total.mean >= made.total.mean
    assert made.alternative.error.mean <= 0.15


def test_a_target_beyond_the_workers_is_refused_with_what_they_can_reach() -> None:
    with pytest.raises(InvalidParameter) as caught:
        plan_campaign(worlds(0.7, 0.7), target_error=0.01, runs=10, lever="budget")
    text = str(caught.value)
    assert text.startswith("target_error is 0.01: nobody here can keep it; with every worker asked")
    assert caught.value.field == "target_error"


def test_a_budget_is_planned_as_it_is_beside_what_the_target_takes() -> None:
    made = plan_campaign(
        worlds(0.9, 0.9), budget="4.8", target_error=0.2, runs=10, policy="random-pairs"
    )
    assert (made.budget, made.chosen, made.target) == (Decimal("4.8"), "given", None)
    assert made.total.high <= Decimal("4.8")
    assert made.needed is not None
    assert made.needed.error.mean <= 0.2
    assert made.settings == 'budget = "4.8"\npolicy = "random-pairs"\n'
    assert made.alternative is None


def test_a_target_of_the_policy_is_planned_as_it_is() -> None:
    made = plan_campaign(worlds(0.9, 0.9), policy="hem(target=0.3)", runs=10)
    assert (made.lever, made.chosen, made.target, made.budget) == ("target", "given", 0.3, None)
    assert made.settings == 'policy = { name = "hem", target = 0.3 }\n'


def test_an_average_outside_its_range_says_that_a_few_draw_it_there() -> None:
    # Eighteen cascades of twenty cost 24 and two 52.
    costs = np.array([24.0] * 18 + [52.0] * 2)
    part = CascadePart(30, money_range(costs), middle(np.array([0.1, 0.2])))
    assert cascade_text(part).startswith(
        "A cascade, cheap workers first, would cost 26.80 on average (24.00 in eight cases of ten, "
        "far more in a few) with an error of 0.150 (0.100 to 0.200), "
    )


def test_a_certificate_is_priced_by_who_audits() -> None:
    workers = [*people(0.9, 0.9), VET, GuessedWorker(Worker("boss", 50, trusted=True))]
    made = plan_campaign(
        GuessedWorlds(workers, 20), budget=16, certify=0.2, by="boss", audits=15, runs=10
    )
    paper = made.certificate
    assert paper is not None
    # C(15, 8) / C(20, 8) = 0.051 and C(15, 7) / C(20, 7) = 0.083: seven clean audits, not six.
    assert (paper.by, paper.clean) == ("boss", 7)
    assert paper.price.mean == 50 * Decimal(str(paper.audits.mean))
    assert made.truths.price == 5 * 20
    assert faults("plan", made.to_json()) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"runs": 5}, "runs is 5: give a whole number from 10"),
        ({"target_error": 1.0}, "target_error is 1.0: give a number between 0 and 1"),
        ({"lever": "dial"}, "lever is 'dial'"),
        ({"truths": 12}, "truths is 12: give a whole number from 0 to 11"),
        ({"certify": 0.1}, "certify needs somebody whose answers are the truth"),
        ({"by": "w0"}, "by is 'w0', who is not trusted"),
        ({"by": "eve"}, "by is 'eve', who is not a worker"),
        ({"budget": "0.1"}, "budget is 0.1: it buys nothing, the cheapest worker costs 0.4"),
        ({"policy": "virt-ucb"}, "policy is 'virt-ucb', which"),
        ({"confidence": 1.0}, "confidence is 1.0: give a number between 0 and 1"),
    ],
    ids=str,
)
def test_bad_settings_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        plan_campaign(worlds(0.9), **settings)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_without_prices_there_is_nothing_to_plan() -> None:
    free = [GuessedWorker(Worker("local", 0, kind="model"), 0.9)]
    with pytest.raises(InvalidParameter, match="price of every worker is 0"):
        plan_campaign(GuessedWorlds(free, 5), target_error=0.4)
