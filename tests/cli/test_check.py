"""``askwise check``."""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.auditing.tables import Columns, noisy
from tests.cli import helpers
from tests.paths import DOCS
from tests.schemas import faults

Call = Callable[..., Any]


def write(name: str, table: Columns) -> str:
    with open(name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([tuple(table), *zip(*table.values(), strict=True)])
    return name


@pytest.fixture
def verdicts(workplace: Path) -> str:
    table, _ = noisy(1, {"large": 0.9, "small": 0.8, "tiny": 0.6}, tasks=80)
    table["label"][0] = ""
    return write("verdicts.csv", table)


@pytest.fixture
def people(workplace: Path) -> str:
    _, table = noisy(1, {"large": 0.9, "small": 0.8, "tiny": 0.6}, tasks=80)
    some = [row for row in range(len(table["task"])) if int(table["task"][row][1:]) <= 50]
    return write("humans.csv", {name: [col[row] for row in some] for name, col in table.items()})


@pytest.fixture
def workers(workplace: Path) -> str:
    Path("workers.csv").write_text(
        "worker,price,kind,family\nlarge,10,model,big\nsmall,1,model,big\ntiny,0.5,model,\n"
    )
    return "workers.csv"


def facts(text: str) -> dict[str, list[list[str]]]:
    """Lines by their first word."""
    found: dict[str, list[list[str]]] = {}
    for line in text.splitlines():
        first, *rest = line.split("\t")
        found.setdefault(first, []).append(rest)
    return found


def test_lines_have_a_fact_each(call: Call, verdicts: str, people: str, workers: str) -> None:
    found = facts(call("check", verdicts, "--human", people, "--workers", workers).stdout)
    assert [found[name] for name in ("tasks", "verdicts", "failures", "people")] == [
        [["80"]], [["240"]], [["1"]], [["3"]],
    ]  # fmt: skip
    assert [line[0] for line in found["accuracy"]] == ["large", "small", "tiny"]
    assert [line[-1] for line in found["accuracy"]] == ["49", "50", "50"]
    assert found["failed"][0][:2] == ["large", "0.0125"]
    assert len(found["tpr"]) == len(found["tnr"]) == 6
    assert len(found["alternative"]) == 3
    assert len(found["gain"]) == 3
    assert len(found["share"]) == 2
    assert [line[0] for line in found["need"]] == ["0.05", "0.1", "0.2"]
    assert "flips" not in found
    assert any("People did not answer 30 of 80 tasks" in line[0] for line in found["remark"])
    assert not any("No prices" in line[0] for line in found["remark"])


def test_the_guide_names_every_line_and_its_cells(
    call: Call, verdicts: str, people: str, workers: str
) -> None:
    with open(verdicts, newline="", encoding="utf-8") as file:
        rows = [{**row, "shown": order} for row in csv.DictReader(file) for order in ("ab", "ba")]
    named = {name: [row[name] for row in rows] for name in rows[0]}
    words = ("--human", people, "--workers", workers, "--order", "shown", "--at-least", "0.1")
    printed = {
        (name, len(cells))
        for name, lines in facts(call("check", write("both.csv", named), *words).stdout).items()
        for cells in lines
    }
    guide = (DOCS / "how-to" / "check-judges.md").read_text().partition("## Piped output")[2]
    table = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", guide, re.MULTILINE)
    assert printed == {(name, len(cells.split(", "))) for name, cells in table}


def test_json_is_as_its_schema_says(
    call_json: Call, verdicts: str, people: str, workers: str
) -> None:
    plain = call_json("check", verdicts, "--human", people)
    assert faults("check", plain) == []
    priced = call_json("check", verdicts, "--human", people, "--workers", workers)
    assert faults("check", priced) == []
    assert plain["cascade"]["all_cost"] < priced["cascade"]["all_cost"]
    assert plain["panel"]["within_families"] is None
    assert priced["panel"]["within_families"] is not None
    strict = call_json("check", verdicts, "--human", people, "--confidence", "0.95")
    assert strict["needs"][0]["clean"] > plain["needs"][0]["clean"]


def test_orders_are_compared(workplace: Path, call: Call, people: str) -> None:
    table, _ = noisy(1, {"gpt": 0.9}, tasks=40)
    other, _ = noisy(2, {"gpt": 0.9}, tasks=40)
    both = {name: table[name] + other[name] for name in table}
    write("verdicts.csv", {**both, "shown": ["ab"] * 40 + ["ba"] * 40})
    found = facts(call("check", "verdicts.csv", "--human", people, "--order", "shown").stdout)
    flipped = sum(a != b for a, b in zip(table["label"], other["label"], strict=True))
    assert found["flips"][0][0] == "gpt"
    assert float(found["flips"][0][1]) == pytest.approx(flipped / 40)
    code, seen = helpers.on_terminal("check", "verdicts.csv", "--human", people, "--order", "shown")
    assert code == 0
    assert "flips" in seen


@pytest.mark.usefixtures("pictures")
def test_a_page_with_figures_and_the_command_that_gives_it_again(
    workplace: Path, call: Call, verdicts: str, people: str, workers: str
) -> None:
    words = ("check", verdicts, "--human", people, "--workers", workers, "--out", "out")
    assert call(*words).stdout.splitlines()[-1] == "out/report.html"
    names = {path.name for path in Path("out").iterdir()}
    pictures = {f"{stem}.{end}" for stem in ("judges", "correlations", "shares")
                for end in ("png", "svg")}  # fmt: skip
    assert names == {"check.json", "report.html", *pictures}
    assert faults("check", json.loads(Path("out/check.json").read_text())) == []
    page = Path("out/report.html").read_text()
    assert page.count("<svg") == 3
    assert "<script" not in page
    assert "<image" not in page
    for part in ("Judges", "By class", "Together", "Shares of classes", "What was read"):
        assert part in page
    assert "The majority of the people of a task counts as the truth." in page
    (command,) = re.findall(r"<code>(askwise check .*?)</code>", page)
    again = json.loads(call(*shlex.split(command)[1:], "--json").stdout)
    assert again == json.loads(Path("out/check.json").read_text())


@pytest.mark.usefixtures("pictures")
def test_a_page_of_one_judge(workplace: Path, call: Call, people: str) -> None:
    table, _ = noisy(1, {"gpt": 0.9}, tasks=80)
    call("check", write("one.csv", table), "--human", people, "--out", "out")
    page = Path("out/report.html").read_text()
    assert "There is one judge" in page
    assert page.count("<svg") == 2


def test_on_a_terminal_there_are_tables(verdicts: str, people: str, workers: str) -> None:
    code, seen = helpers.on_terminal("check", verdicts, "--human", people, "--workers", workers)
    assert code == 0
    for word in ("Judges", "By class", "Together", "Cheap judges first", "Shares", "Certificates"):
        assert word in seen
    assert "large is right on" in seen
    assert "at most 10% wrong" in seen
    assert "counts as the truth" in " ".join(seen.split())


def test_what_has_no_room_on_a_terminal_is_counted(workplace: Path, people: str) -> None:
    table, _ = noisy(1, {f"j{at:02}": 0.8 for at in range(23)}, tasks=30)
    code, seen = helpers.on_terminal("check", write("many.csv", table), "--human", people)
    assert code == 0
    assert "3 more: see --out or --json." in seen
    assert "26 more: see --out or --json." in seen


@pytest.mark.parametrize(
    ("rows", "options", "words", "field"),
    [
        ("task,worker,label\nt1,gpt,y\n", (), "human is not given: judges are measured", "human"),
        ("task,judge,label\nt1,gpt,y\n", ("--human", "humans.csv"),
         "verdicts.csv has no column 'worker': it has task, judge, label", "worker"),
        ("task,worker,label\nq1,gpt,y\n", ("--human", "humans.csv"),
         "humans.csv has no task in common with verdicts.csv", "task"),
        ("task,worker,label\nt1,gpt,yes\n", ("--human", "humans.csv"),
         "humans.csv has no label in common with verdicts.csv", "label"),
        ("task,worker,label\nt1,p1,y\n", ("--human", "humans.csv"),
         "worker 'p1' is in verdicts.csv and in humans.csv", "worker"),
        ("task,worker,label\nt1,gpt,\n", ("--human", "humans.csv"),
         "verdicts.csv: every label is empty", "label"),
        ("task,worker,label\n,gpt,y\n", ("--human", "humans.csv"),
         "verdicts.csv, line 2: task is empty", "task"),
        ("task,worker,label\n", ("--human", "humans.csv"), "verdicts.csv has no row", "file"),
        ("task,worker,label\nt1,gpt,y\n", ("--human", "humans.csv", "--order", "shown"),
         "verdicts.csv has no column 'shown'", "shown"),
        ("task,worker,label\nt1,gpt,y\n", ("--human", "humans.csv", "--order", "label"),
         "order is 'label': name another column", "order"),
        ("task,worker,label,shown\nt1,gpt,y,ab\n", ("--human", "humans.csv", "--order", "shown"),
         "column 'shown' has the one value 'ab'", "order"),
        ("task,worker,label\nt1,gpt,y\n", ("--human", "humans.csv", "--epsilon", "3"),
         "epsilon is 3.0: give a number from 0 to 1", "epsilon"),
        ("task,worker,label\nt1,gpt,y\n", ("--human", "humans.csv", "--workers", "workers.csv"),
         "judge 'gpt' has no price: give one for every worker of verdicts.csv", "price"),
        ("task,worker,label\nt1,gpt,y\n", ("--human", "empty.csv"),
         "empty.csv, line 2: label is empty", "label"),
    ],
)  # fmt: skip
def test_refusals_name_the_file_the_field_and_what_to_do(
    workplace: Path,
    people: str,
    workers: str,
    call: Call,
    rows: str,
    options: tuple[str, ...],
    words: str,
    field: str,
) -> None:
    Path("verdicts.csv").write_text(rows)
    Path("empty.csv").write_text("task,worker,label\nt1,ann,\n")
    error = json.loads(call("check", "verdicts.csv", *options, "--json", code=2).stderr)["error"]
    assert words in error["message"]
    assert error["field"] == field
    assert faults("error", {"error": error}) == []


def test_nothing_is_written_if_it_is_refused(workplace: Path, people: str, call: Call) -> None:
    Path("verdicts.csv").write_text("task,worker,label\nq1,gpt,y\n")
    call("check", "verdicts.csv", "--human", people, "--out", "out", code=2)
    assert not Path("out").exists()
