"""Text as PostgreSQL keeps it, which has no room for NUL.

No text with NUL gets in any more. What an older askwise wrote may have it, as a mark and a
character, and comes back as it was; so what looks like a mark is still marked itself.
"""

from askwise.store.records import whole

_MARK, _NUL, _ITSELF = "\ufdd0", "\ufdd00", "\ufdd01"
"""The mark is no character (Unicode's words) and stands in hardly any text."""

_LOW, _LOW_NUL, _LOW_ITSELF = "\1", "\1\1", "\1\2"
"""Where order counts, the mark is the lowest character that may be kept: then texts and their
beginnings compare as they did before."""


def kept(text: str, field: str) -> str:
    """Turn text into what is kept; StoreError if it can't be."""
    return whole(text, field).replace(_MARK, _ITSELF)


def given(text: str) -> str:
    """Turn what is kept back into the text."""
    return text.replace(_NUL, "\0").replace(_ITSELF, _MARK) if _MARK in text else text


def kept_in_order(text: str, field: str) -> str:
    """As ``kept``, in the order of code points."""
    return whole(text, field).replace(_LOW, _LOW_ITSELF)


def given_in_order(text: str) -> str:
    """Turn what ``kept_in_order`` made back into the text."""
    return text.replace(_LOW_NUL, "\0").replace(_LOW_ITSELF, _LOW) if _LOW in text else text
