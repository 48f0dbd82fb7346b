"""``askwise init`` asks, and writes files that ``askwise label`` takes."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from askwise.cli.app import app
from askwise.data import read_content, read_workers
from tests.cli.helpers import askwise, environment

ANSWERS = [
    "nothing.csv", "items.csv", 'Is it "spam"?', "spam", "spam,ham", "Wants money", "",
    "gpt-x,org/mini", "", "", "0.15", "0.6", "-1", "1", "", "ann", "", "0.05", "5", "10%", "",
]  # fmt: skip
"""Some are refused and asked for again: a file that is not there, a single label, nothing."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "items.csv").write_text("id,text\na,one\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_files_say_what_was_answered(folder: Path) -> None:
    done = CliRunner().invoke(app, ["init"], input="\n".join(ANSWERS) + "\n")
    assert done.exit_code == 0, done.output
    content = read_content(folder / "question.toml")
    assert content.question == 'Is it "spam"?'
    assert [(each.name, each.meaning) for each in content.options] == [
        ("spam", "Wants money"),
        ("ham", ""),
    ]
    judges = tomllib.loads((folder / "judges.toml").read_text(encoding="utf-8"))
    assert judges["defaults"]["key_env"] == "OPENAI_API_KEY"
    assert [each["id"] for each in judges["judge"]] == ["gpt-x", "mini"]
    assert judges["judge"][1]["price"] == {"input": "1", "output": "0.6", "per": 1_000_000}
    assert [worker.id for worker in read_workers(folder / "people.csv")] == ["ann"]
    assert "can't be left empty" in done.output
    assert "nothing.csv: No such file or directory" in done.output
    assert "What is asked about each item? " in done.output
    assert "?:" not in done.output
    assert "askwise label items.csv --content question.toml --judges judges.toml" in done.output
    assert "--people people.csv --budget 5 --target-error 0.1\n" in done.output


def test_nothing_is_overwritten(folder: Path) -> None:
    (folder / "judges.toml").write_text("mine", encoding="utf-8")
    done = CliRunner().invoke(app, ["init"], input="\n".join(ANSWERS) + "\n")
    assert done.exit_code == 2
    assert (folder / "judges.toml").read_text(encoding="utf-8") == "mine"
    assert not (folder / "question.toml").exists()


def test_somebody_has_to_answer(folder: Path) -> None:
    answers = ["items.csv", "Ok?", "yes,no", "", "", "", "", "", "ann", "0.05", "1", ""]
    done = CliRunner().invoke(app, ["init"], input="\n".join(answers) + "\n")
    assert done.exit_code == 0, done.output
    assert "name at least one model or person" in done.output
    written = {file.name for file in folder.iterdir()}
    assert written == {"items.csv", "question.toml", "people.csv"}


def test_an_input_that_ends_stops_it_without_a_traceback(folder: Path) -> None:
    done = subprocess.run(
        askwise("init"), input="items.csv\n", env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 130
    assert done.stderr.strip().splitlines()[-1] == "interrupted"
    assert "Traceback" not in done.stderr
    assert not (folder / "question.toml").exists()


def test_what_askwise_label_would_refuse_is_asked_for_again(folder: Path) -> None:
    answers = [
        "items.csv", "Ok?", "yes,no", "", "", "a/mini,b/mini,a/mini", "ftp://nowhere",
        "http://127.0.0.1:1/v1", "sk-secret-0815", "MY_KEY", "1", "2", "1", "2", "", "1", "",
    ]  # fmt: skip
    done = CliRunner().invoke(app, ["init"], input="\n".join(answers) + "\n")
    assert done.exit_code == 0, done.output
    text = (folder / "judges.toml").read_text(encoding="utf-8")
    judges = tomllib.loads(text)
    assert judges["defaults"] == {"base_url": "http://127.0.0.1:1/v1", "key_env": "MY_KEY"}
    assert [each["id"] for each in judges["judge"]] == ["a/mini", "b/mini"]
    assert "0815" not in text
