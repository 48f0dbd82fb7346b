"""Matplotlib's SVG made fit for a page."""

from __future__ import annotations

import hashlib
import html
import io
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE_INK = "#010203"
"""A colour that nobody draws in: `bare` makes it the page's own colour of text."""

_TAG = re.compile(r"<[^>]*>")
_STYLE = re.compile(r'\sstyle="([^"]*)"')
_NUMBER = re.compile(r"-?\d+\.\d+")
_FONT = re.compile(r"(?:(bold|\d+)\s+)?([\d.]+px)\b")


def render(figure: Figure, form: str, metadata: dict[str, Any], dpi: int) -> bytes:
    """The figure as a file, under the settings that hold now."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form, metadata=metadata, dpi=dpi)
    return buffer.getvalue()


def render_svg(figure: Figure) -> bytes:
    """The figure as an SVG that tells neither when nor by whom it was made."""
    return render(figure, "svg", {"Date": None, "Creator": None}, 72)


def element(svg: bytes, name: str) -> str:
    """An SVG as an ``<svg>`` element to put into a page.

    Ids get a prefix of their own, so several figures may share a page; ``name`` is what screen
    readers say.
    """
    text = _with_own_ids(_without_preamble(svg))
    return text.replace("<svg", f'<svg role="img" aria-label="{_quoted(name)}"', 1).strip()


def bare(svg: bytes, name: str) -> str:
    """As `element`, for a page that forbids inline styles, in light and in dark.

    Attributes instead of styles, the page's own font and colour of text, as wide as its place,
    numbers to a hundredth of a unit, no id that nothing refers to.
    """
    text = _without_preamble(svg)
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", text, flags=re.DOTALL)
    text = re.sub(r"\s*<!--.*?-->", "", text, flags=re.DOTALL)
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', text))
    text = _TAG.sub(lambda tag: _slim(tag.group(), used), text)
    text = re.sub(r">\s+<", "><", text).replace("<g/>", "")
    view = re.search(r'viewBox="[^"]*"', text)
    assert view is not None
    head = (
        f'<svg class="chart" role="img" aria-label="{_quoted(name)}" {view.group()} width="100%" '
        'xmlns="http://www.w3.org/2000/svg" stroke-linejoin="round" stroke-linecap="butt">'
    )
    return re.sub(r"<svg[^>]*>", lambda _: head, _with_own_ids(text), count=1).strip()


def _without_preamble(svg: bytes) -> str:
    text = svg.decode()
    text = text[text.index("<svg") :]
    return re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)


def _with_own_ids(text: str) -> str:
    prefix = "f" + hashlib.sha256(text.encode()).hexdigest()[:8] + "-"

    def own(tag: re.Match[str]) -> str:
        # Only inside tags: a label may well contain what looks like an id.
        return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}", tag.group())

    return _TAG.sub(own, text)


def _quoted(name: str) -> str:
    return html.escape(" ".join(name.split()))


def _slim(tag: str, used: set[str]) -> str:
    tag = _STYLE.sub(lambda style: _attributes(html.unescape(style.group(1))), tag)
    tag = re.sub(r'\sid="([^"]*)"', lambda at: at.group() if at.group(1) in used else "", tag)
    tag = tag.replace("xlink:href", "href").replace(PAGE_INK, "currentColor")
    tag = re.sub(r'\stransform="rotate\(-?0 [^"]*"', "", tag)
    return re.sub(r"\s+", " ", _NUMBER.sub(_rounded, tag)).replace(' "', '"')


def _attributes(style: str) -> str:
    """A style's properties as attributes, but for the font's family: the page has one."""
    parts = (part.partition(":") for part in style.split(";") if part.strip())
    found = {name.strip(): value.strip() for name, _, value in parts}
    found.pop("font-family", None)
    short = _FONT.match(found.pop("font", ""))
    if short is not None:
        # Before Matplotlib 3.10 the font is one property, which has no attribute.
        found.update({"font-weight": short[1] or "normal", "font-size": short[2]})
    return "".join(f' {name}="{html.escape(value)}"' for name, value in found.items())


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number.group()):.2f}".rstrip("0").rstrip(".")
