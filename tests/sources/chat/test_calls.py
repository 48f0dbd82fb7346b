"""A judge in front of a server that does what a script says: answers, bills, forms."""

from __future__ import annotations

import json
from typing import Any

import pytest

from askwise.core.content import Content, Field
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.sources import Question
from askwise.sources.chat import Chat
from askwise.testing.chat_server import Asked, ChatServer, Scripted
from tests.sources.chat.stubs import CONTENT, PRICE, ask, judge, question, said_of, serve

EVERY = {"json_schema", "tool", "logprobs"}


def form_of(asked: Asked) -> str:
    if "response_format" in asked.body:
        return "json_schema"
    if "tools" in asked.body:
        return "tool"
    return "token" if asked.prompt.endswith("and nothing else.") else "pattern"


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
    assert (
        "it did not report its usage; the most that it can have cost is booked" in response.detail
    )  # type: ignore[operator]


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
