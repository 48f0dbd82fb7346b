"""Pairs are shown in one order or both, and answers mean the same in each."""

from __future__ import annotations

from typing import Any

import pytest

from askwise.testing.chat_server import Asked, ChatServer, Scripted
from tests.sources.chat.stubs import PAIR, PRICE, ask, judge, question, said_of

PAYLOAD = {"left": "A good text.", "right": "A bad text."}


def by_text(asked: Asked) -> str:
    """Somebody who reads."""
    first, _, _ = asked.item.partition("\n\nB:")
    return "A is better" if "good" in first else "B is better"


def by_place(asked: Asked) -> str:
    """Somebody who takes the first, whatever it is."""
    return "A is better"


def pair(task: str = "t1", payload: Any = PAYLOAD) -> Any:
    return question(payload, task, PAIR)


def test_a_judge_that_reads_answers_the_same_in_both_orders_at_the_price_of_two_calls() -> None:
    with ChatServer(by_text, price=PRICE) as server:
        chat = judge(server)
        swapped = {"left": PAYLOAD["right"], "right": PAYLOAD["left"]}
        first, second = ask(chat, pair(), pair("t2", swapped))
    assert said_of([first, second]) == ["one", "two"]
    assert len(server.asked) == 4
    assert first.cost + second.cost == server.bill
    assert first.cost <= chat.ceiling(pair())
    assert first.probabilities == pytest.approx({"one": 0.9, "two": 0.05, "tie": 0.05})
    assert first.reference == "chatcmpl-0, chatcmpl-1"


def test_a_judge_that_goes_by_the_place_fails_with_orders_and_is_paid() -> None:
    with ChatServer(by_place, price=PRICE) as server:
        (response,) = ask(judge(server), pair())
    assert (response.failure, response.cost) == ("orders", server.bill)
    assert response.detail == "'one' in one order, 'two' in the other"


def test_a_tie_is_a_tie_in_both_orders() -> None:
    with ChatServer(lambda asked: "They are equally good", price=PRICE) as server:
        (response,) = ask(judge(server), pair())
    assert response.value == "tie"


def test_if_the_first_call_fails_the_second_is_not_made() -> None:
    with ChatServer(lambda asked: Scripted("?", plain=True), price=PRICE) as server:
        (response,) = ask(judge(server), pair())
    assert (response.failure, response.cost) == ("unreadable", server.bill)
    assert len(server.asked) == 1


def test_if_only_the_second_call_is_refused_the_first_is_still_paid() -> None:
    script = [Scripted("A is better"), Scripted("down", status=503)]
    with ChatServer(lambda asked: script[min(asked.number, 1)], price=PRICE) as server:
        (response,) = ask(judge(server, retries=0), pair())
    assert (response.failure, response.cost) == ("error", server.bill)
    assert response.cost > 0


def test_as_given_is_one_call_in_the_given_order() -> None:
    with ChatServer(by_place, price=PRICE) as server:
        chat = judge(server, orders="as-given")
        (response,) = ask(chat, pair())
        both = judge(server).ceiling(pair())
    assert response.value == "one"
    assert len(server.asked) == 1
    assert chat.ceiling(pair()) * 2 == both


def test_a_drawn_order_is_the_same_again_and_both_occur() -> None:
    tasks = [pair(f"t{at}") for at in range(40)]
    with ChatServer(by_text, price=0) as server:
        chat = judge(server, orders="random", price=0)
        found = ask(chat, *tasks)
        first = [each.item for each in server.asked]
        ask(judge(server, orders="random", price=0), *tasks)
        again = [each.item for each in server.asked[len(first) :]]
    # What they mean does not depend on the order.
    assert said_of(found) == ["one"] * 40
    assert again == first
    # By luck alone fewer than 5 of 40 fair draws would be of one kind once in 5 million times.
    swapped = sum("A:\nA bad" in item for item in first)
    assert 5 <= swapped <= 35


def test_a_question_that_is_no_pair_is_asked_once() -> None:
    with ChatServer(lambda asked: "yes", price=PRICE) as server:
        ask(judge(server))
    assert len(server.asked) == 1
