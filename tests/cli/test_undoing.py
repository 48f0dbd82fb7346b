"""What can be taken back from the shell: tasks, titles, campaigns, names of workers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Call


def test_a_task_that_nobody_answered_is_removed(cats: str, call: Call, refusal: Call) -> None:
    tasks = [each["task"] for each in json.loads(call("answers", cats, "--json").stdout)]
    call("remove", cats, tasks[0])
    left = [each["task"] for each in json.loads(call("answers", cats, "--json").stdout)]
    assert left == tasks[1:]
    assert "was removed from this campaign" in refusal("remove", cats, tasks[0])
    asked = call("ask", cats).stdout.split()
    call("tell", asked[0], "cat")
    answered = json.loads(call("log", cats, "--json").stdout.splitlines()[-1])
    assert "was answered" in refusal("remove", cats, str(answered["task"]))


def test_a_campaign_is_put_away_and_taken_up_again(
    cats: str, call: Call, call_json: Call, refusal: Call
) -> None:
    assert call("archive", cats).stdout.split()[:2] == [cats, "-"]
    assert call_json("list") == []
    (found,) = call_json("list", "--archived")
    assert (found["name"], found["archived"]) == (cats, True)
    assert "is archived: unarchive it before you change it" in refusal("pause", cats)
    assert call_json("status", cats)["archived"]
    call("unarchive", cats)
    assert [each["name"] for each in call_json("list")] == [cats]
    assert "is not archived" in refusal("unarchive", cats)


def test_an_archived_campaign_is_in_backups_and_can_be_moved_to_a_file(
    cats: str, call: Call, call_json: Call, workplace: Path
) -> None:
    pytest.importorskip("pyarrow")
    call("archive", cats)
    assert call_json("backup", "copy.gz")["campaigns"] == 1
    call("new", "spec.toml", "--name", "other")
    call("archive", cats, "--to", ".")
    said = call("backup", "other.gz").stderr
    assert f"not in the backup: {cats}, whose logs were moved to files" in said
    assert call_json("backup", "other.gz", "--force")["campaigns"] == 1
    call("restore", f"{cats}.parquet")
    assert call_json("list", "--archived")[0]["name"] == cats


def test_a_campaign_is_called_something_else(cats: str, call: Call, call_json: Call) -> None:
    call("retitle", cats, "Cats and dogs")
    assert call_json("status", cats)["title"] == "Cats and dogs"
    call("retitle", cats, "")
    assert call_json("status", cats)["title"] is None


def test_a_campaign_without_answers_is_deleted(
    cats: str, call: Call, call_json: Call, refusal: Call
) -> None:
    call("delete", cats)
    assert call_json("list") == []
    assert "was deleted" in refusal("status", cats)


def test_a_campaign_with_answers_is_not_deleted(cats: str, call: Call, refusal: Call) -> None:
    call("tell", call("ask", cats).stdout.split()[0], "cat")
    assert f"archive it instead (askwise archive {cats})" in refusal("delete", cats)


def test_a_worker_is_forgotten(cats: str, call: Call, call_json: Call, refusal: Call) -> None:
    worker = call_json("payments", cats)[0]["worker"]
    new = call("forget", cats, worker).stdout.strip()
    assert new.startswith("worker-")
    assert worker not in call("log", cats, "--json").stdout
    assert call_json("payments", cats)[0]["worker"] == new
    assert call_json("forget", cats, new, "--as", "w7") == {"worker": "w7"}
    assert "is not in this campaign" in refusal("forget", cats, worker)
