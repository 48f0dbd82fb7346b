"""Studies on Prolific from the shell, on the contract mock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from askwise import Campaign
from askwise.store import open_store
from askwise.testing.prolific_server import ProlificServer
from tests.running.prolific.studying import StudyBench, person

Call = Callable[..., Any]

CREATE = (
    *("prolific", "create", "cats", "--title", "Cats", "--description", "See cats."),
    *("--reward", "0.50", "--minutes", "3", "--questions", "2", "--price", "0.40"),
    *("--places", "1", "--address", "https://ask.example.org"),
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProlificServer]:
    with ProlificServer() as made:
        monkeypatch.setenv("PROLIFIC_URL", made.url)
        monkeypatch.setenv("PROLIFIC_TOKEN", made.token)
        yield made


@pytest.fixture
def bench(workplace: Path, server: ProlificServer) -> StudyBench:
    """A campaign of two tasks without a study."""
    Campaign.create(
        store="sqlite:///askwise.sqlite",
        name="cats",
        workers=[],
        tasks=["a", "b"],
        options=["yes", "no"],
        budget=5,
        policy="random-pairs",
        stopping={"name": "fixed", "n": 1},
    )
    return StudyBench(server, open_store("sqlite:///askwise.sqlite"))


def test_a_study_is_made_run_and_stopped(bench: StudyBench, call: Call, call_json: Call) -> None:
    made = call_json(*CREATE)
    assert list(bench.server.studies) == [made["study"]]
    first = call_json("prolific", "run", "cats", "--once")
    assert (first["course"], first["status"]) == ("recruiting", "UNPUBLISHED")
    bench.take_part(1)
    said = call("prolific", "run", "cats").stdout
    assert said == (
        "done: 1 of 1 places taken, 0 at work; 1 approved, 0.3 paid as bonuses, 0 places added\n"
    )
    assert bench.server.earned(person(1)) == 80
    call("prolific", "stop", "cats")
    assert bench.there["status"] == "COMPLETED"


def test_what_is_left_to_a_person_is_listed(bench: StudyBench, call: Call) -> None:
    call(*CREATE)
    call("prolific", "run", "cats", "--once")
    submission = bench.server.join(bench.study.study, person(1))
    bench.server.submit(submission, "NOCODE")
    said = call("prolific", "run", "cats", "--once").stdout.splitlines()
    assert said[1].startswith(f"  never_landed {submission} {person(1)}: ")


def test_bonuses_that_are_not_known_are_settled_by_a_person(
    bench: StudyBench, call: Call, refusal: Call
) -> None:
    call(*CREATE)
    call("prolific", "run", "cats", "--once")
    bench.take_part(1)
    bench.server.set_trap("POST .*/pay/", loss="before")
    assert "bonus_unclear" in call("prolific", "run", "cats", "--once").stdout
    assert "give --paid or --unpaid" in refusal("prolific", "settle", "cats")
    call("prolific", "settle", "cats", "--unpaid")
    call("prolific", "run", "cats", "--once")
    assert bench.server.earned(person(1)) == 80


def test_webhooks_are_subscribed_once(server: ProlificServer, call: Call) -> None:
    words = ("prolific", "webhooks", "w1", "--address", "https://ask.example.org")
    said = call(*words).stdout
    assert said == f"PROLIFIC_HOOK_SECRET={server.secrets['w1']}\n"
    assert call(*words).stdout == said
    assert {each["target_url"] for each in server.hooks.values()} == {
        "https://ask.example.org/prolific/events"
    }
    assert len(server.hooks) == 2


def test_what_can_not_be_done_is_said_in_a_line(
    bench: StudyBench, refusal: Call, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "has no study on Prolific" in refusal("prolific", "run", "cats")
    assert "every is 0" in refusal("prolific", "run", "cats", "--every", "0")
    (workplace / "extra.json").write_text("[1]")
    assert "is not a JSON object" in refusal(*CREATE, "--extra", "extra.json")
    monkeypatch.delenv("PROLIFIC_TOKEN")
    assert "PROLIFIC_TOKEN" in refusal(*CREATE)
