"""A choice is made once: the store keeps it, and it is what the campaign runs by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from askwise import Batch, Campaign, Done, Worker
from askwise.campaign.choosing import preferences
from askwise.store import SqliteStore

CATS: dict[str, Any] = {
    "workers": [Worker("ann", 1), Worker("bob", 1)],
    "tasks": ["t1", "t2"],
    "options": ["no", "yes"],
    "budget": 3,
    "seed": 1,
    "name": "cats",
}


def test_opening_never_chooses_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = f"sqlite:///{tmp_path}/a.sqlite"
    made = Campaign.create(store=store, **CATS)
    batch = made.ask()
    # A later version with other rules, or with none that apply.
    monkeypatch.setattr(preferences, "PREFERENCES", ())
    opened = Campaign.open(store, "cats")
    assert opened.spec == made.spec
    assert opened.spec["auto"] == {"because": opened.status().because}
    assert opened.status().policy == "hem"
    opened.tell(batch[0].id, "yes")
    assert isinstance(opened.ask(), Batch)


def test_a_store_from_before_there_was_a_choice_opens_as_it_is(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "old.sqlite")
    spec = Campaign.create(**CATS, policy="random-pairs").spec
    assert "auto" not in spec
    store.create("old", json.dumps(spec), 0.0)
    opened = Campaign.open(store, "old")
    assert (opened.status().policy, opened.status().because) == ("random-pairs", None)
    store.close()


def test_a_choice_runs_as_if_its_parts_had_been_named() -> None:
    chosen = Campaign.create(**CATS)
    parts = {part: chosen.spec[part] for part in ("policy", "stopping", "aggregation")}
    named = Campaign.create(**CATS, **parts)
    for campaign in (chosen, named):
        while batch := campaign.ask():
            campaign.tell(batch[0].id, "yes")
        assert batch == Done("budget")
    kinds = [[(each.kind, each.task, each.worker) for each in c.log()] for c in (chosen, named)]
    assert kinds[0] == kinds[1]


def test_crowds_without_a_budget_come_to_an_end() -> None:
    fields = {**CATS, "budget": None, "repeat": True, "tasks": ["t1"]}
    campaign = Campaign.create(**fields)
    answers = 0
    while batch := campaign.ask():
        campaign.tell(batch[0].id, ("yes", "no")[answers % 3 == 2])
        answers += 1
        assert answers <= preferences.HORIZON
    assert batch == Done("tasks")
