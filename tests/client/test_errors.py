"""Refusals are the same here and there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from askwise import Batch, Campaign, Task, Worker
from askwise.client import Service
from askwise.core.errors import (
    AskwiseError,
    Conflict,
    InvalidAnswer,
    InvalidParameter,
    InvalidProblem,
    OverBudget,
    UnknownName,
    UnknownPolicy,
)
from tests.client.twins import CATS, twins

REFUSED: dict[str, tuple[type[AskwiseError], str | None, Callable[[Any], object]]] = {
    "an unknown assignment": (UnknownName, "assignment", lambda c: c.tell(f"{c.name}:99", "yes")),
    "another campaign's": (UnknownName, "assignment", lambda c: c.tell("dogs:1", "yes")),
    "no id at all": (UnknownName, "assignment", lambda c: c.decline("1")),
    "a wrong answer": (InvalidAnswer, "value", lambda c: c.tell(c.ask()[0].id, "perhaps")),
    "an answer out of nothing": (InvalidAnswer, "value", lambda c: c.tell(c.ask()[0].id, 0.5)),
    "a strange worker": (UnknownName, "worker", lambda c: c.ask(workers=["zoe"])),
    "a wrong limit": (InvalidProblem, "limit", lambda c: c.ask(0)),
    "an unknown task": (UnknownName, "task", lambda c: c.close("t9")),
    "a task twice": (Conflict, "tasks", lambda c: c.add(tasks=["t1"])),
    "a worker without price": (InvalidProblem, "price", lambda c: c.add(workers=[{"id": "x"}])),
    "less than nothing": (InvalidProblem, "amount", lambda c: c.top_up(-1)),
    "too fine": (InvalidProblem, "amount", lambda c: c.top_up("0.0000001")),
    "not paused": (Conflict, "state", lambda c: c.resume()),
    "a bid in no auction": (Conflict, None, lambda c: c.bid("ann", "0.1")),
    "an empty key": (InvalidProblem, "key", lambda c: c.pause(key="")),
    "workers as text": (InvalidProblem, "workers", lambda c: c.ask(workers="ann")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_is_the_same_here_and_there(service: Service, case: str) -> None:
    kind, field, act = REFUSED[case]
    said = []
    for campaign in twins(service, CATS):
        with pytest.raises(AskwiseError) as caught:
            act(campaign)
        assert type(caught.value) is kind
        said.append((caught.value.code, caught.value.field, str(caught.value)))
    assert said[0] == said[1]
    if field is not None:
        assert said[0][1] == field


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"policy": "random-pear"}, UnknownPolicy),
        ({"policy": {"name": "random-pairs", "pace": 3}}, InvalidParameter),
        ({"budget": "0.01"}, InvalidProblem),
        ({"budget": "much"}, InvalidProblem),
        ({"options": ["yes"]}, InvalidProblem),
        ({"lease": -1}, InvalidProblem),
        ({"workers": [{"id": "ann"}]}, InvalidProblem),
        ({"tasks": [Task("t1", payload={1, 2})]}, InvalidProblem),
    ],
)
def test_a_creation_is_refused_as_here(
    service: Service, change: dict[str, Any], kind: type[AskwiseError]
) -> None:
    said = []
    for create in (Campaign.create, service.create):
        with pytest.raises(kind) as caught:
            create(**{**CATS, **change})
        said.append((type(caught.value), caught.value.field))
    assert said[0] == said[1]


def test_an_answer_beyond_the_budget_is_over_budget(service: Service) -> None:
    campaign = service.create(
        workers=[Worker("ann", 1), Worker("bob", 1)], tasks=["t1", "t2"], options=["yes", "no"],
        budget=1, policy="random-pairs",
    )  # fmt: skip
    late = campaign.ask()
    assert isinstance(late, Batch)
    campaign.expire(late[0].id)
    other = "bob" if late[0].worker == "ann" else "ann"
    assert isinstance(campaign.ask(workers=[other]), Batch)
    with pytest.raises(OverBudget, match="has expired and the budget has 0 left"):
        campaign.tell(late[0].id, "yes")


def test_a_campaign_that_is_not_there_is_an_unknown_name(service: Service) -> None:
    for name in ("nowhere", "..", "a/b", ""):
        with pytest.raises(UnknownName):
            service.open(name)
