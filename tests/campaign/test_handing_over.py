"""A question may be handed to another worker, who could have been asked it."""

from __future__ import annotations

from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.core.errors import AskwiseError
from askwise.core.events import Kind
from askwise.testing.referee import Referee

PRICES = {"ann": "1", "ben": "2", "cem": "9"}


def made(**given: Any) -> Campaign:
    fields: dict[str, Any] = {
        "workers": [Worker(id, price) for id, price in PRICES.items()],
        "tasks": ["t1", "t2"],
        "options": ["no", "yes"],
        "budget": "6",
        "policy": "random-pairs",
        "seed": 1,
    }
    return Campaign.create(**(fields | given))


def test_the_money_of_one_is_released_and_that_of_the_other_reserved() -> None:
    campaign = made()
    (given,) = campaign.ask(1, ["ann"])
    taken = campaign.hand_over(given.id, "ben")
    assert (taken.task, taken.worker, str(taken.price)) == (given.task, "ben", "2")
    assert taken.propensity is None
    assert str(campaign.status().reserved) == "2"
    campaign.tell(taken.id, "yes")
    assert str(campaign.status().spent) == "2"
    assert [event.kind for event in campaign.log()][2:] == [
        Kind.EXPIRED,
        Kind.DECIDED,
        Kind.ASKED,
        Kind.ANSWER,
    ]


def test_the_log_keeps_every_rule_of_a_campaign() -> None:
    campaign = made(budget="20", workers=[Worker(id, "1") for id in PRICES])
    for giver, taker in (("ann", "ben"), ("ben", "cem"), ("cem", "ann")):
        for each in campaign.ask(1, [giver]):
            campaign.tell(campaign.hand_over(each.id, taker).id, "yes")
    referee, again = Referee(campaign._spec.problem), Campaign.open(campaign.store, campaign.name)
    for event in campaign.log():
        referee.see(event)
    referee.compare(campaign._writer.current().ledger)
    assert sum(event.kind == Kind.ANSWER for event in campaign.log()) == 3
    assert again.status() == campaign.status()


def test_it_is_explained_as_no_choice_of_the_policy() -> None:
    campaign = made()
    (given,) = campaign.ask(1, ["ann"])
    found = campaign.explain(campaign.hand_over(given.id, "ben").id)
    assert (found.purpose, found.reproduced) == ("handed over", True)


def test_a_retry_with_its_key_gives_the_same() -> None:
    campaign = made()
    (given,) = campaign.ask(1, ["ann"])
    first = campaign.hand_over(given.id, "ben", key="k")
    assert campaign.hand_over(given.id, "ben", key="k") == first
    assert sum(event.kind == Kind.ASKED for event in campaign.log()) == 2


def refusal(campaign: Campaign, assignment: str, worker: str) -> str:
    before = len(campaign.log())
    with pytest.raises(AskwiseError) as refused:
        campaign.hand_over(assignment, worker)
    assert len(campaign.log()) == before
    return refused.value.reason


def test_who_could_not_have_been_asked_gets_nothing() -> None:
    campaign = made(workers=[*(Worker(i, p) for i, p in PRICES.items()), Worker("dan", "1")])
    (given,) = campaign.ask(1, ["ann"])
    assert refusal(campaign, given.id, "cem") == "over_budget"
    assert refusal(campaign, given.id, "ann") == "not_for_worker"
    assert refusal(campaign, given.id, "eve") == "unknown_worker"
    campaign.suspend("ben", by="owner")
    assert refusal(campaign, given.id, "ben") == "worker_suspended"
    campaign.leave("dan")
    assert refusal(campaign, given.id, "dan") == "worker_left"
    campaign.reinstate("ben", by="owner")
    campaign.close(given.task or "")
    assert refusal(campaign, given.id, "ben") == "task_closed"
    campaign.tell(given.id, "yes")
    assert refusal(campaign, given.id, "ben") == "assignment_answered"


def test_a_limit_holds_for_what_is_handed_over() -> None:
    campaign = made(workers=[Worker("ann", "1"), Worker("ben", "1", limit=1)])
    first, second = campaign.ask(2, ["ann"])
    campaign.tell(campaign.hand_over(first.id, "ben").id, "yes")
    assert refusal(campaign, second.id, "ben") == "worker_limit_reached"


def test_nothing_is_handed_over_while_a_campaign_is_paused_or_once_it_is_stopped() -> None:
    campaign = made()
    (given,) = campaign.ask(1, ["ann"])
    campaign.pause()
    assert refusal(campaign, given.id, "ben") == "campaign_paused"
    campaign.resume()
    campaign.stop()
    assert refusal(campaign, given.id, "ben") == "campaign_stopped"


def test_a_policy_that_counts_on_its_own_choices_refuses() -> None:
    campaign = made(policy="round-robin")
    (given,) = campaign.ask(1, ["ann"])
    assert refusal(campaign, given.id, "ben") == "invalid_problem"
