"""Text as PostgreSQL can keep it: any character but NUL."""

from __future__ import annotations

from askwise.store.records import whole

_MARK, _NUL, _ITSELF = "\ufdd0", "\ufdd00", "\ufdd01"
"""NUL is written as a mark and a digit. The mark is no character (Unicode's words) and stands in
no text; if it does, it is marked as well."""

_LOW, _LOW_NUL, _LOW_ITSELF = "\1", "\1\1", "\1\2"
"""Where order counts, the mark is the lowest character that may be kept: then texts and their
beginnings compare as they did before."""


def kept(text: str, field: str) -> str:
    """Turn text into what PostgreSQL can keep.

    Examples
    --------
    >>> given(kept("a\\0b", "key")) == "a\\0b"
    True
    """
    whole(text, field)
    if "\0" in text or _MARK in text:
        return text.replace(_MARK, _ITSELF).replace("\0", _NUL)
    return text


def given(text: str) -> str:
    """Turn what PostgreSQL has kept back into the text."""
    if _MARK in text:
        return text.replace(_NUL, "\0").replace(_ITSELF, _MARK)
    return text


def kept_in_order(text: str, field: str) -> str:
    """As ``kept``, in the order of code points.

    Examples
    --------
    >>> texts = ["a", "a\\0", "a\\0b", "a\\1", "a\\2", "ab"]
    >>> sorted(kept_in_order(each, "id") for each in reversed(texts)) == [
    ...     kept_in_order(each, "id") for each in texts
    ... ]
    True
    """
    whole(text, field)
    if "\0" in text or _LOW in text:
        return text.replace(_LOW, _LOW_ITSELF).replace("\0", _LOW_NUL)
    return text


def given_in_order(text: str) -> str:
    """Turn what ``kept_in_order`` wrote back into the text."""
    if _LOW in text:
        return text.replace(_LOW_NUL, "\0").replace(_LOW_ITSELF, _LOW)
    return text
