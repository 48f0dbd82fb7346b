"""Judges in front of a scripted server, and what they are asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from askwise.core.content import Content
from askwise.sources import Question, Response
from askwise.sources.chat import Chat
from askwise.testing.chat_server import Asked, ChatServer

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


class Clock:
    """A clock that moves when somebody waits, and keeps how long."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.waits: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.time += seconds
        self.waits.append(seconds)


def judge(server: ChatServer, clock: Clock | None = None, **parameters: Any) -> Chat:
    """A judge by a clock of the test's own."""
    given = {"price": PRICE, **parameters}
    made = Chat("small", server.url, **given)
    clock = clock or Clock()
    made._pace.now, made._pace.sleep, made._breaker.now = clock.now, clock.sleep, clock.now
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


def serve(*script: Any, **options: Any) -> ChatServer:
    """A server that does one thing after the other, and the last for ever."""

    def do(asked: Asked) -> Any:
        return script[min(asked.number, len(script) - 1)]

    return ChatServer(do, price=PRICE, **options)
