"""The how-to page as a test: its files, its script, its commands and what they print."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from tests.paths import DOCS

PAGE = DOCS / "how-to" / "cli.md"

_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    """A command and what the page says it prints."""

    command: str
    output: str


def files(page: Path = PAGE) -> dict[str, str]:
    """Every file that the page shows, by name."""
    return {name: text for _, name, text in _BLOCK.findall(page.read_text()) if name}


def examples(page: Path = PAGE) -> list[Example]:
    """The commands of the page, in order, each with the lines below it."""
    found: list[Example] = []
    for kind, _, text in _BLOCK.findall(page.read_text()):
        if kind == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                found.append(Example(command, output))
    return found
