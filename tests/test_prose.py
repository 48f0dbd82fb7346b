"""The prose linter: what it reads of a file, which words it finds, and how one is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import prose

HE = "he"


def said(name: str, text: str) -> list[tuple[int, str]]:
    return [(each.line, each.words) for each in prose.findings(Path(name), text)]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("A worker names his price.", "his"),
        ("Ask whoever's next.", "whoever's"),
        ("The report lies at demo-out.", "lies at"),
        ("The dearer worker is asked.", "dearer"),
        ("It takes 20 s at the most.", "at the most"),
        ("Two answers a task are enough.", "Two answers a task"),
        ("Stop after so many answers.", "so many"),
        ("As many requests does one count that shows it.", "As many requests does one count"),
        ("How good people are, nobody knows.", "nobody knows"),
        ("It is all that one knows.", "one knows"),
        ("The caller gets told.", "gets told"),
        ("It begins anew.", "anew"),
        ("id : How you call it.", "How you call"),
        ("Reckon with the price.", "Reckon"),
        ("What came of it.", "What came of"),
        ("Write one test a check.", "one test a check"),
        ("A share, which is no probability.", "which is no probability"),
        ("It is left out, as nobody asked.", ", as nobody"),
        ("It is right in the mean.", "in the mean"),
        ("It hangs on the seed.", "hangs on"),
        ("Models take answers for independent.", "take answers for independent"),
        ("Wait, lest it fails.", "lest"),
    ],
)
def test_each_phrase_is_found(bad: str, words: str) -> None:
    assert said("page.md", f"# Title\n\n{bad}\n") == [(3, words)]


@pytest.mark.parametrize(
    "good",
    [
        "The others are at the least cost, or at the most that it may cost.",
        "A worker answers a question, and the five answers a task may have are counted.",
        "Dear team!",
        "One of them knows; there are so many tasks that it takes long.",
        "The theory there, here and elsewhere.",
        "It is no longer asked, that is no matter, and there is no probability.",
        "They are, as there, the same; in the meantime it rests on them.",
        "Nobody is taken for a fool.",
    ],
)
def test_what_only_looks_like_it_is_left_alone(good: str) -> None:
    assert said("page.md", good) == []


def test_a_phrase_is_found_over_the_end_of_a_line_and_of_a_literal() -> None:
    assert said("page.md", "It costs 5 at the\nmost.") == [(1, "at the most")]
    assert said("a.py", "x = (\n    'costs at '\n    f'the most {x}'\n)\n") == [(2, "at the most")]
    assert said("a.py", "# It costs at the\n# most.\n") == [(1, "at the most")]


def test_comments_docstrings_and_messages_of_python_are_read_and_its_code_is_not() -> None:
    text = (
        f'"""When {HE} is asked."""\n'
        "his = dear(so, many)\n"
        f'raise Error(f"{{his}} is what {HE} asked")  # {HE} again\n'
        'key = ("dear", b"his own")\n'
    )
    assert said("a.py", text) == [(1, HE), (3, HE), (3, HE)]


def test_examples_and_names_in_docstrings_are_not_read() -> None:
    text = '"""Sum.\n\n    >>> dear + his\n    3\n\n    As ``his`` says.\n    """\n'
    assert said("a.py", text) == []


def test_code_addresses_and_comments_of_a_page_are_not_read() -> None:
    page = "`his` [link](his.md) <!-- his -->\n```text\nhis\n```\nIt is his.\n"
    assert said("page.md", page) == [(5, "his")]


def test_the_text_of_a_template_is_read_and_the_labels_of_its_fields() -> None:
    page = '<p class="his">{{ his }}{# his #}{% his %}\n<b>his</b>\n<input title="his name">'
    assert said("a.html", page) == [(2, "his"), (3, "his")]
    assert said("a.html", '{{ area("his", "His answer", his) }}') == [(1, "His")]


def test_a_quotation_is_allowed_on_its_line_only() -> None:
    page = "He said: his. <!-- prose: quoted -->\nIt is his.\n"
    assert said("page.md", page) == [(2, "his")]
    assert said("a.py", 'x = "in his words"  # prose: quoted\n') == []


def test_findings_are_printed_with_what_to_say_and_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "page.md").write_text("A dear one.\n", encoding="utf-8")
    assert prose.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out == (
        f'{tmp_path}/page.md:1: "dear": say "expensive, costs more" (dear opens a letter)\n'
    )
    (tmp_path / "page.md").write_text("A costly one.\n", encoding="utf-8")
    assert prose.main([str(tmp_path)]) == 0
