"""The page on the API shows what works: its commands and its program run."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from askwise.client.errors import BY_CODE
from askwise.service.api.dependencies import ERRORS
from askwise.service.errors import CODES, WORDS
from docs.blocks import DOCS, blocks_of
from tests.service.local import in_thread

PAGE = DOCS / "how-to" / "api.md"
TOML = """
name = "of-toml"
budget = "1"
options = ["yes", "no"]
policy = "random-pairs"
tasks = ["t"]
workers = [{id = "w", price = "0.1"}]
"""


def commands() -> list[str]:
    """The calls of curl, each with the lines that go on with it."""
    found = []
    for block in blocks_of(PAGE.read_text(encoding="utf-8")):
        if block.language == "console":
            parts = re.split(r"^\$ ", block.code, flags=re.M)[1:]
            found += [re.sub(r"\n\{\"status.*", "", part) for part in parts]
        elif block.language == "bash":
            found += re.split(r"^(?=curl)", block.code, flags=re.M)[1:]
    return [each for each in found if each.startswith("curl")]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_commands_work(tmp_path: Path) -> None:
    (tmp_path / "campaign.toml").write_text(TOML)
    assert len(commands()) == 8
    with in_thread() as service:
        environment = {**os.environ, "URL": service.address, "KEY": service.key}
        for command in commands():
            done = subprocess.run(
                ["bash", "-c", command.replace("curl ", "curl --fail-with-body -sS ", 1)],
                cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert (tmp_path / "answers.csv").read_text().startswith("task,value,")


def test_the_program_works(monkeypatch: pytest.MonkeyPatch) -> None:
    (program,) = [
        block.code
        for block in blocks_of(PAGE.read_text(encoding="utf-8"))
        if block.language == "python"
    ]
    printed = io.StringIO()
    with in_thread() as service, contextlib.redirect_stdout(printed):
        monkeypatch.setenv("URL", service.address)
        monkeypatch.setenv("KEY", service.key)
        exec(compile(program, str(PAGE), "exec"), {})
    assert re.fullmatch(r"0\.\d+ \[.*'yes'.*\]\n", printed.getvalue())


def test_every_status_and_code_is_in_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8").split("\n## Errors\n")[1].split("\n## ")[0]
    for status in {*ERRORS, *WORDS}:
        assert re.search(rf"^\|.*\b{status}\b.*\|", text, re.M), status
    for code in {*(CODES.get(reason, reason) for reason in WORDS.values()), *BY_CODE}:
        assert f"`{code}`" in text, code
