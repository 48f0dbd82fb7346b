"""The how-to page says what is so: its script and its examples are run."""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from askwise.cli.exit_codes import ExitCode
from tests.cli import page
from tests.cli.helpers import COMMANDS, environment, in_this_process
from tests.paths import ROOT

SAME = doctest.OutputChecker()


def commands(command: Any = None, path: str = "") -> Iterator[str]:
    """Every registered command by its words, groups included."""
    for name, each in getattr(command or COMMANDS, "commands", {}).items():
        yield f"{path}{name}"
        yield from commands(each, f"{path}{name} ")


def test_every_command_is_on_the_page() -> None:
    text = page.PAGE.read_text()
    missing = [each for each in commands() if not re.search(rf"askwise {each}(?![\w-])", text)]
    assert missing == []


def test_every_option_of_a_lab_run_is_on_the_page() -> None:
    text = page.PAGE.read_text()
    run = COMMANDS.commands["lab"].commands["run"]  # type: ignore[attr-defined]
    for option in run.params:
        assert option.param_type_name == "argument" or option.opts[0] in text, option.opts


def test_the_table_of_exit_codes_is_that_of_the_code() -> None:
    _, _, after = page.PAGE.read_text().partition("| exit code | meaning |\n| --- | --- |\n")
    table, _, _ = after.partition("\n\n")
    assert table.splitlines() == [f"| {code:d} | {code.meaning} |" for code in ExitCode]


def test_no_command_has_an_exit_code_of_its_own() -> None:
    ours = "".join(file.read_text() for file in (ROOT / "askwise" / "cli").rglob("*.py"))
    ends = re.findall(r"(?:typer\.Exit|sys\.exit)\((\d+)\)", ours)
    # Before anything of ours is imported, Ctrl-C has its code without the list.
    assert ends == ["130"]


def test_every_environment_variable_is_on_the_page() -> None:
    source = ROOT / "askwise" / "cli"
    read = "".join(file.read_text() for file in source.glob("*.py"))
    for name in set(re.findall(r"\bASKWISE_[A-Z]+\b", read)):
        assert f"| `{name}` |" in page.PAGE.read_text()


CLIENT = """#!{python} -IS
import json, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect({address!r})
    line.sendall(json.dumps(sys.argv[1:]).encode() + b"\\n")
    code, out, err = json.load(line.makefile())
sys.stdout.write(out)
sys.stderr.write(err)
sys.exit(code)
"""


class Answering(socketserver.StreamRequestHandler):
    """Runs a command in this process, for a script that has no time to start ours each time."""

    def handle(self) -> None:
        done = in_this_process(*json.loads(self.rfile.readline()))
        self.wfile.write(json.dumps([done.exit_code, done.stdout, done.stderr]).encode())


@pytest.fixture
def commands_in_this_process(workplace: Path) -> Iterator[Path]:
    """A folder with a program ``askwise`` that hands its words over to this process."""
    folder, address = workplace / "bin", str(workplace / "line")
    folder.mkdir()
    (folder / "askwise").write_text(CLIENT.format(python=sys.executable, address=address))
    (folder / "askwise").chmod(0o755)
    with socketserver.UnixStreamServer(address, Answering) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield folder
        server.shutdown()
        thread.join()


def test_the_script_runs_a_campaign_to_its_end(
    workplace: Path, commands_in_this_process: Path
) -> None:
    (workplace / "shop.sh").write_text(page.files()["shop.sh"])
    ran = subprocess.run(
        ["bash", "shop.sh"],
        cwd=workplace,
        env=environment(PATH=f"{commands_in_this_process}{os.pathsep}{os.environ['PATH']}"),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = [line.split("\t") for line in ran.stdout.splitlines()]
    assert lines[0] == ["shop"]
    assert lines[1] == ["done: budget"]
    facts = {line[0]: line[1] for line in lines[2:] if len(line) == 2}
    assert facts["pending"] == "0"
    assert facts["reserved"] == "0"
    assert 0.3 < float(facts["spent"]) <= 0.4
    paid = sum(float(line[2]) for line in lines if len(line) == 5)
    assert abs(paid - float(facts["spent"])) < 1e-9


def test_the_examples_print_what_the_page_says(workplace: Path, call: Callable[..., Any]) -> None:
    for name, text in page.files().items():
        (workplace / name).write_text(text)
    found = page.examples()
    assert len(found) > 20
    for command, output in found:
        program, *words = shlex.split(command)
        assert program == "askwise"
        code = 3 if output.startswith("wait:") else 4 if output.startswith("done:") else 0
        if output.startswith('{"error"'):
            code = 2
        printed = call(*words, code=code).output
        assert SAME.check_output(output, printed, doctest.ELLIPSIS), f"{command}\n{printed}"
