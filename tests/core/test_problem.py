"""Problems are checked once, and every complaint names its field."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from askwise import Task, Worker
from askwise.core.errors import InvalidProblem
from askwise.core.problem import UNLIMITED, Problem, as_task, as_worker, make_problem

ANN = Worker("ann", "0.50")


def test_a_problem_is_built_from_what_users_write() -> None:
    problem = make_problem(
        workers=[ANN, {"id": "bob", "price": 2, "limit": 5}],
        tasks=["t1", Task("t2", context="cats"), {"id": "t3", "payload": {"url": "x"}}],
        options=["no", "yes"],
        budget="10.5",
    )
    assert [worker.id for worker in problem.workers] == ["ann", "bob"]
    assert [worker.micro for worker in problem.workers] == [500_000, 2_000_000]
    assert [task.id for task in problem.tasks] == ["t1", "t2", "t3"]
    assert problem.budget == 10_500_000
    assert problem.repeat is False
    assert problem.range == (0.0, 1.0)


def test_without_tasks_units_of_work_are_bought_again_and_again() -> None:
    problem = make_problem(workers=[ANN], outcome="utility")
    assert problem.taskless
    assert problem.repeat is True
    assert problem.budget is None


def test_a_range_may_be_given() -> None:
    problem = make_problem(workers=[ANN], outcome={"kind": "utility", "low": -1, "high": 5})
    assert problem.range == (-1.0, 5.0)


def test_a_price_is_kept_as_an_exact_decimal() -> None:
    assert Worker("a", 0.1).price == Decimal("0.1")
    assert Worker("a", "2.50").price == Decimal("2.5")
    assert Worker("a", 0).micro == 0


def test_numbers_of_numpy_are_prices_too() -> None:
    assert Worker("a", np.float64(1.5)).price == Decimal("1.5")
    assert Worker("a", np.int64(3)).price == 3  # type: ignore[arg-type]


def test_a_rating_without_a_weight_is_worth_one_answer() -> None:
    assert Worker("a", 1, rating=0.5).rating_weight == 1.0
    assert Worker("a", 1).rating_weight is None


def test_json_comes_back_as_the_same_problem() -> None:
    problem = make_problem(
        workers=[
            Worker("a", "0.1", 3, 0.5, 2.0),
            Worker("b", 1),
            Worker("c", 1, kind="model", family="maker"),
        ],
        tasks=[Task("t", "kind", [1, {"x": None}])],
        outcome={"kind": "utility", "low": 0, "high": 2},
        budget=5,
        repeat=True,
    )
    assert make_problem(**problem.to_json()) == problem


def test_a_kind_and_a_family_are_written_only_if_they_are_said() -> None:
    assert Worker("a", 1).to_json() == {"id": "a", "price": "1"}
    said = Worker("a", 1, kind="person", family="vendor")
    assert said.to_json() == {"id": "a", "price": "1", "kind": "person", "family": "vendor"}
    assert Worker(**said.to_json()) == said


@pytest.mark.parametrize("kind", [None, "crowd", "person", "model"])
def test_a_worker_is_asked_once_if_they_are_no_crowd_or_nobody_repeats(kind: Any) -> None:
    worker = Worker("a", 1, kind=kind)
    tasks = {"tasks": ["t"], "options": ["no", "yes"]}
    crowd = kind in (None, "crowd")
    assert make_problem(workers=[worker], repeat=True, **tasks).asks_once(worker) is not crowd
    assert make_problem(workers=[worker], repeat=False, **tasks).asks_once(worker) is True
    assert make_problem(workers=[worker], outcome="utility").asks_once(worker) is False


WORKERS: list[tuple[dict[str, Any], str, str]] = [
    ({"price": -1}, "price", "price of worker 'a' is -1"),
    ({"price": float("nan")}, "price", "price of worker 'a' is nan"),
    ({"price": "free"}, "price", "price of worker 'a' is 'free'"),
    ({"price": None}, "price", "price of worker 'a' is None"),
    ({"limit": 0}, "limit", "limit of worker 'a' is 0"),
    ({"limit": -3}, "limit", "limit of worker 'a' is -3"),
    ({"limit": 2.0}, "limit", "limit of worker 'a' is 2.0"),
    ({"limit": True}, "limit", "limit of worker 'a' is True"),
    ({"limit": UNLIMITED + 1}, "limit", "limit of worker 'a'"),
    ({"rating": float("inf")}, "rating", "rating of worker 'a' is inf"),
    ({"rating": "good"}, "rating", "rating of worker 'a' is 'good'"),
    ({"rating_weight": 2.0}, "rating_weight", "rating_weight of worker 'a'"),
    ({"rating": 0.5, "rating_weight": -1}, "rating_weight", "rating_weight of worker 'a' is -1"),
    ({"kind": "robot"}, "kind", "'robot': give 'person', 'model' or 'crowd', or leave it out"),
    ({"kind": ""}, "kind", "kind of worker 'a' is ''"),
    ({"kind": ["model"]}, "kind", "kind of worker 'a' is"),
    ({"family": ""}, "family", "family of worker 'a' is '': give a printable string of 1 to 200"),
    (
        {"family": "  "},
        "family",
        "family of worker 'a' is '  ': give a printable string of 1 to 200",
    ),
    ({"family": 3}, "family", "family of worker 'a' is 3"),
    ({"family": "x" * 201}, "family", "family of worker 'a' is"),
    ({"id": ""}, "id", "worker id is ''"),
    ({"id": True}, "id", "worker id is True"),
    ({"id": "a\nb"}, "id", "worker id is"),
    ({"id": "x" * 201}, "id", "worker id is"),
    ({"colour": "red"}, "colour", "has no field 'colour'"),
    ({"prise": 1}, "prise", "did you mean 'price'"),
]


@pytest.mark.parametrize(("change", "field", "message"), WORKERS, ids=lambda value: str(value)[:40])
def test_a_wrong_worker_is_refused_by_the_name_of_the_field(
    change: dict[str, Any], field: str, message: str
) -> None:
    with pytest.raises(InvalidProblem, match=message.replace("(", r"\(")) as caught:
        as_worker({"id": "a", "price": 1, **change})
    assert caught.value.field is not None
    assert field in caught.value.field


@pytest.mark.parametrize("field", ["price", "limit", "rating"])
def test_the_field_of_an_error_is_a_fields_name(field: str) -> None:
    # A program looks the field up; the worker's id belongs into the message.
    with pytest.raises(InvalidProblem, match="worker 'a'") as caught:
        as_worker({"id": "a", "price": 1, field: -1 if field != "rating" else "x"})
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"price": 1}, "lacks 'id'"),
        ({"id": "a"}, "lacks 'price'"),
        ("ann", "give a mapping"),
        (7, "give a mapping"),
    ],
)
def test_a_worker_needs_an_id_and_a_price(raw: Any, message: str) -> None:
    with pytest.raises(InvalidProblem, match=message):
        as_worker(raw)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("", "task id is ''"),
        ({"context": "x"}, "lacks 'id'"),
        ({"id": "t", "context": 3}, "context of task 't' is 3"),
        ({"id": "t", "body": 3}, "has no field 'body'"),
        (True, "give a mapping"),
    ],
)
def test_a_wrong_task_is_refused(raw: Any, message: str) -> None:
    with pytest.raises(InvalidProblem, match=message):
        as_task(raw)


PROBLEMS: list[tuple[dict[str, Any], str, str]] = [
    ({"options": ["a", "b"]}, "options", "exactly one of options"),
    ({"outcome": None}, "outcome", "exactly one of options"),
    ({"outcome": None, "options": ["a"], "tasks": ["t"]}, "options", "at least two"),
    ({"outcome": None, "options": "ab", "tasks": ["t"]}, "options", "give a list"),
    ({"outcome": None, "options": ["a", "a"], "tasks": ["t"]}, "option", "'a' is named twice"),
    ({"outcome": None, "options": ["a", ""], "tasks": ["t"]}, "option", "option is ''"),
    ({"outcome": None, "options": ["a", "b"], "repeat": True}, "tasks", "tasks is empty"),
    ({"outcome": "ability"}, "outcome", "outcome is 'ability'"),
    ({"outcome": {"low": 0, "hihg": 1}}, "outcome", "outcome is"),
    ({"outcome": {"low": 1, "high": 1}}, "range", "lower end must be below"),
    ({"outcome": {"low": float("nan")}}, "low", "low end of outcome is nan"),
    ({"outcome": {"high": "1"}}, "high", "high end of outcome is '1'"),
    ({"workers": [ANN, ANN]}, "worker", "'ann' is named twice"),
    ({"tasks": ["t", "t"]}, "task", "'t' is named twice"),
    ({"budget": "0.49"}, "budget", "the cheapest worker costs 0.5"),
    ({"budget": -1}, "budget", "budget is -1"),
    ({"budget": float("nan")}, "budget", "budget is nan"),
    ({"repeat": False}, "repeat", "repeat is False without tasks"),
    ({"workers": [Worker("a", 1, rating=1.5)]}, "rating", "range is 0.0 to 1.0"),
]


@pytest.mark.parametrize(
    ("change", "field", "message"), PROBLEMS, ids=lambda value: str(value)[:40]
)
def test_a_wrong_problem_is_refused_by_the_name_of_the_field(
    change: dict[str, Any], field: str, message: str
) -> None:
    raw: dict[str, Any] = {"workers": [ANN], "outcome": "utility", "budget": 9, **change}
    with pytest.raises(InvalidProblem, match=message) as caught:
        make_problem(**raw)
    assert caught.value.field is not None
    assert field in caught.value.field


@pytest.mark.parametrize("value", ["abc", ["utility"], 3])
def test_an_outcome_of_a_wrong_type_is_refused(value: Any) -> None:
    with pytest.raises(InvalidProblem, match="outcome is"):
        make_problem(workers=[ANN], outcome=value)


def test_a_string_is_no_list_of_tasks() -> None:
    # It would be taken letter by letter.
    with pytest.raises(InvalidProblem, match="tasks is 'abc'"):
        make_problem(workers=[ANN], tasks="abc", outcome="utility")


def test_a_budget_that_just_buys_one_answer_is_enough() -> None:
    assert make_problem(workers=[ANN], outcome="utility", budget="0.5").budget == 500_000


def test_a_problem_can_not_be_changed() -> None:
    problem = make_problem(workers=[ANN], outcome="utility")
    with pytest.raises(AttributeError):
        problem.budget = 3  # type: ignore[misc]
    assert isinstance(problem, Problem)
