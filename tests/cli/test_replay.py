"""``askwise replay``."""

from __future__ import annotations

import csv
import html
import json
import re
import shlex
import subprocess
import time
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from askwise.cli import outputs
from tests.cli import helpers
from tests.schemas import faults

Call = Callable[..., Any]


SHEET = {"t1": "aab-", "t2": "aba-", "t3": "bb-a", "t4": "-abb", "t5": "b--b", "t6": "aaaa"}
"""What w1 to w4 answered; some were not asked."""

GOLD = {"t1": "a", "t2": "a", "t3": "b", "t4": "b", "t5": "b"}
"""What most answered, of all but t6; 14 of the 18 answers are to these."""

QUICK = ("--budget", "8", "--runs", "2", "--against", "random-pairs")


def write(name: str, *rows: tuple[str, ...]) -> str:
    with open(name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return name


@pytest.fixture
def labels(workplace: Path) -> str:
    rows = [
        (task, f"w{at}", label)
        for task, given in SHEET.items()
        for at, label in enumerate(given, 1)
        if label != "-"
    ]
    return write("labels.csv", ("task", "worker", "label"), *rows)


@pytest.fixture
def gold(workplace: Path) -> str:
    return write("gold.csv", ("task", "label"), *GOLD.items())


@pytest.fixture
def prices(workplace: Path) -> str:
    rows = [("w1", "1"), ("w2", "0.5"), ("w3", "2"), ("w4", "1"), ("w9", "7")]
    return write("prices.csv", ("worker", "price"), *rows)


@pytest.fixture
def contexts(workplace: Path) -> str:
    return write("contexts.csv", ("task", "context"), ("t1", "x"), ("t2", "x"), ("t3", "y"))


def test_in_a_pipe_there_is_a_line_for_each_fact(call: Call, labels: str, gold: str) -> None:
    result = call("replay", labels, "--gold", gold, *QUICK)
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert result.stderr == ""
    assert rows[:7] == [
        ["tasks", "6"], ["workers", "4"], ["answers", "18"], ["options", "2"], ["measured", "5"],
        ["runs", "2"], ["seed", "0"],
    ]  # fmt: skip
    spent = [row for row in rows if row[0] == "spent"]
    assert [(row[1], row[2]) for row in spent] == [
        (name, str(budget)) for name in ("hem", "random-pairs") for budget in range(1, 9)
    ]
    assert all(row[3] == row[2] for row in spent)
    # t1, t2, t4 and t5 by majority; t3 too (two of three).
    assert ["everything", "1", "18"] in rows
    assert [row[1] for row in rows if row[0] == "saving"] == [
        "random-pairs", "all recorded answers, by majority",
    ]  # fmt: skip
    assert rows[-2][1].endswith("not measured: 1 of 6.")


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--window", "100"),
        ("--budget", "100"),
        ("--budget", "1"),
        ("--runs", "1"),
        ("--against", ""),
        ("--policy", "bbta(explore=0)", "--against", "hem with majority, hem(target=0.1)"),
        ("--prices", "prices.csv", "--contexts", "contexts.csv", "--seed", "5"),
        ("--workers", "prices.csv", "--truths", "1", "--stop", "posterior"),
    ],
    ids=" ".join,
)
def test_json_is_as_its_schema_says(
    words: tuple[str, ...], call_json: Call, labels: str, gold: str, prices: str, contexts: str
) -> None:
    found = call_json("replay", labels, "--gold", gold, *QUICK, *words)
    assert faults("replay", found) == []
    assert call_json("replay", labels, "--gold", gold, *QUICK, *words) == found


def test_the_schema_refuses_what_is_wrong(call_json: Call, labels: str, gold: str) -> None:
    found = call_json("replay", labels, "--gold", gold, *QUICK)
    for change in (
        {"budget": 8},
        {"options": 1},
        {"curve": []},
        {"savings": [{**found["savings"][0], "cost": 3}]},
        {"everything": {"accuracy": 1.1, "cost": "1"}},
        {"more": 1},
        {"truths": -1},
        {"measures": []},
        {"measures": [{**found["measures"][0], "done_share": 2}]},
        {"measures": [{**found["measures"][0], "ece": "low"}]},
    ):
        assert faults("replay", {**found, **change}) != []


TOLD = ("--truths", "2", "--stop", "lead(lead=2)", "--workers", "prices.csv")


def test_truths_rule_and_workers_are_options(
    call_json: Call, labels: str, gold: str, prices: str
) -> None:
    found = call_json("replay", labels, "--gold", gold, *QUICK, *TOLD)
    assert faults("replay", found) == []
    assert (found["truths"], found["measured"], found["stop"]) == (2, 3, "lead(lead=2)")
    assert found["everything"]["cost"] == "19.5"
    assert found["policy"] == "hem until lead(lead=2)"
    assert [(each["series"], each["budget"]) for each in found["measures"]] == [
        (f"{name} until lead(lead=2)", budget)
        for name in ("hem", "random-pairs")
        for budget in range(1, 9)
    ]
    for each in found["measures"]:
        assert (each["done_error"] is None) == (each["done_share"] == 0)


def test_without_a_rule_or_target_nothing_is_called_done(
    call_json: Call, call: Call, labels: str, gold: str
) -> None:
    found = call_json("replay", labels, "--gold", gold, *QUICK)
    assert found["stop"] is None
    assert {each["done_share"] for each in found["measures"]} == {None}
    lines = [
        line.split("\t")
        for line in call("replay", labels, "--gold", gold, *QUICK).stdout.split("\n")
    ]
    for name in ("ties", "ece", "log_loss", "done_share", "done_error"):
        mine = {(line[1], float(line[2])): line[3] for line in lines if line[0] == name}
        assert len(mine) == 16
        for each in found["measures"]:
            value = each[name]
            due = "-" if value is None else f"{float(value):.6g}"
            assert mine[each["series"], each["budget"]] == due


def test_a_policy_that_needs_a_rule_gets_it_or_says_so(
    call_json: Call, refusal: Callable[..., str], labels: str, gold: str
) -> None:
    words = ("replay", labels, "--gold", gold, *QUICK, "--policy", "b-kube")
    said = refusal(*words)
    assert said.startswith("stop is missing: policy 'b-kube' stays on a task until a stopping rule")
    found = call_json(*words, "--stop", "lead(lead=2)")
    assert found["policy"] == "b-kube until lead(lead=2)"
    own = call_json("replay", labels, "--gold", gold, *QUICK, "--policy", found["policy"])
    mine = [row for row in found["curve"] if row["series"] == found["policy"]]
    assert [row for row in own["curve"] if row["series"] == found["policy"]] == mine
    assert {row["series"] for row in own["curve"]} == {found["policy"], "random-pairs"}


def test_in_a_pipe_a_line_says_now_and_then_what_is_run(
    call: Call, labels: str, gold: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outputs, "EVERY", 0.001)
    said = call("replay", labels, "--gold", gold, *QUICK).stderr.splitlines()
    assert said
    for line in said:
        assert re.fullmatch(r"(hem|random-pairs) at a budget of [1-8], run [12] of 2", line)
    assert call("replay", labels, "--gold", gold, *QUICK, "--json").stderr == ""


def test_a_step_that_takes_long_is_named_again_and_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(outputs, "EVERY", 0.001)
    with outputs.spoken() as say:
        say("hem")
        time.sleep(0.2)
    said = capsys.readouterr().err.splitlines()
    assert said.count("hem") == len(said) > 1
    time.sleep(0.01)
    assert capsys.readouterr().err == ""


def test_lines_come_at_least_every_ten_seconds() -> None:
    assert outputs.EVERY < 10


def test_prices_are_paid(call_json: Call, labels: str, gold: str, prices: str) -> None:
    found = call_json("replay", labels, "--gold", gold, *QUICK, "--prices", prices)
    # w1 gave 5 answers at 1, w2 5 at 0.5, w3 4 at 2, w4 4 at 1.
    assert found["everything"]["cost"] == "19.5"
    spent = [row for row in found["curve"] if row["metric"] == "spent"]
    assert all(0 < row["mean"] <= row["budget"] for row in spent)


def test_a_pair_is_asked_once(
    call_json: Call, refusal: Callable[..., str], labels: str, gold: str
) -> None:
    with open(labels, "a") as file:
        file.write("t1,w1,b\n")
    found = call_json("replay", labels, "--gold", gold, *QUICK)
    assert found["answers"] == 18
    assert found["remarks"][0].endswith("as a pair is asked once: 1.")
    said = refusal("replay", labels, "--gold", gold, *QUICK, "--duplicates", "refuse")
    assert said.startswith("labels.csv, line 20: worker 'w1' answered task 't1' in line 2")


BAD = {
    "no labels": (("nowhere.csv", "--gold", "gold.csv"), "nowhere.csv: No such file"),
    "no gold": (("labels.csv", "--gold", "nowhere.csv"), "nowhere.csv: No such file"),
    "no option for gold": (("labels.csv",), "missing option '--gold'"),
    "gold of other tasks": (("labels.csv", "--gold", "other.csv"), "has no task in common"),
    "contexts of other tasks": (
        ("labels.csv", "--gold", "gold.csv", "--contexts", "strange.csv"),
        "has no task in common",
    ),
    "a worker without a price": (
        ("labels.csv", "--gold", "gold.csv", "--prices", "few.csv"),
        "worker 'w2' of labels.csv has none; add a line for him",
    ),
    "a bad price": (("labels.csv", "--gold", "gold.csv", "--prices", "bad.csv"), "bad.csv, line 2"),
    "prices and workers": (
        ("labels.csv", "--gold", "gold.csv", "--prices", "all.csv", "--workers", "all.csv"),
        "workers and prices both say what an answer costs: give one of them",
    ),
    "a worker without a line": (
        ("labels.csv", "--gold", "gold.csv", "--workers", "few.csv"),
        "workers: worker 'w2' of labels.csv is not among them; add a line",
    ),
    "an unknown column": (
        ("labels.csv", "--gold", "gold.csv", "--workers", "more.csv"),
        "more.csv has a column 'mood': known: family, kind, limit, price, worker",
    ),
    "a worker with a bad price": (
        ("labels.csv", "--gold", "gold.csv", "--workers", "bad.csv"),
        "bad.csv, line 2: price of worker 'w1' is 'dear'",
    ),
    "too many truths": (
        ("labels.csv", "--gold", "gold.csv", "--truths", "3"),
        "truths is 3: 5 tasks have gold",
    ),
    "negative truths": (("labels.csv", "--gold", "gold.csv", "--truths", "-1"), "truths is -1"),
    "an unknown rule": (("labels.csv", "--gold", "gold.csv", "--stop", "led"), "'led' is not"),
    "a bad rule": (
        ("labels.csv", "--gold", "gold.csv", "--stop", "lead(lead=0)"),
        "lead is 0",
    ),
    "a missing rule": (
        ("labels.csv", "--gold", "gold.csv", "--against", "b-kube"),
        "stop is missing: policy 'b-kube'",
    ),
    "one class": (("one.csv", "--gold", "gold.csv"), "one.csv has one label, 'a'"),
    "a table of something else": (("gold.csv", "--gold", "gold.csv"), "gold.csv has no column"),
    "an unknown policy": (("labels.csv", "--gold", "gold.csv", "--policy", "hum"), "'hum' is not"),
    "a bad parameter": (
        ("labels.csv", "--gold", "gold.csv", "--policy", "hem(target=2)"),
        "target is 2",
    ),
    "an unknown rival": (
        ("labels.csv", "--gold", "gold.csv", "--against", "bbta,hum"),
        "'hum' is not",
    ),
    "itself as a rival": (("labels.csv", "--gold", "gold.csv", "--against", "hem"), "'hem' twice"),
    "a policy for two options": (
        ("three.csv", "--gold", "gold.csv", "--against", "optkg"),
        "policy 'optkg' works on two",
    ),
    "money that is none": (("labels.csv", "--gold", "gold.csv", "--budget", "much"), "'much'"),
    "no money": (("labels.csv", "--gold", "gold.csv", "--budget", "0"), "budget is 0"),
    "negative money": (("labels.csv", "--gold", "gold.csv", "--budget", "-1"), "'-1'"),
    "too little money": (("labels.csv", "--gold", "gold.csv", "--budget", "0.9"), "buys nothing"),
    "too much money": (("labels.csv", "--gold", "gold.csv", "--budget", "1e30"), "too large"),
    "no runs": (("labels.csv", "--gold", "gold.csv", "--runs", "0"), "runs is 0"),
    "no window": (("labels.csv", "--gold", "gold.csv", "--window", "0"), "window is 0"),
    "a bad seed": (("labels.csv", "--gold", "gold.csv", "--seed", "-1"), "seed is -1"),
    "duplicates that count": (
        ("labels.csv", "--gold", "gold.csv", "--duplicates", "keep"),
        "duplicates is 'keep': give one of drop, refuse",
    ),
    "a file to write in": (
        ("labels.csv", "--gold", "gold.csv", "--out", "gold.csv"),
        "gold.csv is a file: give another directory",
    ),
}


@pytest.mark.parametrize("fault", BAD)
def test_what_is_wrong_is_said_in_one_line(
    fault: str, refusal: Callable[..., str], labels: str, gold: str, workplace: Path
) -> None:
    write("other.csv", ("task", "label"), ("t77", "a"))
    write("strange.csv", ("task", "context"), ("t77", "a"))
    write("few.csv", ("worker", "price"), ("w1", "1"))
    write("bad.csv", ("worker", "price"), ("w1", "dear"))
    write("all.csv", ("worker", "price"), *((f"w{at}", "1") for at in range(1, 5)))
    write("more.csv", ("worker", "price", "mood"), ("w1", "1", "good"))
    write("one.csv", ("task", "worker", "label"), ("t1", "w1", "a"), ("t2", "w1", "a"))
    write("three.csv", ("task", "worker", "label"), ("t1", "w1", "c"), ("t3", "w1", "b"))
    before = sorted(workplace.iterdir())
    words, said = BAD[fault]
    quick = [] if "--budget" in words else ["--budget", "8"]
    assert said in refusal("replay", *words, *quick)
    if "--out" not in words:
        refusal("replay", *words, *quick, "--out", "made/page")
    assert sorted(workplace.iterdir()) == before


class Tags(HTMLParser):
    """The tags of a page, what they carry, and where it would load something from."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {str(value) for name, value in attrs if name in ("href", "src")}


HOSTILE = "<script>alert('x')&\"日"


def test_the_page_is_whole_and_takes_no_orders_from_names(
    call: Call, workplace: Path, gold: str
) -> None:
    name = f"{HOSTILE}.csv"
    rows = [
        (task, f"{HOSTILE}{who}", f"{HOSTILE}{given}")
        for task, answers in SHEET.items()
        for who, given in enumerate(answers)
    ]
    write(name, ("task", "worker", "label"), *rows)
    write(gold, ("task", "label"), *((task, f"{HOSTILE}{label}") for task, label in GOLD.items()))
    assert call("replay", name, "--gold", gold, *QUICK, "--out", "page").stdout.endswith(
        "\npage/report.html\n"
    )
    assert sorted(path.name for path in Path("page").iterdir()) == [
        "figure.png", "figure.svg", "replay.json", "report.html",
    ]  # fmt: skip
    page = Path("page/report.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(" in page
    tags = Tags()
    tags.feed(page)
    assert not tags.seen & {"script", "iframe", "img", "link", "object", "embed", "form"}
    assert not {name for name in tags.attributes if name.startswith("on")}
    assert all(link.startswith("#") for link in tags.links)
    assert "default-src 'none'" in page


@pytest.mark.parametrize(
    "more", [("--prices", "prices.csv"), TOLD[2:], TOLD], ids=["prices", "workers", "truths"]
)
def test_the_pages_command_gives_the_page_and_the_numbers_again(
    more: tuple[str, ...],
    call: Call,
    call_json: Call,
    labels: str,
    gold: str,
    prices: str,
    contexts: str,
) -> None:
    words = (*more, "--contexts", contexts, "--seed", "3", "--window", "2")
    printed = call_json("replay", labels, "--gold", gold, *QUICK, *words, "--out", "page")
    assert json.loads(Path("page/replay.json").read_text()) == printed
    page = Path("page/report.html").read_text()
    (command,) = re.findall(r"<pre tabindex=\"0\"><code>(.*?)</code>", page, re.DOTALL)
    call(*shlex.split(html.unescape(command))[1:], "--out", "again")
    assert Path("again/report.html").read_text() == page
    assert json.loads(Path("again/replay.json").read_text()) == printed
    assert "All recorded answers" not in page
    assert "Of all recorded answers, by majority, 100.0% are right for 19.50" in page
    assert '<h2 id="sure">How sure</h2>' in page
    assert "wrong of done" in page
    assert "counts as 0.000001 at least" in page
    assert ("2 in each run, 3 tasks are measured" in page) == ("--truths" in more)
    assert ("--truths" in command) == ("--truths" in more)


def test_on_a_terminal_there_are_sentences_and_a_table(labels: str, gold: str) -> None:
    code, text = helpers.on_terminal("replay", labels, "--gold", gold, *QUICK)
    assert code == 0
    assert re.search(r"hem would have been right on \d+\.\d% of the tasks for 8\b", text)
    assert re.search(r"policy +right +95% interval +spent", text)
    assert re.search(r"random-pairs +\d+\.\d% +\[", text)
    assert re.search(r"policy +ties +ECE +log loss +done +wrong of done", text)
    assert re.search(r"random-pairs +\d\.\d +0\.\d{3} +\d\.\d{3} +- +-", text)
    assert "Intervals are over runs." in text


def test_the_lab_is_needed_for_the_page_only(labels: str, gold: str) -> None:
    block = "import sys\nfor name in ('jinja2', 'matplotlib', 'joblib', 'pandas', 'pyarrow'):\n"
    block += "    sys.modules[name] = None"
    for more, code, said in (((), 0, ""), (("--out", "page"), 2, "pip install 'askwise[lab]'")):
        ran = subprocess.run(
            helpers.askwise("replay", labels, "--gold", gold, *QUICK, *more, first=block),
            env=helpers.environment(),
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert ran.returncode == code, ran.stderr
        assert said in ran.stderr
    assert not Path("page").exists()


def test_other_formats_are_read(call_json: Call, labels: str, gold: str) -> None:
    due = call_json("replay", labels, "--gold", gold, *QUICK)
    with open(labels) as file, open("labels.jsonl", "w") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in csv.DictReader(file))
    assert call_json("replay", "labels.jsonl", "--gold", gold, *QUICK) == due


def test_help_names_every_option(call: Call) -> None:
    text = call("replay", "--help").output
    for option in ("--gold", "--budget", "--policy", "--against", "--contexts", "--prices",
                   "--workers", "--truths", "--stop"):  # fmt: skip
        assert option in text
