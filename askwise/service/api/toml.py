"""TOML from strangers: refused before the parser gets it where that would take too long.

The parser looks at every beginning of a dotted key, so one of n parts takes n² steps, and each key
below a long header takes as many as that has parts.
"""

import re
import tomllib
from typing import Any

from askwise.service.routing.bodies import check_plain

LONGEST_KEY = 20
"""The most parts of a dotted key."""

_TEXT = r"""\"(?!\"\")(?:[^"\\\n]++|\\.)*+\"?|'(?!'')[^'\n]*+'?"""
_TOKENS = re.compile(
    rf"""
    (?P<parts>(?:[A-Za-z0-9_.\ \t-]++|{_TEXT})++)            # perhaps a key
    |\"\"\"(?:[^"\\]++|\\(?s:.)|\"(?!\"\"))*+\"{{0,5}}       # texts of several lines
    |'''(?:[^']++|'(?!''))*+'{{0,5}}
    |\#[^\n]*+
    |[^"'\#A-Za-z0-9_.\ \t-]++
    """,
    re.VERBOSE,
)
"""Splits a document in time that grows with its length. No alternative fails after it has begun,
so nothing is read twice. What is not TOML may be split wrongly, but only after the place at which
the parser stops."""

_TEXTS = re.compile(_TEXT)


def read_toml(body: bytes) -> dict[str, Any]:
    """Read TOML; ValueError says what is wrong with it.

    Examples
    --------
    >>> read_toml(b"a.b = 1")
    {'a': {'b': 1}}
    >>> read_toml(b"a" + b".a" * 20 + b" = 1")
    Traceback (most recent call last):
    ...
    ValueError: a key in line 1 has more than 20 parts: nest less
    """
    text = body.decode()
    for token in _TOKENS.finditer(text):
        parts = token["parts"] or ""
        # The first count is quick, and too high only where a quoted text has dots.
        if parts.count(".") >= LONGEST_KEY and _TEXTS.sub("", parts).count(".") >= LONGEST_KEY:
            line = text.count("\n", 0, token.start()) + 1
            raise ValueError(f"a key in line {line} has more than {LONGEST_KEY} parts: nest less")
    raw = tomllib.loads(text)
    check_plain(raw)
    return raw
