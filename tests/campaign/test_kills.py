"""A process that runs a campaign is killed; the next one goes on as if nothing had happened."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from askwise import Campaign
from askwise.core.events import Event, Kind
from askwise.store import open_store
from askwise.testing.sessions import comparable
from tests.campaign import runner
from tests.campaign.killing import Said, check_log, run_with_kills


def uninterrupted(mode: str = "resume") -> list[Event]:
    campaign = runner.create("memory")
    runner.run(campaign, alone=True, revises=mode == "revise")
    return campaign.log()


def checked(url: str, said: Said) -> list[Event]:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with closing(open_store(url)) as store:
        log = Campaign.open(store, "cats").log()
    check_log(log, said)
    return log


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/killed.sqlite"


def test_a_campaign_that_was_killed_goes_on_to_the_same_log(url: str) -> None:
    log = run_with_kills(url, 1, random.Random(5), checked)
    assert comparable(log) == comparable(uninterrupted())


def test_answers_that_were_changed_are_so_after_a_kill(url: str) -> None:
    log = run_with_kills(url, 1, random.Random(6), checked, "revise")
    assert comparable(log) == comparable(uninterrupted("revise"))
    assert {Kind.REVISED, Kind.WITHDRAWN} <= {event.kind for event in log}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_campaign_outlives_many_kills(seed: int, url: str) -> None:
    log = run_with_kills(url, 15, random.Random(seed), checked)
    assert comparable(log) == comparable(uninterrupted())
