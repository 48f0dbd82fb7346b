"""askwise as a program: exit codes, pipes, terminals, what it imports."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

import askwise
from askwise.cli import errors
from askwise.cli.opening import LONG
from askwise.core.events import Event, Kind
from askwise.store import SqliteStore
from tests.cli import helpers
from tests.cli.helpers import on_terminal, program_on_terminal
from tests.paths import ROOT

Program = Callable[..., subprocess.CompletedProcess[str]]

HEAVY = ("numpy", "scipy", "numba", "matplotlib", "joblib", "askwise.policies", "askwise.store")

EACH = """
import sys
from askwise.cli.main import run

for words in {commands}:
    sys.argv = ["askwise", *words]
    try:
        run()
    except SystemExit as ended:
        assert not ended.code, (words, ended.code)
print([each for each in {heavy} if each in sys.modules], file=sys.stderr)
"""


def imported(*commands: str, **changes: str | None) -> list[str]:
    """Which heavy modules these commands import, run one after another in one process."""
    program = EACH.format(commands=[each.split() for each in commands], heavy=HEAVY)
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=helpers.environment(**changes),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found: list[str] = json.loads(ran.stderr.splitlines()[-1].replace("'", '"'))
    return found


@pytest.fixture
def long_log(shop: str, workplace: Path) -> str:
    """A campaign whose log is long."""
    store = SqliteStore(workplace / "askwise.sqlite")
    kinds = (Kind.PAUSED, Kind.RESUMED)
    with store.write(shop) as transaction:
        transaction.append([Event(kinds[seq % 2], seq=seq + 1) for seq in range(LONG)], 0)
    store.close()
    return shop


def test_a_warning_goes_to_the_stderr_of_its_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bar takes the place of stderr, so that what is printed comes above it and not into it."""
    handler = errors._ToStderr()
    handler.setFormatter(errors._OneLine())
    shown = io.StringIO()
    monkeypatch.setattr("sys.stderr", shown)
    handler.handle(logging.makeLogRecord({"msg": "slow", "levelname": "WARNING"}))
    assert shown.getvalue() == "warning: slow\n"


def test_help_imports_nothing_heavy() -> None:
    assert imported("--help", "ask --help", "lab run --help", ASKWISE_JIT=None) == []


def test_the_log_is_read_without_numpy(shop: str) -> None:
    assert imported(f"log {shop}", ASKWISE_JIT=None) == ["askwise.store"]


def test_a_short_campaign_does_without_the_compiler(shop: str) -> None:
    found = imported(f"ask {shop}", ASKWISE_JIT=None)
    assert "numpy" in found
    assert "numba" not in found
    assert "matplotlib" not in found


def test_a_long_campaign_has_the_compiler_unless_told_otherwise(long_log: str) -> None:
    assert "numba" in imported(f"status {long_log}", ASKWISE_JIT=None)
    assert "numba" not in imported(f"status {long_log}", ASKWISE_JIT="0")


def test_lists_do_without_the_compiler() -> None:
    lists = ("policies", "rules", "aggregators", "mechanisms", "lab list")
    assert "numba" not in imported(*lists, ASKWISE_JIT=None)


def test_the_version_is_printed(program: Program) -> None:
    assert program("--version").stdout == f"askwise {askwise.__version__}\n"


def test_help_is_given_where_no_command_is(program: Program, call: Callable[..., Result]) -> None:
    ran = program()
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Usage: askwise" in ran.stdout
    for words in (["lab"], ["--help"], ["lab", "--help"]):
        assert "Usage: " in call(*words).stdout


def test_exit_codes_tell_a_batch_from_wait_done_and_error(
    shop: str, program: Program, call: Callable[..., Result]
) -> None:
    call("ask", shop, code=0)
    call("pause", shop)
    waiting = program("ask", shop)
    assert (waiting.returncode, waiting.stdout) == (3, "wait: resume\n")
    call("stop", shop)
    assert call("ask", shop, code=4).stdout == "done: stopped\n"
    wrong = program("ask", "nobody")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "error: campaign 'nobody' is not known: known: shop\n"


def test_whoever_stops_reading_is_no_error(long_log: str, workplace: Path) -> None:
    for flags in ([], ["--json"]):
        command = subprocess.Popen(
            helpers.askwise("log", long_log, *flags),
            env=helpers.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert command.stdout is not None
        assert command.stderr is not None
        assert command.stdout.readline()
        command.stdout.close()
        assert command.stderr.read() == b""
        assert command.wait(timeout=60) == 141


def test_a_reader_who_was_never_there_is_no_error(shop: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(
        helpers.askwise("status", shop),
        env=helpers.environment(),
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (141, b"")


def test_ctrl_c_while_waiting_for_the_store_changes_nothing(shop: str, workplace: Path) -> None:
    store = SqliteStore(workplace / "askwise.sqlite")
    before = store.read(shop)
    with store.write(shop):
        process = subprocess.Popen(
            helpers.askwise("ask", shop),
            env=helpers.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        _wait_until_open(process.pid, workplace / "askwise.sqlite")
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")
    assert store.read(shop) == before
    store.close()


def _wait_until_open(process: int, file: Path) -> None:
    """Wait until another process has opened a file (as Linux tells it; else for a while)."""
    files = Path(f"/proc/{process}/fd")
    deadline = time.monotonic() + (30 if files.exists() else 2)
    while time.monotonic() < deadline:
        if any(os.path.realpath(each) == os.path.realpath(file) for each in files.glob("*")):
            return
        time.sleep(0.02)


def test_names_that_the_encoding_lacks_are_shown_by_their_code(
    shop: str, program: Program, call: Callable[..., Result]
) -> None:
    call("add", shop, "--worker", "id=猫,price=1")
    ran = program("payments", shop, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert ran.returncode == 0
    assert "\\u732b\t0\t0\t0\tprice per answer\n" in ran.stdout


def test_on_a_terminal_there_are_headings_and_bars(shop: str) -> None:
    assert on_terminal("ask", shop, "--limit", "2") == (
        0,
        "assignment  worker  task  price  propensity\n"
        "shop:2      ann     -      0.05           1\n"
        "shop:3      bob     -       0.1           1\n",
    )
    assert on_terminal("tell", "shop:2", "0.5") == (0, "shop:2 is answered\n")
    _, status = on_terminal("status", shop)
    assert status.splitlines()[0] == "shop running"
    assert re.search(r"^money +▒·+  0\.05 spent, 0\.1 reserved, 2\.85 left of 3", status, re.M)
    _, why = on_terminal("explain", "shop:3")
    assert "choosing again from the log gives the same" in why
    assert re.search(r"^worker +index +room", why, re.M)
    _, log = on_terminal("log", shop)
    assert re.search(r"^     1  \S+Z  DECIDED    decision=0", log, re.M)


def test_on_a_terminal_what_looks_like_markup_is_shown_as_it_is(
    workplace: Path, call: Callable[..., Result]
) -> None:
    (workplace / "spec.toml").write_text(
        'name = "odd"\noutcome = "utility"\nbudget = 9\npolicy = "uniform"\n'
        '[[workers]]\nid = "[red]:cat:[/nope]"\nprice = 1\n'
    )
    call("new", "spec.toml")
    for words in (("ask", "odd"), ("payments", "odd"), ("explain", "odd:2")):
        code, text = on_terminal(*words)
        assert code == 0
        assert "[red]:cat:[/nope]" in text


def test_on_a_terminal_nothing_to_list_is_said(shop: str, workplace: Path) -> None:
    code, text = on_terminal("list", "--store", "sqlite:///none.sqlite")
    assert (code, text) == (
        0,
        "no campaigns in sqlite:///none.sqlite; make one with: askwise new FILE\n",
    )
    assert on_terminal("assignments", shop) == (0, "no open assignments\n")


def test_on_a_terminal_the_lab_shows_its_progress_and_results(workplace: Path) -> None:
    code, text = program_on_terminal(
        *("lab", "run", "tiny", "--jobs", "1"),
        first="import tests.cli.tiny_lab",
        PYTHONPATH=str(ROOT),
    )
    assert code == 0
    assert "simulating" in text
    assert "time left" in text
    assert "budget 2\n" in text
    assert text.rstrip().endswith("lab-out/tiny/report.html")
