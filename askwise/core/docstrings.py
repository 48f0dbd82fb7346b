"""Docstrings in numpydoc's form, read into parts."""

import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

TABLED = ("Parameters", "Attributes", "Returns", "Raises")
"""Sections that hold one entry for each name."""


@dataclass(frozen=True)
class DocEntry:
    """One entry of a section such as Parameters: names, a type, what it says."""

    names: str
    kind: str
    text: str


@dataclass
class Docstring:
    """A docstring in parts; ``prose`` is every paragraph but the first."""

    sentence: str = ""
    prose: list[str] = field(default_factory=list)
    entries: dict[str, list[DocEntry]] = field(default_factory=dict)
    sections: dict[str, str] = field(default_factory=dict)

    def beginning(self, word: str) -> str:
        """The paragraph that begins with a word, or nothing."""
        return next((each for each in self.prose if each.startswith(word)), "")

    @property
    def described(self) -> set[str]:
        """Names that the section Parameters describes."""
        return set(self.texts("Parameters"))

    def texts(self, *titles: str) -> dict[str, str]:
        """What the entries of some sections say, by name."""
        return {
            name.strip(): entry.text
            for title in titles
            for entry in self.entries.get(title, ())
            for name in entry.names.split(",")
        }


def parse(text: str | None) -> Docstring:
    """Read a docstring.

    Examples
    --------
    >>> read = parse("Do it.\\n\\nParameters\\n----------\\nn : int\\n    How often.\\n\\nNot now.")
    >>> read.sentence, read.entries["Parameters"][0].text, read.prose
    ('Do it.', 'How often.', ['Not now.'])
    """
    read = Docstring()
    for title, body in _split(inspect.cleandoc(text or "")):
        if title in TABLED:
            entries, rest = _entries(body)
            read.entries[title] = entries
            read.prose += _paragraphs(rest)
        elif title:
            read.sections[title] = "\n".join(body).strip()
        else:
            read.prose += _paragraphs(body)
    if read.prose:
        read.sentence = read.prose.pop(0)
    return read


def doc_of(thing: Any) -> Docstring:
    """Read the docstring that a class or function has itself; an inherited one is not its own."""
    own = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
    return parse(own)


def attributes_of(noun: type) -> dict[str, str]:
    """What is said of each attribute or parameter of a class, by itself or by its bases."""
    found: dict[str, str] = {}
    for base in reversed(noun.__mro__):
        found |= doc_of(base).texts("Parameters", "Attributes")
    return found


def _split(text: str) -> list[tuple[str, list[str]]]:
    lines = text.splitlines()
    parts: list[tuple[str, list[str]]] = [("", [])]
    at = 0
    while at < len(lines):
        under = lines[at + 1] if at + 1 < len(lines) else ""
        if lines[at] and re.fullmatch(r"-{3,}", under) and len(under) == len(lines[at]):
            parts.append((lines[at], []))
            at += 2
        else:
            parts[-1][1].append(lines[at])
            at += 1
    return parts


def _entries(lines: Sequence[str]) -> tuple[list[DocEntry], list[str]]:
    """Entries, and the paragraphs that follow them without a heading."""
    found: list[DocEntry] = []
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        end = at + 1
        while end < len(lines) and (lines[end].startswith(" ") or _gap(lines, end)):
            end += 1
        if end == at + 1:
            return found, list(lines[at:])
        names, _, kind = lines[at].partition(" : ")
        text = " ".join(line.strip() for line in lines[at + 1 : end] if line.strip())
        found.append(DocEntry(names.strip(), kind.strip(), text))
        at = end
    return found, []


def _gap(lines: Sequence[str], at: int) -> bool:
    """Whether an empty line stands inside an entry."""
    return not lines[at].strip() and at + 1 < len(lines) and lines[at + 1].startswith(" ")


def _paragraphs(lines: Sequence[str]) -> list[str]:
    """Paragraphs; one that is indented (a formula, an example) keeps its lines."""
    found = []
    for part in re.split(r"\n\s*\n", "\n".join(lines).strip("\n")):
        if part.startswith("    "):
            found.append(part)
        elif part.strip():
            found.append(" ".join(part.split()))
    return found
