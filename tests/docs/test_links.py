"""Links of the pages that are kept in the repository lead to files, and to headings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.blocks import DOCS, ROOT
from docs.site_links import GENERATED, to_generated

BUILT = {(path.partition("/")[0],) for path in GENERATED.values()} - {("reference",)}
"""Folders of generated pages, which may be there or not."""


def kept() -> list[Path]:
    """The pages of the repository, without those that are generated into it."""
    found = [*ROOT.glob("*.md"), *DOCS.glob("*.md"), *(DOCS / "how-to").glob("*.md")]
    return sorted(page for page in found if page != DOCS / "changelog.md")


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M))


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    heads = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", kept(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_of_a_page_leads_to_what_is_kept(page: Path) -> None:
    dead = []
    for link in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        inside = target.relative_to(DOCS).parts if target.is_relative_to(DOCS) else ()
        generated = "/".join(inside) in GENERATED.values() or inside[:1] in BUILT
        if generated or not target.exists() or (anchor and anchor not in anchors(target)):
            dead.append(link)
    assert dead == []


def test_every_section_of_the_catalogue_has_a_generated_page() -> None:
    sections = anchors(DOCS / "catalogue.md") - {"what-is-in-the-package"}
    assert sections == set(GENERATED)
    assert to_generated("[a](../catalogue.md#json)") == "[a](../reference/json.md)"
