"""JSON text in ASCII, written by encoders that are made once.

The standard library makes a new encoder of its own in C for every call, which takes longer than to
write an event or a reply with it.
"""

import json
from collections.abc import Callable
from json import encoder as library
from typing import Any

Encode = Callable[[Any], str]


def json_encoder(
    *,
    separators: tuple[str, str] = (",", ":"),
    sort_keys: bool = False,
    allow_nan: bool = False,
    default: Any = None,
) -> Encode:
    """Make a function that writes JSON; what refers to itself is not looked for.

    Parameters
    ----------
    separators, sort_keys, allow_nan, default
        As ``json.dumps`` takes them.

    Examples
    --------
    >>> encode = json_encoder(sort_keys=True)
    >>> encode({"b": [1, 2.5, None], "a": "naïve"})
    '{"a":"na\\\\u00efve","b":[1,2.5,null]}'
    """
    plain = json.JSONEncoder(
        check_circular=False,
        allow_nan=allow_nan,
        separators=separators,
        sort_keys=sort_keys,
        default=default,
    )
    make: Any = getattr(library, "c_make_encoder", None)
    if make is None:  # an interpreter without the part in C
        return plain.encode
    item, colon = separators
    quoted = library.encode_basestring_ascii
    chunks = make(None, plain.default, quoted, None, colon, item, sort_keys, False, allow_nan)

    def encode(value: Any) -> str:
        return "".join(chunks(value, 0))

    return encode
