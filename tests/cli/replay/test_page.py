"""``askwise replay``: the page, what is said meanwhile, and what a terminal shows."""

from __future__ import annotations

import html
import json
import re
import shlex
import subprocess
import time
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from askwise.cli import progress
from askwise.cli.progress import EVERY
from tests.cli import helpers
from tests.cli.replay.sheets import GOLD, QUICK, SHEET, TOLD, write

Call = Callable[..., Any]


class Tags(HTMLParser):
    """The tags of a page, what they carry, and where it would load something from."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {str(value) for name, value in attrs if name in ("href", "src")}


HOSTILE = "<script>alert('x')&\"日"


def test_the_page_is_whole_and_takes_no_orders_from_names(
    call: Call, workplace: Path, gold: str
) -> None:
    name = f"{HOSTILE}.csv"
    rows = [
        (task, f"{HOSTILE}{who}", f"{HOSTILE}{given}")
        for task, answers in SHEET.items()
        for who, given in enumerate(answers)
    ]
    write(name, ("task", "worker", "label"), *rows)
    write(gold, ("task", "label"), *((task, f"{HOSTILE}{label}") for task, label in GOLD.items()))
    assert call("replay", name, "--gold", gold, *QUICK, "--out", "page").stdout.endswith(
        "\npage/report.html\n"
    )
    assert sorted(path.name for path in Path("page").iterdir()) == [
        "figure.png", "figure.svg", "replay.json", "report.html",
    ]  # fmt: skip
    page = Path("page/report.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(" in page
    tags = Tags()
    tags.feed(page)
    assert not tags.seen & {"script", "iframe", "img", "link", "object", "embed", "form"}
    assert not {name for name in tags.attributes if name.startswith("on")}
    assert all(link.startswith("#") for link in tags.links)
    assert "default-src 'none'" in page


@pytest.mark.usefixtures("pictures")
@pytest.mark.parametrize(
    "more", [("--prices", "prices.csv"), TOLD[2:], TOLD], ids=["prices", "workers", "truths"]
)
def test_the_pages_command_gives_the_page_and_the_numbers_again(
    more: tuple[str, ...],
    call: Call,
    call_json: Call,
    labels: str,
    gold: str,
    prices: str,
    contexts: str,
) -> None:
    words = (*more, "--contexts", contexts, "--seed", "3", "--window", "2")
    printed = call_json("replay", labels, "--gold", gold, *QUICK, *words, "--out", "page")
    assert json.loads(Path("page/replay.json").read_text()) == printed
    page = Path("page/report.html").read_text()
    (command,) = re.findall(r"<pre tabindex=\"0\"><code>(.*?)</code>", page, re.DOTALL)
    call(*shlex.split(html.unescape(command))[1:], "--out", "again")
    assert Path("again/report.html").read_text() == page
    assert json.loads(Path("again/replay.json").read_text()) == printed
    assert "All recorded answers" not in page
    assert "Of all recorded answers, by majority, 100.0% are right for 19.50" in page
    assert '<h2 id="sure">How sure</h2>' in page
    assert "wrong of done" in page
    assert "counts as 0.000001 at least" in page
    assert ("2 in each run, 3 tasks are measured" in page) == ("--truths" in more)
    assert ("--truths" in command) == ("--truths" in more)


def test_on_a_terminal_there_are_sentences_and_a_table(labels: str, gold: str) -> None:
    code, text = helpers.on_terminal("replay", labels, "--gold", gold, *QUICK)
    assert code == 0
    assert re.search(r"hem would have been right on \d+\.\d% of the tasks for 8\b", text)
    assert re.search(r"policy +right +95% interval +spent", text)
    assert re.search(r"random-pairs +\d+\.\d% +\[", text)
    assert re.search(r"policy +ties +ECE +log loss +done +wrong of done", text)
    assert re.search(r"random-pairs +\d\.\d +0\.\d{3} +\d\.\d{3} +- +-", text)
    assert "Intervals are over runs." in text


def test_the_lab_is_needed_for_the_page_only(labels: str, gold: str) -> None:
    block = "import sys\nfor name in ('jinja2', 'matplotlib', 'joblib', 'pandas', 'pyarrow'):\n"
    block += "    sys.modules[name] = None"
    for more, code, said in (((), 0, ""), (("--out", "page"), 2, "pip install 'askwise[lab]'")):
        ran = subprocess.run(
            helpers.askwise("replay", labels, "--gold", gold, *QUICK, *more, first=block),
            env=helpers.environment(),
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert ran.returncode == code, ran.stderr
        assert said in ran.stderr
    assert not Path("page").exists()


def test_in_a_pipe_a_line_says_now_and_then_what_is_run(
    call: Call, labels: str, gold: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.001)
    said = call("replay", labels, "--gold", gold, *QUICK).stderr.splitlines()
    assert said
    step = r"(hem|random-pairs) at a budget of [1-8], run [12] of 2 \(\d\d? % done\)"
    for line in said:
        assert line == "reading the recorded answers" or re.fullmatch(step, line)
    assert call("replay", labels, "--gold", gold, *QUICK, "--json").stderr == ""


def test_a_step_that_takes_long_is_named_again_and_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.001)
    said: list[str] = []
    deadline = time.monotonic() + 60
    with progress.spoken() as say:
        say("hem")
        while len(said) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.01)
            said += capsys.readouterr().err.splitlines()
    said += capsys.readouterr().err.splitlines()
    assert said.count("hem") == len(said) > 1
    time.sleep(0.01)
    assert capsys.readouterr().err == ""


def test_lines_come_every_few_seconds() -> None:
    assert EVERY < 5
