"""Forms of answer: what is asked for, what is read, and how likely each choice is."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.sources.chat.forms import (
    Choices,
    FormName,
    ReadAnswer,
    instruction_of,
    probabilities_of,
    read,
    request_of,
    usable,
)

SPAM = Choices(("yes", "no", "Not sure"))
SCORE = Choices((), (0.0, 10.0))


def message(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def called(arguments: str, name: str = "answer") -> dict[str, Any]:
    return {"content": None, "tool_calls": [{"function": {"name": name, "arguments": arguments}}]}


@pytest.mark.parametrize(
    ("form", "said", "choice", "as_asked"),
    [
        ("json_schema", '{"answer": "yes"}', 0, True),
        ("json_schema", '{"answer": "NOT SURE"}', 2, True),
        ("json_schema", '```json\n{"answer": "no"}\n```', 1, True),
        ("json_schema", '{"answer": "maybe"}', None, True),
        ("json_schema", '{"answer": 1}', None, True),
        ("json_schema", '{"reply": "yes"}', None, False),
        ("json_schema", "yes", 0, False),
        ("json_schema", "I think that it is spam.", None, False),
        ("json_schema", "", None, False),
        ("tool", '{"answer": "yes"}', 0, True),
        ("token", "2", 1, True),
        ("token", " 3", 2, True),
        ("token", "4", None, False),
        ("token", "0", None, False),
        ("token", "²", None, False),
        ("token", "no", 1, False),
        ("pattern", "Answer: no", 1, True),
        ("pattern", "answer:  **No**.", 1, True),
        ("pattern", "**Answer:** no", 1, True),
        ("pattern", "no", 1, True),
        ("pattern", "It asks for money.\nAnswer: yes", 0, True),
        ("pattern", "Answer: yes\nAnswer: no", 1, True),
        ("pattern", "Answer: yes or no", None, True),
        ("pattern", "Answer: not", None, True),
        ("pattern", "yes\nno", None, True),
        ("pattern", "Answer: yes\nThat is all.", None, True),
    ],
)
def test_an_answer_is_read_strictly_and_by_the_pattern_if_not_in_form(
    form: FormName, said: str, choice: int | None, as_asked: bool
) -> None:
    found = read(form, message(said), SPAM)
    assert (found.choice, found.as_asked) == (choice, as_asked)


def test_thoughts_before_the_answer_are_passed_over_and_parts_are_put_together() -> None:
    thought = '<think>\nAnswer: yes?\n</think>\n\n{"answer": "no"}'
    assert read("json_schema", message(thought), SPAM).choice == 1
    assert read("pattern", message("<think>yes</think>\nno"), SPAM).choice == 1
    parts = {"content": [{"type": "text", "text": '{"answer": '}, {"text": '"no"}'}, 7]}
    assert read("json_schema", parts, SPAM).choice == 1


def test_a_call_of_the_function_is_read() -> None:
    assert read("tool", called('{"answer": "no"}'), SPAM).choice == 1
    assert read("tool", called("{"), SPAM).choice is None
    assert read("tool", {"content": None, "tool_calls": []}, SPAM).choice is None
    assert read("tool", {"content": None, "tool_calls": [7]}, SPAM).choice is None


@pytest.mark.parametrize(
    ("form", "said", "choice"),
    [
        ("json_schema", '{"answer": 7}', 7.0),
        ("json_schema", '{"answer": "7.5"}', 7.5),
        ("json_schema", '{"answer": 11}', None),
        ("json_schema", '{"answer": true}', None),
        ("json_schema", '{"answer": NaN}', None),
        ("pattern", "Answer: 3", 3.0),
        ("pattern", "Answer: a lot", None),
    ],
)
def test_a_number_is_read_within_its_range(form: FormName, said: str, choice: float | None) -> None:
    assert read(form, message(said), SCORE).choice == choice


def test_reasons_are_kept_apart() -> None:
    whole = '{"rationale": "It asks for money.", "answer": "yes"}'
    assert read("json_schema", message(whole), SPAM).rationale == "It asks for money."
    text = "It asks for money.\n\nAnswer: yes"
    assert read("pattern", message(text), SPAM).rationale == "It asks for money."


@given(st.text(max_size=60), st.sampled_from(["json_schema", "tool", "token", "pattern"]))
def test_no_text_breaks_the_reader(text: str, form: FormName) -> None:
    for choices in (SPAM, SCORE):
        found = read(form, message(text), choices)
        assert found.choice is None or found.start < len(text)


@given(
    st.lists(
        st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=9),
        min_size=2,
        max_size=5,
        unique_by=str.casefold,
    ),
    st.data(),
)
def test_every_label_is_read_back_in_json(labels: list[str], data: st.DataObject) -> None:
    choices = Choices(tuple(labels))
    at = data.draw(st.integers(0, len(labels) - 1))
    written = json.dumps({"answer": labels[at]})
    assert read("json_schema", message(written), choices).choice == at


def test_requests_have_the_form_and_no_other() -> None:
    schema = request_of("json_schema", SPAM, rationale=True, top=20)
    inside = schema["response_format"]["json_schema"]["schema"]
    assert list(inside["properties"]) == ["rationale", "answer"]
    assert inside["properties"]["answer"]["enum"] == list(SPAM.labels)
    assert (schema["logprobs"], schema["top_logprobs"]) == (True, 20)
    tool = request_of("tool", SCORE, rationale=False, top=20)
    assert set(tool) == {"tools", "tool_choice"}
    assert request_of("pattern", SPAM, rationale=False, top=0) == {}
    assert 'one of "yes", "no"' in instruction_of("pattern", SPAM, False)
    assert "number from 0 to 10" in instruction_of("json_schema", SCORE, False)


def test_a_token_tells_nine_options_apart_and_gives_no_reasons() -> None:
    assert usable("token", Choices(tuple("abcdefghi")), rationale=False)
    assert not usable("token", Choices(tuple("abcdefghij")), rationale=False)
    assert not usable("token", SPAM, rationale=True)
    assert not usable("token", SCORE, rationale=False)


def weighed(*tokens: tuple[str, dict[str, float]]) -> dict[str, Any]:
    return {
        "content": [
            {
                "token": token,
                "logprob": 0.0,
                "top_logprobs": [{"token": t, "logprob": math.log(p)} for t, p in rivals.items()],
            }
            for token, rivals in tokens
        ]
    }


def test_probabilities_are_those_of_the_token_where_the_choice_begins() -> None:
    said = read("json_schema", message('{"answer": "no"}'), SPAM)
    rivals = {"no": 0.6, "yes": 0.2, "Not": 0.1, " maybe": 0.1}
    found = probabilities_of(
        said, weighed(('{"answer": "', {}), ("no", rivals), ('"}', {})), SPAM.labels
    )
    # "no" begins "no" and "Not sure", so it can't be told apart.
    assert found is None
    two = ("yes", "no")
    found = probabilities_of(said, weighed(('{"answer": "', {}), ("no", rivals), ('"}', {})), two)
    assert found == pytest.approx((0.25, 0.75))


def test_a_token_may_have_the_quote_before_the_choice() -> None:
    said = read("json_schema", message('{"answer":"no"}'), Choices(("yes", "no")))
    rivals = {'"no': 0.5, '"yes': 0.3, "no": 0.0001, "{": 0.1}
    tokens = weighed(('{"answer":', {}), ('"no', rivals), ('"}', {}))
    found = probabilities_of(said, tokens, ("yes", "no"))
    assert found == pytest.approx((0.3 / 0.8001, 0.5001 / 0.8001))


def test_tokens_of_a_fence_that_the_server_took_off_are_passed_over() -> None:
    said = read("json_schema", message('{"answer": "no"}'), Choices(("yes", "no")))
    tokens = [("```", {}), ("json\n", {}), ('{"answer": "', {}), ("no", {"no": 0.6, "yes": 0.2})]
    found = probabilities_of(said, weighed(*tokens, ('"}', {}), ("\n```", {})), ("yes", "no"))
    assert found == pytest.approx((0.25, 0.75))
    # Of two that look the same nobody knows which one was meant.
    twice = [*tokens, ('"}', {}), *tokens, ('"}', {})]
    assert probabilities_of(said, weighed(*twice), ("yes", "no")) is None


def test_numbers_stand_for_options_in_a_token() -> None:
    said = read("token", message("2"), Choices(("yes", "no")))
    found = probabilities_of(said, weighed(("2", {"2": 0.7, " 2": 0.1, "1": 0.2})), ("1", "2"))
    assert found == pytest.approx((0.2, 0.8))


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        [],
        {"content": None},
        {"content": [7]},
        {"content": [{"token": "something else", "logprob": 0}]},
        {"content": [{"token": "2", "top_logprobs": None}]},
        {"content": [{"token": "2", "top_logprobs": [{"token": "2", "logprob": "?"}]}]},
        {"content": [{"token": "2", "top_logprobs": [{"token": "x", "logprob": -1}]}]},
    ],
)
def test_tokens_that_tell_nothing_give_no_probabilities(logprobs: Any) -> None:
    said = ReadAnswer(1, None, "2", 0)
    assert probabilities_of(said, logprobs, ("1", "2")) is None
