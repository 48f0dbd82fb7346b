"""askwise warm: what there is to say about it; that campaigns use it is tested with campaigns."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from contextlib import nullcontext

import pytest

from askwise.cli import warm as command
from askwise.cli import warming
from askwise.core import compiling
from askwise.core.compiling import permission
from tests.cli.helpers import askwise, environment, program_on_terminal, without_progress

# With others that compile the same policy, in one process of a run: so it is compiled once.
pytestmark = [pytest.mark.compiled, pytest.mark.xdist_group("round-robin")]


def warm(*words: str, jit: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        askwise("warm", *words),
        env=environment(ASKWISE_JIT=jit),
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_second_run_says_what_was_there_already() -> None:
    first = warm("round-robin")
    assert first.returncode == 0, first.stderr
    assert without_progress(first.stderr) == ""
    name, compiled = first.stdout.strip().split("\t")
    assert name == "round-robin"
    # The cache may be an old one: then nothing is compiled.
    assert compiled == "there already" or int(compiled) > 0
    second = warm("round-robin")
    assert (second.returncode, second.stdout) == (0, "round-robin\tthere already\n")
    assert without_progress(second.stderr) == ""
    found = warm("round-robin", "--json")
    assert json.loads(found.stdout) == [{"name": "round-robin", "compiled": 0}]
    code, shown = program_on_terminal("warm", "round-robin", ASKWISE_JIT=None)
    assert code == 0
    assert "round-robin" in shown
    assert "there already" in shown


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("nobody", "policy 'nobody' is not known"),
        ("hem(colour=1)", "policy 'hem' has no parameter 'colour'"),
        ("best-crowd", "policy 'best-crowd' can't run in a live campaign without parameters"),
    ],
)
def test_what_can_not_be_compiled_is_an_error_in_one_line(
    label: str, said: str, refusal: Callable[..., str]
) -> None:
    assert refusal("warm", label).startswith(said)


def test_without_the_compiler_there_is_nothing_to_do() -> None:
    done = warm("round-robin", jit="0")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("nothing to do: the compiler is switched off (ASKWISE_JIT=0")
    assert json.loads(warm("--json", jit="0").stdout) == []


def test_it_says_which_kernel_is_compiled_and_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One policy takes many kernels, each of them seconds."""
    said: list[str] = []
    monkeypatch.setattr(command, "spoken", lambda quiet: nullcontext(said.append))
    monkeypatch.setattr(compiling, "PLAIN", False)

    def run() -> None:
        for watcher in permission.watchers:
            watcher("choose_best", True)
            watcher("choose_best", False)

    monkeypatch.setattr(warming, "policy_part", lambda label: (label, run))
    command.warm(["hem", "bbta"])
    assert said == [
        *["hem: compiling choose_best, its kernel 1; warmed: 0 of 2"] * 2,
        *["bbta: compiling choose_best, its kernel 1; warmed: 1 of 2"] * 2,
    ]
    assert capsys.readouterr().out == "hem\t1\nbbta\t1\n"
