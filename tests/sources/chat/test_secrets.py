"""A key goes into one header, and nowhere else."""

from __future__ import annotations

import json
import logging
import sqlite3
import traceback
from pathlib import Path

import pytest

from askwise.core.errors import InvalidParameter
from askwise.sources.cache import SqliteCache
from askwise.testing.chat_server import Asked, ChatServer, Scripted
from tests.sources.chat.stubs import PRICE, ask, judge, question

KEY = "sk-4f9a-very-secret-0815"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", KEY)


def test_the_key_is_sent_and_shown_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = f"Incorrect API key provided: {KEY}. Bearer {KEY}"
    script = [
        Scripted("no"),
        Scripted(echo, status=400),
        Scripted(echo, status=503),
        Scripted(echo, plain=True),
        Scripted(refusal=echo),
    ]

    def do(asked: Asked) -> Scripted:
        number = int(asked.item.removeprefix("text "))
        return script[number]

    cache = SqliteCache(tmp_path / "replies.sqlite")
    with ChatServer(do, price=PRICE, keys={KEY}) as server:
        chat = judge(server, key_env="JUDGE_KEY", cache=cache, retries=1)
        found = ask(chat, *(question(f"text {at}", f"t{at}") for at in range(len(script))))
        assert all(each.headers["authorization"] == f"Bearer {KEY}" for each in server.asked)
    assert found[0].value == "ham"
    assert all(each.failure for each in found[1:])
    shown = [repr(chat), str(vars(chat)), repr(chat.outage()), chat.digest()]
    shown += [text for each in found for text in (repr(each), str(each.to_json()))]
    shown += [record.getMessage() + str(record.args) for record in caplog.records]
    shown += list(capfd.readouterr())
    cache.close()
    with sqlite3.connect(tmp_path / "replies.sqlite") as raw:
        shown += ["".join(raw.iterdump())]
    for file in tmp_path.iterdir():
        assert KEY.encode() not in file.read_bytes()
    for text in shown:
        assert KEY not in text
    assert any("***" in text for text in shown)


@pytest.mark.parametrize("value", ["", f"{KEY}\n", f"{KEY} {KEY}", f"{KEY}é"])
def test_a_key_that_is_missing_or_broken_is_told_by_its_variable_alone(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_KEY", value)
    with ChatServer(lambda asked: "no") as server:
        chat = judge(server, key_env="JUDGE_KEY")
        with pytest.raises(InvalidParameter, match="key_env is 'JUDGE_KEY'") as caught:
            chat.check()
        (response,) = ask(chat)
    assert (response.failure, response.cost) == ("rejected", 0)
    assert server.asked == []
    told = "".join(traceback.format_exception(caught.value)) + repr(response)
    assert KEY not in told


def test_a_key_that_is_refused_takes_the_judge_out_by_its_variable_s_name() -> None:
    with ChatServer(lambda asked: "no", keys={"another"}) as server:
        chat = judge(server, key_env="JUDGE_KEY")
        (response,) = ask(chat)
    assert response.failure == "unavailable"
    assert (
        response.detail == "the key in JUDGE_KEY is refused (HTTP 401: Incorrect API key provided)"
    )


def test_an_address_that_holds_the_key_is_shown_without_it() -> None:
    elsewhere = Scripted(status=307, headers={"Location": f"http://other.example/?key={KEY}"})
    with ChatServer(lambda asked: elsewhere) as server:
        (response,) = ask(judge(server, key_env="JUDGE_KEY"))
    assert response.detail == (
        "base_url leads to http://other.example/?key=***: redirects are not followed"
    )


def test_redirects_carry_the_key_to_nobody_else() -> None:
    with ChatServer(lambda asked: "no") as other:
        elsewhere = Scripted(status=308, headers={"Location": f"{other.url}/chat/completions"})
        with ChatServer(lambda asked: elsewhere, price=PRICE) as server:
            (response,) = ask(judge(server, key_env="JUDGE_KEY"))
    assert other.asked == []
    assert (response.failure, response.cost) == ("unavailable", 0)


def test_a_key_in_an_answer_is_neither_told_nor_kept() -> None:
    def repeat(asked: Asked) -> Scripted:
        said = json.dumps({"rationale": f"I was sent {KEY}", "answer": "no"})
        return Scripted(said, plain=True, id=asked.headers["authorization"])

    cache: dict[str, str] = {}
    with ChatServer(repeat, price=PRICE) as server:
        chat = judge(server, key_env="JUDGE_KEY", cache=cache, rationale=True)
        (response,) = ask(chat)
    assert response.value is not None
    assert response.reference == "Bearer ***"
    assert KEY not in str(response)
    assert cache
    assert KEY not in str(cache)


def test_a_key_in_place_of_its_variable_is_not_repeated() -> None:
    with ChatServer(lambda asked: "yes") as server, pytest.raises(InvalidParameter) as caught:
        judge(server, key_env=KEY).check()
    assert "not the key" in str(caught.value)
    assert KEY not in str(caught.value)
