"""askwise label-studio: what it prints, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.cli import label_studio
from askwise.running.label_studio import LabelStudioBridge
from askwise.sources.label_studio import LabelStudioApi, read_label_studio
from tests.running.label_studio.fake import ADMIN, FakeLabelStudio
from tests.running.label_studio.scene import CONTENT, MAILS

Call = Callable[..., Any]


@pytest.fixture
def server(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> FakeLabelStudio:
    """A fake server, whatever its address; a campaign, and settings for it."""
    fake = FakeLabelStudio(MAILS)
    monkeypatch.setenv("LABEL_STUDIO_TOKEN", ADMIN)
    monkeypatch.setattr("askwise.sources.label_studio.api.FIRST_PAUSE", 0.0)
    monkeypatch.setattr(
        "askwise.running.label_studio.bridge.LabelStudioApi",
        lambda url, token: LabelStudioApi(url, token, transport=fake),
    )
    (workplace / "there.toml").write_text('url = "http://127.0.0.1:1"\nprice = "0.05"\n')
    Campaign.create(
        workers=[Worker("ann", "0.05")],
        tasks=[{"id": "t1", "payload": {"text": "mail"}}],
        content=CONTENT,
        budget="1",
        policy="random-pairs",
        store="sqlite:///askwise.sqlite",
        name="mails",
    )
    return fake


def test_one_look_prints_what_it_did(server: FakeLabelStudio, call: Call) -> None:
    found = json.loads(call("label-studio", "mails", "there.toml", "--once", "--json").stdout)
    assert (found["joined"], found["imported"], found["opened"]) == (4, 1, 1)
    assert found["untaken"] == []
    assert len(server.tasks) == 1
    lines = call("label-studio", "mails", "there.toml", "--once").stdout.splitlines()
    assert "imported\t0" in lines


def test_a_server_that_is_not_there_is_said_in_one_line(
    server: FakeLabelStudio, call: Call
) -> None:
    server.down = True
    done = call("label-studio", "mails", "there.toml", "--once", code=2)
    assert "does not answer" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_once_is_once(server: FakeLabelStudio, call: Call) -> None:
    done = call("label-studio", "mails", "there.toml", "--once", "--stay", code=2)
    assert "leave --stay" in done.stderr
    assert server.seen == []


def test_somebody_at_a_terminal_is_told_once_where_people_answer(
    server: FakeLabelStudio, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = Campaign.open("sqlite:///askwise.sqlite", "mails")
    bridge = LabelStudioBridge(campaign, read_label_studio(Path("there.toml")))
    assert bridge.places == []
    bridge.once()
    shown = label_studio._PrintedChanges(quiet=False)
    for _ in range(2):
        shown(bridge.counts, bridge.places)
    where, what = capsys.readouterr().out.splitlines()
    (project,) = server.projects
    assert where == f"people answer at http://127.0.0.1:1/projects/{project}: Label All Tasks"
    assert "imported" in what
