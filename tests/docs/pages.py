"""Running the code of a page: blocks in order, their output compared with what the page shows."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
HAND_WRITTEN = (
    ROOT / "README.md",
    DOCS / "index.md",
    DOCS / "concepts.md",
    DOCS / "tutorial.md",
    DOCS / "how-to" / "lab.md",
    DOCS / "write-your-own-policy.md",
    DOCS / "design-notes.md",
)

NEW_PROCESS = "<!-- a new process -->"
_FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$|^(<!-- a new process -->)$", re.M | re.S)
_END = "\x1e"


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its file name if it has one, where it begins."""

    language: str
    title: str
    code: str
    line: int


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page; a mark for a new process counts as one."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match[4]:
            found.append(Block(NEW_PROCESS, "", "", line))
        else:
            title = re.search(r'title="([^"]+)"', match[2])
            found.append(Block(match[1], title[1] if title else "", match[3], line))
    return found


def run_page(page: Path, folder: Path, **environment: str) -> None:
    """Run the Python blocks of a page; a ``text`` block after one is what it prints.

    A block with a title is a file: it is written into the folder, where everything runs.
    """
    programs: list[list[tuple[Block, str]]] = [[]]
    found = blocks(page)
    for block, after in zip(found, [*found[1:], None], strict=True):
        if block.language == NEW_PROCESS:
            programs.append([])
        elif block.language == "python" and block.title:
            (folder / block.title).write_text(block.code, encoding="utf-8")
        elif block.language == "python":
            shown = after.code if after is not None and after.language == "text" else ""
            programs[-1].append((block, shown))
    for program in programs:
        _run_program(page, program, folder, environment)


def _run_program(
    page: Path, program: list[tuple[Block, str]], folder: Path, environment: dict[str, str]
) -> None:
    lines = ["space = {'__name__': '__main__'}"]
    for block, _ in program:
        # Empty lines in front: a traceback then names the page's own line.
        code = "\n" * block.line + block.code
        lines.append(f"exec(compile({code!r}, {str(page)!r}, 'exec'), space)")
        lines.append(f"print({_END!r}, end='', flush=True)")
    script = folder / "program.py"
    script.write_text("\n".join(lines), encoding="utf-8")
    path = os.pathsep.join([str(folder), str(ROOT)])
    done = subprocess.run(
        [sys.executable, script.name],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(_END)
    for (block, shown), got in zip(program, printed, strict=False):
        same = doctest.OutputChecker().check_output(shown, got, doctest.ELLIPSIS)
        assert same, f"{page.name}, line {block.line}: the page shows\n{shown}\nthe run\n{got}"


def commands(page: Path) -> Iterator[list[str]]:
    """The words of each ``askwise`` command in a page's ``console`` blocks."""
    for block in blocks(page):
        if block.language == "console":
            for line in block.code.replace("\\\n", " ").splitlines():
                if line.startswith("$ askwise "):
                    yield line.removeprefix("$ ").split()
