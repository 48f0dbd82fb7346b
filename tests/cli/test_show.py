"""Looking at a stored campaign."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.cli import show
from askwise.cli.options import DEFAULT_STORE
from askwise.store import open_store
from tests.cli import helpers
from tests.policies.wanting import wanting

Call = Callable[..., Any]


def test_status_is_a_line_a_fact(shop: str, call: Call, call_json: Call) -> None:
    call("ask", shop, "--limit", "3")
    call("tell", "shop:2", "0.1")
    call("tell", "shop:3", "0.2")
    facts = dict(line.split("\t") for line in call("status", shop).stdout.splitlines())
    assert facts["left"] == "2.7"
    assert float(facts["utility"]) == 0.1 + 0.2
    # A line for each context that needs gold, for a certificate, for audits, for a choice of
    # the policy and for a title; here are none.
    unsaid = ("needs_gold", "certificate", "watch", "because", "pilot", "title")
    assert [*facts] == [name for name in call_json("status", shop) if name not in unsaid]


def test_why_a_campaign_has_ended_takes_the_place_of_when_it_will(
    workplace: Path, call: Call, call_json: Call
) -> None:
    campaign = Campaign.create(
        store=open_store(DEFAULT_STORE), name="two", tasks=["t"], options=["yes", "no"], seed=1,
        workers=[Worker("ann", "0.10"), Worker("bob", "0.10")], budget="5",
    )  # fmt: skip
    assert "; ends when the budget is spent\n" in call("status", "two").stdout
    campaign.tell(campaign.ask(limit=1)[0].id, "yes")
    campaign.tell(campaign.ask(limit=1)[0].id, "yes")
    said = call("status", "two").stdout
    assert "\nwhy\ttasks\n" in said
    assert "unknown skill; ended because no task is left to ask about\n" in said
    assert "ends when the budget" not in said
    assert call_json("status", "two")["because"].endswith("ends when the budget is spent")


def test_money_without_a_cap_is_none(cats: str, call: Call) -> None:
    assert "\nbudget\t-\nspent\t0\nreserved\t0\nleft\t-\n" in call("status", cats).stdout


def test_payments_say_what_was_earned_and_what_is_reserved(shop: str, call: Call) -> None:
    call("ask", shop, "--limit", "2")
    call("tell", "shop:2", "1")
    assert call("payments", shop).stdout == (
        "ann\t1\t0.05\t0\tprice per answer\nbob\t0\t0\t0.1\tprice per answer\n"
    )


def test_the_mean_utility_is_the_answer_of_a_campaign_without_tasks(
    shop: str, call: Call, call_json: Call
) -> None:
    call("ask", shop, "--limit", "2")
    call("tell", "shop:2", "1")
    call("tell", "shop:3", "0.5")
    assert call("answers", shop).stdout == "-\t0.75\t-\t-\topen\t2\n"
    (answer,) = call_json("answers", shop)
    assert answer["value"] == 0.75


def test_the_log_is_an_event_a_line(cats: str, call: Call) -> None:
    call("ask", cats, "--worker", "bob")
    call("pause", cats)
    lines = [line.split("\t") for line in call("log", cats).stdout.splitlines()]
    assert [(seq, kind) for seq, _, kind, _ in lines] == [
        ("1", "DECIDED"),
        ("2", "ASKED"),
        ("3", "PAUSED"),
    ]
    assert lines[0][3] == "decision=0 note=round rows=ann,bob,eve"
    assert lines[1][3] == "decision=0 task=t1 worker=bob propensity=1 price=0.1"
    assert lines[2][3] == "-"
    assert len(lines[0][1]) == len("2026-01-01T00:00:00Z")


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1000])
def test_a_part_of_the_log_is_read_whatever_the_chunk(
    chunk: int, shop: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show, "CHUNK", chunk)
    call("ask", shop, "--limit", "5")
    parts: dict[tuple[str, ...], list[int]] = {
        (): [1, 2, 3, 4, 5, 6, 7, 8],
        ("--after", "6"): [7, 8],
        ("--upto", "2"): [1, 2],
        ("--after", "2", "--upto", "4"): [3, 4],
        ("--after", "4", "--upto", "2"): [],
        ("--after", "8"): [],
        ("--after", "99"): [],
    }
    for limits, expected in parts.items():
        lines = call("log", shop, *limits, "--json").stdout.splitlines()
        assert [json.loads(line)["seq"] for line in lines] == expected, limits


def test_explain_tells_the_decision_and_the_candidates(
    shop: str, call: Call, call_json: Call
) -> None:
    call("ask", shop, "--limit", "2")
    lines = [line.split("\t") for line in call("explain", "shop:3").stdout.splitlines()]
    assert ["worker", "bob"] in lines
    assert ["reproduced", "yes"] in lines
    assert ["row", "-", "bob", "1", "1"] in lines
    assert ["candidate", "bob", "yes", "2", "0", "answers=0 mean=- price=0.1"] in lines
    assert call_json("explain", "shop:3")["budget_left"] == "3"


def test_what_is_read_changes_nothing(shop: str, workplace: Path, call: Call) -> None:
    from tests.cli.helpers import content

    call("ask", shop, "--limit", "2")
    before = content(workplace / "askwise.sqlite")
    for verb in ("status", "answers", "payments", "assignments", "log"):
        call(verb, shop)
    call("explain", "shop:2")
    call("list")
    assert content(workplace / "askwise.sqlite") == before


@pytest.fixture
def wanted() -> Iterator[str]:
    """A campaign that wants truths to turn agreement into a probability."""
    with wanting():
        Campaign.create(
            workers=[Worker("ann", "0.05")],
            tasks=["t1", "t2", "t3", "t4"],
            options=["no", "yes"],
            policy="wanting",
            store=open_store(DEFAULT_STORE),
            name="wanted",
            seed=1,
        )
        yield "wanted"


def test_status_says_which_truths_are_wanted_what_for_and_how_many(
    wanted: str, call: Call, call_json: Call
) -> None:
    (need,) = call_json("status", wanted)["needs_gold"]
    assert (need["context"], need["why"], need["count"]) == (None, "calibration", 50)
    tasks = ",".join(need["tasks"])
    lines = call("status", wanted).stdout.splitlines()
    assert lines[-1] == f"needs_gold\t-\t{tasks}\tcalibration\t50"


def test_on_a_terminal_an_end_by_agreement_is_explained(wanted: str, call: Call) -> None:
    for _ in range(4):
        (line,) = call("ask", wanted).stdout.splitlines()
        call("tell", line.split("\t")[0], "yes")
    assert call("ask", wanted, code=4).stdout == "done: agreement\n"
    code, seen = helpers.on_terminal("ask", wanted)
    assert code == 4
    assert "Sure enough by agreement alone: no truths were told" in " ".join(seen.split())
    _, seen = helpers.on_terminal("status", wanted)
    said = " ".join(seen.split())
    assert "too few truths are known for confidences to be probabilities" in said
    assert "the truths of 50 tasks drawn at random would be enough" in said


@pytest.fixture
def refuted() -> str:
    """A campaign whose only worker was said to be wrong once in twenty times, and is."""
    policy = {"name": "ccb-ns", "floor": 0.95, "truth": "audited", "audits": 1.0, "alarm": 0.5}
    campaign = Campaign.create(
        workers=[Worker("ann", "0.05")],
        tasks=["t1", "t2", "t3"],
        options=["no", "yes"],
        policy=policy,
        store=open_store(DEFAULT_STORE),
        name="refuted",
        seed=1,
    )
    for each in campaign.ask():
        campaign.tell(each.id, "no")
    campaign.truth("t1", "yes")
    for each in campaign.ask():
        campaign.tell(each.id, "no")
    return "refuted"


def test_an_assurance_that_failed_is_told_by_status_answers_and_explain(
    refuted: str, call: Call, call_json: Call
) -> None:
    said = "Assurance has failed after 1 task: of 1 audited answer that was assured, 1 was wrong"
    watch = call_json("status", refuted)["watch"]
    assert (watch["state"], watch["alarms"], watch["since"]) == ("failed", 1, 1)
    assert watch["statement"].startswith(said)
    line = call("status", refuted).stdout.splitlines()[-1]
    assert line.startswith("watch\tfailed\t0\t")
    assert line.endswith(watch["statement"])
    needs = "needs_gold\t-\tt2\taudit\t1"
    assert needs in call("status", refuted).stdout.splitlines()
    shown = call("answers", refuted)
    assert shown.stdout.splitlines()[1].split("\t")[4] == "assurance_failed"
    assert said in shown.stderr
    assert any(
        each.startswith("watch\tfailed")
        for each in call("explain", "refuted:6").stdout.splitlines()
    )
    assert call_json("explain", "refuted:2")["watch"]["state"] == "holds"
