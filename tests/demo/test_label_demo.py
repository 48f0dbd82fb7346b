"""The demonstration as a whole, on few messages: files, books, and what it is held against."""

from __future__ import annotations

import csv
import html
import io
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console

from askwise import Campaign
from askwise.core.money import MICRO
from askwise.demo.comparing import Everybody
from askwise.demo.label_demo import run_label_demo
from askwise.demo.labelling import NAME
from askwise.demo.messages import Message, make_messages
from askwise.demo.showing import certificate_words, show, write_demo_page
from askwise.demo.stand_ins import STAND_INS
from askwise.demo.summary import DemoSummary

COUNT = 24


class Demo(NamedTuple):
    folder: Path
    found: DemoSummary
    screen: str


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("demo") / "demo-out"
    screen = io.StringIO()
    found = run_label_demo(folder, Console(file=screen, width=100), count=COUNT, budget="12")
    return Demo(folder, found, screen.getvalue())


def test_what_is_booked_for_judges_is_what_their_endpoints_charged(demo: Demo) -> None:
    assert demo.found.booked == demo.found.billed > 0


def test_everybody_is_charged_at_the_prices_of_the_endpoints_and_of_people(demo: Demo) -> None:
    ways = {way.name: way for way in demo.found.ways}
    by_judges = sum(line.price for line in demo.found.workers[:4]) * COUNT / 1000
    everybody = ways["everybody on everything"]
    assert everybody.cost == pytest.approx(by_judges + COUNT * (0.05 + 0.04 + 0.40))
    assert everybody.right == 1.0
    assert ways["majority of four judges"].cost == pytest.approx(by_judges)


def test_the_budget_is_kept_and_the_bill_is_the_campaigns(demo: Demo) -> None:
    campaign = Campaign.open(f"sqlite:///{demo.folder / 'demo.sqlite'}", NAME)
    status = campaign.status()
    assert demo.found.ways[0].cost == float(status.spent) <= 12
    assert sum(line.answers for line in demo.found.workers) == status.answers
    assert sum(line.failures for line in demo.found.workers) == status.failures


def test_labels_are_counted_right_against_the_truth_of_the_messages(demo: Demo) -> None:
    truth = {message.id: message.truth for message in make_messages(COUNT)}
    with (demo.folder / "labels.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == COUNT
    right = sum(row["label"] == truth[row["id"]] for row in rows)
    assert demo.found.ways[0].right == right / COUNT
    certified = [row for row in rows if row["rests_on"] == "certified"]
    wrong = sum(row["label"] != truth[row["id"]] for row in certified)
    assert demo.found.certified_wrong == wrong


def test_the_screen_says_who_stands_in_for_whom_and_where_everything_is(demo: Demo) -> None:
    assert "rules that stand in for models" in demo.screen
    for name in ("labels.csv", "report.html", "demo.sqlite", "judges.toml"):
        assert (demo.folder / name).is_file()
        assert name in demo.screen
    assert f"askwise status {NAME} --store sqlite:///" in demo.screen
    for judge in STAND_INS:
        assert judge.id in demo.screen


def test_the_page_loads_nothing_and_has_the_statement(demo: Demo) -> None:
    page = (demo.folder / "report.html").read_text()
    assert demo.found.certificate.statement in html.unescape(page)
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_names_are_whole_on_a_narrow_terminal(demo: Demo) -> None:
    for width in (100, 80, 70):
        screen = io.StringIO()
        show(Console(file=screen, width=width), demo.found)
        for name in (*(each.id for each in STAND_INS), "majority of judges and people"):
            assert name in screen.getvalue(), width
        assert "…" not in screen.getvalue(), width


def test_it_is_said_why_everybody_is_always_right(demo: Demo) -> None:
    said = " ".join(demo.screen.split())
    assert "it is always right because it buys the expert's answer to each message" in said


def test_certified_replaced_and_corrected_labels_are_all_labels(demo: Demo) -> None:
    certificate = demo.found.certificate
    block = replace(certificate.blocks[0], certified=certificate.certified + 1)
    found = replace(demo.found, certificate=replace(certificate, blocks=(block,)))
    assert certificate_words(found)[-1] == "1 more was found wrong by the audits and corrected."


def message(id: str, truth: str) -> Message:
    return Message(id, id, truth, "praise", "plain")


def test_a_run_that_ended_before_any_audit_has_a_page_without_a_figure_of_workers(
    demo: Demo, tmp_path: Path
) -> None:
    unknown = [replace(each, card=None) for each in demo.found.workers]
    page = write_demo_page(tmp_path, replace(demo.found, workers=unknown), [])
    assert page.exists()
    assert [path.stem for path in tmp_path.glob("*.svg")] == ["figure"]


def test_ties_count_by_share_and_failures_are_not_right() -> None:
    everybody = Everybody(
        {"a": {"1": "question", "2": "praise"}, "b": {"1": "complaint"}, "c": {}},
        {"a": MICRO, "b": MICRO, "c": 0},
    )
    messages = [message("1", "question"), message("2", "praise")]
    assert everybody.right("a", messages) == 1.0
    assert everybody.right("b", messages) == 0.0
    assert everybody.right("c", messages) == 0.0
    # Tied on the first, so half; a alone on the second; nobody of c on either.
    assert everybody.majority(["a", "b", "c"], messages) == 0.75
    assert everybody.majority(["c"], messages) == 0.0
