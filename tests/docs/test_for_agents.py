"""What agents read is written from the documentation, and is up to date."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.for_agents import LLMS, SKILL, llms, skill


@pytest.mark.parametrize(
    ("file", "text"), [(LLMS, llms()), (SKILL, skill())], ids=["llms", "skill"]
)
def test_the_file_is_what_the_documentation_gives(file: Path, text: str) -> None:
    assert file.read_text(encoding="utf-8") == text, "run: python -m docs.for_agents"
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (file.parent / link).is_file(), link


def test_every_page_that_is_kept_is_listed() -> None:
    left_out = {"index.md", "how-to/index.md", "understand.md", "extend.md", "catalogue.md"}
    pages = [*LLMS.parent.glob("*.md"), *(LLMS.parent / "how-to").glob("*.md")]
    named = {page.relative_to(LLMS.parent).as_posix() for page in pages}
    assert named - left_out <= set(re.findall(r"\]\(([^)]+)\)", llms()))
