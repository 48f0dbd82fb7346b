"""Find words that a native technical editor would not write, in code, pages and templates.

Looks at comments, docstrings and other strings of Python files, at Markdown outside code, at the
text of HTML templates, and at all of the other files. A phrase may run over a line's end. Exits
with 1 if something is found. Where such a word is quoted, ``prose: quoted`` in a comment on its
line allows it.

    python scripts/prose.py [FILE or FOLDER ...]
"""

from __future__ import annotations

import io
import re
import string
import sys
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACES = ("askwise", "tests", "docs", "scripts", "benchmarks", "deploy", "README.md",
          "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "Makefile")  # fmt: skip
SUFFIXES = {".py", ".md", ".html", ".js", ".css", ".toml", ".yml"}
ALLOWED = "prose: quoted"

_NAMING = {Path(__file__).resolve(), ROOT / "tests" / "test_prose.py"}

# Stands for what is not prose: neither a space nor part of a word, so that no phrase runs over it.
_CUT = "\0"


@dataclass(frozen=True)
class Rule:
    """A phrase to avoid.

    Parameters
    ----------
    pattern : str
        A regular expression of whole words in small letters; each of its spaces stands for any
        white space.
    say : str
        What to write instead.
    why : str
        What is wrong with it.
    """

    pattern: str
    say: str
    why: str

    @property
    def regex(self) -> str:
        """The pattern at the boundaries of words, over lines' ends."""
        return r"\b(?:" + self.pattern.replace(" ", r"\s+") + r")\b"


# "An answer a task", after a number, so that neither "answers a question" nor "the most answers a
# task may have" is meant.
_NUMBER = r"an?|one|two|three|four|five|six|eight|ten|few|fewer|several|[\d.,]+"
_THING = (
    "answers?|labels?|votes?|questions?|entry|entries|rows?|columns?|lines?|cells?|objects?|"
    "numbers?|points?|pages?|files?|modules?|tokens?|bytes|units?|facts?|tests?|events?|folders?|"
    "names?|ids?|options?|commands?|keys?|secrets?|schemas?"
)
_UNIT = (
    "task|worker|answer|question|label|item|judge|model|person|crowd|family|context|class|option|"
    "policy|rule|campaign|run|arm|round|decision|call|store|process|study|view|line|page|day|hour|"
    "check|kind|algorithm|request|record"
)
_GOES_ON = "may|must|can|could|will|would|gives|gave|gets|got|has|had|needs|takes|took|is|was"

_PRONOUNS = Rule(
    "he|his|him|himself|she|her|herself", "they, their, them", "a worker may be anyone"
)

RULES = (
    _PRONOUNS,
    Rule("whoever(?:'s)?|whomever", "the worker who, anyone who, no matter who", "a riddle"),
    Rule("(?:lies|lie|lay) at", "is at", "a file does not lie"),
    Rule(r"dear(?! \w+[!,])|dearer|dearest", "expensive, costs more", "dear opens a letter"),
    Rule("at the (?:most|least)(?! cost| it| that)", "at most, at least", "wordy"),
    Rule(
        f"(?:{_NUMBER}) (?:{_THING}) an? (?:{_UNIT})(?! (?:{_GOES_ON}))",
        "per",
        '"an answer a task" reads as two things',
    ),
    Rule(r"so many(?! \w+ that)", "this many, that many, a number of", "so many means a lot"),
    Rule("as many .{0,40} does one counts?", "counts as this many", "a riddle"),
    Rule("nobody knows", "you don't know, is unknown", "say who needs to know"),
    Rule("one (?:knows|sees|wants|likes|wishes)", "you know", "an impersonal one is stiff"),
    Rule("gets? told", "is told, learns", "clumsy"),
    Rule("anew", "again, afresh, restart", "literary"),
    Rule("how you call", "unique name, what you call", "not English"),
    Rule("reckons?|reckoned", "count on, compute", "colloquial"),
    Rule("what (?:came|comes) of", "the result of", "wordy"),
    Rule(
        r"(?:which|that|it|this|what) (?:is|are) no "
        r"(?!(?:longer|more|less|better|worse|larger|smaller|fewer|matter|one|need)\b)\w+",
        "is not a",
        "no denies that there is one, not that it is one",
    ),
    Rule(", as (?:there (?:is|are|was|were)|nobody|nothing|somebody)", "because", "a dangling as"),
    Rule("in the mean", "on average", "a mean is a number"),
    Rule("hangs? on", "depends on", "a picture hangs"),
    Rule(
        "tak(?:es?|en) (?:(?:the )?(?:answers|workers|judges|them|it) )?"
        "for (?:the truth|independent|right)",
        "treat as, count as",
        "taken for means mistaken for",
    ),
    Rule(
        "thereby|therein|thereof|thereon|whereof|wherein|hereby|herein|whilst|ere|lest",
        "plain words",
        "archaic",
    ),
)

_ANY = re.compile("|".join(f"(?P<r{at}>{rule.regex})" for at, rule in enumerate(RULES)))

# Patterns are in small letters, which is several times faster than to ignore case.
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_SEAM = re.compile(r"[\"']\s*\n\s*[a-zA-Z]{0,2}[\"']|\n\s*#|[\"']")


@dataclass(frozen=True)
class Finding:
    """A phrase to avoid, and where it is."""

    path: Path
    line: int
    words: str
    rule: Rule

    def __str__(self) -> str:
        return f'{self.path}:{self.line}: "{self.words}": say "{self.rule.say}" ({self.rule.why})'


def _cut(text: str) -> str:
    """As long as a text and with its lines, but nothing to read."""
    return re.sub(r"[^\n]", _CUT, text)


def _without(pattern: str, text: str) -> str:
    return re.sub(pattern, lambda found: _cut(found[0]), text, flags=re.S | re.M)


def _string(token: str) -> str:
    """The prose of a string literal: not code, examples, or what is put into it."""
    found = re.match(r"(?i)([a-z]*)('''|\"\"\"|'|\")", token)
    assert found
    prefix, quote = found[1].lower(), found[2]
    if "b" in prefix or " " not in token:
        return _cut(token)
    body = token[found.end() : -len(quote)]
    body = _without(r"^\s*(?:>>>|\.\.\.) [^\n]*|``.*?``", body)
    if "f" in prefix:
        body = _without(r"\{[^{}\n]*\}", body)
    # Quotes are spaces: a sentence goes on in the next literal.
    return " " * found.end() + body + " " * len(quote)


def python_prose(text: str) -> str:
    """Comments and strings of a Python file, at their places; all else is cut out."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found, at = [], 0
    layout = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        begin = starts[token.start[0] - 1] + token.start[1]
        end = starts[token.end[0] - 1] + token.end[1]
        if token.type in layout or begin == end:
            continue
        found.append(text[at:begin])
        inside = text[begin:end]
        if token.type == tokenize.COMMENT:
            found.append(" " + inside[1:])
        elif token.type == tokenize.STRING:
            found.append(_string(inside))
        elif token.type == getattr(tokenize, "FSTRING_MIDDLE", None):
            found.append(inside)
        else:
            found.append(_cut(inside))
        at = end
    return "".join(found) + text[at:]


def markdown_prose(text: str) -> str:
    """A page without its code, comments, and addresses of links."""
    text = _without(r"^ *(```+|~~~+).*?^ *\1 *$", text)
    return _without(r"`[^`\n]*`|<!--.*?-->|\]\([^)\s]*\)|https?://\S+", text)


def html_prose(text: str) -> str:
    """What a template shows: text, texts in its code, and the attributes that people read."""
    text = _without(r"<(script|style)\b.*?</\1>|\{#.*?#\}|<!--.*?-->", text)

    def code(found: re.Match[str]) -> str:
        kept = list(_cut(found[0]))
        for part in re.finditer(r'"([^"]*)"', found[0]):
            if " " in part[1]:
                kept[slice(*part.span(1))] = part[1]
        return "".join(kept)

    text = re.sub(r"\{%.*?%\}|\{\{.*?\}\}", code, text, flags=re.S)
    shown = r"\b(?:title|placeholder|alt|aria-label|value|content)=\"([^\"]*)\""

    def tag(found: re.Match[str]) -> str:
        kept = list(_cut(found[0]))
        for part in re.finditer(shown, found[0]):
            kept[slice(*part.span(1))] = part[1]
        return "".join(kept)

    return re.sub(r"<[^<>]*>", tag, text, flags=re.S)


_PROSE = {".py": python_prose, ".md": markdown_prose, ".html": html_prose}


def findings(path: Path, text: str) -> Iterator[Finding]:
    """What is to be said otherwise in a file's text."""
    # To take a file apart takes long, and few have any of the words anywhere: literals and comments
    # are joined here, code and all.
    if _ANY.search(_SEAM.sub(" ", text).translate(_LOWER)) is None:
        return
    prose = _PROSE.get(path.suffix, str)(text)
    lines = text.splitlines()
    for found in _ANY.finditer(prose.translate(_LOWER)):
        line = prose.count("\n", 0, found.start()) + 1
        if ALLOWED not in lines[line - 1]:
            assert found.lastgroup
            rule = RULES[int(found.lastgroup[1:])]
            words = " ".join(prose[slice(*found.span())].split())
            yield Finding(path, line, words, rule)


def files_of(places: Iterable[Path]) -> Iterator[Path]:
    """The files to look at, in order; not this one and its test, which name the words."""
    for place in places:
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            kept = path.suffix in SUFFIXES or path.name == "Makefile"
            if kept and path.resolve() not in _NAMING:
                yield path


def main(arguments: list[str]) -> int:
    """Print what is found; 1 if there is something."""
    places = [Path(each) for each in arguments] or [ROOT / each for each in PLACES]
    count = 0
    for path in files_of(places):
        shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        for found in findings(shown, path.read_text(encoding="utf-8")):
            # Tests may be stiff, but a worker may be anyone there too.
            if shown.parts[0] != "tests" or found.rule is _PRONOUNS:
                print(found)
                count += 1
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
