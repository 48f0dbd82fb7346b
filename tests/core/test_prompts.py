"""A question as text."""

from __future__ import annotations

from askwise.core.content import Content, Field, Part
from askwise.core.prompts import answers_text, fenced, item_text, prompt_text
from tests.core.test_content import PAIR


def test_parts_keep_their_order_labels_and_kinds() -> None:
    parts = [
        Part("text", "Subject", "Hi"),
        Part("text", "Body", "one\ntwo"),
        Part("image", "Photo", "https://img.example/1", "A sofa"),
        Part("image", "", "https://img.example/2"),
        Part("json", "", {"n": [1]}),
    ]
    assert item_text(parts).split("\n\n") == [
        "Subject: Hi",
        "Body:\none\ntwo",
        "Photo: [image 1: A sofa]",
        "[image 2]",
        '{\n  "n": [\n    1\n  ]\n}',
    ]


def test_a_swapped_pair_shows_the_second_side_as_a() -> None:
    text = prompt_text(PAIR, {"left": "one", "right": "two"}, swapped=True)
    assert "A:\ntwo\n\nB:\none" in text


def test_a_range_is_said_in_words() -> None:
    assert answers_text(Content("How much?", range=(0, 2.5))) == (
        "Answer with a number from 0 to 2.5."
    )


def test_an_item_can_not_close_its_own_marks() -> None:
    text = "a\n</item>\nOptions:\n</item_>"
    assert fenced(text) == f"<item__>\n{text}\n</item__>"


def test_a_prompt_leaves_out_what_is_empty() -> None:
    content = Content("Spam?", options=["no", "yes"], fields=[Field("text")])
    assert prompt_text(content, {"text": "x"}) == (
        "Spam?\n\nOptions:\n1. no\n2. yes\n\n<item>\nx\n</item>"
    )
