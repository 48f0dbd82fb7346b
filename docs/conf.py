"""Sphinx's settings for the site; ``python -m docs.site`` builds it.

Pages are the Markdown of this folder, which reads as well where the code is. Three things are done
to it on the way to the site, all in :func:`for_site`: links to the catalogue lead to the generated
pages, a code block's file name becomes its caption, and the links of an index page become the
navigation.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from docs.blocks import without_code

project = "askwise"
extensions = ["myst_parser"]
myst_heading_anchors = 4
exclude_patterns = ["catalogue.md", "notebooks"]
smartquotes_action = "qe"  # quotes and ellipses; two hyphens are those of an option
html_theme = "pydata_sphinx_theme"
html_title = "askwise"
html_static_path = ["assets/site.css"]
html_css_files = ["site.css"]
html_use_index = False  # it would be empty: the pages are their own index
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_sidebars = {"index": [], "search": []}
html_theme_options = {
    "logo": {"text": "askwise"},
    "header_links_before_dropdown": 5,
    "navbar_align": "left",
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

GENERATED = {
    "": "reference/index.md",
    "policies": "policies/index.md",
    "rules": "rules/index.md",
    "aggregators": "aggregators/index.md",
    "mechanisms": "mechanisms/index.md",
    "reproductions": "reproductions/index.md",
    "python": "reference/api.md",
    "json": "reference/json.md",
    "commands": "reference/cli.md",
}
"""The generated page for each section of the catalogue, which only the repository has."""

INDEXES = {
    "index": "",
    "how-to/index": "index",
    "understand": "index",
    "extend": "index",
    "papers": "index",
    "reproductions/index": "papers",
    "reference/index": "index",
    "policies/index": "reference/index",
    "rules/index": "reference/index",
    "aggregators/index": "reference/index",
    "mechanisms/index": "reference/index",
}
"""Pages whose links to pages of their folder are the navigation, and the index above each."""

OUTSIDE = ("skills/",)
"""Pages that others link to and that are not part of the navigation."""

ELSE_UNDER = {"how-to/": "how-to/index", "": "understand"}
"""The index of pages that no index names, by their folder: nothing written is out of reach."""

_CATALOGUE = re.compile(r"\]\(((?:\.\./)*)catalogue\.md(?:#([a-z]+))?\)")
_TITLED = re.compile(r'^```(\w+) title="([^"]+)"$', re.M)
_PAGE = re.compile(r"(?<!!)\[[^\]]*\]\(([\w./-]+\.md)\)")


def to_generated(markdown: str) -> str:
    """Let links to the catalogue lead to the generated pages.

    Examples
    --------
    >>> to_generated("[Rules](../catalogue.md#rules)")
    '[Rules](../rules/index.md)'
    """
    return _CATALOGUE.sub(lambda found: f"]({found[1]}{GENERATED[found[2] or '']})", markdown)


def pages_named(markdown: str, folder: str) -> list[str]:
    """The pages that a page of a folder links to, each once, in their order.

    Examples
    --------
    >>> pages_named("[a](b.md), [c](../d.md), [e](b.md), [f](b.md#g)", "how-to")
    ['how-to/b', 'd']
    """
    links = _PAGE.findall(without_code(to_generated(markdown)))
    named = (posixpath.normpath(posixpath.join(folder, link)) for link in links)
    return list(dict.fromkeys(page.removesuffix(".md") for page in named))


def navigation(pages: Path) -> dict[str, list[str]]:
    """What each index has below it, in the order of its links; a page is below one index."""
    tree: dict[str, list[str]] = {}
    placed = {"index"}
    # The first page names much that belongs to others, so it comes last.
    for index in [*INDEXES][::-1]:
        folder = posixpath.dirname(index)
        named = pages_named((pages / f"{index}.md").read_text(encoding="utf-8"), folder)
        tree[index] = [
            page
            for page in named
            if INDEXES.get(page) == index
            or (page not in {*INDEXES, *placed} and posixpath.dirname(page) == folder)
        ]
        placed.update(tree[index])
    for file in sorted(pages.rglob("*.md")):
        name = file.relative_to(pages).as_posix()
        page = name.removesuffix(".md")
        if page not in placed and not name.startswith((*exclude_patterns, *OUTSIDE)):
            folder = next(each for each in ELSE_UNDER if page.startswith(each))
            tree[ELSE_UNDER[folder]].append(page)
    return tree


def for_site(markdown: str, below: list[str]) -> str:
    """A page of the repository as the site shows it, with its part of the navigation.

    Examples
    --------
    >>> print(for_site('```text title="people.csv"\\nid\\n```', ["how-to/pay"]))
    ```{code-block} text
    :caption: people.csv
    id
    ```
    <BLANKLINE>
    ```{toctree}
    :hidden:
    <BLANKLINE>
    /how-to/pay
    ```
    """
    text = _TITLED.sub(r"```{code-block} \1\n:caption: \2", to_generated(markdown))
    if below:
        entries = "\n".join(f"/{page}" for page in below)
        text += f"\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```"
    return text


def setup(app: Any) -> None:
    """Let Sphinx read every page as the site shows it."""
    tree = navigation(Path(app.srcdir))

    def read(_: Any, page: str, source: list[str]) -> None:
        if page.startswith(OUTSIDE):
            app.env.metadata[page]["orphan"] = True
        source[0] = for_site(source[0], tree.get(page, []))

    app.connect("source-read", read)
