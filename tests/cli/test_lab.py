"""``askwise lab``: run as a program, as it starts others."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from askwise.cli.lab import Backend
from askwise.lab.experiment import experiments
from askwise.lab.runner import BACKENDS
from tests.cli.helpers import askwise, environment, without_progress
from tests.paths import ROOT

FILES = {"figure.png", "figure.svg", "report.html", "results.csv", "results.json"}
FIRST = "import tests.cli.tiny_lab"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(workplace: Path) -> Run:
    """Run the lab with the tiny experiment."""

    def go(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            askwise("lab", *words, first=FIRST),
            cwd=workplace,
            env=environment(PYTHONPATH=str(ROOT)),
            capture_output=True,
            text=True,
            timeout=120,
        )

    return go


def test_every_experiment_is_listed_and_shown(call: Callable[..., Any]) -> None:
    lines = call("lab", "list").stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == experiments.names()
    listed = json.loads(call("lab", "list", "--json").stdout)
    for each in listed:
        assert json.loads(call("lab", "show", each["name"], "--json").stdout) == each
        shown = call("lab", "show", each["name"]).stdout
        for parameter in each["parameters"]:
            assert f"\n--set {parameter}=\t" in shown


def test_the_backends_are_the_runners() -> None:
    assert tuple(Backend) == BACKENDS


def test_a_run_writes_its_files_and_prints_where(run: Run, workplace: Path) -> None:
    ran = run("run", "tiny", "--reps", "4", "--seed", "5", "--jobs", "1", "--set", "series=x,y")
    assert (ran.returncode, ran.stdout) == (0, "lab-out/tiny/report.html\n")
    assert without_progress(ran.stderr) == ""
    assert {path.name for path in (workplace / "lab-out" / "tiny").iterdir()} == FILES
    assert [path.name for path in (workplace / "lab-out").iterdir()] == ["tiny"]
    results = json.loads((workplace / "lab-out" / "tiny" / "results.json").read_text())
    assert (results["seed"], results["reps"]) == (5, 4)
    assert [row["series"] for row in results["rows"]] == ["x", "y", "x", "y"]
    with open(workplace / "lab-out" / "tiny" / "results.csv") as file:
        assert len(list(csv.reader(file))) == 5
    page = (workplace / "lab-out" / "tiny" / "report.html").read_text()
    assert "askwise lab run tiny --reps 4 --seed 5 --set series=x,y" in page


SOME = ("lab", "run", "bounded-small-budgets", "--reps", "1", "--jobs", "1", "--json")


@pytest.mark.usefixtures("pictures")
def test_a_second_run_is_put_in_the_place_of_the_first(
    workplace: Path, call: Callable[..., Any]
) -> None:
    written = workplace / "deep" / "out" / "bounded-small-budgets" / "results.json"
    few = ("--set", "policies=uniform", "--set", "budgets=100", "--out", "deep/out")
    one = call(*SOME, *few).stdout
    first = written.stat().st_ino
    assert call(*SOME, *few).stdout == one == written.read_text()
    assert written.stat().st_ino != first
    assert {path.name for path in written.parent.iterdir()} == FILES


@pytest.mark.slow
def test_a_second_run_with_other_jobs_puts_the_same_numbers_in_its_place(
    run: Run, workplace: Path
) -> None:
    written = workplace / "deep" / "out" / "tiny"
    one = run("run", "tiny", "--jobs", "1", "--json", "--out", "deep/out")
    first = (written / "results.json").stat().st_ino
    two = run("run", "tiny", "--jobs", "2", "--json", "--out", "deep/out")
    assert without_progress(one.stderr + two.stderr) == ""
    assert one.stdout == two.stdout == (written / "results.json").read_text()
    assert (written / "results.json").stat().st_ino != first
    assert {path.name for path in written.iterdir()} == FILES


def test_a_real_experiment_runs(workplace: Path, call: Callable[..., Any]) -> None:
    call(
        *("lab", "run", "bounded-small-budgets", "--reps", "1", "--jobs", "1"),
        *("--set", "policies=uniform", "--set", "budgets=100"),
    )
    written = workplace / "lab-out" / "bounded-small-budgets"
    assert {path.name for path in written.iterdir()} == FILES


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "bounded-tabel1"), "experiment 'bounded-tabel1' is not known: did you mean 'bou"),
        (("show", "bounded-tabel1"), "experiment 'bounded-tabel1' is not known: did you mean"),
        (("run", "bounded-table1", "--set", "polices=x"), "has no parameter 'polices': did you"),
        (("run", "bounded-table1", "--set", "policies"), "set is 'policies': give KEY=VALUE"),
        (("run", "bounded-table1", "--reps", "0"), "reps is 0: give a whole number from 1"),
        (("run", "bounded-table1", "--jobs", "0"), "jobs is 0: give a whole number from 1"),
        (("run", "bounded-table1", "--seed", "-1"), "seed is -1: give a number from 0"),
        (("run", "bounded-table1", "--backend", "abacus"), "'abacus' is not one of 'loky', 'dask'"),
        (("run", "bounded-table1", "--out", "file"), "file: File exists"),
        (("run", "bounded-table1", "--out", "odd"), "odd/bounded-table1 is a file"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else None,
)
def test_a_bad_run_is_refused_and_leaves_nothing(
    words: tuple[str, ...], message: str, workplace: Path, refusal: Callable[..., str]
) -> None:
    (workplace / "file").touch()
    (workplace / "odd").mkdir()
    (workplace / "odd" / "bounded-table1").touch()
    before = sorted(workplace.rglob("*"))
    assert message in refusal("lab", *words)
    assert sorted(workplace.rglob("*")) == before


@pytest.mark.parametrize(
    ("point", "jobs", "earlier"),
    [
        pytest.param("simulating", "2", False, marks=pytest.mark.slow),
        pytest.param("writing", "1", False, marks=pytest.mark.slow),
        ("writing", "1", True),
    ],
)
def test_ctrl_c_leaves_one_line_and_no_trace(
    point: str, jobs: str, earlier: bool, workplace: Path
) -> None:
    results = workplace / "deep" / "out" / "tiny" / "results.json"
    if earlier:
        results.parent.mkdir(parents=True)
        results.write_text("of the first run")
    before = sorted(workplace.rglob("*"))
    marker = workplace / "marker"
    process = subprocess.Popen(
        askwise(
            *("lab", "run", "tiny", "--jobs", jobs, "--out", "deep/out"),
            *("--set", f"wait={point}", "--set", f"marker={marker}"),
            first=FIRST,
        ),
        cwd=workplace,
        env=environment(PYTHONPATH=str(ROOT)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 60
        while not marker.exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        # As a terminal does it: to the program and to all that it started.
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")
    marker.unlink()
    assert sorted(workplace.rglob("*")) == before
    assert not earlier or results.read_text() == "of the first run"
    assert _gone(process.pid)


def _gone(group: int) -> bool:
    """Whether nothing of a process group is left, after a moment."""
    for _ in range(200):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False
