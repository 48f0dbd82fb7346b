"""How a task's payload is shown to a worker. Payloads are hostile input: nothing in one may run,
load what it does not name, or pass for a part of the page.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?")
_SCHEMES = '<meta name="color-scheme" content="light dark">'
"""Lets a framed document be as light or dark as the page around it."""

_LONG, _MANY = 600, 12
"""Characters and lines beyond which a text may not fit its box, which is then scrolled."""


@dataclass(frozen=True)
class Picture:
    """An image elsewhere: its address, the words in its place, and where it is loaded from."""

    url: str
    words: str
    origin: str


@dataclass(frozen=True)
class Shown:
    """The parts of a payload, each shown in its own way: ``html`` is a document for a frame in
    which nothing runs, ``rest`` is JSON.
    """

    text: str | None = None
    picture: Picture | None = None
    html: str | None = None
    rest: str | None = None


def shown(payload: Any) -> Shown:
    """Take a payload apart: text as it is, an object by its ``text``, ``image`` and ``html``.

    Whatever has no form of its own is shown as JSON: nothing is left out.

    Examples
    --------
    >>> shown("A cat?").text
    'A cat?'
    >>> made = shown({"image": "https://img.example/1.jpg", "alt": "A cat", "n": 7})
    >>> made.picture.origin, made.rest
    ('https://img.example', '{\\n  "n": 7\\n}')
    >>> shown({"image": "javascript:alert(1)"}).picture is None
    True
    """
    if isinstance(payload, str):
        return Shown(text=payload)
    if not isinstance(payload, Mapping):
        return Shown(rest=_pretty(payload))
    rest = dict(payload)
    text = rest.pop("text") if isinstance(rest.get("text"), str) else None
    html = rest.pop("html") if isinstance(rest.get("html"), str) else None
    picture = None
    if isinstance(rest.get("image"), str):
        words = rest.get("alt", "")
        origin = origin_of(rest["image"])
        if origin is not None and isinstance(words, str):
            picture = Picture(rest.pop("image"), words or "The picture of this question", origin)
            rest.pop("alt", None)
    return Shown(
        text,
        picture,
        None if html is None else _SCHEMES + html,
        _pretty(rest) if rest or not payload else None,
    )


def origin_of(url: str) -> str | None:
    """Where an image is loaded from, as a content policy names it; None if it may not be.

    Examples
    --------
    >>> origin_of("https://IMG.example:8443/a b"), origin_of("https://img.example/1.jpg?x=1#y")
    (None, 'https://img.example')
    >>> origin_of("data:image/png;base64,AAAA"), origin_of("//img.example/1.jpg")
    (None, None)
    """
    if any(character <= " " or character == "\\" for character in url):
        return None
    try:
        parts = urlsplit(url)
        host = parts.netloc.encode("idna").decode().lower()
    except ValueError:
        return None
    # No user, no odd character: this goes into a header.
    if parts.scheme not in ("http", "https") or not _HOST.fullmatch(host):
        return None
    return f"{parts.scheme}://{host}"


def scrolls(text: str) -> bool:
    """Whether a text may be larger than its box, which the keyboard must then reach."""
    return len(text) > _LONG or text.count("\n") > _MANY


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
