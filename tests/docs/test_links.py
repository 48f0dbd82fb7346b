"""Links lead somewhere: in the repository to files and headings, on the site to what was built."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

from docs.blocks import DOCS, ROOT, without_code
from docs.conf import GENERATED, INDEXES, navigation, to_generated

NOT_OURS = {"site", "build", "demo-out", "lab-out"}
"""Folders of the repository that hold what was made; nor are hidden ones ours."""

LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]^]+\]:\s*(\S+)", re.M)


def kept() -> list[Path]:
    """Every page of the repository."""
    folders = [
        folder
        for folder in ROOT.iterdir()
        if folder.is_dir() and folder.name[0] != "." and folder.name not in NOT_OURS
    ]
    return sorted([*ROOT.glob("*.md"), *(page for each in folders for page in each.rglob("*.md"))])


def links_in(text: str) -> list[str]:
    """Targets of links and pictures, also of those with a title and of references."""
    return [inline or reference for inline, reference in LINK.findall(without_code(text))]


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them: the second of the same name ends in ``-1``."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    found: set[str] = set()
    for head in re.findall(r"^#+ (.+)$", text, re.M):
        head = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head)
        name = first = re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-")
        count = 0
        while name in found:
            count += 1
            name = f"{first}-{count}"
        found.add(name)
    return found


@pytest.mark.parametrize("page", kept(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_of_a_page_leads_to_what_is_kept(page: Path) -> None:
    dead = []
    for link in links_in(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / unquote(path)).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            dead.append(link)
    assert dead == []


def test_links_of_all_forms_are_found() -> None:
    text = '[a](b.md) ![c](d.svg "words") [e](<f.md>) `[g](h.md)`\n\n[i]: j.md\n'
    assert links_in(text) == ["b.md", "d.svg", "f.md", "j.md"]


def test_headings_of_the_same_name_are_numbered(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A `b`, [c](d.md)\n\n## E\n\n## E\n")
    assert anchors(page) == {"a-b-c", "e", "e-1"}


def test_every_section_of_the_catalogue_has_a_generated_page() -> None:
    sections = anchors(DOCS / "catalogue.md") - {"what-is-in-the-package"}
    assert sections == set(GENERATED) - {""}
    assert to_generated("[a](../catalogue.md#json)") == "[a](../reference/json.md)"


def test_a_page_that_no_index_names_is_still_in_the_navigation(tmp_path: Path) -> None:
    for index in INDEXES:
        (tmp_path / index).parent.mkdir(exist_ok=True)
        (tmp_path / f"{index}.md").write_text("# Title\n")
    (tmp_path / "index.md").write_text("[b](how-to/b.md) [guides](how-to/index.md)")
    (tmp_path / "how-to" / "index.md").write_text("[b](b.md) [home](../index.md) [d](../d.md)")
    (tmp_path / "extend.md").write_text("[d](d.md)")
    for page in ("how-to/a", "how-to/b", "c", "d"):
        (tmp_path / f"{page}.md").write_text("# Title\n")
    found = navigation(tmp_path)
    assert found["index"] == ["how-to/index"]
    assert found["how-to/index"] == ["how-to/b", "how-to/a"]
    assert found["extend"] == ["d"]
    assert "c" in found["understand"]


class Links(HTMLParser):
    """What a page of the site links to, what it loads, and the places in it."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.leads: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.leads.append(given["href"])
        elif tag == "link" and given.get("rel") not in ("index", "search", "next", "prev"):
            self.loads.append(given.get("href", ""))
        elif "src" in given:
            self.loads.append(given["src"])


@pytest.mark.slow
def test_the_site_has_no_dead_link_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    # Needs the lab and Sphinx, which the other tests need not wait for.
    from docs.site import build, gather

    site = tmp_path / "site"
    gather(tmp_path / "pages")
    assert build(tmp_path / "pages", site) == ""
    pages = {page: Links(page) for page in site.rglob("*.html")}
    assert len(pages) > 100
    wrong = []
    for page, links in pages.items():
        for link in links.leads + links.loads:
            whole, anchor = urldefrag(link)
            if urlsplit(whole).scheme:
                if link in links.loads:
                    wrong.append(f"{page.name} loads {link}")
                continue
            path = unquote(urlsplit(whole).path)
            target = (page.parent / path).resolve() if path else page
            known = pages.get(target)
            if not target.exists() or (anchor and known and unquote(anchor) not in known.places):
                wrong.append(f"{page.relative_to(site)} leads to {link}")
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        wrong += re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^)\s]+", text)
    assert wrong == []
