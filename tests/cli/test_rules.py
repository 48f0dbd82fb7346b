"""``askwise rules``."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from askwise.stopping import stopping
from tests.cli import helpers

SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "rules.schema.json"


def faults(value: Any) -> list[str]:
    schema = Draft202012Validator(json.loads(SCHEMA.read_text()))
    return [error.message for error in schema.iter_errors(value)]


def test_every_rule_is_listed_on_a_line_with_its_kind_of_promise(call: Callable[..., Any]) -> None:
    lines = [line.split("\t") for line in call("rules").stdout.splitlines()]
    assert [line[0] for line in lines] == stopping.names()
    found = {line[0]: line[1:] for line in lines}
    assert found["e-process"] == [
        "guarantees",
        "beyond 004",
        "Stop when the evidence for an option, against each rival, is beyond what luck allows.",
    ]
    assert found["fixed"] == [
        "trades",
        "004",
        "Close a task after n answers, with the option most of them gave.",
    ]


def test_json_says_what_a_rule_promises(call_json: Callable[..., Any]) -> None:
    listed = call_json("rules")
    assert faults(listed) == []
    found = {each["name"]: each for each in listed}
    assert list(found) == stopping.names()
    fixed = found["fixed"]
    assert (fixed["guarantees"], fixed["outcomes"], fixed["dial"], fixed["most_options"]) == (
        False,
        ["utility", "options"],
        "n",
        None,
    )
    # A rule's own parameters come before those that every rule has.
    assert list(fixed["parameters"].items()) == [("n", 3), ("horizon", None), ("cap", None)]
    assert found["penalty"]["most_options"] == 2
    assert found["e-process"]["guarantees"] is True
    assert found["e-process"]["promise"].startswith("Guarantees an error of at most delta")


@pytest.mark.parametrize("name", stopping.names())
def test_every_rule_can_be_shown(
    name: str, call: Callable[..., Any], call_json: Callable[..., Any]
) -> None:
    text = call("rules", "show", name).stdout
    rule = stopping.get(name)
    facts = dict(line.split("\t") for line in text.partition("\n\n")[0].splitlines())
    assert facts["rule"] == name
    assert facts["guarantees"] == ("yes" if rule.guarantees else "no")
    assert facts["promise"] == rule.promise
    assert facts["dial"] == rule.dial
    assert f"{rule.dial}=" in facts["parameters"]
    for part in ("Parameters", "Assumes", "Not ", "References", "Examples"):
        assert f"\n{part}" in text
    assert faults([call_json("rules", "show", name)]) == []


def test_the_number_of_options_is_said(call: Callable[..., Any]) -> None:
    assert "\noptions\tany number\n" in call("rules", "show", "gap").stdout
    assert "\noptions\tup to 2\n" in call("rules", "show", "penalty").stdout


@pytest.mark.parametrize(
    "words", [("show", "gap", "--json"), ("--json", "show", "gap")], ids=" ".join
)
def test_json_may_be_asked_for_before_and_after_show(
    words: tuple[str, ...], call: Callable[..., Any]
) -> None:
    assert call("rules", *words).stdout.startswith('{"name": "gap"')


def test_the_nearest_rule_is_suggested(refusal: Callable[..., str]) -> None:
    assert refusal("rules", "show", "e-proces") == (
        "stopping 'e-proces' is not known: did you mean 'e-process'?"
    )


def test_on_a_terminal_there_are_headings() -> None:
    code, text = helpers.on_terminal("rules")
    assert code == 0
    assert text.splitlines()[0].split() == ["rule", "promise", "paper", "what", "it", "does"]
    code, text = helpers.on_terminal("rules", "show", "lead")
    assert code == 0
    assert text.splitlines()[0].split() == ["rule", "lead"]


def test_rules_are_listed_without_the_compiler() -> None:
    spy = "import atexit, sys\natexit.register(lambda: print('numba' in sys.modules))"
    ran = subprocess.run(
        helpers.askwise("rules", first=spy),
        env=helpers.environment(ASKWISE_JIT=None),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert ran.stdout.splitlines()[-1] == "False"
