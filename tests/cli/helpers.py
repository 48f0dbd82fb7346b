"""Campaigns to try commands on, and askwise as a program: in a pipe and on a terminal."""

from __future__ import annotations

import os
import pty
import re
import sqlite3
import subprocess
import sys
import termios
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import pytest
from typer.main import get_command
from typer.testing import CliRunner, Result

from askwise.cli.app import app
from askwise.cli.main import run

UTILITY = """
name = "shop"
budget = "3"
outcome = "utility"
policy = "uniform"
seed = 7

[[workers]]
id = "ann"
price = "0.05"

[[workers]]
id = "bob"
price = 0.1
limit = 2
"""

RATED = """
name = "rated"
budget = "3"
outcome = {kind = "utility", low = -1, high = 1}
policy = {name = "uniform"}
stopping = {name = "fixed", n = 1}
lease = 3600
tasks = ["t1", "t2"]
workers = [{id = "ann", price = 0.05}, {id = "bob", price = 0.1}]
"""

OPTIONS = """
name = "cats"
options = ["cat", "dog"]
policy = "uniform"
stopping = {name = "fixed", n = 2}
workers = [{id = "ann", price = 0.05}, {id = "bob", price = 0.1}, {id = "eve", price = 0.2}]

[[tasks]]
id = "t1"
context = "day"
payload = {question = "A cat?", pictures = [1, 2]}

[[tasks]]
id = "t2"
"""


COMMANDS = get_command(app)
"""All commands, built once: typer's runner would do it for each call, which takes longer than most
of them."""


def in_this_process(*words: str) -> Result:
    """Run askwise in this process, in a pipe."""
    with mock.patch("typer.testing._get_command", return_value=COMMANDS):
        return CliRunner().invoke(app, list(words))


def askwise(*words: str, first: str = "") -> list[str]:
    """The command that runs askwise with this interpreter, some code before it."""
    return [sys.executable, "-c", f"{first}\nfrom askwise.cli.main import run\nrun()", *words]


def environment(**changes: str | None) -> dict[str, str]:
    """The environment of a program, some variables changed or (None) removed."""
    made: dict[str, str | None] = {**os.environ, "ASKWISE_JIT": "0", **changes}
    return {name: value for name, value in made.items() if value is not None}


def on_terminal(*words: str) -> tuple[int, str]:
    """Run askwise in this process on a terminal; gives the exit code and what a person sees."""
    ours, theirs = pty.openpty()
    with ThreadPoolExecutor(1) as reading:
        seen = reading.submit(_everything, ours)
        with (
            open(theirs, "w", encoding="utf-8") as screen,
            open(theirs, encoding="utf-8", closefd=False) as keys,
            mock.patch.multiple(sys, stdin=keys, stdout=screen, stderr=screen),
            mock.patch.object(sys, "argv", ["askwise", *words]),
            mock.patch.dict(os.environ, TERM="xterm-256color", COLUMNS="100", LINES="40"),
            pytest.raises(SystemExit) as ended,
        ):
            run()
        return int(ended.value.code or 0), _as_seen(seen.result())


def program_on_terminal(*words: str, first: str = "", **changes: str | None) -> tuple[int, str]:
    """The same in a process of its own, some code before it."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, 100))
    process = subprocess.Popen(
        askwise(*words, first=first),
        env=environment(TERM="xterm-256color", **changes),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = _everything(ours)
    return process.wait(timeout=60), _as_seen(seen)


def _everything(ours: int) -> bytes:
    """Read until the other side has closed."""
    seen = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # how Linux says that it has
            break
        if not part:
            break
        seen += part
    os.close(ours)
    return seen


def _as_seen(raw: bytes) -> str:
    """Without colours and other movements of the cursor."""
    text = raw.decode().replace("\r\n", "\n")
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def without_progress(said: str) -> str:
    """What is on stderr but for lines on what is going on, which come if a machine is slow."""
    lines = r"(?m)^(?:[^\n]*: \d+ of \d+|read [^\n]* labels of [^\n]*|aggregating[^\n]*)\n"
    return re.sub(lines, "", said)


def content(store: Path) -> list[str]:
    """Everything a store holds, as text: equal if nothing was changed."""
    if not store.exists():
        return []
    connection = sqlite3.connect(store)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()
