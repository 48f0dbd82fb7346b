"""The code in a page: its blocks run in order, and what they print is what the page shows.

A ``text`` block right after a ``python`` block is that block's output. A ``python`` block with a
title is a file: it is written into the folder where everything runs. Whatever follows the comment
``<!-- a new process -->`` runs in another process.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
EXECUTED = (
    ROOT / "README.md",
    DOCS / "concepts.md",
    DOCS / "statistics.md",
    DOCS / "tutorial.md",
    DOCS / "how-to" / "aggregate.md",
    DOCS / "how-to" / "assure.md",
    DOCS / "how-to" / "auto.md",
    DOCS / "how-to" / "cascade.md",
    DOCS / "how-to" / "certify.md",
    DOCS / "how-to" / "check-judges.md",
    DOCS / "how-to" / "crowd.md",
    DOCS / "how-to" / "crowds.md",
    DOCS / "how-to" / "evaluations.md",
    DOCS / "how-to" / "experts.md",
    DOCS / "how-to" / "export.md",
    DOCS / "how-to" / "judges.md",
    DOCS / "how-to" / "lab.md",
    DOCS / "how-to" / "label.md",
    DOCS / "how-to" / "labels.md",
    DOCS / "how-to" / "notebook.md",
    DOCS / "how-to" / "pay.md",
    DOCS / "how-to" / "pilot.md",
    DOCS / "how-to" / "plan.md",
    DOCS / "how-to" / "plan-labels.md",
    DOCS / "how-to" / "question.md",
    DOCS / "how-to" / "replay.md",
    DOCS / "how-to" / "screening.md",
    DOCS / "how-to" / "webhooks.md",
    *sorted(DOCS.glob("write-your-own-*.md")),
)

_NEW_PROCESS = "<!-- a new process -->"
_FENCE = re.compile(rf"^```(\w*)([^\n]*)\n(.*?)^```$|^{_NEW_PROCESS}$", re.M | re.S)
_END = "\x1e"


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its file name if it has one, its lines and where they are."""

    language: str
    title: str
    code: str
    line: int
    span: tuple[int, int]


@dataclass(frozen=True)
class Run:
    """A block that ran: what it printed, and the block of the page that shows it."""

    block: Block
    printed: str
    shown: Block | None


def blocks_of(text: str) -> list[Block]:
    """All fenced blocks of a page; a mark for a new process counts as one.

    Examples
    --------
    >>> [each.language for each in blocks_of("```python\\n1\\n```\\n\\n```text\\n```\\n")]
    ['python', 'text']
    """
    found = []
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match[3] is None:
            found.append(Block(_NEW_PROCESS, "", "", line, match.span()))
        else:
            title = re.search(r'title="([^"]+)"', match[2])
            found.append(Block(match[1], title[1] if title else "", match[3], line, match.span(3)))
    return found


def run_page(page: Path, folder: Path, **environment: str) -> list[Run]:
    """Run the Python blocks of a page in a folder of its own."""
    found = blocks_of(page.read_text(encoding="utf-8"))
    programs: list[list[tuple[Block, Block | None]]] = [[]]
    for block, after in zip(found, [*found, None][1:], strict=True):
        if block.language == _NEW_PROCESS:
            programs.append([])
        elif block.language == "python" and block.title:
            (folder / block.title).write_text(block.code, encoding="utf-8")
        elif block.language == "python":
            shown = after if after is not None and after.language == "text" else None
            programs[-1].append((block, shown))
    done: list[Run] = []
    for program in programs:
        printed = _run(page, [block for block, _ in program], folder, environment)
        done += [
            Run(block, text, shown) for (block, shown), text in zip(program, printed, strict=True)
        ]
    return done


def _run(page: Path, program: list[Block], folder: Path, environment: dict[str, str]) -> list[str]:
    lines = ["space = {'__name__': '__main__'}"]
    for block in program:
        # Empty lines in front: a traceback then names the page's own line.
        code = "\n" * block.line + block.code
        lines.append(f"exec(compile({code!r}, {str(page)!r}, 'exec'), space)")
        lines.append(f"print({_END!r}, end='', flush=True)")
    script = folder / "program.py"
    script.write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script.name],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{page.name} fails:\n{done.stderr}")
    return done.stdout.split(_END)[: len(program)]


def without_code(text: str) -> str:
    """A page's text without its code, in blocks and in lines.

    Examples
    --------
    >>> without_code("a `b` c")
    'a  c'
    """
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M))


def commands_of(text: str) -> Iterator[list[str]]:
    """The words of each ``askwise`` command in a page: in ``console`` blocks and in the text."""
    for block in blocks_of(text):
        if block.language == "console":
            for line in block.code.replace("\\\n", " ").splitlines():
                if line.startswith("$ askwise "):
                    yield line.removeprefix("$ ").split()
    for span in re.findall(r"`(askwise [^`\n]+)`", text):
        yield span.split()
