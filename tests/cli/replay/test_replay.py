"""``askwise replay``: what is replayed and measured, and how it is printed."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.replay.sheets import QUICK, TOLD
from tests.schemas import faults

Call = Callable[..., Any]


def test_in_a_pipe_there_is_a_line_for_each_fact(call: Call, labels: str, gold: str) -> None:
    result = call("replay", labels, "--gold", gold, *QUICK)
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert result.stderr == ""
    assert rows[:7] == [
        ["tasks", "6"], ["workers", "4"], ["answers", "18"], ["options", "2"], ["measured", "5"],
        ["runs", "2"], ["seed", "0"],
    ]  # fmt: skip
    spent = [row for row in rows if row[0] == "spent"]
    assert [(row[1], row[2]) for row in spent] == [
        (name, str(budget)) for name in ("hem", "random-pairs") for budget in range(1, 9)
    ]
    assert all(row[3] == row[2] for row in spent)
    # t1, t2, t4 and t5 by majority; t3 too (two of three).
    assert ["everything", "1", "18"] in rows
    assert [row[1] for row in rows if row[0] == "saving"] == [
        "random-pairs", "all recorded answers, by majority",
    ]  # fmt: skip
    assert rows[-2][1].endswith("not measured: 1 of 6.")


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--window", "100"),
        ("--budget", "100"),
        ("--budget", "1"),
        ("--runs", "1"),
        ("--against", ""),
        ("--policy", "bbta(explore=0)", "--against", "hem with majority, hem(target=0.1)"),
        ("--prices", "prices.csv", "--contexts", "contexts.csv", "--seed", "5"),
        ("--workers", "prices.csv", "--truths", "1", "--stop", "posterior"),
    ],
    ids=" ".join,
)
def test_json_is_as_its_schema_says(
    words: tuple[str, ...], call_json: Call, labels: str, gold: str, prices: str, contexts: str
) -> None:
    found = call_json("replay", labels, "--gold", gold, *QUICK, *words)
    assert faults("replay", found) == []
    assert call_json("replay", labels, "--gold", gold, *QUICK, *words) == found


def test_the_schema_refuses_what_is_wrong(call_json: Call, labels: str, gold: str) -> None:
    found = call_json("replay", labels, "--gold", gold, *QUICK)
    for change in (
        {"budget": 8},
        {"options": 1},
        {"curve": []},
        {"savings": [{**found["savings"][0], "cost": 3}]},
        {"everything": {"accuracy": 1.1, "cost": "1"}},
        {"more": 1},
        {"truths": -1},
        {"measures": []},
        {"measures": [{**found["measures"][0], "done_share": 2}]},
        {"measures": [{**found["measures"][0], "ece": "low"}]},
    ):
        assert faults("replay", {**found, **change}) != []


def test_truths_rule_and_workers_are_options(
    call_json: Call, labels: str, gold: str, prices: str
) -> None:
    found = call_json("replay", labels, "--gold", gold, *QUICK, *TOLD)
    assert faults("replay", found) == []
    assert (found["truths"], found["measured"], found["stop"]) == (2, 3, "lead(lead=2)")
    assert found["everything"]["cost"] == "19.5"
    assert found["policy"] == "hem until lead(lead=2)"
    assert [(each["series"], each["budget"]) for each in found["measures"]] == [
        (f"{name} until lead(lead=2)", budget)
        for name in ("hem", "random-pairs")
        for budget in range(1, 9)
    ]
    for each in found["measures"]:
        assert (each["done_error"] is None) == (each["done_share"] == 0)


def test_without_a_rule_or_target_nothing_is_called_done(
    call_json: Call, call: Call, labels: str, gold: str
) -> None:
    found = call_json("replay", labels, "--gold", gold, *QUICK)
    assert found["stop"] is None
    assert {each["done_share"] for each in found["measures"]} == {None}
    lines = [
        line.split("\t")
        for line in call("replay", labels, "--gold", gold, *QUICK).stdout.split("\n")
    ]
    for name in ("ties", "ece", "log_loss", "done_share", "done_error"):
        mine = {(line[1], float(line[2])): line[3] for line in lines if line[0] == name}
        assert len(mine) == 16
        for each in found["measures"]:
            value = each[name]
            due = "-" if value is None else f"{float(value):.6g}"
            assert mine[each["series"], each["budget"]] == due


def test_a_policy_that_needs_a_rule_gets_it_or_says_so(
    call_json: Call, refusal: Callable[..., str], labels: str, gold: str
) -> None:
    words = ("replay", labels, "--gold", gold, *QUICK, "--policy", "b-kube")
    said = refusal(*words)
    assert said.startswith("stop is missing: policy 'b-kube' stays on a task until a stopping rule")
    found = call_json(*words, "--stop", "lead(lead=2)")
    assert found["policy"] == "b-kube until lead(lead=2)"
    own = call_json("replay", labels, "--gold", gold, *QUICK, "--policy", found["policy"])
    mine = [row for row in found["curve"] if row["series"] == found["policy"]]
    assert [row for row in own["curve"] if row["series"] == found["policy"]] == mine
    assert {row["series"] for row in own["curve"]} == {found["policy"], "random-pairs"}


def test_prices_are_paid(call_json: Call, labels: str, gold: str, prices: str) -> None:
    found = call_json("replay", labels, "--gold", gold, *QUICK, "--prices", prices)
    # w1 gave 5 answers at 1, w2 5 at 0.5, w3 4 at 2, w4 4 at 1.
    assert found["everything"]["cost"] == "19.5"
    spent = [row for row in found["curve"] if row["metric"] == "spent"]
    assert all(0 < row["mean"] <= row["budget"] for row in spent)


def test_a_pair_is_asked_once(
    call_json: Call, refusal: Callable[..., str], labels: str, gold: str
) -> None:
    with open(labels, "a") as file:
        file.write("t1,w1,b\n")
    found = call_json("replay", labels, "--gold", gold, *QUICK)
    assert found["answers"] == 18
    assert found["remarks"][0].endswith("because a pair is asked once: 1.")
    said = refusal("replay", labels, "--gold", gold, *QUICK, "--duplicates", "refuse")
    assert said.startswith("labels.csv, line 20: worker 'w1' answered task 't1' in line 2")


def test_other_formats_are_read(call_json: Call, labels: str, gold: str) -> None:
    due = call_json("replay", labels, "--gold", gold, *QUICK)
    with open(labels) as file, open("labels.jsonl", "w") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in csv.DictReader(file))
    assert call_json("replay", "labels.jsonl", "--gold", gold, *QUICK) == due


def test_help_names_every_option(call: Call) -> None:
    text = call("replay", "--help").output
    for option in ("--gold", "--budget", "--policy", "--against", "--contexts", "--prices",
                   "--workers", "--truths", "--stop"):  # fmt: skip
        assert option in text
