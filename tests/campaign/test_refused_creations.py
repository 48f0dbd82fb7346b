"""Campaigns that cannot be: one clear error each, naming the field; nothing is stored."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.core.errors import (
    AskwiseError,
    Conflict,
    InvalidParameter,
    InvalidProblem,
    StoreError,
    UnknownName,
    UnknownPolicy,
)
from askwise.store import MemoryStore
from tests.campaign.refused import NAN, raw


def worker(**changes: Any) -> dict[str, Any]:
    return {"id": "a", "price": 1, **changes}


CREATIONS: list[tuple[str, dict[str, Any], type[AskwiseError], str, str]] = [
    (
        "negative price",
        {"workers": [worker(price=-1)]},
        InvalidProblem,
        "price",
        "price of worker 'a' is -1",
    ),
    (
        "nan price",
        {"workers": [worker(price=NAN)]},
        InvalidProblem,
        "price",
        "price of worker 'a' is nan",
    ),
    (
        "price of seven decimals",
        {"workers": [worker(price="0.0000001")]},
        InvalidProblem,
        "price",
        "does not round",
    ),
    (
        "limit of zero",
        {"workers": [worker(limit=0)]},
        InvalidProblem,
        "limit",
        "limit of worker 'a' is 0",
    ),
    (
        "limit below zero",
        {"workers": [worker(limit=-1)]},
        InvalidProblem,
        "limit",
        "limit of worker 'a' is -1",
    ),
    (
        "free worker",
        {"workers": [worker(price=0)]},
        InvalidProblem,
        "price",
        "price of worker 'a' is 0",
    ),
    ("worker by name", {"workers": ["a"]}, InvalidProblem, "worker", "worker is 'a'"),
    ("workers not a list", {"workers": 7}, InvalidProblem, "workers", "workers is 7"),
    ("no workers field", {"workers": None}, InvalidProblem, "workers", "workers is missing"),
    (
        "budget below the cheapest",
        {"budget": "1.99"},
        InvalidProblem,
        "budget",
        "the cheapest worker costs 2",
    ),
    ("negative budget", {"budget": -5}, InvalidProblem, "budget", "budget is -5"),
    ("nan budget", {"budget": NAN}, InvalidProblem, "budget", "budget is nan"),
    (
        "no budget where one is needed",
        {"budget": None, "policy": "bounded-kube"},
        InvalidProblem,
        "budget",
        "budget is missing",
    ),
    (
        "unknown policy",
        {"policy": "tompson-knapsack"},
        UnknownPolicy,
        "policy",
        "did you mean 'thompson-knapsack'",
    ),
    (
        "unknown parameter",
        {"policy": {"name": "thompson-knapsack", "patients": 3}},
        InvalidParameter,
        "patients",
        "did you mean 'patience'",
    ),
    (
        "parameter out of bounds",
        {"policy": {"name": "thompson-knapsack", "discount": 2}},
        InvalidParameter,
        "discount",
        "discount is 2",
    ),
    (
        "target of auto out of bounds",
        {"policy": {"name": "auto", "target": 2}},
        InvalidParameter,
        "target",
        "target is 2: give a number between 0 and 1",
    ),
    (
        "unknown parameter of auto",
        {"policy": {"name": "auto", "tagret": 0.1}},
        InvalidParameter,
        "tagret",
        "policy 'auto' has no parameter 'tagret': did you mean 'target'",
    ),
    (
        "nothing for auto to choose",
        {"policy": "auto", "workers": [worker(price=0)]},
        InvalidProblem,
        "price",
        "policy 'auto' finds no policy for this campaign: price of worker 'a' is 0",
    ),
    (
        "policy for utilities on options",
        {"outcome": None, "options": ["x", "y"], "tasks": ["t"]},
        InvalidProblem,
        "policy",
        "works on utility",
    ),
    (
        "unknown rule",
        {"stopping": "fxied", "tasks": ["t"]},
        UnknownPolicy,
        "stopping",
        "did you mean 'fixed'",
    ),
    ("rule without tasks", {"stopping": "fixed"}, InvalidProblem, "stopping", "closes tasks"),
    (
        "aggregation for options",
        {"aggregation": "majority"},
        InvalidProblem,
        "aggregation",
        "works on options",
    ),
    (
        "unknown aggregation",
        {"aggregation": "media"},
        UnknownPolicy,
        "aggregation",
        "did you mean 'mean'",
    ),
    (
        "unknown mechanism",
        {"mechanism": "pay-prise"},
        UnknownPolicy,
        "mechanism",
        "did you mean 'pay-price'",
    ),
    ("lease of zero", {"lease": 0}, InvalidProblem, "lease", "lease is 0"),
    ("lease of no number", {"lease": "long"}, InvalidProblem, "lease", "lease is 'long'"),
    ("infinite lease", {"lease": float("inf")}, InvalidProblem, "lease", "lease is inf"),
    ("seed below zero", {"seed": -1}, InvalidProblem, "seed", "seed is -1"),
    ("seed of no integer", {"seed": 1.5}, InvalidProblem, "seed", "seed is 1.5"),
    ("name with a slash", {"name": "a/b"}, InvalidProblem, "name", "name is 'a/b'"),
    ("empty name", {"name": ""}, InvalidProblem, "name", "name is ''"),
    (
        "payload that is no JSON",
        {"tasks": [{"id": "t", "payload": object()}]},
        InvalidProblem,
        "payload",
        "plain JSON",
    ),
    (
        "payload with nan",
        {"tasks": [{"id": "t", "payload": NAN}]},
        InvalidProblem,
        "payload",
        "plain JSON",
    ),
    ("unknown store", {"store": "oracle:///x"}, StoreError, "store", "store is 'oracle:///x'"),
]


@pytest.mark.parametrize(
    ("changes", "error", "field", "message"),
    [case[1:] for case in CREATIONS],
    ids=[case[0] for case in CREATIONS],
)
def test_a_campaign_that_can_not_be_is_refused(
    changes: dict[str, Any], error: type[AskwiseError], field: str, message: str
) -> None:
    store = MemoryStore()
    with pytest.raises(error) as caught:
        Campaign.create(**{**raw(store=store), **changes})
    assert type(caught.value) is error
    assert message in str(caught.value)
    assert caught.value.field == field
    assert store.names() == []


@pytest.mark.parametrize(
    "fields",
    [
        {"workers": 5},
        {"workers": Worker("a", 1)},
        {"tasks": "abc"},
        {"tasks": 5},
        {"outcome": None, "options": 5, "tasks": ["t"]},
        {"outcome": 5},
        {"outcome": ["utility"]},
        {"outcome": {"low": -1e308, "high": 1e308}},
        {"outcome": {"high": 10**400}},
        {"clock": 5},
        {"budget": [1]},
        {"repeat": "no"},
        {"lease": 10**400},
        {"aggregation": ""},
        {"mechanism": {}},
        {"workers": [{"id": "a", "price": 1, "rating": 10**400}]},
    ],
)
def test_a_field_of_the_wrong_kind_is_refused_by_name(fields: dict[str, Any]) -> None:
    with pytest.raises(AskwiseError) as caught:
        Campaign.create(**raw(**{"policy": "uniform", **fields}))
    assert caught.value.field


@pytest.mark.parametrize(
    "policy",
    [
        {"name": "bounded-kube", "bonus": "x"},
        {"name": "bounded-kube", "raw_bonus": "no"},
        {"name": "uniform", 5: 1},
        object(),
        {"name": "bounded-epsilon-first", "carry": 1},
    ],
)
def test_a_policy_of_the_wrong_kind_is_refused_by_name(policy: Any) -> None:
    with pytest.raises(AskwiseError) as caught:
        Campaign.create(**raw(policy=policy))
    assert caught.value.field


def test_a_name_that_exists_is_refused_and_the_first_stays(tmp_path: Path) -> None:
    for store in (MemoryStore(), f"sqlite:///{tmp_path}/file.sqlite"):
        first = Campaign.create(**raw(store=store))
        with pytest.raises(Conflict, match="campaign 'cats' exists already") as caught:
            Campaign.create(**raw(store=store, budget=99))
        assert caught.value.field == "name"
        assert Campaign.open(store, "cats").status() == first.status()


def test_a_name_that_does_not_exist_is_answered_with_the_nearest(tmp_path: Path) -> None:
    store = MemoryStore()
    Campaign.create(**raw(store=store))
    with pytest.raises(UnknownName, match="did you mean 'cats'"):
        Campaign.open(store, "cast")
    with pytest.raises(UnknownName, match="campaign 'cats' is not known"):
        Campaign.open(f"sqlite:///{tmp_path}/none.sqlite", "cats")
    assert not (tmp_path / "none.sqlite").exists()


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear all,\n" * 300)
    before = file.read_bytes()
    for act in (
        lambda: Campaign.create(**raw(store=f"sqlite:///{file}")),
        lambda: Campaign.open(f"sqlite:///{file}", "cats"),
    ):
        with pytest.raises(StoreError, match="is not a database"):
            act()
    assert file.read_bytes() == before


def test_a_database_of_a_newer_schema_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "file.sqlite"
    Campaign.create(**raw(store=f"sqlite:///{file}"))
    with closing(sqlite3.connect(file)) as database:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        database.execute(f"PRAGMA user_version = {version + 1}")
        database.commit()
    with pytest.raises(StoreError, match="newer"):
        Campaign.open(f"sqlite:///{file}", "cats")
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (version + 1,)
