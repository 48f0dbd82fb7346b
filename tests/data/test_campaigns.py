"""Campaigns out of TOML files."""

from __future__ import annotations

from pathlib import Path

import pytest

from askwise.campaign.spec import CHOICE_FIELDS, PROBLEM_FIELDS
from askwise.core.errors import InvalidProblem
from askwise.core.problem import Task, Worker
from askwise.data import read_additions, read_campaign
from askwise.data.campaigns import FIELDS


def write(path: Path, text: str) -> Path:
    file = path / "spec.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_file_has_the_fields_that_a_campaign_has() -> None:
    assert set(FIELDS) == {*PROBLEM_FIELDS, *CHOICE_FIELDS}


def test_fields_come_as_they_are_and_entries_as_objects(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        'name = "cats"\nbudget = 3\npolicy = {name = "uniform"}\ntasks = ["t1"]\n'
        '[[workers]]\nid = "ann"\nprice = 0.1\n',
    )
    assert read_campaign(file) == {
        "name": "cats",
        "budget": 3,
        "policy": {"name": "uniform"},
        "tasks": [Task("t1")],
        "workers": [Worker("ann", "0.1")],
    }


def test_csv_files_are_found_beside_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people").mkdir()
    (tmp_path / "people" / "w.csv").write_text("id,price\nann,1\n")
    (tmp_path / "t.csv").write_text("id\nt1\n")
    file = write(tmp_path, 'workers = "people/w.csv"\ntasks = "t.csv"\n')
    monkeypatch.chdir("/")
    assert read_campaign(file) == {"workers": [Worker("ann", 1)], "tasks": [Task("t1")]}


@pytest.mark.parametrize(
    ("text", "message", "field"),
    [
        ("budget = \n", "is not TOML: Invalid value (at line 1, column 10)", "file"),
        ("bugdet = 3\n", "a campaign has no field 'bugdet': did you mean 'budget'", "bugdet"),
        ("workers = 3\n", "workers is 3: give the name of a CSV file", "workers"),
        ('workers = "no.csv"\n', "workers is 'no.csv', but there is no file", "workers"),
        ("workers = [1]\n", "worker is 1: give a mapping", "worker"),
        ('[[workers]]\nid = "a"\n', "worker 'a' lacks 'price'", "price"),
        (
            '[[workers]]\nid = "a"\nprice = 1\nlimt = 2\n',
            "worker 'a' has no field 'limt': did you mean 'limit'?",
            "limt",
        ),
        ("tasks = true\n", "tasks is True: give the name of a CSV file", "tasks"),
        ("tasks = [{context = 'a'}]\n", "task None lacks 'id'", "id"),
        ('options = "yes"\n', "options is 'yes': give a list of names", "options"),
        ('options = ["yes", true]\n', "options has True: give names, in quotes", "options"),
        ("outcome = 3\n", "outcome is 3: give 'utility' or a table", "outcome"),
        ('repeat = "no"\n', "repeat is 'no': give true or false", "repeat"),
    ],
)
def test_what_is_wrong_is_said_with_the_file(
    text: str, message: str, field: str, tmp_path: Path
) -> None:
    file = write(tmp_path, text)
    with pytest.raises(InvalidProblem) as caught:
        read_campaign(file)
    assert str(file) in str(caught.value)
    assert message in str(caught.value)
    assert caught.value.field == field


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "spec.toml"
    file.write_bytes(b'name = "b\xe4r"\n')
    with pytest.raises(InvalidProblem, match="line 1: byte 0xe4 is not UTF-8"):
        read_campaign(file)


def test_additions_are_workers_and_tasks_and_nothing_else(tmp_path: Path) -> None:
    file = write(tmp_path, 'tasks = ["t1"]\n[[workers]]\nid = "ann"\nprice = 1\n')
    assert read_additions(file) == ([Worker("ann", 1)], [Task("t1")])
    with pytest.raises(InvalidProblem, match="additions has no field 'budget'"):
        read_additions(write(tmp_path, "budget = 3\n"))
