"""Campaigns that begin with what another one of the store showed of their workers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.core.errors import InvalidParameter
from askwise.core.events import Event, Kind
from askwise.policies.assured.earlier import records_in
from askwise.store import Store, open_store

RIGHT = {"ann": 3, "ben": 2, "cleo": 0}


@pytest.fixture
def store() -> Store:
    """With a campaign of three tasks, of which each has so many right as RIGHT says."""
    opened = open_store("memory")
    first = made(opened, "first", {"name": "random-pairs"})
    for each in first.ask(limit=99):
        at = int(each.task[1:])
        first.tell(each.id, "yes" if at < RIGHT[each.worker] else "no")
    for at in range(3):
        first.truth(f"t{at}", "yes")
    return opened


def made(store: Store, name: str, policy: Any, workers: Any = RIGHT, **more: Any) -> Campaign:
    fields = {"options": ["no", "yes"], "tasks": [f"t{at}" for at in range(3)], **more}
    everybody = [Worker(worker, 1) for worker in workers]
    return Campaign.create(store=store, name=name, policy=policy, workers=everybody, **fields)


@pytest.mark.parametrize(
    "policy",
    [
        {"name": "ccb-ns", "earlier": "campaign:first"},
        {"name": "ccb-ns", "earlier": "campaign: first"},
        "ccb-ns(earlier=campaign:first)",
    ],
)
def test_the_name_of_a_campaign_stands_for_what_it_showed(store: Store, policy: Any) -> None:
    campaign = made(store, "second", policy)
    kept = json.loads(store.spec("second"))["policy"]["earlier"]
    assert sorted(kept) == [["ann", 3, 3], ["ben", 2, 3], ["cleo", 0, 3]]
    by_hand = made(store, "third", {"name": "ccb-ns", "earlier": kept})
    assert campaign.spec["policy"] == by_hand.spec["policy"]


def test_what_the_other_campaign_shows_later_changes_nothing(store: Store) -> None:
    made(store, "second", {"name": "ccb-ns", "earlier": "campaign:first"})
    before = store.spec("second")
    Campaign.open(store, "first").add(tasks=["t3"])
    Campaign.open(store, "first").truth("t3", "yes")
    assert store.spec("second") == before
    assert Campaign.open(store, "second").status().policy == "ccb-ns"


def test_only_workers_of_the_new_campaign_are_kept(store: Store) -> None:
    policy = {"name": "ccb-ns", "earlier": "campaign:first"}
    made(store, "second", policy, workers=["dan", "ben"])
    assert json.loads(store.spec("second"))["policy"]["earlier"] == [["ben", 2, 3]]


def test_answers_that_were_revised_or_withdrawn_count_as_they_are_now() -> None:
    log = [
        Event(Kind.ASKED, seq=1, task="t", worker="ann"),
        Event(Kind.ASKED, seq=2, task="t", worker="ben"),
        Event(Kind.ASKED, seq=3, task="t", worker="cleo"),
        *(Event(Kind.ANSWER, seq=3 + at, assignment=at, value="no") for at in (1, 2, 3)),
        Event(Kind.REVISED, seq=7, assignment=1, value="yes"),
        Event(Kind.WITHDRAWN, seq=8, assignment=2),
        Event(Kind.TRUTH, seq=9, task="t", value="yes"),
    ]
    assert records_in(log) == [("ann", 1, 1), ("cleo", 0, 1)]


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("nobody", {}, "there is no campaign 'nobody' in this store"),
        ("units", {}, "its answers are numbers"),
        ("untold", {}, "no truth of a task with answers was told in it"),
        ("first", {"workers": ["dan"]}, "none of these workers has answered a task there"),
        ("first", {"options": ["bad", "good"]}, "its options are no, yes, not bad, good"),
    ],
)
def test_a_campaign_that_says_nothing_of_these_workers_is_refused(
    store: Store, name: str, more: dict[str, Any], message: str
) -> None:
    Campaign.create(
        store=store, name="units", outcome="utility", budget=9, workers=[Worker("ann", 1)],
        policy="uniform",
    )  # fmt: skip
    made(store, "untold", "ccb-ns")
    with pytest.raises(InvalidParameter, match=message) as caught:
        made(store, "second", {"name": "ccb-ns", "earlier": f"campaign:{name}"}, **more)
    assert caught.value.field == "earlier"
    assert "second" not in store.names()
    assert "give 'campaign:NAME'" in str(caught.value)


def test_a_policy_without_earlier_records_names_its_parameters(store: Store) -> None:
    with pytest.raises(InvalidParameter, match="has no parameter 'earlier'"):
        made(store, "second", {"name": "hem", "earlier": "campaign:first"})
