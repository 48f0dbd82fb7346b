"""Record the demonstration as an animated picture of a terminal: ``python -m docs.tour``.

Runs ``askwise demo`` in a pseudo terminal, keeps what a person would see, and writes it to
``docs/assets/tour.svg``: frames that CSS shows one after the other, without a script. Readers who
want no motion get the last frame. Waits are cut to a second, as most of them are the machine's;
the rest of the time is shortened evenly. What is printed is what was printed.
"""

from __future__ import annotations

import codecs
import html
import os
import pty
import re
import subprocess
import sys
import tempfile
import termios
import time
from dataclasses import dataclass, field
from pathlib import Path

PICTURE = Path(__file__).resolve().parent / "assets" / "tour.svg"

COLUMNS, ROWS = 96, 32
PROMPT = "$ askwise demo"

LONGEST_WAIT = 1.0
"""Seconds for which nothing changes that are kept of a longer wait."""

FRAMES = 40
"""The most frames that are kept."""

SECONDS, PAUSE = 12.0, 8.0
"""How long the recording takes when it is shown, and how long its end stays."""

CELL, LINE, MARGIN = 7.3, 17, 14
"""Pixels: the width of a character, the height of a line, the margin."""

_ESCAPE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")


@dataclass
class Screen:
    """As much of a terminal as the demonstration needs: lines, and a cursor that goes up."""

    lines: list[str] = field(default_factory=lambda: [""])
    row: int = 0
    column: int = 0
    _rest: str = ""

    def feed(self, text: str) -> None:
        """Take what a program prints; an escape sequence may come in two parts."""
        text = self._rest + text
        cut = text.rfind("\x1b")
        whole = cut < 0 or _ESCAPE.match(text, cut)
        self._rest = "" if whole else text[cut:]
        text = text if whole else text[:cut]
        at = 0
        for found in _ESCAPE.finditer(text):
            self._write(text[at : found.start()])
            self._move(found[1], found[2])
            at = found.end()
        self._write(text[at:])

    def _move(self, numbers: str, what: str) -> None:
        if what == "A":
            self.row = max(0, self.row - int(numbers or 1))
        elif what == "K":
            kept = self.lines[self.row]
            self.lines[self.row] = "" if numbers == "2" else kept[: self.column]

    def _write(self, text: str) -> None:
        for each in text:
            if each == "\r":
                self.column = 0
            elif each == "\n":
                self.row += 1
                if self.row == len(self.lines):
                    self.lines.append("")
            elif each.isprintable():
                if self.column == COLUMNS:
                    self._write("\r\n")
                line = self.lines[self.row].ljust(self.column)
                self.lines[self.row] = line[: self.column] + each + line[self.column + 1 :]
                self.column += 1

    def seen(self) -> tuple[str, ...]:
        """The lines that are in sight."""
        return tuple(line.rstrip() for line in self.lines[-ROWS:])


Frame = tuple[float, tuple[str, ...]]
"""When something was in sight, in seconds, and what."""


def record(folder: Path) -> list[Frame]:
    """Run the demonstration on a terminal and keep every change of what is in sight."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (ROWS, COLUMNS))
    program = "from askwise.cli.main import run; run()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, "demo", "--out", "demo-out"],
        cwd=folder,
        env={
            **os.environ,
            **{"TERM": "xterm-256color", "NO_COLOR": "1", "COLUMNS": str(COLUMNS)},
            "PYTHONPATH": str(PICTURE.parent.parent.parent),
        },
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    screen, begun = Screen(), time.monotonic()
    screen.feed(PROMPT + "\r\n")
    frames: list[Frame] = [(0.0, screen.seen())]
    decoder = codecs.getincrementaldecoder("utf-8")()
    while True:
        try:
            raw = os.read(ours, 65536)
        except OSError:  # how Linux says that the other side has closed
            break
        if not raw:
            break
        screen.feed(decoder.decode(raw))
        if screen.seen() != frames[-1][1]:
            frames.append((time.monotonic() - begun, screen.seen()))
    os.close(ours)
    if process.wait() != 0:
        raise SystemExit("the demonstration failed:\n" + "\n".join(screen.lines))
    return frames


def without_waits(frames: list[Frame], longest: float = LONGEST_WAIT) -> list[Frame]:
    """The frames as if nobody had waited for longer than this at a time."""
    kept, cut, before = [], 0.0, 0.0
    for when, seen in frames:
        cut += max(0.0, when - before - longest)
        kept.append((when - cut, seen))
        before = when
    return kept


def thinned(frames: list[Frame], most: int = FRAMES) -> list[Frame]:
    """At most this many frames, evenly spread over time; the first and the last are kept."""
    end = frames[-1][0] or 1.0
    kept: dict[int, Frame] = {}
    for frame in frames[:-1]:
        kept.setdefault(int(frame[0] / end * (most - 1)), frame)
    return [*list(kept.values())[: most - 1], frames[-1]]


def picture(frames: list[Frame]) -> str:
    """The animated picture."""
    whole = SECONDS + PAUSE
    stretch = SECONDS / (frames[-1][0] or 1.0)
    starts = [100 * when * stretch / whole for when, _ in frames]
    ends = [*starts[1:], 100.0]
    width, height = round(2 * MARGIN + COLUMNS * CELL), 2 * MARGIN + ROWS * LINE
    rules, groups = [], []
    for at, (start, end) in enumerate(zip(starts, ends, strict=True)):
        steps = f"0%{{visibility:hidden}}{start:.2f}%{{visibility:visible}}"
        if end < 100:
            steps += f"{end:.2f}%{{visibility:hidden}}"
        rules.append(f"@keyframes f{at}{{{steps}}}#f{at}{{animation-name:f{at}}}")
        groups.append(f'<g id="f{at}" class="f">{"".join(_lines(frames[at][1]))}</g>')
    style = (
        "text{font:12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#e4e3e0;"
        "white-space:pre}"
        f".f{{visibility:hidden;animation:{whole:g}s step-end infinite}}"
        f"{''.join(rules)}"
        "@media (prefers-reduced-motion:reduce){.f{animation:none!important}"
        f"#f{len(frames) - 1}{{visibility:visible}}}}"
    )
    words = "askwise demo in a terminal: messages are labelled, and the labels certified"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{words}"><style>{style}</style>'
        f'<rect width="{width}" height="{height}" rx="8" fill="#1d2024"/>{"".join(groups)}</svg>\n'
    )


def _lines(lines: tuple[str, ...]) -> list[str]:
    """Each line as text of an exact length: tables stay tables in every font."""
    made = []
    for row, line in enumerate(lines):
        text = line.lstrip()
        if text:
            x = MARGIN + CELL * (len(line) - len(text))
            made.append(
                f'<text x="{x:.1f}" y="{MARGIN + LINE * (row + 1) - 5}" '
                f'textLength="{CELL * len(text):.1f}">{html.escape(text, quote=False)}</text>'
            )
    return made


def text_of(svg: str) -> str:
    """What the last frame of a picture shows."""
    last = svg[svg.rindex('<g id="f') :]
    return "\n".join(html.unescape(each) for each in re.findall(r"<text[^>]*>(.*?)</text>", last))


def main() -> None:
    """Record, and write the picture."""
    with tempfile.TemporaryDirectory() as folder:
        frames = thinned(without_waits(record(Path(folder))))
    PICTURE.write_text(picture(frames), encoding="utf-8")
    sys.stdout.write(f"{PICTURE.name}: {len(frames)} frames, {PICTURE.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
