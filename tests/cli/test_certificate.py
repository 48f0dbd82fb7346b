"""askwise certificate: what audits of a campaign's labels have shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from askwise import Campaign
from askwise.campaign.views import NeedsGold
from askwise.core.events import Kind
from tests.cli.helpers import on_terminal
from tests.schemas import faults

Call = Callable[..., Any]

SPEC = """
name = "cats"
options = ["cat", "dog"]
policy = "random-pairs"
budget = 10
tasks = ["t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8"]
workers = [{id = "ann", price = 0.05}, {id = "vet", price = 0.5, trusted = true}]

[certify]
error = 0.3
confidence = 0.9
by = ["vet"]
share = 0.5
"""


def certified(workplace: Path, call: Call) -> None:
    (workplace / "spec.toml").write_text(SPEC)
    call("new", "spec.toml")
    campaign = Campaign.open("sqlite:///askwise.sqlite", "cats")
    while batch := campaign.ask():
        campaign.tell(batch[0].id, "cat")


def test_it_is_a_line_a_fact_or_json(workplace: Path, call: Call, call_json: Call) -> None:
    certified(workplace, call)
    facts = dict(line.split("\t") for line in call("certificate", "cats").stdout.splitlines())
    assert facts["phase"] == "done"
    assert facts["statement"].startswith("At most 30% of all 8 labels are wrong")
    raw = call_json("certificate", "cats")
    assert faults("campaign-certificate", raw) == []
    assert raw["certified"] == 8
    assert "certificate\tAt most 30%" in call("status", "cats").stdout
    rows = call("answers", "cats").stdout.splitlines()
    assert {row.split("\t")[-1] for row in rows} == {"certified"}


def test_on_a_terminal_it_is_the_statement_and_the_sets(workplace: Path, call: Call) -> None:
    certified(workplace, call)
    code, seen = on_terminal("certificate", "cats")
    assert code == 0
    assert "At most 30% of all 8 labels are wrong" in " ".join(seen.split())
    assert "may be wrong" in seen


def test_status_asks_for_no_truths_once_labels_are_certified(
    workplace: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    certified(workplace, call)
    wanted = NeedsGold(None, ("t1",), "calibration", 50)
    of_campaign = Campaign.status
    monkeypatch.setattr(
        Campaign, "status", lambda self: replace(of_campaign(self), needs_gold=(wanted,))
    )
    _, seen = on_terminal("status", "cats")
    assert "the labels are certified, as far as the audits allow" in " ".join(seen.split())
    assert "askwise truth" not in seen


def test_explain_says_what_money_and_which_target_are_those_of_audits(
    workplace: Path, call: Call
) -> None:
    certified(workplace, call)
    events = Campaign.open("sqlite:///askwise.sqlite", "cats").log()
    asked = {each.worker: each.seq for each in events if each.kind == Kind.ASKED}
    _, seen = on_terminal("explain", f"cats:{asked['ann']}")
    assert "without what is kept back for audits" in seen
    assert "audits see to its target, not this rule" in seen
    _, seen = on_terminal("explain", f"cats:{asked['vet']}")
    assert "kept back" not in seen


def test_a_campaign_that_certifies_nothing_says_how_one_does(cats: str, call: Call) -> None:
    refused = call("certificate", cats, code=2)
    assert "certifies nothing" in refused.stderr


def test_bad_terms_in_a_file_are_named(workplace: Path, call: Call) -> None:
    (workplace / "spec.toml").write_text(SPEC.replace("error = 0.3", "error = 3"))
    assert (
        "certify.error is 3: give a number between 0 and 1"
        in call("new", "spec.toml", code=2).stderr
    )
