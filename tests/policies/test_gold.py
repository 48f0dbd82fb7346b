"""Tasks drawn at random, to tell the truth of."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from askwise import Campaign, Task, Worker
from askwise.campaign.state import CampaignState
from askwise.core import draws
from askwise.core.draws import Draw, words
from askwise.policies import drawn_at_random
from tests.policies.folded import state_of


def campaign_of(tasks: int = 12, seed: int = 1, **more: Any) -> Campaign:
    return Campaign.create(
        workers=[Worker(name, 1) for name in "abc"],
        tasks=[f"t{at}" for at in range(tasks)],
        options=["no", "yes"],
        policy="random-pairs",
        seed=seed,
        **more,
    )


def drawn(campaign: Campaign, count: int = 99) -> list[str]:
    state: CampaignState = state_of(campaign)
    return drawn_at_random(state.ledger, state.draw(draws.GOLD, 0), count)


def test_the_order_is_a_permutation_by_the_words_that_tasks_draw() -> None:
    draw = Draw(7, 11, 0)
    ledger = state_of(campaign_of(50)).ledger
    found = drawn_at_random(ledger, draw, 50)
    ranked = sorted(range(50), key=lambda at: words(draw, at)[::-1])
    assert found == [f"t{at}" for at in ranked]


def test_the_same_seed_draws_the_same_and_another_seed_others() -> None:
    assert drawn(campaign_of()) == drawn(campaign_of())
    assert drawn(campaign_of()) != drawn(campaign_of(seed=2))


def test_fewer_tasks_are_the_first_of_the_order() -> None:
    assert drawn(campaign_of(), 4) == drawn(campaign_of())[:4]


def test_told_tasks_are_skipped_and_the_rest_keeps_its_order() -> None:
    campaign = campaign_of()
    order = drawn(campaign)
    for told in (order[0], order[3], order[11]):
        campaign.truth(told, "yes")
    left = [task for task in order if task not in (order[0], order[3], order[11])]
    assert drawn(campaign) == left
    for task in left:
        campaign.truth(task, "no")
    assert drawn(campaign) == []


def test_answers_have_no_say() -> None:
    campaign, dice = campaign_of(), random.Random(3)
    before = drawn(campaign)
    for each in campaign.ask(limit=20):
        campaign.tell(each.id, dice.choice(["no", "yes"]))
    assert drawn(campaign) == before


def test_a_task_that_is_added_moves_no_other() -> None:
    campaign = campaign_of()
    before = drawn(campaign)
    campaign.add(tasks=[Task(f"new-{at}") for at in range(12)])
    after = drawn(campaign)
    assert [task for task in after if task in before] == before
    assert len(after) == 24


def test_every_task_is_as_likely_to_be_first() -> None:
    ledger = state_of(campaign_of(5)).ledger
    first = Counter(
        drawn_at_random(ledger, Draw(*draws.stream(seed, draws.GOLD, 0), 0), 1)[0]
        for seed in range(1000)
    )
    # 200 each expected, five standard deviations are 64.
    assert all(136 <= first[f"t{at}"] <= 264 for at in range(5))


def test_a_campaign_without_tasks_has_none_to_draw() -> None:
    campaign = Campaign.create(workers=[Worker("a", 1)], outcome="utility", policy="uniform")
    assert drawn(campaign) == []
