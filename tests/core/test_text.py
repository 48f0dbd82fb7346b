"""Text that every store can keep."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.errors import InvalidProblem
from askwise.core.text import check_text, flaw

JSON = st.recursive(
    st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.text(st.characters(exclude_characters="\0", codec="utf-8")))
def test_whole_characters_without_nul_are_kept(text: str) -> None:
    assert flaw(text) is None


@pytest.mark.parametrize("text", ["\0", "a\0b", "\ud800", "a\udfff", "\udc00\ud800"])
def test_nul_and_half_characters_are_not(text: str) -> None:
    assert flaw(text) is not None


@given(JSON)
def test_a_value_is_refused_exactly_if_some_text_in_it_can_not_be_kept(value: object) -> None:
    texts: list[str] = []

    def collect(each: object) -> None:
        if isinstance(each, str):
            texts.append(each)
        for inner in each if isinstance(each, list) else ():
            collect(inner)
        for key, inner in each.items() if isinstance(each, dict) else ():
            collect(key)
            collect(inner)

    collect(value)
    fields = {"payload": value}
    if any(map(flaw, texts)):
        with pytest.raises(InvalidProblem) as caught:
            check_text(json.dumps(fields))
        assert caught.value.field == "payload"
    else:
        check_text(json.dumps(fields))


def test_a_payload_may_be_nested_deep() -> None:
    deep = '{"payload": ' + "[" * 900 + '"\\u0000"' + "]" * 900 + "}"
    with pytest.raises(InvalidProblem, match="NUL"):
        check_text(deep)
