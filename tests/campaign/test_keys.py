"""Retries: the same key gives the same answer and changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from askwise import Campaign, Worker
from askwise.core.choices import Batch, Done, Wait
from askwise.core.errors import Conflict, InvalidAnswer, InvalidProblem
from askwise.store import MemoryStore


def make(store: Any = "memory", **changes: Any) -> Campaign:
    raw: dict[str, Any] = {
        "workers": [Worker("a", 2, limit=3), Worker("b", 1)],
        "outcome": "utility",
        "budget": 10,
        "policy": "thompson-knapsack",
        "seed": 1,
        "name": "cats",
        "store": store,
    }
    return Campaign.create(**{**raw, **changes})


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return MemoryStore() if request.param == "memory" else f"sqlite:///{tmp_path}/file.sqlite"


def test_the_same_ask_gives_the_same_batch(store: Any) -> None:
    campaign = make(store, lease=60)
    first = campaign.ask(2, key="one")
    assert isinstance(first, Batch)
    before = campaign.log()
    assert campaign.ask(2, key="one") == first
    assert campaign.log() == before
    assert campaign.ask(2, key="two") != first


def test_keys_survive_reopening(store: Any) -> None:
    campaign = make(store)
    first = campaign.ask(2, key="one")
    assert isinstance(first, Batch)
    campaign.tell(first[0].id, 0.5, key="told")
    again = Campaign.open(store, "cats")
    before = again.log()
    assert again.ask(2, key="one") == first
    again.tell(first[0].id, 0.5, key="told")
    assert again.log() == before


def test_a_wait_and_an_end_are_repeated_though_things_have_changed(store: Any) -> None:
    campaign = make(store, workers=[Worker("a", 2, limit=1)])
    assert campaign.ask(workers=[], key="nobody") == Wait("workers")
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    assert campaign.ask(key="pending") == Wait("answers")
    campaign.tell(batch[0].id, 0.5)
    assert campaign.ask(key="over") == Done("limits")
    campaign.add(workers=[Worker("b", 1)])
    assert campaign.ask(workers=[], key="nobody") == Wait("workers")
    assert campaign.ask(key="pending") == Wait("answers")
    assert campaign.ask(key="over") == Done("limits")
    assert isinstance(campaign.ask(key="anew"), Batch)


def test_a_retried_answer_is_no_second_answer(store: Any) -> None:
    campaign = make(store)
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    campaign.tell(batch[0].id, 0.5, key="k")
    campaign.tell(batch[0].id, 0.5, key="k")
    assert campaign.status().answers == 1
    with pytest.raises(InvalidAnswer, match="answered already"):
        campaign.tell(batch[0].id, 0.5, key="another")


REQUESTS = {
    "ask": lambda c, key: c.ask(key=key),
    "ask for two": lambda c, key: c.ask(2, key=key),
    "ask some": lambda c, key: c.ask(workers=["a"], key=key),
    "add": lambda c, key: c.add(workers=[Worker("z", 1)], key=key),
    "leave": lambda c, key: c.leave("b", key=key),
    "top up": lambda c, key: c.top_up(5, key=key),
    "top up more": lambda c, key: c.top_up(6, key=key),
    "pause": lambda c, key: c.pause(key=key),
    "stop": lambda c, key: c.stop(key=key),
}


@pytest.mark.parametrize("verb", REQUESTS)
def test_every_verb_can_be_retried_and_its_key_is_used_up(verb: str) -> None:
    campaign = make()
    REQUESTS[verb](campaign, "k")
    before = campaign.log()
    REQUESTS[verb](campaign, "k")
    assert campaign.log() == before
    for other, request in REQUESTS.items():
        if other != verb:
            with pytest.raises(Conflict, match="key 'k' was used for another request") as caught:
                request(campaign, "k")
            assert caught.value.field == "key"
    assert campaign.log() == before


def test_the_order_and_repetition_of_workers_on_offer_is_no_other_request() -> None:
    campaign = make()
    first = campaign.ask(workers=["a", "b"], key="k")
    assert campaign.ask(workers=["b", "a", "b"], key="k") == first


def test_one_number_is_one_request_however_it_is_typed() -> None:
    campaign = make()
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    campaign.tell(batch[0].id, 1, key="k")
    campaign.tell(batch[0].id, 1.0, key="k")
    campaign.tell(batch[0].id, np.float32(1), key="k")
    with pytest.raises(Conflict):
        campaign.tell(batch[0].id, 0.5, key="k")


def test_a_refused_write_does_not_use_up_its_key() -> None:
    campaign = make()
    batch = campaign.ask()
    assert isinstance(batch, Batch)
    with pytest.raises(InvalidAnswer):
        campaign.tell(batch[0].id, 7, key="k")
    campaign.tell(batch[0].id, 0.7, key="k")
    assert campaign.status().answers == 1


def test_keys_of_two_campaigns_do_not_mix() -> None:
    store = MemoryStore()
    one, other = make(store), make(store, name="dogs")
    assert one.ask(key="k") != other.ask(key="k")


def test_a_key_is_in_the_log() -> None:
    campaign = make()
    campaign.ask(key="k")
    assert {event.key for event in campaign.log()} == {"k"}


@pytest.mark.parametrize("key", ["", "x" * 201, 7, b"k"])
def test_a_key_is_a_short_text(key: Any) -> None:
    campaign = make()
    with pytest.raises(InvalidProblem, match="key is") as caught:
        campaign.ask(key=key)
    assert caught.value.field == "key"
    assert campaign.log() == []
