"""Calls that are refused, lost, late or billed for nothing, and judges that are taken out."""

from __future__ import annotations

import asyncio
import json
import math
import re
from typing import Any

import pytest

from askwise.sources import Response
from askwise.sources.chat import Chat, endpoint
from askwise.sources.chat.pacing import MOST_FAILURES
from askwise.testing.chat_server import Scripted
from tests.sources.chat.stubs import PRICE, Clock, ask, judge, question, said_of, serve


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_moment_s_refusal_is_waited_out_and_costs_nothing(status: int) -> None:
    script = [Scripted("later", status=status)] * 2
    with serve(*script, "no") as server:
        (response,) = ask(judge(server, clock := Clock()))
    assert (response.value, response.cost) == ("ham", server.bill)
    assert len(clock.waits) == 2


def test_the_wait_that_is_asked_for_is_waited_whole() -> None:
    script = Scripted("slow down", status=429, headers={"Retry-After": "7"})
    with serve(script, "no") as server:
        (response,) = ask(judge(server, clock := Clock()))
    assert response.value == "ham"
    assert clock.time == pytest.approx(1007)


def test_an_endpoint_that_asks_for_hours_is_out_until_then() -> None:
    script = Scripted("come back", status=429, headers={"Retry-After": "7200"})
    with serve(script) as server:
        chat = judge(server)
        first, second = ask(chat, question(), question("b", "t2"))
    assert (first.failure, second.failure) == ("unavailable", "unavailable")
    assert len(server.asked) == 1
    outage = chat.outage()
    assert outage is not None
    assert outage.seconds == pytest.approx(7200)


def test_a_limit_that_is_used_up_is_waited_for() -> None:
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "20s"}
    with serve(Scripted("no", headers=headers)) as server:
        ask(judge(server, clock := Clock()), question(), question("b", "t2"))
    assert clock.waits == [pytest.approx(20)]


def test_an_error_that_was_billed_is_paid_and_repeated_only_within_the_ceiling() -> None:
    broken = Scripted("oops", status=500, billed=True)
    with serve(broken, "no") as server:
        once = judge(server)
        (response,) = ask(once)
        assert (response.failure, response.cost) == ("error", server.bill)
        assert response.cost > 0
    with serve(broken, "no") as server:
        twice = judge(server, paid_retries=1)
        (response,) = ask(twice)
    assert (response.value, response.cost) == ("ham", server.bill)
    assert len(server.charges) == 2
    assert response.cost <= twice.ceiling(question()) == 2 * once.ceiling(question())


@pytest.mark.parametrize(
    ("scripted", "failure"),
    [
        (Scripted("no", drop="unanswered"), "lost"),
        (Scripted("no", drop="halfway"), "lost"),
        (Scripted("no", raw=b"<html>"), "unreadable"),
        (Scripted("no", raw=b"{}"), "unreadable"),
        (Scripted("no", raw=b'{"choices": [{"message": 3}]}'), "unreadable"),
    ],
)
def test_where_no_reply_comes_whole_the_ceiling_is_booked(scripted: Scripted, failure: str) -> None:
    with serve(scripted) as server:
        chat = judge(server)
        (response,) = ask(chat)
    assert (response.failure, response.estimated) == (failure, True)
    assert response.cost == chat.ceiling(question()) >= server.bill
    assert "the most that it can have cost is booked" in (response.detail or "")


@pytest.mark.parametrize("slow", [Scripted("no", latency=60), Scripted("no", drip=0.5)])
def test_a_reply_that_takes_too_long_is_booked_too(slow: Scripted) -> None:
    async def late(chat: Chat) -> Response:
        await chat.answer(question())
        # The connection is there: all the time goes to the reply.
        chat._calls.endpoint.timeout = 0.5
        response = await chat.answer(question("slow", "t2"))
        await chat.aclose()
        return response

    with serve("no", slow) as server:
        chat = judge(server)
        response = asyncio.run(late(chat))
    assert (response.failure, response.estimated) == ("timed_out", True)
    assert response.cost == chat.ceiling(question("slow", "t2"))


def test_a_reply_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "LARGEST_REPLY", 1000)
    with serve(Scripted("no", raw=b" " * 2000)) as server:
        chat = judge(server)
        (response,) = ask(chat)
    assert (response.failure, response.cost) == ("lost", chat.ceiling(question()))


def test_an_error_in_the_body_itself_is_read() -> None:
    body = {"object": "error", "message": "too many", "type": "context_length_exceeded"}
    with serve(Scripted(status=400, raw=json.dumps(body).encode())) as server:
        (response,) = ask(judge(server))
    assert (response.failure, response.detail) == ("too_long", "HTTP 400: too many")


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        ({"code": 400, "type": "exceed_context_size_error"}, "too_long"),
        ({"code": 400, "param": "input_tokens"}, "too_long"),
        ({"code": 429}, "unavailable"),
        ({"code": "overloaded"}, "unavailable"),
    ],
)
def test_an_error_under_a_good_status_is_an_error(error: dict[str, Any], failure: str) -> None:
    body = {"error": {"message": "oh", **error}}
    with serve(Scripted(raw=json.dumps(body).encode())) as server:
        (response,) = ask(judge(server, retries=0))
    assert (response.failure, response.cost) == (failure, 0)


def test_a_lost_reply_is_asked_for_again_where_that_is_paid_for() -> None:
    with serve(Scripted("no", drop="unanswered"), "no") as server:
        chat = judge(server, paid_retries=1)
        (response,) = ask(chat)
    assert (response.value, response.estimated) == ("ham", True)
    assert server.bill <= response.cost <= chat.ceiling(question())


def test_where_nobody_listens_nothing_is_paid() -> None:
    with serve("no") as server:
        pass
    (response,) = ask(judge(server, clock := Clock(), retries=2))
    assert (response.failure, response.cost) == ("unavailable", 0)
    assert "can't be reached" in (response.detail or "")
    assert len(clock.waits) == 2


# Judges that are taken out.


def test_a_judge_that_fails_again_and_again_is_taken_out() -> None:
    with serve(Scripted("down", status=503)) as server:
        chat = judge(server, retries=0)
        found = ask(chat, *[question()] * (MOST_FAILURES + 2))
    assert said_of(found) == ["unavailable"] * (MOST_FAILURES + 2)
    assert len(server.asked) == MOST_FAILURES
    outage = chat.outage()
    assert outage is not None
    assert outage.why == "HTTP 503: down"


@pytest.mark.parametrize(
    ("scripted", "why"),
    [
        (Scripted("bad key", status=401), r"a call without a key \(give key_env\) is refused"),
        (Scripted("pay", status=402), "the account has no money left"),
        (Scripted("quota", status=429, code="insufficient_quota"), "no money left"),
        (Scripted("no such model", status=404), "or the model 'small' is not known"),
        (Scripted("gone", status=404, code="model_not_found"), "the model is not known"),
        (Scripted(status=307, headers={"Location": "http://other.example/v1"}), "not followed"),
        (Scripted("teapot", status=418), "HTTP 418: teapot"),
    ],
)
def test_what_no_waiting_mends_takes_a_judge_out_for_good_in_one_line(
    scripted: Scripted, why: str
) -> None:
    with serve(scripted) as server:
        chat = judge(server)
        first, second = ask(chat, question(), question("b", "t2"))
    assert said_of([first, second]) == ["unavailable", "unavailable"]
    outage = chat.outage()
    assert outage is not None
    assert outage.seconds == math.inf
    assert re.search(why, outage.why)
    assert second.detail == outage.why
    assert "\n" not in outage.why


def test_a_wrong_base_url_is_told() -> None:
    with serve("no") as server:
        chat = Chat("small", server.url.removesuffix("/v1"), price=0)
        (response,) = ask(chat)
    assert response.failure == "unavailable"
    assert f"{server.url.removesuffix('/v1')}/chat/completions or the model" in response.detail  # type: ignore[operator]


@pytest.mark.parametrize("base_url", ["http://a b/v1", "http://\x7f/v1", "http://x..y/v1"])
def test_an_address_that_leads_nowhere_is_a_failure_and_costs_nothing(base_url: str) -> None:
    chat = Chat("small", base_url, price=PRICE, retries=0)
    (response,) = ask(chat)
    assert (response.failure, response.cost) == ("unavailable", 0)
