"""A judge in front of a server that does what a script says: answers, bills, failures, forms."""

from __future__ import annotations

import asyncio
import json
import math
import re
from typing import Any

import pytest

from askwise.core.content import Content, Field
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.sources import Question, Response
from askwise.sources.chat import Chat, endpoint
from askwise.sources.chat.pacing import MOST_FAILURES
from askwise.testing.chat_server import Asked, ChatServer, Scripted
from tests.sources.chat.stubs import CONTENT, PRICE, Clock, ask, judge, question, said_of

EVERY = {"json_schema", "tool", "logprobs"}


def form_of(asked: Asked) -> str:
    if "response_format" in asked.body:
        return "json_schema"
    if "tools" in asked.body:
        return "tool"
    return "token" if asked.prompt.endswith("and nothing else.") else "pattern"


def serve(*script: Any, **options: Any) -> ChatServer:
    """A server that does one thing after the other, and the last for ever."""

    def do(asked: Asked) -> Any:
        return script[min(asked.number, len(script) - 1)]

    return ChatServer(do, price=PRICE, **options)


@pytest.mark.parametrize(
    ("takes", "form", "weighed"),
    [
        (EVERY, "json_schema", True),
        ({"json_schema", "tool"}, "json_schema", False),
        ({"tool", "logprobs"}, "tool", False),
        ({"logprobs"}, "token", True),
        (set(), "pattern", False),
    ],
)
def test_the_first_form_that_an_endpoint_takes_is_used_and_remembered(
    takes: set[str], form: str, weighed: bool
) -> None:
    with serve("no", takes=takes) as server:
        first, second = ask(judge(server), question(), question("Hello", "t2"))
    assert (first.value, second.value) == ("ham", "ham")
    assert form_of(server.asked[-1]) == form_of(server.asked[-2]) == form
    refused = [each for each in server.asked[:-2] if form_of(each) == form]
    assert len(refused) == (2 if takes == {"json_schema", "tool"} or not takes else 0)
    assert (first.probabilities is not None) == weighed
    if weighed:
        assert first.probabilities == pytest.approx({"spam": 0.1, "ham": 0.9})
    assert first.cost + second.cost == server.bill


@pytest.mark.parametrize("form", ["json_schema", "tool", "token", "pattern"])
def test_a_form_may_be_chosen(form: Any) -> None:
    with serve("yes") as server:
        (response,) = ask(judge(server, form=form))
    assert response.value == "spam"
    assert [form_of(each) for each in server.asked] == [form]


def test_an_endpoint_that_ignores_the_form_is_asked_in_another_from_then_on() -> None:
    with serve(Scripted("Answer: no", plain=True), "no") as server:
        found = ask(judge(server), *(question(f"text {at}", f"t{at}") for at in range(3)))
    assert said_of(found) == ["ham"] * 3
    assert [form_of(each) for each in server.asked] == ["json_schema", "tool", "tool"]


def test_a_form_that_has_worked_is_not_given_up_for_one_reply_that_strays() -> None:
    with serve("no", Scripted("?", plain=True), "no") as server:
        found = ask(judge(server), *(question(f"text {at}", f"t{at}") for at in range(3)))
    assert said_of(found) == ["ham", "unreadable", "ham"]
    assert [form_of(each) for each in server.asked] == ["json_schema"] * 3


def test_nor_for_one_question_that_is_refused_in_it() -> None:
    def picky(asked: Asked) -> Any:
        odd = "odd" in asked.item and form_of(asked) == "json_schema"
        return Scripted("not this one", status=400) if odd else "no"

    with ChatServer(picky, price=PRICE) as server:
        found = ask(judge(server), question(), question("odd", "t2"), question("text", "t3"))
    assert said_of(found) == ["ham"] * 3
    used = [form_of(each) for each in server.asked]
    assert used == ["json_schema"] * 4 + ["tool", "json_schema"]


def test_requests_are_deterministic_and_small() -> None:
    with serve("no") as server:
        ask(judge(server))
    body = server.asked[0].body
    assert body["temperature"] == 0
    assert body["max_tokens"] == 43
    assert "You have won" in server.asked[0].item
    assert server.asked[0].headers["user-agent"] == "askwise"


def test_a_model_that_reasons_gets_no_temperature_and_no_weights() -> None:
    with serve("no") as server:
        ask(Chat("org/o3-mini", server.url, price=0, max_tokens=2000))
    assert not {"temperature", "logprobs"} & set(server.asked[0].body)


def test_an_endpoint_that_calls_the_most_tokens_otherwise_is_obeyed() -> None:
    def picky(asked: Asked) -> Any:
        if "max_tokens" in asked.body:
            return Scripted("use the other", status=400, param="max_tokens")
        return "no"

    with ChatServer(picky, price=PRICE) as server:
        found = ask(judge(server), question(), question("b", "t2"))
    assert said_of(found) == ["ham", "ham"]
    assert len(server.asked) == 3
    assert server.asked[-1].body["max_completion_tokens"] == 43


# Failures and their bills.


@pytest.mark.parametrize(
    ("scripted", "failure", "detail"),
    [
        (Scripted("perhaps", plain=True), "unreadable", "it said 'perhaps', which is not one of"),
        (Scripted('{"ans', plain=True, finish="length"), "unreadable", "max_tokens is too low"),
        (Scripted("maybe"), "unreadable", 'it said \'{"answer": "maybe"}\''),
        (Scripted(refusal="I can't help with that."), "refused", "I can't help with that."),
        (Scripted("no", finish="content_filter"), "filtered", "filter withheld"),
    ],
)
def test_a_paid_failure_has_its_cost_and_says_why(
    scripted: Scripted, failure: str, detail: str
) -> None:
    with serve(scripted) as server:
        (response,) = ask(judge(server))
    assert response.failure == failure
    assert detail in (response.detail or "")
    assert response.cost == server.bill > 0
    assert len(server.asked) == 1
    assert not response.estimated


@pytest.mark.parametrize(
    ("scripted", "failure"),
    [
        (Scripted("too long", status=400, code="context_length_exceeded"), "too_long"),
        (Scripted("too long", status=413), "too_long"),
        (Scripted("no no", status=400, code="content_filter"), "filtered"),
        (Scripted("what?", status=422), "rejected"),
    ],
)
def test_what_an_endpoint_refuses_costs_nothing(scripted: Scripted, failure: str) -> None:
    with serve(scripted) as server:
        (response,) = ask(judge(server))
    assert (response.failure, response.cost) == (failure, 0)
    assert scripted.says in (response.detail or "")


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": -5, "completion_tokens": 3},
        {"prompt_tokens": "many", "completion_tokens": 3},
    ],
)
def test_without_a_usage_that_can_be_true_the_ceiling_is_booked_and_said(usage: Any) -> None:
    with serve(Scripted("no", usage=usage)) as server:
        chat = judge(server)
        (response,) = ask(chat)
    assert response.value == "ham"
    assert response.estimated
    assert response.cost == chat.ceiling(question()) >= server.bill
    assert "its usage is not told; the most that it can have cost is booked" in response.detail  # type: ignore[operator]


def test_a_usage_above_the_ceiling_is_billed_as_it_is_told() -> None:
    usage = {"prompt_tokens": 10**6, "completion_tokens": 10**6}
    with serve(Scripted("no", usage=usage)) as server:
        chat = judge(server)
        (response,) = ask(chat)
    assert response.cost == 750_000 > chat.ceiling(question())


def test_cached_tokens_have_their_price() -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 800},
    }
    with serve(Scripted("no", usage=usage)) as server:
        (response,) = ask(judge(server))
    # 200 x 0.15 + 800 x 0.075 + 10 x 0.6
    assert response.cost == 96


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


# Other questions.


def test_a_number_is_asked_for_where_there_are_no_options() -> None:
    asked = Question(Content("How angry is it?", range=(0, 10)), "t1", "Grr!")
    with serve(Scripted('{"answer": 7.5}', plain=True)) as server:
        (response,) = ask(judge(server), asked)
    assert response.value == 7.5
    schema = server.asked[0].body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"] == {"type": "number", "minimum": 0, "maximum": 10}


def test_reasons_come_with_the_answer() -> None:
    text = json.dumps({"rationale": "It asks for money.", "answer": "yes"})
    with serve(Scripted(text, plain=True)) as server:
        (response,) = ask(judge(server, rationale=True))
    assert (response.value, response.rationale) == ("spam", "It asks for money.")
    assert server.asked[0].body["max_tokens"] == 443


def test_pictures_are_refused_unless_their_tokens_are_known() -> None:
    content = Content("Cat?", options=["no", "yes"], fields=[Field("photo", "image")])
    asked = question({"photo": "https://img.example/1"}, content=content)
    with serve("yes") as server:
        with pytest.raises(InvalidProblem, match="give image_tokens"):
            judge(server).ceiling(asked)
        blind, seeing = ask(judge(server), asked)[0], judge(server, image_tokens=1000)
        assert (blind.failure, blind.cost) == ("rejected", 0)
        assert ask(seeing, asked)[0].value == "yes"
        text = judge(server).ceiling(question("[image 1]", content=CONTENT))
        assert seeing.ceiling(asked) - 150 == pytest.approx(text, abs=20)


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"model": " "}, "model"),
        ({"base_url": "ftp://x"}, "base_url"),
        ({"base_url": "http://user:hush@x/v1"}, "base_url"),
        ({"base_url": "http://x/v1?key=hush"}, "base_url"),
        ({"base_url": 7}, "base_url"),
        ({"price": None}, "price"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"model": "o3-mini"}, "max_tokens"),
        ({"model": "deepseek-reasoner"}, "max_tokens"),
        ({"reasoning": True}, "max_tokens"),
        ({"temperature": 3}, "temperature"),
        ({"orders": "any"}, "orders"),
        ({"form": "xml"}, "form"),
        ({"rpm": 0}, "rpm"),
        ({"tpm": "9"}, "tpm"),
        ({"timeout": 0}, "timeout"),
        ({"retries": -1}, "retries"),
        ({"paid_retries": True}, "paid_retries"),
        ({"slots": 0}, "slots"),
        ({"parameters": {"stream": True}}, "parameters"),
        ({"parameters": 3}, "parameters"),
        ({"template": 3}, "template"),
        ({"rationale": "yes"}, "rationale"),
    ],
)
def test_a_parameter_that_is_wrong_is_named(parameters: dict[str, Any], field: str) -> None:
    given: dict[str, Any] = {"model": "m", "base_url": "http://127.0.0.1:1/v1", "price": 0}
    with pytest.raises(InvalidParameter) as caught:
        Chat(**{**given, **parameters})
    assert caught.value.field == field
    assert "hush" not in str(caught.value)


def test_another_prompt_or_parameter_is_another_worker_and_another_key_is_not() -> None:
    def digest(**parameters: Any) -> str:
        return Chat("m", "http://127.0.0.1:1/v1", **{"price": 0, **parameters}).digest()

    same = [{}, {"key_env": "KEY"}, {"price": PRICE}, {"timeout": 3}, {"rpm": 3}, {"slots": 9}]
    assert len({digest(**each) for each in same}) == 1
    other = [
        {},
        {"template": "{{ item }}"},
        {"temperature": 1.0},
        {"orders": "random"},
        {"max_tokens": 9},
        {"parameters": {"seed": 1}},
        {"rationale": True},
    ]
    assert len({digest(**each) for each in other}) == len(other)
