"""Links that lead somewhere in the repository and, on the site, to the generated page instead.

In the repository there are no generated pages, so pages link to ``catalogue.md``, which says where
the same is found. MkDocs calls :func:`on_page_markdown` for each page
(``hooks`` in ``mkdocs.yml``).
"""

from __future__ import annotations

import re
from typing import Any

GENERATED = {
    "policies": "policies/index.md",
    "rules": "rules/index.md",
    "aggregators": "aggregators/index.md",
    "mechanisms": "mechanisms/index.md",
    "reproductions": "reproductions/index.md",
    "python": "reference/api.md",
    "json": "reference/json.md",
    "commands": "reference/cli.md",
}
"""The generated page for each section of the catalogue."""

_LINK = re.compile(r"\]\(((?:\.\./)*)catalogue\.md#([a-z]+)\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Let the links of a page lead to what the site has."""
    if page.file.src_uri == "changelog.md":
        # It is kept above the documentation.
        markdown = markdown.replace("](docs/", "](")
    return to_generated(markdown)


def to_generated(markdown: str) -> str:
    """Let links to the catalogue lead to the generated pages.

    Examples
    --------
    >>> to_generated("[Rules](../catalogue.md#rules)")
    '[Rules](../rules/index.md)'
    """
    return _LINK.sub(lambda found: f"]({found[1]}{GENERATED[found[2]]})", markdown)
