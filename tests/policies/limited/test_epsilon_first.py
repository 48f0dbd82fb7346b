"""Epsilon-first policies for labelling (001, section 6), by hand and by brute force."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise import Campaign, Done, Task, Wait, Worker
from askwise.core.choices import Assignment, Batch
from askwise.core.errors import AskwiseError

THREE = [Worker("a", 3), Worker("b", 1), Worker("c", 2)]


def labelling(policy: object, count: int = 6, **more: Any) -> Campaign:
    return Campaign.create(
        **{
            "workers": THREE,
            "tasks": [f"t{at}" for at in range(count)],
            "options": ["x", "y"],
            "budget": 40,
            "policy": policy,
            "seed": 1,
            **more,
        }
    )


def batch_of(campaign: Campaign, limit: int = 99) -> list[Assignment]:
    batch = campaign.ask(limit=limit)
    assert isinstance(batch, Batch), batch
    return list(batch)


def pairs(batch: list[Assignment]) -> list[tuple[str | None, str]]:
    return [(each.task, each.worker) for each in batch]


def explore(campaign: Campaign, answers: str) -> None:
    """Answer the first decisions, a letter an assignment in the order of asking."""
    left = list(answers)
    while left:
        for each in batch_of(campaign, len(left)):
            campaign.tell(each.id, left.pop(0))


def test_a_round_is_one_task_for_everyone_from_the_cheapest_up() -> None:
    # 13 of 40 pay two rounds of 6; the 1 left pays b on a third task.
    campaign = labelling({"name": "label-bounded-epsilon-first", "epsilon": 0.325})
    asked = pairs(batch_of(campaign, 3)) + pairs(batch_of(campaign, 3)) + pairs(batch_of(campaign))
    assert asked == [
        ("t0", "b"), ("t0", "c"), ("t0", "a"),
        ("t1", "b"), ("t1", "c"), ("t1", "a"),
        ("t2", "b"),
    ]  # fmt: skip
    assert campaign.ask() == Wait("answers")


def test_a_share_below_one_round_goes_to_the_cheapest() -> None:
    campaign = labelling({"name": "label-bounded-epsilon-first", "epsilon": 0.1})
    # 4 of 40: b (1) and c (2), then b again; a (3) ends the pass.
    assert pairs(batch_of(campaign, 2)) == [("t0", "b"), ("t0", "c")]
    assert pairs(batch_of(campaign)) == [("t1", "b")]


def test_the_rest_is_planned_by_value_per_price_and_spread_over_the_tasks() -> None:
    # One round (6 of 40, 34 left): b x, c x, a y, so v = 1, 1, and a counts as 0. Without
    # repeats each has 5 tasks left: 5 of b (5), 5 of c (10), 5 of a (15) for 30.
    campaign = labelling("label-bounded-epsilon-first")
    explore(campaign, "xxy")
    asked = pairs(batch_of(campaign))
    fresh = ["t1", "t2", "t3", "t4", "t5"]
    assert asked == [(task, worker) for worker in "bca" for task in fresh]


def test_tasks_with_the_fewest_labels_come_first() -> None:
    # Repeats allowed, limit 4 each: b has 3 left on t1, t2, t3; c 3 on t4, t5 and t1 again.
    workers = [Worker("a", 3, limit=1), Worker("b", 1, limit=4), Worker("c", 2, limit=4)]
    campaign = labelling("label-bounded-epsilon-first", workers=workers, repeat=True)
    explore(campaign, "xxy")
    assert pairs(batch_of(campaign)) == [
        ("t1", "b"), ("t2", "b"), ("t3", "b"), ("t4", "c"), ("t5", "c"), ("t1", "c"),
    ]  # fmt: skip
    assert campaign.ask() == Wait("answers")


@given(
    prices=st.lists(st.integers(1, 5), min_size=3, max_size=3),
    limits=st.lists(st.integers(1, 5), min_size=3, max_size=3),
    answers=st.lists(st.sampled_from("xy"), min_size=3, max_size=3),
    left=st.integers(0, 25),
)
@settings(max_examples=40, deadline=None)
def test_the_plan_is_the_best_in_order_of_density(
    prices: list[int], limits: list[int], answers: list[str], left: int
) -> None:
    """Of all plans within limits and money, the one that comes first by density of its workers."""
    budget = sum(prices) + left
    workers = [
        Worker(name, price, limit + 1)
        for name, price, limit in zip("abc", prices, limits, strict=True)
    ]
    campaign = labelling("label-trialsourcing", 9, workers=workers, budget=budget, repeat=True)
    explore(campaign, "".join(answers))
    choice = campaign.ask(limit=99)
    asked = Counter(each.worker for each in choice) if isinstance(choice, Batch) else Counter()
    seen = {each.worker: each for each in _candidates(campaign, choice)}
    if not seen:
        assert all(price > left for price in prices)
        return
    order = sorted(range(3), key=lambda at: (-(seen["abc"[at]].index or 0.0), at))
    plans = itertools.product(*(range(limit + 1) for limit in limits))
    best = max(
        tuple(plan[at] for at in order)
        for plan in plans
        if sum(count * price for count, price in zip(plan, prices, strict=True)) <= left
    )
    assert tuple(asked["abc"[at]] for at in order) == best


def _candidates(campaign: Campaign, choice: object) -> Any:
    return campaign.explain(choice[0].id).candidates if isinstance(choice, Batch) else ()


def test_epsilon_first_gives_the_rest_to_the_most_efficient_worker() -> None:
    campaign = labelling("label-epsilon-first")
    explore(campaign, "xxy")
    rest = batch_of(campaign)
    assert pairs(rest) == [(f"t{at}", "b") for at in range(1, 6)]
    for each in rest:
        campaign.tell(each.id, "x")
    assert campaign.ask() == Done("tasks")


def test_picked_by_total_the_limit_counts() -> None:
    # b is worth 1 per price but has 1 label left, c 1/2 per price and 5.
    workers = [Worker("a", 3), Worker("b", 1, limit=2), Worker("c", 2)]
    for pick, best in (("density", "b"), ("total", "c")):
        campaign = labelling({"name": "label-epsilon-first", "pick": pick}, workers=workers)
        explore(campaign, "xxy")
        assert {each.worker for each in batch_of(campaign)} == {best}


def test_trialsourcing_tries_everyone_on_one_task_whatever_it_costs() -> None:
    campaign = labelling("label-trialsourcing", budget=8)
    assert pairs(batch_of(campaign)) == [("t0", "b"), ("t0", "c"), ("t0", "a")]
    poor = labelling("label-trialsourcing", budget=5)
    assert pairs(batch_of(poor)) == [("t0", "b"), ("t0", "c")]


def test_who_may_not_be_asked_about_the_trial_has_another() -> None:
    tasks = [Task("t0", workers=("b", "c")), Task("t1"), Task("t2")]
    campaign = labelling("label-trialsourcing", tasks=tasks)
    assert pairs(batch_of(campaign, 2)) == [("t0", "b"), ("t0", "c")]
    assert pairs(batch_of(campaign)) == [("t1", "a")]


def test_trialsourcing_of_003_is_one_of_its_settings() -> None:
    policy = {"name": "label-trialsourcing", "exploitation": "single"}
    campaign = labelling(policy)
    explore(campaign, "xxy")
    assert {each.worker for each in batch_of(campaign)} == {"b"}


def test_scores_are_values_per_price() -> None:
    campaign = labelling("label-bounded-epsilon-first")
    explore(campaign, "xxy")
    found = {each.worker: each for each in campaign.explain(batch_of(campaign)[0].id).candidates}
    assert {name: each.index for name, each in found.items()} == {"a": 0.0, "b": 1.0, "c": 0.5}
    assert found["a"].details["accuracy"] == 0.0


@pytest.mark.parametrize(
    ("policy", "field"),
    [
        ({"name": "label-bounded-epsilon-first", "epsilon": 1.5}, "epsilon"),
        ({"name": "label-epsilon-first", "pick": "price"}, "pick"),
        ({"name": "label-trialsourcing", "exploitation": "both"}, "exploitation"),
        ({"name": "label-trialsourcing", "epsilon": 0.1}, "epsilon"),
    ],
)
def test_bad_parameters_are_refused_by_name(policy: dict[str, Any], field: str) -> None:
    with pytest.raises(AskwiseError) as caught:
        labelling(policy)
    assert caught.value.field == field
