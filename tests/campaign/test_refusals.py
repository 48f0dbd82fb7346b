"""Bad input: one clear error each, of the right class, naming the field; nothing changed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from askwise import Campaign, Worker
from askwise.core.choices import Batch
from askwise.core.errors import (
    AskwiseError,
    Conflict,
    InvalidAnswer,
    InvalidParameter,
    InvalidProblem,
    StoreError,
    UnknownName,
    UnknownPolicy,
)
from askwise.core.events import Kind
from askwise.store import MemoryStore


def raw(**changes: Any) -> dict[str, Any]:
    return {
        "workers": [Worker("a", 2), Worker("b", 3)],
        "outcome": "utility",
        "budget": 20,
        "policy": "thompson-knapsack",
        "seed": 1,
        "name": "cats",
        **changes,
    }


def worker(**changes: Any) -> dict[str, Any]:
    return {"id": "a", "price": 1, **changes}


NAN = float("nan")

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
    ("no policy", {"policy": None}, InvalidProblem, "policy", "policy is missing"),
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
    with pytest.raises(InvalidProblem, match="workers is 'ab'") as other:
        campaign.ask(workers="ab")
    assert other.value.field == "workers"
    assert campaign.log() == before


@pytest.mark.parametrize("name", [7, None, ("a",)])
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
    with pytest.raises(AskwiseError):
        campaign.close(None)  # type: ignore[arg-type]
    assert campaign.log() == before


@pytest.mark.parametrize(
    ("amount", "message"),
    [(0, "more than 0"), (-1, "0 or more"), (NAN, "finite"), ("x", "finite"), (10**9, "up to")],
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


def test_every_error_has_a_code_of_its_own() -> None:
    home = AskwiseError.__module__
    codes = [kind.code for kind in AskwiseError.__subclasses__() if kind.__module__ == home]
    assert len(set(codes)) == len(codes)
    assert AskwiseError("x").field is None
