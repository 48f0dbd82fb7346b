"""Judges in front of a scripted server, and what they are asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from askwise.core.content import Content
from askwise.sources import Question, Response
from askwise.sources.chat import Chat
from askwise.testing.chat_server import ChatServer

PRICE = {"input": "0.15", "cached": "0.075", "output": "0.60", "per": 1_000_000}

CONTENT = Content(
    "Is this spam?", options=[{"name": "spam", "label": "yes"}, {"name": "ham", "label": "no"}]
)

PAIR = Content(
    "Which text is better?",
    options=[
        {"name": "one", "label": "A is better", "side": "first"},
        {"name": "two", "label": "B is better", "side": "second"},
        {"name": "tie", "label": "They are equally good"},
    ],
    fields=[{"name": "left", "show": "pair", "second": "right"}],
)


def question(
    payload: Any = "You have won", task: str = "t1", content: Content = CONTENT
) -> Question:
    return Question(content, task, payload, assignment=f"c/{task}", worker="judge")


def judge(server: ChatServer, **parameters: Any) -> Chat:
    """A judge that waits for nothing."""
    given = {"price": PRICE, **parameters}
    made = Chat("small", server.url, **given)

    async def at_once(seconds: float) -> None:
        waits.append(seconds)
        # As if the time were over.
        made._pace._not_before -= seconds

    waits: list[float] = []
    made._pace.sleep = at_once
    made.waits = waits  # type: ignore[attr-defined]
    return made


def ask(chat: Chat, *questions: Question) -> list[Response]:
    async def all_of_them() -> list[Response]:
        try:
            return [await chat.answer(each) for each in questions or (question(),)]
        finally:
            await chat.aclose()

    return asyncio.run(all_of_them())


def said_of(responses: Sequence[Response]) -> list[str | float | None]:
    return [each.value if each.failure is None else each.failure for each in responses]
