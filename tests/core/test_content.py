"""The content of a question: what is refused, what is shown, and its JSON."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.content import Content, Example, Field, Option, Part
from askwise.core.errors import InvalidProblem
from askwise.core.parts import SHOWS

PAIR = Content(
    "Which is better?",
    options=[
        {"name": "a", "label": "A", "side": "first"},
        {"name": "b", "label": "B", "side": "second"},
        "tie",
    ],
    fields=[{"name": "left", "show": "pair", "second": "right"}],
)


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        ({"question": " "}, "content.question", "say what is asked"),
        ({"question": 7}, "content.question", "content.question is 7: give text"),
        ({"options": ["yes"]}, "content.options", "at least two"),
        ({"options": "yes"}, "content.options", "give a list"),
        ({"options": []}, "content.options", "exactly one of options"),
        ({"range": [0, 1]}, "content.options", "exactly one of options"),
        ({"options": [], "range": [1, 0]}, "content.range", "the lower first"),
        ({"options": [], "range": [0, float("nan")]}, "content.range", "two numbers"),
        ({"options": ["no", "no"]}, "content.options", "name 'no' appears twice"),
        ({"options": ["No", "no"]}, "content.options", "label 'no' appears twice"),
        ({"options": ["no", {"nam": "yes"}]}, "content.options[1].nam", "did you mean 'name'"),
        (
            {"options": ["no", {"label": "yes"}]},
            "content.options[1].name",
            r"content.options\[1\] lacks 'name'",
        ),
        ({"options": ["no", True]}, "content.options[1]", "give a mapping"),
        ({"options": ["no", "y\nes"]}, "content.options[1].name", "printable string"),
        (
            {"options": ["no", {"name": "a", "side": "left"}]},
            "content.options[1].side",
            "first, second",
        ),
        ({"options": ["no", {"name": "a", "side": "first"}]}, "content.options", "one the second"),
        ({"currency": "a long story"}, "content.currency", "give its code"),
        ({"fields": [{"name": "t", "show": "video"}]}, "content.fields[0].show", "long_text"),
        ({"fields": ["t", "t"]}, "content.fields", "appears twice"),
        ({"fields": [{"name": "t", "show": "pair"}]}, "content.fields[0].second", "a pair names"),
        ({"fields": [{"name": "t", "second": "u"}]}, "content.fields[0].second", "a pair names"),
        ({"fields": [{"name": "t", "alt": "u"}]}, "content.fields[0].alt", "only an image"),
        ({"fields": [{"name": "t", "optional": 1}]}, "content.fields[0].optional", "true or false"),
        (
            {"examples": [{"payload": "x", "answer": "maybe"}]},
            "content.examples[0].answer",
            "give an option",
        ),
        (
            {"examples": [{"payload": "x", "answer": True}]},
            "content.examples[0].answer",
            "an option or a number",
        ),
        (
            {"fields": ["t"], "examples": [{"payload": "x", "answer": "no"}]},
            "content.examples[0].payload",
            "object",
        ),
        ({"questions": "?"}, "content.questions", "did you mean 'question'"),
    ],
)
def test_what_is_wrong_is_refused_in_one_line_that_names_it(
    given: dict[str, Any], field: str, said: str
) -> None:
    with pytest.raises(InvalidProblem, match=said) as caught:
        Content.from_json({"question": "Spam?", "options": ["no", "yes"], **given})
    assert caught.value.field == field
    assert "\n" not in str(caught.value)


def test_what_a_program_builds_is_told_without_the_word_content() -> None:
    with pytest.raises(InvalidProblem, match=r"^options\[1\] lacks 'name'") as caught:
        Content("Spam?", options=["no", {"label": "yes"}])
    assert caught.value.field == "options[1].name"


def test_options_that_name_sides_need_a_pair() -> None:
    sides = [Option("a", side="first"), Option("b", side="second")]
    with pytest.raises(InvalidProblem, match="no field is a pair"):
        Content("Which?", options=sides)


def test_a_payload_without_fields_shows_all_of_itself() -> None:
    content = Content("Spam?", options=["no", "yes"])
    assert content.parts(None) == []
    assert content.parts("hi") == [Part("long_text", "", "hi")]
    assert content.parts([1, 2]) == [Part("json", "", [1, 2])]
    assert content.parts({}) == [Part("json", "", {})]
    whole = {"text": "t", "image": "https://img.example/1", "alt": "a", "html": "<b>", "n": 1}
    assert [part.show for part in content.parts(whole)] == ["long_text", "image", "html", "json"]
    assert content.parts(whole)[1].alt == "a"
    assert content.parts(whole)[3].value == {"n": 1}
    odd = {"image": "javascript:1", "alt": ["?"]}
    assert content.parts(odd) == [Part("json", "", odd)]


def test_fields_are_shown_in_their_order_and_as_they_say() -> None:
    content = Content(
        "Good?",
        options=["no", "yes"],
        fields=[
            Field("price", label="Price"),
            Field("photo", "image", alt="words"),
            Field("note", optional=True),
            Field("more", "json"),
        ],
    )
    payload = {"more": {"a": None}, "photo": "https://img.example/1", "price": 3, "words": "Sofa"}
    assert content.parts(payload) == [
        Part("text", "Price", "3"),
        Part("image", "", "https://img.example/1", "Sofa"),
        Part("json", "", {"a": None}),
    ]


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({}, "'text' is missing or empty"),
        ({"text": "  "}, "'text' is missing or empty"),
        ({"text": ["a"]}, "text is .* give text, or show it as json"),
        ({"text": "a", "photo": "javascript:1"}, "give an image's address"),
        ("text", "give an object of them"),
    ],
)
def test_a_payload_that_can_not_be_shown_is_refused(payload: Any, said: str) -> None:
    fields = [Field("text"), Field("photo", "image", optional=True)]
    content = Content("Good?", options=["no", "yes"], fields=fields)
    with pytest.raises(InvalidProblem, match=said) as caught:
        content.parts(payload)
    assert caught.value.field == "payload"


def test_swapped_sides_change_places_and_so_do_the_options_that_name_them() -> None:
    payload = {"left": "one", "right": "two"}
    assert PAIR.parts(payload)[0].value == ("one", "two")
    assert PAIR.parts(payload, swapped=True)[0].value == ("two", "one")
    assert [PAIR.unswapped(name) for name in ("a", "b", "tie")] == ["b", "a", "tie"]
    assert PAIR.pair


def test_an_optional_pair_may_be_missing_and_half_a_pair_may_not() -> None:
    field = Field("left", "pair", second="right", optional=True)
    content = Content("Same?", options=["no", "yes"], fields=[field, Field("text")])
    assert [part.show for part in content.parts({"text": "x"})] == ["text"]
    with pytest.raises(InvalidProblem, match="'right' is missing"):
        content.parts({"text": "x", "left": "one"})


names = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)
texts = st.text(max_size=20)


@st.composite
def contents(draw: st.DrawFn) -> Content:
    labels = draw(st.lists(names, min_size=2, max_size=4, unique_by=str.casefold))
    fields = draw(st.lists(names, max_size=3, unique=True))
    shown = [
        Field(name, show, draw(texts), second="other" if show == "pair" else None)
        for name, show in zip(fields, draw(st.permutations(SHOWS)), strict=False)
    ]
    example = Example(dict.fromkeys([*fields, "other"], "https://x"), labels[0], draw(texts))
    return Content(
        draw(texts) + "?",
        options=[Option(label, "", draw(texts)) for label in labels],
        title=draw(texts),
        instructions=draw(texts),
        fields=shown,
        examples=draw(st.sampled_from([[], [example]])),
    )


@given(contents())
def test_content_is_read_back_as_it_was_written(content: Content) -> None:
    assert Content.from_json(content.to_json()) == content


def test_a_range_is_read_back_too() -> None:
    content = Content("How much?", range=(0, 10), examples=[Example("x", 2)])
    assert content.to_json()["range"] == [0.0, 10.0]
    assert Content.from_json(content.to_json()) == content
