"""``askwise plan`` for people and models."""

from __future__ import annotations

import json
import re
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from askwise.cli import output, progress
from tests.schemas import faults

FILES = {"figure.png", "figure.svg", "plan.json", "report.html"}

# Quick to simulate in plain Python.
QUICK = ("plan", "workers.csv", "--tasks", "20", "--policy", "random-pairs", "--runs", "10")

Call = Callable[..., Any]


@pytest.fixture(autouse=True)
def tables(workplace: Path) -> None:
    (workplace / "workers.csv").write_text(
        "id,price,accuracy,kind,trusted\nann,0.4,0.85-0.95,person,\nbob,0.2,0.8,person,\n"
        "gpt,0.01,0.8,model,\nvet,4,,person,yes\n"
    )
    rows = [f"t{task},{who},{task % 2}" for task in range(12) for who in ("ann", "bob", "gpt")]
    (workplace / "pilot.csv").write_text("\n".join(["task,worker,label", *rows]) + "\n")
    gold = [f"t{task},{task % 2}" for task in range(12)]
    (workplace / "gold.csv").write_text("\n".join(["task,label", *gold]) + "\n")
    (workplace / "crowds.toml").write_text('[[crowds]]\nid = "a"\nprice = 1\naccuracy = 0.9\n')


def test_in_a_pipe_there_is_a_line_for_each_fact_and_then_the_settings(call: Call) -> None:
    words = ("--budget", "8", "--certify", "0.2", "--by", "vet")
    lines, _, settings = call(*QUICK, *words).stdout.partition("\n\n")
    found = {line.split("\t")[0]: line.split("\t")[1:] for line in lines.splitlines()}
    assert found["lever"] == ["budget", "given"]
    assert found["budget"] == ["8"]
    assert found["target_error"] == found["reached"] == ["-"]
    assert found["certificate"][:3] == ["0.2", "0.9", "vet"]
    assert found["worker"][0] == "vet"
    assert found["truths"][:3] == ["0", "10", "20"]
    assert tomllib.loads(settings) == {"budget": "8", "policy": "random-pairs"}


@pytest.mark.parametrize(
    "words",
    [
        ("--target-error", "0.4"),
        ("--budget", "8", "--options", "3", "--correlation", "0.1", "--family-correlation", "0"),
        ("--budget", "8", "--target-error", "0.4", "--truths", "5", "--certify", "0.3"),
    ],
    ids=" ".join,
)
def test_json_is_as_its_schema_says(words: tuple[str, ...], call_json: Call) -> None:
    found = call_json(*QUICK, *words)
    assert faults("plan", found) == []
    assert call_json(*QUICK, *words) == found


@pytest.mark.parametrize("change", [{"total": 3}, {"lever": "dial"}, {"more": 1}], ids=str)
def test_the_schema_refuses_what_is_wrong(change: dict[str, Any], call_json: Call) -> None:
    assert faults("plan", {**call_json(*QUICK, "--budget", "8"), **change}) != []


def test_recorded_answers_take_the_place_of_guesses(call_json: Call) -> None:
    pilot = (*QUICK, "--answers", "pilot.csv", "--budget", "4")
    known = call_json(*pilot, "--gold", "gold.csv")
    # Nobody erred in the pilot; what is not answered is a guess.
    assert known["source"] == "answers"
    assert call_json(*pilot[:-1], "100", "--gold", "gold.csv")["error"]["high"] == 0
    assert [worker["id"] for worker in known["workers"]] == ["ann", "bob", "gpt"]
    untold = call_json(*pilot)
    assert any("Give --gold" in sentence for sentence in untold["cannot_know"])


@pytest.mark.usefixtures("pictures")
def test_out_has_all_files_and_the_page_the_command(call: Call, workplace: Path) -> None:
    printed = call(*QUICK, "--target-error", "0.4", "--out", "deep").stdout
    assert printed.endswith("\ndeep/report.html\n")
    assert {path.name for path in (workplace / "deep").iterdir()} == FILES
    assert faults("plan", json.loads((workplace / "deep" / "plan.json").read_text())) == []
    text = (workplace / "deep" / "report.html").read_text()
    assert "What 20 tasks will cost: about" in text
    assert "askwise plan workers.csv --target-error 0.4 --tasks 20" in text


def test_a_person_sees_tables(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "for_people", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    printed = call(*QUICK, "--budget", "8", "--target-error", "0.4").stdout
    assert "20 tasks with 2 options, asked by random-pairs" in printed
    assert "What no plan can know:" in printed
    assert '    budget = "8"\n' in printed


def test_in_a_pipe_it_says_what_it_is_doing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.01)
    with progress.progress(compiles=False) as tell:
        tell("trying budget 8", 3, 10)
        said = ""
        deadline = time.monotonic() + 30
        while not said and time.monotonic() < deadline:
            said = capsys.readouterr().err
    assert said.startswith("trying budget 8: 3 of 10\n")


def test_in_a_pipe_it_says_which_step_it_is_of_how_many_at_most(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.005)
    said = call(*QUICK, "--target-error", "0.4").stderr
    assert re.search(
        r"^step 1 of at most \d+: trying budget [\d.]+, campaign \d+ of 10; ", said, re.M
    )
    assert re.search(r"; at most about \d+ s left$", said, re.M)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--target-error", "0.000001"), "target_error is 1e-06: nobody here can keep it"),
        (("--rule", "fixed"), "rule can only be used with --crowds"),
        (("--crowds", "crowds.toml"), "workers can't be combined with --crowds"),
        (("--gold", "gold.csv"), "gold can only be used with --answers"),
        (("--answers", "pilot.csv", "--options", "3"), "options can't be combined with --answers"),
        (("--answers", "nowhere.csv"), "nowhere.csv: No such file or directory"),
        (("--correlation", "much"), "correlation is 'much': give a number such as 0.2"),
        (("--correlation", "0.5-2"), "correlation is 0.5-2: give a number from 0 to below 1"),
        (("--certify", "2"), "certify is 2.0: give a number between 0 and 1"),
        (("--by", "ann"), "by is 'ann', who is not trusted"),
        (("--tasks", "0"), "tasks is 0: give a whole number from 1"),
        (("--lever", "dial"), "lever is 'dial'"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else None,
)
def test_bad_input_is_one_line(words: tuple[str, ...], message: str, refusal: Call) -> None:
    assert message in refusal(*QUICK, *words)


def test_a_worker_without_price_or_with_a_wrong_accuracy_is_refused_by_the_line(
    workplace: Path, refusal: Call
) -> None:
    (workplace / "workers.csv").write_text("id,price,accuracy\nann,,0.9\n")
    assert "workers.csv, line 2: worker 'ann' lacks 'price'" in refusal(*QUICK)
    (workplace / "workers.csv").write_text("id,price,accuracy\nann,1,1.2\n")
    assert "line 2: accuracy of worker 'ann' is 1.2: give a number above 0" in refusal(*QUICK)
