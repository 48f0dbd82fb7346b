"""askwise warm: what there is to say about it; that campaigns use it is tested with campaigns."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

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
    # The cache may be an old one: then nothing is compiled.
    said = without_progress(first.stderr)
    assert said in ("", "compiling round-robin, 1 of 1 ...\n")
    name, compiled = first.stdout.strip().split("\t")
    assert name == "round-robin"
    assert (compiled == "there already") == (said == "")
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
        ("best-crowd", "policy 'best-crowd' takes part in no live campaign as it is"),
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
