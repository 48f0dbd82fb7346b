"""How the parts of a task are shown on a page. Payloads are hostile input: nothing in one may run,
load what it does not name, or pass for a part of the page.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from askwise.core.parts import Part, Show

_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?")
_INLINE = re.compile(r"data:image/(png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/]+=*")
_SCHEMES = '<meta name="color-scheme" content="light dark">'
"""Lets a framed document be as light or dark as the page around it."""

_FRAME_POLICY = (
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; base-uri 'none'; form-action 'none'\">"
)
"""Of a framed document itself. It also takes on the policy of the page around it, but that one
allows pictures, and is that of an earlier question where the page was changed in place."""

_LINK = re.compile(r"<(?=link)", re.IGNORECASE)
"""Where a link element may begin. No policy keeps a browser from connecting to where one points."""

_LONG, _MANY = 600, 12
"""Characters and lines beyond which a text may not fit its box, which is then scrolled."""


@dataclass(frozen=True)
class ShownPart:
    """A part of a task as a template writes it.

    ``text`` is what is shown: words, indented JSON, an image's address or, of ``html``, a document
    for a frame in which nothing runs. A pair has ``sides`` instead. ``source`` is where an image is
    loaded from, as a content policy names it.
    """

    show: Show
    label: str
    text: str = ""
    sides: tuple[str, ...] = ()
    alt: str = ""
    source: str = ""


def shown(part: Part) -> ShownPart:
    """A part of a task, made safe to show.

    Examples
    --------
    >>> shown(Part("text", "Subject", "You have won")).text
    'You have won'
    >>> shown(Part("image", "", "https://img.example/1.jpg", "A cat")).source
    'https://img.example'
    >>> shown(Part("image", "", "https://user@img.example/1.jpg", "A cat")).show
    'long_text'
    """
    if part.show == "pair":
        return ShownPart("pair", part.label, sides=tuple(part.value))
    if part.show == "json":
        text = json.dumps(part.value, indent=2, ensure_ascii=False)
        return ShownPart("json", part.label, text)
    if part.show == "html":
        return ShownPart("html", part.label, framed(part.value))
    if part.show != "image":
        return ShownPart(part.show, part.label, part.value)
    source = source_of(part.value)
    if source is None:
        # No policy could name where it comes from: it is told, not loaded.
        words = "\n".join(filter(None, (part.alt, part.value)))
        return ShownPart("long_text", part.label, words)
    words = part.alt or part.label or "The picture of this question"
    return ShownPart("image", part.label, part.value, alt=words, source=source)


def framed(text: str) -> str:
    """A document for a frame, which loads nothing and connects to nowhere.

    Its link elements become elements without a meaning. As every one of them begins with these
    letters in the text, this takes no parser that would have to read as browsers do.

    Examples
    --------
    >>> framed("<LINK rel=preconnect href=//spy.example><p>Win").endswith(
    ...     "<x-LINK rel=preconnect href=//spy.example><p>Win"
    ... )
    True
    """
    return _FRAME_POLICY + _SCHEMES + _LINK.sub("<x-", text)


def sources(parts: Iterable[ShownPart]) -> str:
    """Where the images of a page are loaded from, for its content policy; empty if nowhere."""
    return " ".join(sorted({part.source for part in parts if part.source}))


def source_of(url: str) -> str | None:
    """Where an image is loaded from, as a content policy names it; None if it may not be.

    Examples
    --------
    >>> source_of("https://IMG.example:8443/a b"), source_of("https://img.example/1.jpg?x=1#y")
    (None, 'https://img.example')
    >>> source_of("data:image/png;base64,AAAA"), source_of("//img.example/1.jpg")
    ('data:', None)
    """
    if any(character <= " " or character == "\\" for character in url):
        return None
    if _INLINE.fullmatch(url):
        return "data:"
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
