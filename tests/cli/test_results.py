"""askwise results, agreement, worker and judges: what a campaign has come to."""

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
tasks = ["t1", {id = "t2", context = "night"}]
workers = [
  {id = "ann", price = 0.05}, {id = "bob", price = 0.05},
  {id = "gpt", price = 0.05, kind = "model"},
]
"""


@pytest.fixture
def answered(workplace: Path, call: Call) -> Campaign:
    """All say cat of t1, and bob alone says dog of t2; the truths are told."""
    (workplace / "spec.toml").write_text(SPEC)
    call("new", "spec.toml")
    campaign = Campaign.open("sqlite:///askwise.sqlite", "cats")
    while batch := campaign.ask():
        one = batch[0]
        campaign.tell(one.id, "dog" if (one.worker, one.task) == ("bob", "t2") else "cat")
    campaign.truth("t1", "cat")
    campaign.truth("t2", "cat")
    return campaign


def test_they_are_lines_for_programs(answered: Campaign, call: Call) -> None:
    lines = call("results", "cats").stdout.splitlines()
    assert "told\t2" in lines
    assert "label\tcat\t2" in lines
    assert [line for line in lines if line.startswith("audited\t2\t2\t1")]
    # Of t1 all three pairs agree, of t2 one of three; by chance 2/3 of pairs would.
    agreed = dict(line.split("\t", 1) for line in call("agreement", "cats").stdout.splitlines())
    assert agreed["tasks"] == "2"
    assert agreed["agreement"].startswith("0.6666")
    assert "said\tcat\tdog\t1" in call("worker", "cats", "bob").stdout.splitlines()
    judge = call("judges", "cats").stdout.splitlines()[2].split("\t")
    assert judge[:5] == ["judge", "gpt", "-", "2", "0"]


def test_they_are_tables_for_people_and_json(answered: Campaign, call_json: Call) -> None:
    for verb, words in (
        ("results", "right on 2 of 2 tasks with known truth"),
        ("agreement", "6 answers to 2 tasks"),
        ("judges", "gpt"),
    ):
        code, seen = on_terminal(verb, "cats")
        assert code == 0
        assert words in " ".join(seen.split())
        assert faults(verb, call_json(verb, "cats")) == []
    code, seen = on_terminal("worker", "cats", "bob")
    assert code == 0
    assert "night" in seen
    assert faults("worker", call_json("worker", "cats", "bob")) == []


def test_a_worker_who_is_not_there_is_refused(answered: Campaign, call: Call) -> None:
    refused = call("worker", "cats", "bop", code=2)
    assert "bop" in refused.stderr
    assert "bob" in refused.stderr
