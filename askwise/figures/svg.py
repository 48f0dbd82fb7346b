"""Matplotlib's SVG made fit for a page."""

from __future__ import annotations

import colorsys
import hashlib
import html
import io
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INLINE = re.compile(r"\b(fill|stroke|stop-color): (#[0-9a-f]{6})\b")

_DARK = {
    **{"#ffffff": "#1d2024", "#dddddd": "#3b4047", "#555555": "#a9aeb4"},
    **{"#222222": "#e4e3e0", "#000000": "#ffffff"},
}
"""Paper, grid, axes, text and bounds on dark ground."""

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


def themed(svg: bytes) -> bytes:
    """An SVG whose colours follow the reader's choice of light or dark.

    Every colour stays where it is and is followed by a variable that has another value on dark
    ground: programs that know no variables show the light one.
    """
    text = svg.decode()
    tags = "".join(_TAG.findall(text))
    colours = sorted({colour for _, colour in _INLINE.findall(tags)})

    def variable(found: re.Match[str]) -> str:
        what, colour = found.groups()
        return f"{what}: {colour}; {what}: var(--on-dark-{colour[1:]}, {colour})"

    values = "".join(f"--on-dark-{each[1:]}: {on_dark(each)}; " for each in colours)
    style = f"@media (prefers-color-scheme: dark) {{ svg {{ {values}}} }}"
    # Only inside tags: a label may well contain what looks like a colour.
    text = _TAG.sub(lambda tag: _INLINE.sub(variable, tag.group()), text)
    return text.replace("</style>", f"{style}</style>", 1).encode()


def on_dark(colour: str) -> str:
    """What a colour becomes on dark ground: light enough to be read there.

    Examples
    --------
    >>> on_dark("#222222"), on_dark("#0072b2")
    ('#e4e3e0', '#4ab9f7')
    """
    if colour in _DARK:
        return _DARK[colour]
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    hue, light, full = colorsys.rgb_to_hls(red, green, blue)
    lighter = colorsys.hls_to_rgb(hue, max(light, 0.63), min(full, 0.92))
    return "#" + "".join(f"{round(255 * each):02x}" for each in lighter)


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
