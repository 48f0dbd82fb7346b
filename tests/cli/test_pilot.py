"""askwise pilot: what a campaign's pilot has shown of its workers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from askwise import Campaign
from tests.cli.helpers import on_terminal
from tests.schemas import faults

Call = Callable[..., Any]

SPEC = """
name = "cats"
options = ["cat", "dog"]
policy = "random-pairs"
budget = 10
pilot = 6
tasks = ["t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8"]
workers = [
    {id = "gpt", price = 0.05, kind = "model", family = "oak"},
    {id = "mini", price = 0.05, kind = "model", family = "oak"},
    {id = "owl", price = 0.02, kind = "model"},
]
"""


@pytest.fixture
def piloted(workplace: Path, call: Call) -> None:
    (workplace / "spec.toml").write_text(SPEC)
    call("new", "spec.toml")
    campaign = Campaign.open("sqlite:///askwise.sqlite", "cats")
    for at in range(1, 9):
        campaign.truth(f"t{at}", "cat" if at < 7 else "dog")
    batch = campaign.ask(limit=50)
    for each in batch[1:]:
        at = int((each.task or "t0")[1:])
        right = each.worker == "owl" or at % 2 == 0
        campaign.tell(each.id, "cat" if right else "dog")
    campaign.fail(batch[0].id, "orders", "0.01")


@pytest.mark.usefixtures("piloted")
def test_it_is_a_line_a_fact_and_a_worker_or_json(call: Call, call_json: Call) -> None:
    lines = [line.split("\t") for line in call("pilot", "cats").stdout.splitlines()]
    facts = {line[0]: line[1] for line in lines if line[0] not in ("worker", "family")}
    assert (facts["phase"], facts["done"], facts["drawn"]) == ("done", "18", "6")
    workers = {line[1]: line[2:] for line in lines if line[0] == "worker"}
    # Answers, failures and flips: one question of the first worker failed.
    assert workers["gpt"][:3] == ["5", "1", "1"]
    assert workers["owl"][:3] == ["6", "0", "0"]
    assert [line[1] for line in lines if line[0] == "family"] == ["oak"]
    raw = call_json("pilot", "cats")
    assert faults("pilot", raw) == []
    assert raw["questions"] == 18
    assert "pilot\tDone: 18 of 18 questions about 6 tasks." in call("status", "cats").stdout


@pytest.mark.usefixtures("piloted")
def test_on_a_terminal_it_is_a_statement_and_a_table(call: Call) -> None:
    code, seen = on_terminal("pilot", "cats")
    assert code == 0
    assert "Done: 18 of 18 questions about 6 tasks." in " ".join(seen.split())
    assert "cost per answer" in " ".join(seen.split())


def test_a_campaign_without_one_says_how_it_has_one(cats: str, call: Call) -> None:
    refused = call("pilot", cats, code=2)
    assert "has no pilot" in refused.stderr
