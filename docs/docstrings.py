"""Docstrings written as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from askwise.core.docstrings import DocEntry, Docstring


def markdown(text: str) -> str:
    """Turn the few marks of reStructuredText that docstrings use into Markdown.

    Examples
    --------
    >>> markdown("See ``ask`` and :meth:`tell`.")
    'See `ask` and `tell`.'
    """
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text)
    return re.sub(r"``([^`]+)``", r"`\1`", text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], align: str = "") -> str:
    """Write a Markdown table; ``align`` has one of ``<`` and ``>`` a column."""
    rules = ["--:" if mark == ">" else "---" for mark in align.ljust(len(head), "<")]
    lines = [list(head), rules, *([_cell(each) for each in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _cell(text: str) -> str:
    return re.sub(r"[ \n]+", " ", text).strip(" ").replace("|", "\\|")


def example(text: str) -> str:
    """Write the Examples section as code."""
    return f"```pycon\n{text.rstrip()}\n```\n"


def body(read: Docstring) -> str:
    """Write a whole docstring."""
    parts = [markdown(read.sentence), *(markdown(each) for each in read.prose)]
    for title, entries in read.entries.items():
        parts.append(f"**{title}**")
        parts.append(_entry_list(entries))
    for title, text in read.sections.items():
        parts.append(f"**{title}**")
        parts.append(example(text) if title == "Examples" else markdown(text))
    return "\n\n".join(part.rstrip() for part in parts if part) + "\n"


def _entry_list(entries: Sequence[DocEntry]) -> str:
    lines = []
    for each in entries:
        head = f"`{each.names}`" + (f" ({markdown(each.kind)})" if each.kind else "")
        lines.append(f"- {head}: {markdown(each.text)}" if each.text else f"- {head}")
    return "\n".join(lines)
