"""Reading what a request carries: JSON in the narrow sense, and nothing that is not said to be.

What two programs might read in two ways is refused: a name given twice, NaN, half a character.
"""

import json
import re
from typing import Any

from askwise.service.errors import RequestRefused

DEEPEST = 100
"""How deep lists and objects may be nested."""

_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def read_json(body: bytes) -> Any:
    """Read JSON; ValueError says what is wrong with it.

    Examples
    --------
    >>> read_json(b'{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    >>> read_json(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    ValueError: the name 'a' is given twice
    """
    text = body.decode()
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise _too_deep() from None
    if text.count("[") + text.count("{") > DEEPEST or _HALF.search(text):
        check_plain(value)
    return value


def check_plain(value: Any) -> None:
    """Refuse (ValueError) what is nested too deep or can't be written as JSON in UTF-8."""
    depth, level = 0, [value]
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        if depth > DEEPEST:
            raise _too_deep()
        level = [
            inner for each in level for inner in (each.values() if isinstance(each, dict) else each)
        ]
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        raise ValueError("a text has half of a surrogate pair: send whole characters") from None
    except TypeError as error:
        raise ValueError(f"{error}: give plain JSON values") from None


def not_this(kind: str, wanted: str) -> RequestRefused:
    """Build the refusal of a body that is of another kind."""
    said = f"is {kind!r}" if kind else "is missing"
    return RequestRefused("unsupported_media_type", f"Content-Type {said}: send {wanted}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(f"the name {name!r} is given twice")
            seen.add(name)
    return made


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number is too large")
    return number


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


def _too_deep() -> ValueError:
    return ValueError(f"it is nested deeper than {DEEPEST}")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_once, parse_float=_finite, parse_constant=_no_constant
)
