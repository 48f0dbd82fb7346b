"""``askwise aggregate``."""

from __future__ import annotations

import csv
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from askwise.aggregation import aggregation
from askwise.cli import progress
from tests.cli import helpers

Call = Callable[..., Any]

SHEET = {"t1": "aabb", "t2": "aaab", "t3": "bbba", "t4": "bcbb", "t5": "cccc"}
"""Five tasks, each answered by w1 to w4."""

GOLD = {"t1": "a", "t2": "a", "t3": "b", "t4": "b", "t5": "a"}
"""All but the last are what most answered (t1 is tied)."""


@pytest.fixture
def labels(workplace: Path) -> str:
    rows = [f"{task},w{at},{label}" for task, each in SHEET.items() for at, label in
            enumerate(each, 1)]  # fmt: skip
    (workplace / "labels.csv").write_text("task,worker,label\n" + "\n".join(rows) + "\n")
    return "labels.csv"


@pytest.fixture
def gold(workplace: Path) -> str:
    rows = [f"{task},{label}" for task, label in {**GOLD, "t9": "a"}.items()]
    (workplace / "gold.csv").write_text("task,label\n" + "\n".join(rows) + "\n")
    return "gold.csv"


def facts(text: str) -> dict[str, list[str]]:
    """Lines by their first word."""
    return {line.split("\t")[0]: line.split("\t")[1:] for line in text.splitlines()}


def read(path: str | Path) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_it_says_what_was_read_and_how_good_it_is(call: Call, labels: str, gold: str) -> None:
    found = facts(call("aggregate", labels, "--method", "majority", "--gold", gold).stdout)
    assert [found[name] for name in ("tasks", "workers", "answers", "labels")] == [
        ["5"], ["4"], ["20"], ["3"],
    ]  # fmt: skip
    assert found["duplicates"] == ["0"]
    assert found["method"] == ["majority"]
    # 3.5 of 5 right: t1 is tied between two labels. Wilson, with z * z = 3.8415:
    # (.7 + .38415 +- 1.96 sqrt(.042 + .038415)) / 1.7683 = .6131 +- .3143.
    assert found["accuracy"] == ["0.7", "0.298791", "0.927416", "5"]
    assert found["ties"] == ["1"]
    # .5 on the tied one; .75 on three that are right; 1 on one that is wrong.
    assert float(found["ece"][0]) == pytest.approx((3 * 0.25 + 1) / 5)
    assert found["rests_on"] == ["agreement", "0"]
    # 2 + 3 + 3 + 3 + 4 of the 20 answers are the label named.
    assert found["agreement"] == ["0.75"]
    assert "1 truth to measure with of tasks without an answer" in found["remark"][0]


def test_accuracy_is_not_measured_on_what_was_learned(
    call_json: Call, labels: str, gold: str, workplace: Path
) -> None:
    (workplace / "known.csv").write_text("task,label\nt5,a\nt1,b\n")
    found = call_json("aggregate", labels, "--gold", gold, "--learn-from", "known.csv")
    assert found["accuracy"]["tasks"] == 3
    assert any("learned from too: not measured" in each for each in found["remarks"])


def test_gold_measures_and_teaches_nothing(call: Call, labels: str, gold: str) -> None:
    call("aggregate", labels, "--out", "plain.csv")
    call("aggregate", labels, "--gold", gold, "--out", "measured.csv")
    assert read("plain.csv") == read("measured.csv")
    call("aggregate", labels, "--learn-from", gold, "--out", "taught.csv")
    taught = {row["task"]: (row["label"], row["confidence"]) for row in read("taught.csv")}
    assert taught == {task: (label, "1.0") for task, label in GOLD.items()}


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".csv.gz", ".parquet"])
def test_answers_and_workers_are_written(ending: str, call: Call, labels: str) -> None:
    out, crowd = f"answers{ending}", f"workers{ending}"
    said = call(
        "aggregate", labels, "--method", "one-coin", "--out", out, "--workers-out", crowd
    ).stdout
    assert said.splitlines()[-2:] == [out, crowd]
    from askwise.data.columns import read_columns

    answers = read_columns(out, ("task", "label", "confidence")).cells
    assert answers["task"] == list(SHEET)
    assert answers["label"][-1] == "c"
    workers = read_columns(crowd, ("worker", "answers", "quality", "low", "high", "skill")).cells
    assert workers["worker"] == ["w1", "w2", "w3", "w4"]
    assert workers["answers"] == ["5"] * 4


def test_what_is_written_is_what_the_library_finds(call: Call, labels: str) -> None:
    import pandas as pd

    call("aggregate", labels, "--method", "dawid-skene", "--out", "a.csv")
    found = aggregation.make("dawid-skene").fit(pd.read_csv(labels))  # type: ignore[attr-defined]
    assert {row["task"]: row["label"] for row in read("a.csv")} == found.labels_.to_dict()
    for row in read("a.csv"):
        assert float(row["confidence"]) == pytest.approx(found.confidence_[row["task"]], abs=1e-8)


def test_parameters_are_set(call_json: Call, labels: str) -> None:
    words = ("--set", "restarts=1", "--set", "variational=false", "--set", "noise=1")
    found = call_json("aggregate", labels, "--method", "mace", *words)
    assert found["method"] == "mace(noise=1,restarts=1,variational=False)"
    again = call_json("aggregate", labels, "--method", found["method"])
    assert again == found


def test_duplicates_are_counted_dropped_or_refused(
    call_json: Call, refusal: Callable[..., str], labels: str, workplace: Path
) -> None:
    with open(labels, "a") as file:
        file.write("t1,w1,b\n")
    kept = call_json("aggregate", labels)
    assert (kept["answers"], kept["duplicates"], kept["dropped"]) == (21, 1, 0)
    dropped = call_json("aggregate", labels, "--duplicates", "drop")
    assert (dropped["answers"], dropped["duplicates"], dropped["dropped"]) == (20, 1, 1)
    assert refusal("aggregate", labels, "--duplicates", "refuse") == (
        "labels.csv, line 22: worker 'w1' answered task 't1' in line 2 already; keep or drop "
        "duplicates, or mend the file"
    )


def test_all_methods_are_compared(call: Call, call_json: Call, labels: str, gold: str) -> None:
    lines = call("aggregate", labels, "--method", "all", "--gold", gold).stdout.splitlines()
    names = [line.split("\t")[0] for line in lines]
    assert "mean" not in names
    assert {"dawid-skene", "majority", "glad"} <= set(names)
    vote = next(line.split("\t") for line in lines if line.startswith("majority"))
    assert (vote[1], vote[4]) == ("0.700", "0")
    assert [each["method"] for each in call_json("aggregate", labels, "--method", "all")] == names


def test_one_class_and_one_answer_are_noted(call_json: Call, workplace: Path) -> None:
    Path("one.csv").write_text("task,worker,label\nt,w,yes\n")
    found = call_json("aggregate", "one.csv")
    assert found["remarks"] == [
        "All answers are 'yes': there is nothing to decide.",
        "1 worker has one answer only: hardly known.",
    ]


def test_an_unfinished_fit_is_told(call_json: Call, labels: str) -> None:
    found = call_json("aggregate", labels, "--set", "max_iterations=1", "--set", "tolerance=0")
    assert not found["converged"]
    assert "raise max_iterations" in found["remarks"][-1]


BAD = {
    "an unknown method": (("--method", "dawid"), "aggregation 'dawid' is not known"),
    "a method for utilities": (("--method", "mean"), "method 'mean' does not label a table"),
    "an unknown parameter": (("--set", "speed=1"), "has no parameter 'speed'"),
    "a bad parameter": (("--set", "max_iterations=0"), "max_iterations is 0"),
    "a setting without a value": (("--set", "max_iterations"), "set is 'max_iterations': give"),
    "all with files": (("--method", "all", "--out", "x.csv"), "method is 'all', which compares"),
    "a bad choice": (("--duplicates", "some"), "duplicates is 'some': give one of keep"),
    "contexts without use": (("--contexts", "context.csv"), "does not use them"),
    "an ending": (("--out", "answers.xls"), "an ending that is not known"),
    "a missing file": (("--gold", "nowhere.csv"), "nowhere.csv: No such file"),
    "gold of other tasks": (("--gold", "other.csv"), "has no task in common"),
}


@pytest.mark.parametrize("fault", BAD)
def test_what_is_wrong_is_said_in_one_line(
    fault: str, refusal: Callable[..., str], labels: str, workplace: Path
) -> None:
    Path("context.csv").write_text("task,context\nt1,x\n")
    Path("other.csv").write_text("task,label\nt77,x\n")
    words, said = BAD[fault]
    assert said in refusal("aggregate", labels, *words)


def test_a_bad_file_leaves_nothing_behind(
    refusal: Callable[..., str], labels: str, workplace: Path
) -> None:
    with open(labels, "a") as file:
        file.write("t1,,b\n")
    before = sorted(workplace.iterdir())
    assert refusal("aggregate", labels, "--page", "page", "--out", "a.csv") == (
        "labels.csv, line 22: worker is empty; fill it or take the row out"
    )
    assert sorted(workplace.iterdir()) == before


HOSTILE = "<script>alert('x')</script>&\"=1+1"


class Tags(HTMLParser):
    """The tags of a page, and whether it runs or loads anything."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_the_page_is_whole_and_takes_no_orders_from_the_table(call: Call, workplace: Path) -> None:
    rows = [(f"{HOSTILE}{task}", f"{HOSTILE}{who}", HOSTILE if (task + who) % 3 else "fine")
            for task in range(6) for who in range(4)]  # fmt: skip
    with open("labels.csv", "w", newline="") as file:
        csv.writer(file).writerows([("task", "worker", "label"), *rows])
    call("aggregate", "labels.csv", "--page", "page")
    assert sorted(path.name for path in Path("page").iterdir()) == [
        "figure.png", "figure.svg", "report.html",
    ]  # fmt: skip
    page = Path("page/report.html").read_text()
    assert "&lt;script&gt;alert(" in page
    tags = Tags()
    tags.feed(page)
    assert not tags.seen & {"script", "iframe", "img", "link", "object", "embed", "form"}
    assert not {name for name in tags.attributes if name.startswith("on")}
    assert "default-src 'none'" in page


@pytest.mark.usefixtures("pictures")
def test_the_pages_command_gives_the_page_again(
    call: Call, labels: str, gold: str, workplace: Path
) -> None:
    words = ("--method", "glad", "--set", "max_iterations=3", "--gold", gold, "--page", "page")
    call("aggregate", labels, *words)
    page = Path("page/report.html").read_text()
    (command,) = re.findall(r"<pre tabindex=\"0\"><code>(.*?)</code>", page)
    assert command.startswith("askwise aggregate labels.csv --method glad")
    call(*shlex.split(command)[1:])
    assert Path("page/report.html").read_text() == page
    assert "<dt>accuracy</dt>" in page
    # Contested tasks come first: the tied one before the unanimous one.
    assert page.index(">t1</th>") < page.index(">t5</th>")
    assert "5 of 5 tasks" in page
    assert "4 of 4 workers" in page


def test_without_the_lab_the_page_says_what_to_install(
    refusal: Callable[..., str], labels: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert "pip install 'askwise[lab]'" in refusal("aggregate", labels, "--page", "page")
    assert not Path("page").exists()


def test_on_a_terminal_there_are_tables(labels: str, gold: str) -> None:
    code, text = helpers.on_terminal("aggregate", labels, "--gold", gold)
    assert code == 0
    assert re.search(r"accuracy +0.8", text)
    assert "Least sure:" in text
    assert re.search(r"worker +answers +quality +95% interval", text)
    code, text = helpers.on_terminal("aggregate", labels, "--gold", gold, "--method", "all")
    assert code == 0
    assert re.search(r"one-coin +0.\d+ +\[0.\d+, 0.\d+\]", text)


def test_neither_pandas_nor_the_lab_is_needed_for_labels(labels: str) -> None:
    block = "import sys\nfor name in ('pandas', 'pyarrow', 'jinja2', 'matplotlib', 'joblib'):\n"
    block += "    sys.modules[name] = None"
    ran = subprocess.run(
        helpers.askwise("aggregate", labels, "--out", "a.csv", first=block),
        env=helpers.environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (ran.returncode, helpers.without_progress(ran.stderr)) == (0, "")
    assert len(read("a.csv")) == 5


def test_reliability_and_what_confidences_rest_on_are_told(
    call: Call, call_json: Call, workplace: Path
) -> None:
    rows, told = ["task,worker,label"], ["task,label"]
    for task in range(60):
        # Three workers; the third is wrong on every fourth task, the second on every tenth.
        truth = "ab"[task % 2]
        wrong = "ba"[task % 2]
        given = (truth, wrong if task % 10 == 0 else truth, wrong if task % 4 == 0 else truth)
        rows += [f"t{task:02},w{at},{label}" for at, label in enumerate(given)]
        told.append(f"t{task:02},{truth}")
    (workplace / "l.csv").write_text("\n".join(rows) + "\n")
    (workplace / "g.csv").write_text("\n".join(told) + "\n")
    (workplace / "known.csv").write_text("\n".join(told[:21]) + "\n")
    plain = call_json("aggregate", "l.csv", "--gold", "g.csv")
    assert plain["rests_on"] == "agreement"
    assert plain["truths"] == 0
    assert sum(each["tasks"] for each in plain["reliability"]) == 60
    assert {"ece", "log_loss", "brier", "ties"} <= plain.keys()
    taught = call_json("aggregate", "l.csv", "--gold", "g.csv", "--learn-from", "known.csv")
    assert (taught["rests_on"], taught["truths"]) == ("calibrated", 20)
    assert taught["band"] < plain["band"]
    assert taught["band_with_more_truths"]["band"] < taught["band"]
    call("aggregate", "l.csv", "--learn-from", "known.csv", "--out", "a.csv")
    assert [row["rests_on"] for row in read("a.csv")] == ["truth"] * 20 + ["calibrated"] * 40
    code, text = helpers.on_terminal("aggregate", "l.csv", "--gold", "g.csv")
    assert code == 0
    assert "How often labels are right, by confidence:" in text
    assert "20 truths to learn from" in " ".join(text.split())


def test_families_count_once(call_json: Call, workplace: Path) -> None:
    rows = ["task,worker,label"]
    for task in range(4):
        rows += [f"t{task},copy{at},a" for at in range(3)]
        rows += [f"t{task},own{at},b" for at in range(2)]
    (workplace / "l.csv").write_text("\n".join(rows) + "\n")
    crowd = "worker,kind,family\n" + "".join(f"copy{at},model,one\n" for at in range(3))
    (workplace / "w.csv").write_text(crowd)
    plain = call_json("aggregate", "l.csv", "--method", "majority")
    assert {each["label"] for each in plain["least_sure"]} == {"a"}
    # Three of one family count 5/3, two of their own 2.
    counted = call_json("aggregate", "l.csv", "--method", "majority", "--workers", "w.csv")
    assert {each["label"] for each in counted["least_sure"]} == {"b"}
    assert counted["least_sure"][0]["confidence"] == pytest.approx(2 / (2 + 5 / 3))


def test_features_are_one_more_worker(call_json: Call, workplace: Path, labels: str) -> None:
    lines = [f"t{at},{at % 2},{at * 0.5}" for at in range(1, 6)]
    (workplace / "f.csv").write_text("task,x,y\n" + "\n".join(lines) + "\n")
    found = call_json("aggregate", labels, "--features", "f.csv", "--workers-out", "w.csv")
    assert [row["worker"] for row in read("w.csv")] == ["w1", "w2", "w3", "w4", "features"]
    assert found["workers"] == 4


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("workers", "worker,kind\nw1,robot\n", "kind of worker 'w1' is 'robot'"),
        ("workers", "worker,kind\nw1,person\nw1,model\n", "worker 'w1' appears twice"),
        ("workers", "worker,price\nw1,2\n", "has no column 'kind' or 'family'"),
        ("workers", "worker,kind\nzoe,person\n", "nobody in common"),
        ("features", "task,x\nt1,1\nt77,2\n", "features has task 't77', which has no answer"),
        ("features", "task,x\nt1,1\nt2,much\n", "line 3: x is 'much': give a number"),
        ("features", "task,x\nt1,1\nt2,nan\n", "line 3: x is 'nan': give a finite number"),
        ("features", "task,x\nt1,1\nt1,2\n", "line 3: task 't1' appears twice"),
        ("features", "task\nt1\n", "has no column beside 'task'"),
    ],
)  # fmt: skip
def test_tables_of_workers_and_features_are_checked(
    file: str, text: str, said: str, refusal: Call, labels: str, workplace: Path
) -> None:
    (workplace / "given.csv").write_text(text)
    assert said in refusal("aggregate", labels, f"--{file}", "given.csv")


def test_in_a_pipe_it_says_now_and_then_what_is_going_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.001)
    said = ""
    with progress.narrated() as say:
        say("read 12,000,000 labels of labels.csv")
        until = time.monotonic() + 20
        while not said and time.monotonic() < until:
            said = capsys.readouterr().err
    assert said.splitlines()[0] == "read 12,000,000 labels of labels.csv"
    with progress.narrated(quiet=True) as say:
        say("nothing")
    assert capsys.readouterr().err == ""


def test_reading_and_passes_are_told(
    call: Call, labels: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    @contextmanager
    def noted(*, quiet: bool = False) -> Iterator[Callable[[str], None]]:
        yield told.append

    monkeypatch.setattr("askwise.cli.aggregate.narrated", noted)
    monkeypatch.setattr("askwise.cli.aggregate.spoken", noted)
    call("aggregate", labels, "--method", "majority", "--out", "a.csv")
    assert told == ["read 20 labels of labels.csv", "aggregating: pass 1 over 20 labels"]


def test_a_missing_column_is_named(refusal: Callable[..., str], workplace: Path) -> None:
    (workplace / "labels.csv").write_text("task,worker,answer\nt,w,a\n")
    assert "no column 'label': it has task, worker, answer" in refusal("aggregate", "labels.csv")
