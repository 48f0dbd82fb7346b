"""``askwise policies``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from askwise.policies import policies


def test_every_policy_is_listed_on_a_line(call: Callable[..., Any]) -> None:
    lines = call("policies").stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == policies.names()


def test_json_says_what_a_policy_is(call_json: Callable[..., Any]) -> None:
    found = {each["name"]: each for each in call_json("policies")}
    assert list(found) == policies.names()
    uniform = found["uniform"]
    assert uniform["outcomes"] == ["utility", "options"]
    assert uniform["needs_budget"] is False
    assert uniform["summary"] == "Ask everyone equally often until the budget is used up."
    assert found["knowledge-gradient"]["parameters"] == {"screen": 0.1, "discount": 1.0}


@pytest.mark.parametrize("name", policies.names())
def test_every_policy_can_be_shown(name: str, call: Callable[..., Any]) -> None:
    text = call("policies", "show", name).stdout
    assert text.startswith(f"policy\t{name}\n")
    assert policies.get(name).__doc__.split("\n")[0] in text  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "words", [("show", "uniform", "--json"), ("--json", "show", "uniform")], ids=" ".join
)
def test_json_may_be_asked_for_before_and_after_show(
    words: tuple[str, ...], call: Callable[..., Any]
) -> None:
    assert call("policies", *words).stdout.startswith('{"name": "uniform"')


def test_the_nearest_policy_is_suggested(refusal: Callable[..., str]) -> None:
    assert refusal("policies", "show", "unifrom") == (
        "policy 'unifrom' is not known: did you mean 'uniform' or 'virt-uniform'?"
    )
