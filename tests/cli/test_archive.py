"""askwise archive, and restore of what it wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call

pytest.importorskip("pyarrow")


def test_a_stopped_campaign_is_archived_listed_and_brought_back(
    cats: str, call: Call, call_json: Call, refusal: Call, workplace: Path
) -> None:
    asked = call("ask", cats, "--key", "first").stdout.split()[0]
    assert "has 1 open assignments" in refusal("archive", cats, "--to", ".")
    call("tell", asked, "cat")
    assert "is running: stop it before you archive it" in refusal("archive", cats, "--to", ".")
    call("stop", cats)
    before = call("status", cats, "--json").stdout
    (found,) = call_json("archive", cats, "--to", ".")
    file = workplace / f"{cats}.parquet"
    assert (found["name"], found["file"], found["replies"]) == (cats, str(file), 1)
    said = refusal("status", cats)
    assert f"campaign {cats!r} is archived in {file}: bring it back with askwise restore" in said
    assert call_json("list") == []
    (listed,) = call_json("list", "--archived")
    assert (listed["name"], listed["archived"], listed["file"]) == (cats, True, str(file))
    assert call("list", "--archived").stdout.split()[:2] == [cats, "archived"]
    restored = call_json("restore", str(file))
    assert restored == {"file": str(file), "campaigns": 1, "events": found["events"]} | {
        "replies": 1,
        "records": 0,
    }
    assert call("status", cats, "--json").stdout == before


def test_a_directory_has_to_be_there(cats: str, call: Call, refusal: Call) -> None:
    call("stop", cats)
    assert "there is no directory none" in refusal("archive", cats, "--to", "none")
