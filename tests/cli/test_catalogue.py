"""``askwise policies``, ``rules``, ``aggregators`` and ``mechanisms``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from askwise.aggregation import aggregation
from askwise.cli.catalogue import CATALOGUES, family_of
from askwise.core.registry import Registry
from askwise.mechanisms import mechanisms
from askwise.policies import policies
from askwise.stopping import stopping
from tests.cli import helpers
from tests.schemas import NAMES as SCHEMAS
from tests.schemas import faults

Call = Callable[..., Any]

REGISTRIES: dict[str, Registry[Any]] = {
    "policies": policies,
    "rules": stopping,
    "aggregators": aggregation,
    "mechanisms": mechanisms,
}

ENTRIES = [(command, name) for command, registry in REGISTRIES.items() for name in registry.names()]

NOUNS = {each.command: each.noun for each in CATALOGUES}

HEADINGS = {
    "policies": [family_of(policies.get(policies.names()[0]))],
    "rules": ["rule", "promise", "paper", "what", "it", "does"],
    "aggregators": ["aggregator", "works", "on", "from", "what", "it", "does"],
    "mechanisms": ["mechanism", "bids", "truthful", "what", "it", "does"],
}

all_commands = pytest.mark.parametrize("command", REGISTRIES)


# Of all four.


def test_every_catalogue_has_its_command() -> None:
    assert list(NOUNS) == list(REGISTRIES)


@all_commands
def test_every_entry_is_listed_on_a_line(command: str, call: Call, call_json: Call) -> None:
    names = REGISTRIES[command].names()
    lines = call(command).stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == names
    listed = call_json(command)
    assert [each["name"] for each in listed] == names
    assert command not in SCHEMAS or faults(command, listed) == []


@pytest.mark.parametrize(("command", "name"), ENTRIES, ids=" ".join)
def test_every_entry_can_be_shown(command: str, name: str, call: Call, call_json: Call) -> None:
    text = call(command, "show", name).stdout
    assert text.startswith(f"{NOUNS[command]}\t{name}\n")
    assert REGISTRIES[command].get(name).__doc__.split("\n")[0] in text
    found = call_json(command, "show", name)
    assert command not in SCHEMAS or faults(command, [found]) == []
    # JSON may be asked for before and after `show`.
    assert json.loads(call(command, "--json", "show", name).stdout) == found


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("policies show unifrom", "policy 'unifrom': 'uniform' or 'virt-uniform'"),
        ("rules show e-proces", "stopping 'e-proces': 'e-process'"),
        ("aggregators show dawid-skeen", "aggregation 'dawid-skeen': 'dawid-skene'"),
        ("mechanisms show clark", "mechanism 'clark': 'clarke'"),
    ],
)
def test_the_nearest_entry_is_suggested(words: str, said: str, refusal: Callable[..., str]) -> None:
    wrong, _, near = said.partition(": ")
    assert refusal(*words.split()) == f"{wrong} is not known: did you mean {near}?"


@all_commands
def test_on_a_terminal_there_are_headings(command: str) -> None:
    code, text = helpers.on_terminal(command)
    assert code == 0
    assert text.splitlines()[0].split() == HEADINGS[command]
    assert text.endswith(f"\naskwise {command} show NAME tells more.\n")
    name = REGISTRIES[command].names()[0]
    code, text = helpers.on_terminal(command, "show", name)
    assert code == 0
    assert text.splitlines()[0].split() == [NOUNS[command], name]


# What only one of them has.


def test_json_says_what_a_policy_is(call_json: Call) -> None:
    found = {each["name"]: each for each in call_json("policies")}
    uniform = found["uniform"]
    assert uniform["outcomes"] == ["utility", "options"]
    assert uniform["needs_budget"] is False
    assert uniform["summary"] == "Ask everyone equally often until the budget is used up."
    assert found["knowledge-gradient"]["parameters"] == {"screen": 0.1, "discount": 1.0}


def test_the_policy_that_stands_for_a_choice_is_shown_with_its_table(
    call: Call, call_json: Call
) -> None:
    assert "\nauto: Choose the policy" in helpers.on_terminal("policies")[1]
    text = call("policies", "show", "auto").stdout
    assert text.startswith("policy\tauto\n")
    assert "parameters\ttarget=None, guarantee=False, truths=False\n" in text
    assert "\n- labels, and a `target`: hem\n" in text
    assert call_json("policies", "show", "auto").keys() == call_json("policies")[0].keys()


def test_a_line_on_a_rule_says_whether_it_guarantees_or_trades(call: Call) -> None:
    lines = [line.split("\t") for line in call("rules").stdout.splitlines()]
    found = {line[0]: line[1:] for line in lines}
    assert found["e-process"] == [
        "guarantees",
        "beyond 004",
        "Stop when the evidence for an option, against each rival, is beyond what chance allows.",
    ]
    assert found["fixed"] == [
        "trades",
        "004",
        "Close a task after n answers, with the option that most of them name.",
    ]


def test_json_says_what_a_rule_promises(call_json: Call) -> None:
    found = {each["name"]: each for each in call_json("rules")}
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
def test_a_rule_shows_its_promise_and_its_dial(name: str, call: Call) -> None:
    text = call("rules", "show", name).stdout
    rule = stopping.get(name)
    facts = _facts(text)
    assert facts["guarantees"] == ("yes" if rule.guarantees else "no")
    assert facts["promise"] == rule.promise
    assert facts["dial"] == rule.dial
    assert f"{rule.dial}=" in facts["parameters"]
    for part in ("Parameters", "Assumes", "Not ", "References", "Examples"):
        assert f"\n{part}" in text


def test_the_number_of_options_of_a_rule_is_said(call: Call) -> None:
    assert "\noptions\tany number\n" in call("rules", "show", "gap").stdout
    assert "\noptions\tup to 2\n" in call("rules", "show", "penalty").stdout


def test_aggregators_say_what_they_work_on(call: Call, call_json: Call) -> None:
    lines = [line.split("\t") for line in call("aggregators").stdout.splitlines()]
    assert {line[0]: line[1] for line in lines}["mean"] == "utility"
    found = {each["name"]: each for each in call_json("aggregators")}
    assert found.keys() == set(aggregation.names())
    assert found["majority"]["labels_tables"]
    assert not found["mean"]["labels_tables"]
    for each in found.values():
        assert not each["labels_tables"] or "options" in each["outcomes"]


def test_a_line_on_a_mechanism_says_whether_it_takes_bids_and_is_truthful(call: Call) -> None:
    lines = [line.split("\t") for line in call("mechanisms").stdout.splitlines()]
    found = {line[0]: line[1:] for line in lines}
    assert found["pay-price"] == [
        "none",
        "no",
        "Pay the worker's price for every answer; no bidding.",
    ]
    assert found["clarke"][:2] == ["sealed", "promised"]


def test_json_says_what_a_mechanism_promises(call_json: Call) -> None:
    found = {each["name"]: each for each in call_json("mechanisms")}
    resampling = found["self-resampling"]
    # What must be given has no default.
    assert resampling["parameters"] == {"c_max": None, "gamma": 0.1}
    assert resampling["bidding"] is resampling["truthful"] is True
    assert found["pay-price"]["truthful"] is False


@pytest.mark.parametrize("name", mechanisms.names())
def test_a_mechanism_shows_its_promise_and_its_company(name: str, call: Call) -> None:
    text = call("mechanisms", "show", name).stdout
    entry = mechanisms.get(name)
    facts = _facts(text)
    assert facts["promise"] == entry.promise
    assert facts["goes with"] == entry.goes_with
    for part in ("Assumes", "Not ", "References", "Examples"):
        assert f"\n{part}" in text


def _facts(text: str) -> dict[str, str]:
    return dict(line.split("\t") for line in text.partition("\n\n")[0].splitlines())
