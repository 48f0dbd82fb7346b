"""Whatever a server does, a judge's bills are whole, and no less than the server's own."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.sources.chat import Chat
from askwise.sources.chat.pricing import TokenPrice, TokenUsage
from askwise.sources.chat.prompts import PromptTemplate
from askwise.testing.chat_server import Asked, ChatServer, Scripted
from tests.sources.chat.stubs import PAIR, PRICE, ask, judge, question

TEMPLATE = PromptTemplate()
A_UNIT_A_BYTE = Chat("m", "http://127.0.0.1:1/v1", price={"input": 1, "output": 0, "per": 1})
"""No tokenizer makes more of a text than a token a byte."""

FAULTS = (
    Scripted("slow down", status=429, headers={"Retry-After": "3"}),
    Scripted("oops", status=500, billed=True),
    Scripted("down", status=503),
    Scripted("?", plain=True),
    Scripted(refusal="no"),
    Scripted("yes", usage=None),
    Scripted("yes", usage={"prompt_tokens": -1, "completion_tokens": 2}),
    Scripted("yes", raw=b"<html>"),
    Scripted("yes", drop="unread"),
    Scripted("yes", drop="unanswered"),
    Scripted("yes", drop="halfway"),
    Scripted("yes", id="chatcmpl-again"),
)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("paid_retries", [0, 2])
def test_what_is_booked_covers_the_server_s_bill_and_equals_it_where_nothing_was_lost(
    seed: int, paid_retries: int
) -> None:
    draw = random.Random(seed)
    starts: list[int] = []

    def do(asked: Asked) -> Scripted | str:
        if draw.random() < 0.3:
            return draw.choice(FAULTS)
        return "yes" if "Which" not in asked.prompt else "They are equally good"

    with ChatServer(do, price=PRICE) as server:
        chat = judge(server, paid_retries=paid_retries, retries=3)
        questions = [
            question(f"text {at}", f"t{at}")
            if at % 3
            else question({"left": f"a{at}", "right": "b"}, f"t{at}", PAIR)
            for at in range(30)
        ]
        # Faults in a row are no reason to stop here.
        chat._breaker.failed = lambda why: None  # type: ignore[method-assign]
        found = []
        for each in questions:
            starts.append(len(server.charges))
            found += ask(chat, each)
    for each, response, start, end in zip(
        questions, found, starts, [*starts[1:], len(server.charges)], strict=True
    ):
        charged = sum(charge.cost for charge in server.charges[start:end])
        assert type(response.cost) is int
        assert charged <= response.cost <= chat.ceiling(each)
        if not response.estimated:
            assert charged == response.cost
        assert response.failure != "unavailable" or response.cost == 0
    assert any(response.estimated for response in found)
    assert not all(response.estimated for response in found)


@settings(max_examples=15)
@given(
    st.integers(1, 10**6),
    st.integers(1, 10**6),
    st.integers(0, 10**6),
    st.sampled_from([PRICE, {"input": "3", "output": "15"}, {"input": "0.0007", "output": 0}]),
)
def test_a_bill_is_what_the_usage_says_to_the_millionth(
    fresh: int, output: int, cached: int, price: Any
) -> None:
    usage = {
        "prompt_tokens": fresh + cached,
        "completion_tokens": output,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    with ChatServer(lambda asked: Scripted("yes", usage=usage)) as server:
        (response,) = ask(judge(server, price=price))
    exact = TokenPrice.read(price).bill(TokenUsage(fresh + cached, cached, output))
    assert response.cost == exact


@given(st.text(min_size=1, max_size=300).filter(str.strip))
def test_a_prompt_never_has_more_tokens_than_the_ceiling_counts(text: str) -> None:
    with_text = replace(question("x"), payload=text)
    prompt = TEMPLATE.fill(with_text)
    assert A_UNIT_A_BYTE.ceiling(with_text) >= len(prompt.text.encode(errors="replace")) * 10**6
