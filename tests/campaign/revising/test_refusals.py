"""Which answers stay as they are, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from askwise import Campaign
from askwise.campaign import worked
from askwise.core.errors import AskwiseError, Conflict, InvalidAnswer, TooLarge, UnknownName
from tests.campaign import certified
from tests.campaign.revising.changed import asked, made


def out(campaign: Campaign) -> str:
    return next(iter(asked(campaign).values()))


def answered(campaign: Campaign) -> str:
    id = out(campaign)
    campaign.tell(id, "cat")
    return id


def declined(campaign: Campaign) -> str:
    id = out(campaign)
    campaign.decline(id)
    return id


def expired(campaign: Campaign) -> str:
    id = out(campaign)
    campaign.expire(id)
    return id


def failed(campaign: Campaign) -> str:
    id = out(campaign)
    campaign.fail(id, "refused")
    return id


def stopped(campaign: Campaign) -> str:
    id = answered(campaign)
    campaign.stop()
    return id


REFUSED: list[tuple[Callable[[Campaign], str], Any, type[AskwiseError], str, str]] = [
    (out, "dog", Conflict, "not_answered", "assignment"),
    (declined, "dog", Conflict, "assignment_declined", "assignment"),
    (expired, "dog", Conflict, "assignment_expired", "assignment"),
    (failed, "dog", Conflict, "assignment_failed", "assignment"),
    (stopped, "dog", Conflict, "campaign_stopped", "state"),
    (lambda _: "cats:999", "dog", UnknownName, "unknown_assignment", "assignment"),
    (lambda _: "dogs:1", "dog", UnknownName, "unknown_assignment", "assignment"),
    (answered, "bird", InvalidAnswer, "invalid_value", "value"),
    (answered, 1, InvalidAnswer, "invalid_value", "value"),
    (answered, None, InvalidAnswer, "invalid_value", "value"),
]


@pytest.mark.parametrize(("prepare", "value", "error", "reason", "field"), REFUSED)
def test_what_can_not_be_changed_is_refused_with_the_reason(
    prepare: Callable[[Campaign], str],
    value: Any,
    error: type[AskwiseError],
    reason: str,
    field: str,
) -> None:
    campaign = made()
    id = prepare(campaign)
    before = campaign.log()
    with pytest.raises(error) as caught:
        campaign.revise(id, value)
    assert (caught.value.reason, caught.value.field) == (reason, field)
    if field != "value":
        with pytest.raises(error) as caught:
            campaign.withdraw(id, "It was deleted.")
        assert (caught.value.reason, caught.value.field) == (reason, field)
    assert campaign.log() == before


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"probabilities": {"bird": 1.0}}, "probabilities"),
        ({"rationale": "x" * 10_001}, "rationale"),
        ({"reference": 7}, "reference"),
        ({"by": " "}, "by"),
        ({"key": ""}, "key"),
    ],
)
def test_what_is_said_beside_the_value_is_checked(given: dict[str, Any], field: str) -> None:
    campaign = made()
    with pytest.raises(AskwiseError) as caught:
        campaign.revise(answered(campaign), "dog", **given)
    assert caught.value.field == field


@pytest.mark.parametrize("why", ["", "  ", "x" * 2001, None])
def test_a_reason_to_withdraw_says_something(why: Any) -> None:
    campaign = made()
    with pytest.raises(InvalidAnswer) as caught:
        campaign.withdraw(answered(campaign), why)
    assert caught.value.field == "why"


def test_where_workers_bid_answers_stay() -> None:
    campaign = made(
        budget=None,
        policy={"name": "ccb-fixed", "qualities": [0.8] * 3, "alpha": 0.3, "solver": "exact"},
        mechanism={"name": "clarke", "c_max": 2},
    )
    batch = campaign.ask()
    campaign.tell(batch[0].id, "cat")
    with pytest.raises(Conflict, match="what they are paid follows from answers") as caught:
        campaign.revise(batch[0].id, "dog")
    assert caught.value.reason == "workers_bid"


def test_after_the_draw_for_audits_labels_and_truths_stay() -> None:
    campaign = certified.create()
    while not campaign.log() or campaign.log()[-1].note != "audit":
        batch = campaign.ask()
        for each in batch:
            if each.worker == "vet":
                audit = each.id
            else:
                judged = each.id
            campaign.tell(each.id, certified.said_by(each.worker, each.task or ""))
        if batch[0].worker == "vet":
            break
    for id, reason in ((judged, "label_frozen"), (audit, "answer_is_truth")):
        with pytest.raises(Conflict, match="set_label sets another label") as caught:
            campaign.revise(id, "no")
        assert caught.value.reason == reason


def test_a_change_that_would_take_too_long_is_refused_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    campaign = made(tasks=[f"t{at}" for at in range(100)], budget=None)
    batch = campaign.ask(limit=100)
    for each in batch:
        campaign.tell(each.id, "cat")
    before = campaign.log()[-1].seq
    assert before > 256, "a fold is looked at every so many events"
    monkeypatch.setattr(worked, "LONGEST_CHANGE", 1e-9)
    with pytest.raises(TooLarge, match=f"{before} events .* `askwise warm random-pairs`") as caught:
        campaign.revise(batch[0].id, "dog")
    assert caught.value.field == "assignment"
    assert campaign.log()[-1].seq == before
    monkeypatch.undo()
    campaign.revise(batch[0].id, "dog")
    assert campaign.assignment(batch[0].id).value == "dog"


# Retries, processes, crashes.
