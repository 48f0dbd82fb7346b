"""Which tasks are least sure."""

from __future__ import annotations

import pytest

from askwise import Batch, Campaign, Worker
from askwise.campaign import views
from askwise.campaign.views import Answer
from askwise.core.errors import InvalidParameter
from tests.campaign.views.voting import state_of, votes


def test_the_least_sure_come_first() -> None:
    table = {
        "a": {"clear": "yes", "split": "yes", "close": "yes", "thin": "yes", "long": "yes"},
        "b": {"clear": "yes", "split": "no", "close": "yes", "long": "no"},
        "c": {"clear": "yes", "split": "maybe", "close": "no", "long": "yes"},
        "d": {"long": "no"},
        "e": {"clear": "yes"},
    }
    campaign = votes(table)
    campaign.add(tasks=["nobody"])
    campaign.close("split")
    campaign.truth("clear", "yes")
    found = views.contested(state_of(campaign), campaign.answers(), 10)
    assert [each.task for each in found] == ["split", "long", "close", "thin", "clear"]
    assert [round(each.confidence or 0, 2) for each in found] == [0.33, 0.5, 0.67, 1.0, 1.0]
    assert [each.lead for each in found] == [0, 0, 1, 1, 4]
    assert found[0].outcome == "closed"
    assert found[1].votes == {"no": 2, "yes": 2, "maybe": 0}
    assert [each.truth for each in found] == [None, None, None, None, "yes"]
    assert views.contested(state_of(campaign), campaign.answers(), 2) == found[:2]
    with pytest.raises(InvalidParameter, match="limit"):
        views.contested(state_of(campaign), campaign.answers(), 0)


def test_tasks_without_a_confidence_come_last_by_lead() -> None:
    table = {
        "a": {"t": "yes", "u": "yes", "v": "yes"},
        "b": {"t": "yes", "u": "no", "v": "yes"},
    }
    campaign = votes(table)
    answers = [Answer("t", "yes", None, "open", 2), Answer("u", "no", None, "open", 2)]
    answers.append(Answer("v", "yes", 0.99, "open", 2))
    found = views.contested(state_of(campaign), answers)
    assert [each.task for each in found] == ["v", "u", "t"]


def test_utilities_are_not_contested() -> None:
    campaign = Campaign.create(
        workers=[Worker("a", 1)], tasks=["t"], outcome="utility", policy="uniform", budget=9
    )
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    campaign.tell(batch[0].id, 0.5)
    assert views.contested(state_of(campaign), campaign.answers()) == []
