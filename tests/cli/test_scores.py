"""``askwise scores``, and ``askwise check`` of what evaluation tools have exported."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli import helpers

Call = Callable[..., Any]

EXPORTS = Path(__file__).parent.parent / "data" / "evaluations" / "exports"

LANGFUSE = ("langfuse.csv", "--from", "langfuse", "--metric", "correctness", "--threshold", "0.7")
DEEPEVAL = ("deepeval.json", "--from", "deepeval", "--metric", "Correctness [GEval]")


@pytest.fixture(autouse=True)
def exports(workplace: Path) -> Path:
    for path in EXPORTS.iterdir():
        shutil.copy(path, workplace)
    return workplace


def test_verdicts_and_people_are_written_as_tables(call: Call) -> None:
    found = call("scores", *LANGFUSE, "--out", "verdicts.csv", "--people", "people.csv")
    assert found.stdout.splitlines() == [
        "verdicts\t12",
        "people\t20",
        "metric\tcorrectness",
        "people_metric\tcorrectness",
        "left_out\tscores of no trace\t1",
        "left_out\tverdicts of other metrics\t12",
    ]
    for who in ("verdicts", "people"):
        assert Path(f"{who}.csv").read_text() == Path(f"langfuse.{who}.csv").read_text()


def test_the_tables_go_into_aggregate_replay_and_certify(call: Call) -> None:
    promptfoo = ("promptfoo.json", "--from", "promptfoo", "--metric", "answers")
    call("scores", *promptfoo, "--out", "verdicts.csv", "--people", "people.csv")
    call("aggregate", "verdicts.csv", "--method", "majority", "--out", "labels.csv")
    call("aggregate", "people.csv", "--method", "majority", "--out", "gold.csv")
    words = ("verdicts.csv", "--gold", "gold.csv", "--budget", "12", "--runs", "1")
    call("replay", *words, "--policy", "uniform", "--against", "random-pairs")
    call("certify", "labels.csv", "--draw", "6", "--error", "0.4", "--out", "draw.csv")


def test_json_says_what_was_read(call_json: Call) -> None:
    assert call_json("scores", *DEEPEVAL, "--out", "verdicts.csv") == {
        "verdicts": 12,
        "people": 0,
        "metrics": ["Correctness [GEval]"],
        "people_metrics": [],
        "left_out": {"test cases without metrics": 1, "verdicts of other metrics": 12},
    }


def test_a_person_is_told_of_ratings_that_were_not_written() -> None:
    code, seen = helpers.on_terminal("scores", *LANGFUSE, "--out", "verdicts.csv")
    assert code == 0
    assert "Ratings of people were not written: name a file with --people." in seen


@pytest.mark.parametrize(
    ("tool", "words", "people"),
    [
        ("langfuse", LANGFUSE, False),
        ("deepeval", DEEPEVAL, True),
    ],
)
def test_an_export_is_checked_as_its_tables_are(
    call: Call, tool: str, words: tuple[str, ...], people: bool
) -> None:
    given = ("--human", f"{tool}.people.csv") if people else ()
    direct = call("check", *words, *given, "--json")
    tables = (f"{tool}.verdicts.csv", "--human", f"{tool}.people.csv")
    assert json.loads(direct.stdout) == json.loads(call("check", *tables, "--json").stdout)
    assert "left out: " in direct.stderr


def test_a_judge_who_agrees_too_seldom_ends_ci_with_1(call: Call) -> None:
    words = ("check", "langfuse.verdicts.csv", "--human", "langfuse.people.csv")
    assert "agreement\tcorrectness\t6\t9\t" in call(*words, "--at-least", "0.3").stdout
    failed = call(*words, "--at-least", "0.8", code=1)
    assert failed.stdout.rstrip().endswith("\t0.8\tno\t-\t1")  # people are tied on one task
    quiet = call(*words, "--at-least", "0.8", "--json", code=1)
    assert json.loads(quiet.stdout)["tasks"] == 12
    assert "80.0% is not reached" in quiet.stderr


def test_a_person_reads_the_sentence() -> None:
    words = ("check", "langfuse.verdicts.csv", "--human", "langfuse.people.csv")
    code, seen = helpers.on_terminal(*words, "--at-least", "0.8")
    assert code == 1
    assert "correctness agrees with people on 66.7% of 9 tasks" in " ".join(seen.split())


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "no people in the export": (("check", *DEEPEVAL), "human is not given, and deepeval.json has"),
    "an order": (("check", *LANGFUSE, "--order", "shown"), "order can't be combined with --from"),
    "a metric of a plain table": (
        ("check", "langfuse.verdicts.csv", "--human", "langfuse.people.csv", "--threshold", "0"),
        "name the tool with --from",
    ),
    "a judge without a share": (
        ("check", "langfuse.verdicts.csv", "--human", "langfuse.people.csv", "--judge", "gpt"),
        "judge is given without at_least",
    ),
    "a judge who is not there": (
        *(("check", *LANGFUSE, "--at-least", "0.8", "--judge", "correct"),),
        "did you mean 'correctness'?",
    ),
    "one file for two tables": (
        ("scores", *LANGFUSE, "--out", "a.csv", "--people", "a.csv"),
        "give each its own file",
    ),
    "people who are not there": (
        ("scores", *DEEPEVAL, "--out", "a.csv", "--people", "b.csv"),
        "deepeval.json has no rating of a person",
    ),
    "an ending that is not known": (
        ("scores", *LANGFUSE, "--out", "a.txt"),
        "has an ending that is not known",
    ),
    "a file that is not there": (
        ("scores", "none.json", "--from", "deepeval", "--out", "a.csv"),
        "none.json: No such file",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_can_not_be_done_is_refused_in_one_line(call: Call, case: str) -> None:
    words, said = REFUSED[case]
    error = call(*words, code=2).stderr.splitlines()[-1]
    assert error.startswith("error: ")
    assert said in error
    assert not Path("a.csv").exists()
