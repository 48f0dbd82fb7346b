"""Text that every store can keep: whole characters, and no NUL, which PostgreSQL can't hold."""

import json
import re
from collections.abc import Iterator
from typing import Any

from askwise.core.errors import AskwiseError, InvalidProblem

_SUSPECT = re.compile(r"\\u(?:0000|d[89a-f])")
"""In JSON of ASCII: NUL, or half of a surrogate pair, whether or not the other half follows."""


def flaw(text: str) -> str | None:
    """Say what no store can keep in a text; None if it can be kept.

    Examples
    --------
    >>> flaw("naïve 猫")
    >>> flaw("a\\0b")
    'the character NUL (U+0000)'
    """
    if "\0" in text:
        return "the character NUL (U+0000)"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"half a character (U+{ord(text[error.start]):04X})"
    return None


def check_text(
    written: str, fields: Any = None, error: type[AskwiseError] = InvalidProblem
) -> None:
    """Refuse fields with text that no store can keep, wherever it stands in them.

    Parameters
    ----------
    written : str
        JSON of ASCII that holds them: looked at first, which is quick.
    fields : mapping, optional
        The fields by name, if ``written`` is not just these.
    error : type
        What to raise.

    Examples
    --------
    >>> check_text(r'{"tasks": [{"id": "t", "payload": {"a": "b\\u0000"}}]}')
    Traceback (most recent call last):
    askwise.core.errors.InvalidProblem: tasks[0]['payload']['a'] has the character NUL (U+0000): \
leave it out
    """
    if not _SUSPECT.search(written):
        return
    for path, text in _texts(json.loads(written) if fields is None else fields):
        wrong = flaw(text)
        if wrong is not None:
            # Of tasks and workers the field is their own: tasks[0].payload
            field = path[2] if path[0] in ("tasks", "workers") and len(path) > 2 else path[0]
            place = "".join(f"[{each!r}]" for each in path[1:])
            raise error(f"{path[0]}{place} has {wrong}: leave it out", field=field)


def _texts(fields: Any) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Find all texts with their places, without recursion: a payload may be nested deep."""
    waiting: list[tuple[tuple[Any, ...], Any]] = [((), fields)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, dict):
            waiting += [((*path, key), key) for key in value if isinstance(key, str)]
            waiting += [((*path, key), each) for key, each in value.items()]
        elif isinstance(value, list | tuple):
            waiting += [((*path, at), each) for at, each in enumerate(value)]
