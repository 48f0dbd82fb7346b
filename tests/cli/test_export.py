"""``askwise export``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.helpers import OPTIONS

Call = Callable[..., Any]


@pytest.fixture
def cats(call: Call) -> str:
    Path("cats.toml").write_text(OPTIONS)
    call("new", "cats.toml")
    call("tell", call("ask", "cats").stdout.split()[0], "cat")
    return "cats"


def test_a_campaign_becomes_a_folder(call: Call, cats: str) -> None:
    found = call("export", cats, "--to", "out", "--format", "csv").stdout.splitlines()
    assert found == sorted(str(path) for path in Path("out").iterdir())
    assert Path("out/answers.csv").read_text().count("\n") == 2


def test_json_names_the_folder_and_its_files(call_json: Call, cats: str) -> None:
    found = call_json("export", cats, "--to", "a/b", "--format", "jsonl")
    assert found["folder"] == "a/b"
    assert found["files"] == sorted(path.name for path in Path("a/b").iterdir())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("cats", "--to", "."), "is not empty: give a new folder"),
        (("cats", "--to", "out", "--format", "xls"), "format is 'xls'"),
        (("dogs", "--to", "out"), "campaign 'dogs' is not known"),
        (("cats",), "missing option '--to'"),
    ],
)
def test_what_can_not_be_written_is_refused(
    refusal: Callable[..., str], cats: str, words: tuple[str, ...], said: str
) -> None:
    assert said in refusal("export", *words)
    assert not Path("out").exists()
