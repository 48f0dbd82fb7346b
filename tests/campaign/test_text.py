"""Text that no store can keep is refused at the campaign's door, with the field that has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from askwise import Campaign, Task, Worker
from askwise.core.choices import Batch
from askwise.core.errors import InvalidAnswer, InvalidProblem
from askwise.core.events import Event, Kind
from askwise.store import open_store

CATS: dict[str, Any] = {
    "workers": [Worker("ann", 1)],
    "options": ["cat", "dog"],
    "policy": "random-pairs",
    "budget": 9,
    "name": "cats",
    "seed": 1,
}

BAD = pytest.mark.parametrize("bad", ["a\0b", "\0", "\ud800", "a\udc00"])
STORE = pytest.mark.parametrize("store", ["memory", "sqlite"])


@pytest.fixture
def url(store: str, tmp_path: Path) -> str:
    return store if store == "memory" else f"sqlite:///{tmp_path}/cats.sqlite"


@BAD
@pytest.mark.parametrize(
    ("field", "task"),
    [
        ("payload", lambda bad: Task("t", payload=bad)),
        ("payload", lambda bad: {"id": "t", "payload": {"deep": [{"er": bad}]}}),
        ("payload", lambda bad: {"id": "t", "payload": {bad: 1}}),
        ("context", lambda bad: Task("t", context=bad)),
    ],
)
@STORE
def test_a_task_is_refused_when_created_and_when_added(
    field: str, task: Callable[[str], Any], bad: str, url: str
) -> None:
    opened = open_store(url)
    with pytest.raises(InvalidProblem, match=field) as caught:
        Campaign.create(tasks=["other", task(bad)], store=opened, **CATS)
    assert caught.value.field == field
    assert opened.names() == []
    campaign = Campaign.create(tasks=["other"], store=opened, **CATS)
    with pytest.raises(InvalidProblem, match=field) as caught:
        campaign.add(tasks=[task(bad)])
    assert caught.value.field == field
    assert campaign.log() == []
    opened.close()


@BAD
@STORE
def test_answers_truths_and_keys_are_refused(bad: str, url: str) -> None:
    campaign = Campaign.create(tasks=["t"], store=url, **CATS)
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    before = campaign.log()
    with pytest.raises(InvalidAnswer) as answer:
        campaign.tell(batch[0].id, bad)
    with pytest.raises(InvalidAnswer) as truth:
        campaign.truth("t", bad)
    with pytest.raises(InvalidProblem) as key:
        campaign.tell(batch[0].id, "cat", key=bad)
    assert [each.value.field for each in (answer, truth, key)] == ["value", "option", "key"]
    assert campaign.log() == before


@BAD
@pytest.mark.parametrize(
    "wrong",
    [
        lambda bad: {"workers": [{"id": bad, "price": 1}]},
        lambda bad: {"options": ["cat", bad]},
        lambda bad: {"tasks": [bad]},
        lambda bad: {"name": bad},
    ],
)
def test_ids_options_and_names_are_refused(wrong: Callable[[str], Any], bad: str) -> None:
    with pytest.raises(InvalidProblem):
        Campaign.create(**{**CATS, "tasks": ["t"], **wrong(bad)})


def test_odd_characters_that_can_be_kept_come_back() -> None:
    odd = "naïve 猫 \U0001f600 \u2028 \1 \ufdd0 \\u0000"
    campaign = Campaign.create(tasks=[Task("t", payload={odd: odd})], **CATS)
    campaign.pause(key=odd)
    assert campaign.task("t").payload == {odd: odd}
    assert [event.key for event in campaign.log()] == [odd]


def test_a_campaign_that_an_older_askwise_let_nul_into_goes_on(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/cats.sqlite")
    first = Campaign.create(tasks=[Task("t", payload="here")], store="memory", **CATS)
    store.create("cats", first._writer.spec.to_json().replace("here", "a\\u0000b"), 0.0)
    more = {"id": "u", "payload": "\0"}
    with store.write("cats") as transaction:
        transaction.append([Event(Kind.ADDED, seq=1, key="k\0", tasks=(more,))], 0)
    campaign = Campaign.open(store, "cats")
    assert (campaign.task("t").payload, campaign.task("u").payload) == ("a\0b", "\0")
    assert campaign.log()[0].key == "k\0"
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    campaign.tell(batch[0].id, "cat")
    store.close()
