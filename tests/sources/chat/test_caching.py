"""A call that was paid for is free the second time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from askwise.sources.cache import SqliteCache
from askwise.testing.chat_server import ChatServer, Scripted
from tests.sources.chat.stubs import PAIR, PRICE, ask, judge, question, said_of


def test_the_same_call_is_made_once_also_by_another_process(tmp_path: Path) -> None:
    with ChatServer(lambda asked: "yes", price=PRICE) as server:
        cache = SqliteCache(tmp_path / "replies.sqlite")
        (first,) = ask(judge(server, cache=cache))
        cache.close()
        again = SqliteCache(tmp_path / "replies.sqlite")
        chat = judge(server, cache=again)
        (second, told) = ask(chat, replace(question(), assignment="c/later"), question())
        again.close()
    assert chat.repeat_is_free
    assert (first.cached, second.cached) == (False, True)
    assert (second.value, second.cost) == (first.value, 0)
    assert (second.probabilities, second.reference) == (first.probabilities, first.reference)
    # Whoever was killed before the campaign knew of it is told again what was paid.
    assert (told.value, told.cost, told.cached) == (first.value, first.cost, True)
    assert len(server.asked) == 1


def test_another_task_prompt_order_parameter_or_draw_is_another_call() -> None:
    cache: dict[str, str] = {}
    with ChatServer(lambda asked: asked.labels[0], price=PRICE) as server:
        ask(judge(server, cache=cache), question("a"), question("b"))
        ask(judge(server, cache=cache, template="{{ answers }} {{ item }}"), question("a"))
        ask(judge(server, cache=cache, temperature=1.0), question("a"))
        ask(judge(server, cache=cache), replace(question("a"), draw=1))
        before = len(server.asked)
        assert before == len(cache) == 5
        ask(judge(server, cache=cache), question({"left": "x", "right": "y"}, content=PAIR))
        assert len(cache) == 7
        # Two tasks that show the same are one call.
        (same,) = ask(judge(server, cache=cache), question("a", "t9"))
    assert same.cached


def test_what_the_same_call_would_fail_with_again_is_kept_and_other_failures_are_not() -> None:
    cache: dict[str, str] = {}
    script = [Scripted("down", status=503), Scripted("?", plain=True), Scripted("no")]
    with ChatServer(lambda asked: script[min(asked.number, 2)], price=PRICE) as server:
        later = replace(question(), assignment="c/later")
        found = ask(judge(server, cache=cache, retries=0), question(), question(), later)
    assert said_of(found) == ["unavailable", "unreadable", "unreadable"]
    assert found[2].cached
    assert found[2].cost == 0
    assert len(server.asked) == 2


def test_the_form_that_an_endpoint_takes_is_no_part_of_the_key() -> None:
    cache: dict[str, str] = {}
    with ChatServer(lambda asked: "yes", price=PRICE, takes={"tool"}) as server:
        ask(judge(server, cache=cache))
        calls = len(server.asked)
        (again,) = ask(judge(server, cache=cache))
    assert again.cached
    assert len(server.asked) == calls


def test_what_is_kept_is_there_while_the_judge_is_out() -> None:
    cache: dict[str, str] = {}
    with ChatServer(lambda asked: "yes", price=PRICE) as server:
        ask(judge(server, cache=cache))
    chat = judge(server, cache=cache)
    chat._breaker.break_for_good("gone")
    found = ask(chat, question(), question("another"))
    assert said_of(found) == ["spam", "unavailable"]


def test_without_a_cache_every_call_is_made() -> None:
    with ChatServer(lambda asked: "yes", price=PRICE) as server:
        chat = judge(server)
        ask(chat, question(), question())
    assert not chat.repeat_is_free
    assert len(server.asked) == 2


class Broken(dict[str, str]):
    """A cache on a disk that is full, or that is gone."""

    def __init__(self, *, reads: bool) -> None:
        self.reads = reads

    def get(self, key: str, default: object = None) -> None:  # type: ignore[override]
        if not self.reads:
            raise OSError("it is gone")

    def __setitem__(self, key: str, text: str) -> None:
        raise OSError("the disk is full")


def test_an_answer_that_can_not_be_kept_is_told_all_the_same() -> None:
    with ChatServer(lambda asked: "yes", price=PRICE) as server:
        (response,) = ask(judge(server, cache=Broken(reads=True)))
    assert (response.value, response.cost) == ("spam", server.bill)
    assert response.detail == "it is not in the cache: OSError: the disk is full"


def test_while_the_cache_can_not_be_read_nothing_is_called() -> None:
    with ChatServer(lambda asked: "yes", price=PRICE) as server:
        (response,) = ask(judge(server, cache=Broken(reads=False)))
    assert (response.failure, response.cost) == ("unavailable", 0)
    assert server.asked == []


def test_what_another_version_has_kept_is_no_answer() -> None:
    cache: dict[str, str] = {}
    with ChatServer(lambda asked: "yes", price=PRICE) as server:
        ask(judge(server, cache=cache))
        for text in ("?", "[]", '{"valeu": "spam"}', '{"failure": "sleepy"}', "{}"):
            for key in cache:
                cache[key] = text
            (response,) = ask(judge(server, cache=cache))
            assert (response.value, response.cached) == ("spam", False)
