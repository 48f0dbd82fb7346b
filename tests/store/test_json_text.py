"""JSON text by an encoder that is made once."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.store.json_text import json_encoder

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(VALUES, st.booleans())
def test_it_writes_what_the_library_writes(value: Any, sort_keys: bool) -> None:
    value = [value, (1, 2), math.pi]
    encode = json_encoder(separators=(", ", ": "), sort_keys=sort_keys, allow_nan=True)
    assert encode(value) == json.dumps(value, sort_keys=sort_keys)


def test_what_is_no_number_is_refused_unless_it_is_allowed() -> None:
    for value in (math.nan, math.inf, [-math.inf]):
        with pytest.raises(ValueError, match="JSON"):
            json_encoder()(value)
    assert json_encoder(allow_nan=True)([math.nan]) == "[NaN]"


def test_what_it_does_not_know_is_left_to_the_default() -> None:
    with pytest.raises(TypeError, match="complex"):
        json_encoder()({"a": 1j})
    assert json_encoder(default=str)({"a": 1j}) == '{"a":"1j"}'
