"""Functions as sources."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from askwise.core.content import Content
from askwise.core.errors import InvalidParameter
from askwise.sources import Question, Response
from askwise.sources.function import Function

ASKED = Question(Content("Is it long?", options=["no", "yes"]), "t1", "text")


def ask(source: Function, question: Question = ASKED) -> Response:
    return asyncio.run(source.answer(question))


async def later(question: Question) -> str:
    await asyncio.sleep(0)
    return "yes"


def test_a_coroutine_function_is_awaited() -> None:
    assert ask(Function(later)).value == "yes"


def test_a_function_is_found_by_module_and_name() -> None:
    source = Function("tests.sources.test_function:later")
    source.check()
    assert ask(source).value == "yes"
    assert source.digest() == Function(later).digest()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("nowhere_to_be_found:f", "No module named"),
        ("json:nothing", "AttributeError"),
        ("json:__doc__", "is not a function"),
    ],
)
def test_a_name_that_stands_for_no_function_is_refused_before_anything_is_asked(
    call: str, said: str
) -> None:
    with pytest.raises(InvalidParameter, match=said) as caught:
        Function(call).check()
    assert caught.value.field == "call"


@pytest.mark.parametrize("call", ["json", ":f", 7])
def test_a_call_is_a_function_or_a_module_and_a_name(call: Any) -> None:
    with pytest.raises(InvalidParameter, match="call is"):
        Function(call)


@pytest.mark.parametrize(
    ("said", "value", "cost"),
    [
        ("no", "no", 3000),
        ({"value": "no"}, "no", 3000),
        ({"value": "no", "cost": "0.001", "rationale": "short"}, "no", 1000),
        (Response("no", cost=7), "no", 7),
    ],
)
def test_what_it_returns_is_the_answer_and_its_price_unless_it_says_less(
    said: Any, value: str, cost: int
) -> None:
    response = ask(Function(lambda question: said, price="0.003"))
    assert (response.value, response.cost) == (value, cost)


@pytest.mark.parametrize(
    "said",
    [
        "maybe",
        None,
        7,
        {"value": "maybe"},
        {"valeu": "no"},
        {"value": "no", "cost": "a lot"},
        {"value": "no", "failure": "refused"},
        {"failure": "sleepy"},
        {"value": "no", "probabilities": {"no": 0.5}},
        {"value": "no", "probabilities": {"no": 1.0}},
        {"value": "no", "probabilities": 3},
        {"value": "no", "rationale": 3},
        Response("maybe"),
    ],
)
def test_what_it_can_not_mean_is_unreadable_at_the_full_price(said: Any) -> None:
    response = ask(Function(lambda question: said, price="0.003"))
    assert (response.failure, response.cost) == ("unreadable", 3000)
    assert response.detail is not None
    assert "\n" not in response.detail


def test_a_number_is_taken_within_the_range() -> None:
    asked = Question(Content("How much?", range=(0, 1)), "t1", "text")
    assert ask(Function(lambda question: 1), asked).value == 1.0
    assert ask(Function(lambda question: 1.5), asked).failure == "unreadable"
    assert ask(Function(lambda question: True), asked).failure == "unreadable"


def test_one_that_raises_has_failed_at_the_full_price() -> None:
    def broken(question: Question) -> str:
        raise ValueError("no idea")

    response = ask(Function(broken, price="0.003"))
    assert (response.failure, response.cost, response.estimated) == ("error", 3000, True)
    assert response.detail == "ValueError: no idea"


@pytest.mark.parametrize("slow", [lambda question: time.sleep(30), lambda _: asyncio.sleep(30)])
def test_one_that_takes_too_long_has_failed_and_holds_nobody_up(slow: Any) -> None:
    async def awaited(question: Question) -> Any:
        return await slow(question)

    call = awaited if "asyncio" in slow.__code__.co_names else slow
    assert ask(Function(call, timeout=0.01)).failure == "timed_out"


def test_probabilities_are_over_the_options() -> None:
    said = {"value": "no", "probabilities": {"no": 0.75, "yes": 0.25}}
    assert ask(Function(lambda question: said)).probabilities == {"no": 0.75, "yes": 0.25}


def test_another_function_is_another_worker_and_another_price_is_not() -> None:
    one = Function(later, price=1)
    assert one.digest() == Function(later, price=2, timeout=9, slots=3).digest()
    assert one.digest() != Function("tests.sources.test_function:ask").digest()
