"""The stand-in for a model that is served from the shell."""

from __future__ import annotations

import asyncio
import re
import socket

import pytest

from askwise.core.content import Content
from askwise.sources import Question
from askwise.sources.chat import Chat
from askwise.testing import stand_in

SPAM = Content("Is it spam?", options=["spam", "ham"])


def test_it_answers_any_model_alike_each_time_and_with_the_option_that_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: dict[str, list[str | float | None]] = {}

    async def ask(url: str) -> None:
        for model in ("big", "small"):
            judge = Chat(model, url, price=0)
            texts = ["This is not ham", *(f"Message {at}" for at in range(8))]
            for _ in range(2):
                answers = [
                    await judge.answer(Question(SPAM, f"t{at}", text))
                    for at, text in enumerate(texts)
                ]
                said.setdefault(model, []).extend(each.value for each in answers)
            await judge.aclose()

    def wait() -> None:
        (url,) = re.findall(r'base_url = "(http\S+)"', capsys.readouterr().out)
        asyncio.run(ask(url))
        raise KeyboardInterrupt

    monkeypatch.setattr(stand_in, "_wait", wait)
    assert stand_in.main(["--port", "0"]) == 0
    for answers in said.values():
        assert answers[0] == "ham"
        assert answers[:9] == answers[9:]
        assert set(answers) == {"spam", "ham"}
    assert said["big"] != said["small"]


def test_a_port_that_is_taken_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert stand_in.main(["--port", str(port)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: port is {port}: ")
    assert said.endswith("give another --port\n")
