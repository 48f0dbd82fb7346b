"""Which experiments agreed with what is kept of them, and what that agreement rests on."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import subprocess
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import askwise
from askwise.lab.experiment import experiments

BESIDE = frozenset(
    {"__main__.py", "agents", "cli", "client", "demo", "labelling", "pytest_plugin.py", "service"}
)
"""What stands beside or above the lab: no study can import it."""

STUDIES = ("lab", "papers")
"""Where each study has a file that the others need not import."""


@dataclass
class AgreementRecord:
    """Experiments that agreed with what is kept of them, and at which state of both.

    A file of lines of JSON, one for each experiment and way to run it.
    """

    path: Path | None

    def commit_of(self, name: str, how: str, foundation: Foundation) -> str | None:
        """The commit at which this agreed, if nothing it rests on has changed since."""
        entry = self._read().get((name, how))
        return entry["commit"] if entry and entry["digest"] == foundation.digest(name) else None

    def note(self, name: str, how: str, foundation: Foundation | None, seconds: float) -> None:
        """Note at which state an experiment agreed, or that it did not."""
        if self.path is None:
            return
        entries = self._read()
        entries.pop((name, how), None)
        if foundation is not None:
            entry = {"name": name, "how": how, "seconds": round(seconds)}
            entries[name, how] = {
                **entry,
                "commit": foundation.commit,
                "digest": foundation.digest(name),
            }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        made = self.path.with_suffix(".new")
        made.write_text("".join(json.dumps(entries[key]) + "\n" for key in sorted(entries)))
        made.replace(self.path)

    def _read(self) -> dict[tuple[str, str], dict[str, Any]]:
        if self.path is None or not self.path.is_file():
            return {}
        entries = map(json.loads, self.path.read_text().splitlines())
        return {(entry["name"], entry["how"]): entry for entry in entries}


@dataclass(frozen=True)
class Foundation:
    """What decides whether an experiment agrees: code, the libraries under it and what is kept."""

    sources: Mapping[str, str]
    """Digests of code, by experiment."""
    libraries: tuple[str, ...]
    kept: Mapping[str, str]
    """Digests of kept results, by experiment."""
    commit: str
    """For people to read."""

    @classmethod
    def now(cls, results: Path) -> Foundation:
        """What is there before a run: it may take hours, in which somebody changes the files.

        ``results`` is the folder of what is kept.
        """
        kept = {path.stem: _sum(path.read_bytes()) for path in results.glob("*.json")}
        code = code_now()
        modules = {name: experiments.get(name).__module__ for name in experiments.names()}
        sources = {name: sources_of(module, code) for name, module in modules.items()}
        return cls(sources, _libraries(), kept, _commit())

    def digest(self, name: str) -> str:
        """A short digest of all that an experiment rests on."""
        parts = (name, self.sources[name], *self.libraries, self.kept[name])
        return _sum(" ".join(parts).encode())[:16]


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _libraries() -> tuple[str, ...]:
    """The versions of what computes; Python's does not matter to the rows."""
    return tuple(f"{name}=={metadata.version(name)}" for name in ("numba", "numpy", "scipy"))


def _commit() -> str:
    """The commit that is checked out; "-dirty" if askwise is not what it has."""
    asked = ["git", "-C", str(Path(__file__).parents[1])]
    try:
        found = [
            subprocess.run([*asked, *words], capture_output=True, text=True, check=True).stdout
            for words in (("rev-parse", "--short=8", "HEAD"), ("status", "--short", "askwise"))
        ]
    except (OSError, subprocess.CalledProcessError):
        return "no commit"
    return found[0].strip() + ("-dirty" if found[1] else "")


class Module(NamedTuple):
    """A module of the package."""

    digest: str
    """Of its code, whatever comments and docstrings say."""
    imports: frozenset[str]
    """What may be names of modules in its imports, wherever they stand."""


def sources_of(module: str, code: Mapping[str, Module]) -> str:
    """A digest of the code that a study's module can run: not that of studies it does not import.

    Examples
    --------
    >>> one, two, core = "askwise.lab.papers.one", "askwise.lab.papers.two", "askwise.core"
    >>> code = dict.fromkeys((one, two, core), Module("1", frozenset()))
    >>> changed = Module("2", frozenset())
    >>> sources_of(one, {**code, two: changed}) == sources_of(one, code)
    True
    >>> sources_of(one, {**code, core: changed}) == sources_of(one, code)
    False
    """
    studies = {name for name in code if tuple(name.split(".")[1:3]) == STUDIES}
    needed, new = set[str](), {module} & studies
    while new:
        needed |= new
        new = (studies & {each for name in new for each in code[name].imports}) - needed
    run = (f"{name} {code[name].digest}" for name in code if name not in studies - needed)
    return _sum("\n".join(run).encode())


def code_now() -> dict[str, Module]:
    """All modules that studies can import; a version number stays the same between releases."""
    root, found = Path(askwise.__file__).parent, {}
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root)
        if place.parts[0] not in BESIDE:
            name = ".".join(("askwise", *place.with_suffix("").parts)).removesuffix(".__init__")
            found[name] = _module_in(path, path.stat().st_mtime_ns)
    return found


@cache
def _module_in(path: Path, changed_at: int) -> Module:
    """Read once until it changes."""
    text = path.read_text()
    names = set[str]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
    return Module(_sum(code_of(text).encode()), frozenset(names))


def code_of(text: str) -> str:
    """The code of a module without comments, docstrings and white space, on any Python.

    Examples
    --------
    >>> code_of("X = 1  # a number\\n\\n\\ndef f():\\n    'Words.'\\n    return '# no'\\n")
    "X = 1 def f(): return '# no'"
    """
    lines = text.splitlines(keepends=True)
    cuts: list[tuple[int, int, int, int]] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and _is_text(node.value):
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            cuts.append((node.lineno, node.col_offset, node.end_lineno, node.end_col_offset))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            (row, column), line = token.start, lines[token.start[0] - 1]
            first = len(line[:column].encode())
            cuts.append((row, first, row, first + len(token.string.encode())))
    raw = [line.encode() for line in lines]
    for row, column, last_row, last_column in sorted(cuts, reverse=True):
        rest = raw[last_row - 1][last_column:]
        raw[row - 1 : last_row] = [raw[row - 1][:column] + rest] + [b""] * (last_row - row)
    return " ".join(b"".join(raw).decode().split())


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
