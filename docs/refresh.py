"""Write the outputs shown in README and pages again: ``python -m docs.refresh``.

Tests compare them with what the code prints; this is how to follow a change that was meant.
"""

from __future__ import annotations

import io
import re
import tempfile
from pathlib import Path

from docs.blocks import DOCS, EXECUTED, ROOT, run_page

PICTURE = DOCS / "assets" / "demo.png"
DEMO_PAGE = DOCS / "how-to" / "demo.md"
_DEMO = re.compile(r"(```text\n)(.*?)(```)", re.S)
_EXCERPT = re.compile(r"(It ends with:\n\n```text\n)(.*?)(```)", re.S)


def refresh(page: Path) -> None:
    """Run a page and put what its blocks print under them."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        # Plain and compiled runs print the same; plain ones need not wait for the compiler.
        done = run_page(page, Path(folder), ASKWISE_JIT="0")
    for run in reversed(done):
        if run.shown is not None:
            begin, end = run.shown.span
            text = text[:begin] + run.printed + text[end:]
        elif run.printed:
            raise RuntimeError(f"{page.name}, line {run.block.line} prints; give it a text block")
    page.write_text(text, encoding="utf-8")


def demo_text(folder: Path) -> str:
    """What ``make demo`` prints, but for its progress bar; its files go to the folder."""
    from rich.console import Console

    from askwise.demo.label_demo import run_label_demo

    screen = io.StringIO()
    run_label_demo(folder, Console(file=screen, width=96))
    lines = [line.rstrip() for line in screen.getvalue().splitlines() if " answers 0:" not in line]
    return "\n".join(lines).replace(str(folder), "demo-out").replace("////demo", "///demo") + "\n"


def refresh_demo() -> None:
    """Run the demonstration; put what it prints and draws into its page and README."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        printed = demo_text(Path(folder))
        picture = Image.open(Path(folder) / "figure.png").convert("RGB")
    # A palette is a third of the size, and the figure has few colours.
    picture.quantize(128, dither=Image.Dither.NONE).save(PICTURE, optimize=True)
    for page, place, shown in (
        (DEMO_PAGE, _DEMO, printed),
        (ROOT / "README.md", _EXCERPT, excerpt_of(printed)),
    ):
        text = page.read_text(encoding="utf-8")
        text = place.sub(lambda m, shown=shown: m[1] + shown + m[3], text, count=1)
        page.write_text(text, encoding="utf-8")


def excerpt_of(printed: str) -> str:
    """The part of what the demonstration prints that README shows: bills and certificate."""
    _, _, rest = printed.rpartition("┏━")
    return "┏━" + rest.partition("In truth,")[0]


if __name__ == "__main__":
    for each in EXECUTED:
        refresh(each)
        print("refreshed", each.relative_to(ROOT))
    refresh_demo()
    print("refreshed the demonstration")
