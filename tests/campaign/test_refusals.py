"""Bad input to a running campaign: one clear error each, naming the field; nothing changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from askwise import Campaign, Worker
from askwise.core.choices import Batch
from askwise.core.errors import (
    AskwiseError,
    Conflict,
    InvalidAnswer,
    InvalidProblem,
    UnknownName,
)
from askwise.core.events import Kind
from tests.campaign.refused import NAN, raw


def running(**changes: Any) -> tuple[Campaign, str]:
    campaign = Campaign.create(**raw(**changes))
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    return campaign, batch[0].id


VOTES: dict[str, Any] = {
    "outcome": None,
    "options": ["no", "yes"],
    "tasks": ["t", "u"],
    "policy": "uniform",
}


@pytest.mark.parametrize("value", [1.01, -0.01, NAN, float("inf"), "0.5", None, True, [0.5], 1j])
def test_an_answer_outside_the_range_is_refused(value: Any) -> None:
    campaign, out = running()
    before = campaign.log()
    with pytest.raises(InvalidAnswer, match="answer is") as caught:
        campaign.tell(out, value)
    assert caught.value.field == "value"
    assert campaign.log() == before
    assert campaign.status().pending == 1
    campaign.tell(out, 0.5)


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float64(0.25), np.float32(0.5), np.int64(1)])
def test_numbers_of_any_make_are_answers(value: Any) -> None:
    campaign, out = running()
    campaign.tell(out, value)
    answer = next(event for event in campaign.log() if event.kind == Kind.ANSWER)
    assert type(answer.value) is float
    assert answer.value == float(value)


@pytest.mark.parametrize("value", ["maybe", "", "Yes", 0, 1.0, None, ["yes"]])
def test_an_answer_that_is_no_option_is_refused(value: Any) -> None:
    campaign, out = running(**VOTES)
    before = campaign.log()
    with pytest.raises(InvalidAnswer, match="give one of no, yes") as caught:
        campaign.tell(out, value)
    assert caught.value.field == "value"
    assert campaign.log() == before


@pytest.mark.parametrize("out", ["cats:99", "cats:1", "dogs:2", "2", "", "cats:-1", None, "cats:"])
def test_an_answer_to_an_unknown_assignment_is_refused(out: Any) -> None:
    campaign, _ = running()
    before = campaign.log()
    for act in (
        lambda: campaign.tell(out, 0.5),
        lambda: campaign.expire(out),
        lambda: campaign.decline(out),
    ):
        with pytest.raises(UnknownName, match="assignment") as caught:
            act()
        assert caught.value.field == "assignment"
    assert campaign.log() == before


def test_an_answer_to_a_settled_or_declined_assignment_is_refused() -> None:
    campaign, out = running()
    campaign.tell(out, 0.5)
    before = campaign.log()
    with pytest.raises(InvalidAnswer, match="is answered already") as caught:
        campaign.tell(out, 0.5)
    assert caught.value.field == "assignment"
    assert campaign.log() == before


def test_an_answer_to_an_expired_assignment_that_can_not_be_taken_is_refused() -> None:
    campaign, out = running(workers=[Worker("a", 2, limit=1)])
    campaign.expire(out)
    campaign.ask()
    before = campaign.log()
    with pytest.raises(InvalidAnswer, match=f"{out!r} has expired and") as caught:
        campaign.tell(out, 0.5)
    assert caught.value.field == "assignment"
    assert campaign.log() == before


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "2", None])
def test_a_limit_of_an_ask_is_a_whole_number_from_one(limit: Any) -> None:
    campaign, _ = running()
    before = campaign.log()
    with pytest.raises(InvalidProblem, match="limit is") as caught:
        campaign.ask(limit)
    assert caught.value.field == "limit"
    assert campaign.log() == before


def test_workers_on_offer_must_be_known() -> None:
    campaign, _ = running()
    before = campaign.log()
    with pytest.raises(UnknownName, match="worker 'c' is not in this campaign") as caught:
        campaign.ask(workers=["a", "c"])
    assert caught.value.field == "worker"
    for wrong in ("ab", 5):
        with pytest.raises(InvalidProblem, match=f"workers is {wrong!r}") as other:
            campaign.ask(workers=wrong)  # type: ignore[arg-type]
        assert other.value.field == "workers"
    with pytest.raises(UnknownName, match="worker 'nobody'"):
        campaign.leave("nobody")
    assert campaign.log() == before


@pytest.mark.parametrize("name", [7, None, ("a",), ["a"]])
def test_ids_of_another_type_are_refused_with_an_error_of_ours(name: Any) -> None:
    campaign, _ = running(**VOTES)
    before = campaign.log()
    for act in (
        lambda: campaign.ask(workers=[name]),
        lambda: campaign.ask(workers=["a", name]),
        lambda: campaign.leave(name),
        lambda: campaign.close(name),
        lambda: campaign.truth(name, "yes"),
    ):
        with pytest.raises(AskwiseError):
            act()
    assert campaign.log() == before


def test_a_task_of_no_name_can_not_be_closed_in_a_campaign_without_tasks() -> None:
    campaign, _ = running()
    before = campaign.log()
    with pytest.raises(Conflict, match="no tasks to close"):
        campaign.close(None)  # type: ignore[arg-type]
    assert campaign.log() == before


@pytest.mark.parametrize(
    ("amount", "message"),
    [
        (0, "more than 0"),
        (-1, "0 or more"),
        (NAN, "finite"),
        ("x", "give a number"),
        (10**9, "up to"),
    ],
)
def test_only_a_positive_amount_can_be_added(amount: Any, message: str) -> None:
    campaign, _ = running()
    before = campaign.log()
    with pytest.raises(InvalidProblem, match=message) as caught:
        campaign.top_up(amount)
    assert caught.value.field == "amount"
    assert campaign.log() == before


def test_truth_needs_a_task_and_an_option_of_the_campaign() -> None:
    campaign, _ = running(**VOTES)
    before = campaign.log()
    with pytest.raises(UnknownName, match="task 'v'") as caught:
        campaign.truth("v", "yes")
    assert caught.value.field == "task"
    with pytest.raises(InvalidAnswer, match="option is 'maybe'") as other:
        campaign.truth("t", "maybe")
    assert other.value.field == "option"
    assert campaign.log() == before
    units, _ = running()
    with pytest.raises(InvalidAnswer, match="no true option"):
        units.truth("t", "yes")


@pytest.mark.parametrize(
    "task", [{"id": "w", "payload": object()}, {"id": "w", "payload": NAN}, {"id": ""}]
)
def test_a_bad_task_is_not_added(task: Any) -> None:
    campaign, _ = running(**VOTES)
    before, status = campaign.log(), campaign.status()
    with pytest.raises(AskwiseError):
        campaign.add(tasks=["v", task])
    assert campaign.log() == before
    assert campaign.status() == status
    campaign.add(tasks=["v"])
