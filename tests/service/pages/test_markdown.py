"""Instructions in Markdown: what is rendered, and that nothing in them runs or loads."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.service.pages.markdown import SCHEMES, markdown

REL = 'rel="noopener noreferrer nofollow" target="_blank"'


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("Judge *what* it **wants**.", "<p>Judge <em>what</em> it <strong>wants</strong>.</p>\n"),
        ("# Spam\n\n## Ham", "<h3>Spam</h3>\n<h4>Ham</h4>\n"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n"),
        ("[rules](https://a.example/r)", f'<p><a href="https://a.example/r" {REL}>rules</a></p>\n'),
        ("![a cat](https://a.example/c.png)", "<p>a cat</p>\n"),
        ("![*a* <b>](https://a.example/c.png)", "<p>a &lt;b&gt;</p>\n"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"),
        ("a <b onclick=x>c</b>", "<p>a &lt;b onclick=x&gt;c&lt;/b&gt;</p>\n"),
    ],
)
def test_it_reads_as_it_is_meant(text: str, html: str) -> None:
    assert markdown(text) == html


def test_a_table_has_no_style_of_its_own() -> None:
    made = markdown("| a | b |\n|:--|--:|\n| 1 | 2 |")
    assert "<td>1</td>" in made
    assert "style" not in made


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)", "JaVaScRiPt:alert(1)", "&#106;avascript:alert(1)",
        "data:text/html,<script>alert(1)</script>", "vbscript:x", "file:///etc/passwd",
        "//evil.example", "/dashboard/-/new", "?done=stopped", "[::1",
    ],
)  # fmt: skip
def test_a_link_leads_to_web_and_mail_addresses_only(address: str) -> None:
    for text in (f"[x]({address})", f"[x][1]\n\n[1]: {address}", f"<{address}>"):
        assert "a" not in {tag for tag, _ in tags_of(text)}


PIECES = [
    "<script>", "</div>", "[a](", "javascript:alert(1)", "https://a.example", ")", "![", "]", "`",
    "<img src=x onerror=alert(1)>", "<", ">", '"', "'", "\n", "\n\n", "# ", "- ", "| a |\n|-|\n",
    "&#106;", "<https://a.example>", "*", "_", "\\", "```x\n",
]  # fmt: skip
SAFE = {
    "p", "em", "strong", "code", "pre", "a", "ul", "ol", "li", "h3", "h4", "h5", "h6", "hr", "br",
    "blockquote", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=25).map("".join))
def test_whatever_is_written_has_harmless_tags_only(text: str) -> None:
    for tag, attrs in tags_of(text):
        assert tag in SAFE
        if tag == "a":
            given = dict(attrs)
            assert (given["href"] or "").split(":")[0].lower() in SCHEMES
            assert given["rel"] == "noopener noreferrer nofollow"
        else:
            assert {name for name, _ in attrs} <= {"start", "class"}


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, list[tuple[str, str | None]]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, attrs))


def tags_of(text: str) -> list[tuple[str, list[tuple[str, str | None]]]]:
    parser = _Tags()
    parser.feed(markdown(text))
    return parser.found
