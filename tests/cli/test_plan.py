"""``askwise plan``."""

from __future__ import annotations

import json
import math
import re
import shlex
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from askwise.cli import output
from askwise.cli.app import app
from askwise.stopping import stopping
from tests.cli import helpers, page
from tests.paths import DOCS
from tests.schemas import faults

PAGE = DOCS / "how-to" / "plan.md"
OTHER = DOCS / "how-to" / "plan-labels.md"
FILES = {"figure.png", "figure.svg", "plan.json", "report.html"}
QUICK = ("--crowds", "spec.toml", "--rule", "fixed(n=2)", "--runs", "100")

Call = Callable[..., Any]


@pytest.fixture(autouse=True)
def spec(workplace: Path) -> None:
    for name, text in page.files(PAGE).items():
        (workplace / name).write_text(text)


def test_in_a_pipe_there_is_a_line_for_each_fact_and_then_the_settings(call: Call) -> None:
    lines, _, settings = call("plan", *QUICK, "--budget", "14").stdout.partition("\n\n")
    facts = [line.split("\t") for line in lines.splitlines()]
    found = {fact[0]: fact[1:] for fact in facts}
    assert found["rule"] == ["fixed(n=2)"]
    assert found["dial"] == ["n", "2", "given"]
    assert found["target_error"] == found["reached"] == ["-"]
    # Both crowds once, at 0.10 and 0.04.
    assert found["answers"] == ["2", "2", "2"]
    assert found["cost"] == ["0.14", "0.14", "0.14"]
    assert found["total"] == ["14", "14", "14"]
    assert found["budget"] == ["14", "1"]
    assert found["finished"] == ["100", "100", "100"]
    assert [fact[1] for fact in facts if fact[0] == "kind"] == ["easy", "medium", "hard"]
    assert [fact[1:5] for fact in facts if fact[0] == "crowd"] == [
        ["panel", "0.1", "1", "0.1"],
        ["vendor", "0.04", "1", "0.04"],
    ]
    assert tomllib.loads(settings)["stopping"] == {"name": "fixed", "n": 2}


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--budget", "9"),
        ("--rule", "fixed", "--target-error", "0.001", "--horizon", "5"),
        ("--crowds", "kinds.toml", "--rule", "posterior", "--options", "2", "--horizon", "4"),
    ],
    ids=" ".join,
)
def test_json_is_as_its_schema_says(words: tuple[str, ...], call: Call, call_json: Call) -> None:
    found = call_json("plan", *QUICK, *words)
    assert faults("plan", found) == []
    assert stopping.make(tomllib.loads(found["settings"])["stopping"]).name in found["rule"]
    assert call_json("plan", *QUICK, *words) == found


@pytest.mark.parametrize("change", [{"total": 3}, {"dial": {}}, {"more": 1}, {"runs": 1}], ids=str)
def test_the_schema_refuses_what_is_wrong(change: dict[str, Any], call_json: Call) -> None:
    assert faults("plan", {**call_json("plan", *QUICK), **change}) != []


@pytest.mark.usefixtures("pictures")
def test_out_has_all_files_and_the_page_the_command(call: Call, workplace: Path) -> None:
    printed = call("plan", *QUICK, "--budget", "9", "--out", "deep/plan").stdout
    assert printed.endswith("\ndeep/plan/report.html\n")
    written = workplace / "deep" / "plan"
    assert {path.name for path in written.iterdir()} == FILES
    assert faults("plan", json.loads((written / "plan.json").read_text())) == []
    text = (written / "report.html").read_text()
    assert "What 100 questions will cost: about 14.00" in text
    assert "askwise plan --crowds spec.toml --options 2 --questions 100" in text
    assert "0.1 per answer, right 0.65 to 0.95" in text
    assert "<svg" in text
    # Once more, into the same place.
    call("plan", *QUICK, "--out", "deep/plan")
    assert {path.name for path in written.iterdir()} == FILES


def test_out_may_be_the_current_directory(call: Call, workplace: Path) -> None:
    before = {path.name for path in workplace.iterdir()}
    call("plan", *QUICK, "--out", ".")
    assert {path.name for path in workplace.iterdir()} == before | FILES


@pytest.mark.usefixtures("pictures")
def test_files_are_the_same_each_time(call: Call, workplace: Path) -> None:
    for name in ("one", "two"):
        call("plan", *QUICK, "--out", name)
    for name in FILES:
        one, two = (workplace / place / name for place in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_a_terminal_has_tables_and_a_bar_json_has_neither() -> None:
    words = ("plan", *QUICK, "--budget", "9")
    code, text = helpers.on_terminal(*words)
    assert code == 0
    assert "simulating" in text
    asked = "asked by virt-ucb(open_at_once=1), stopped by fixed(n=2)"
    assert f"100 questions with 2 options, {asked}" in " ".join(text.split())
    assert re.search(r"cost of 100 questions +14.00 +14.00 to 14.00", text)
    assert "A budget of 9 suffices with a chance of 0%" in text
    code, text = helpers.on_terminal(*words, "--json")
    assert code == 0
    assert json.loads(text)["questions"] == 100


def test_what_auto_takes_for_crowds_can_be_planned(call: Call) -> None:
    asks = ("--policy", "virt-ucb(try_after=4)", "--rule", "posterior(error=0.2,learn=100)")
    printed = call("plan", "--crowds", "spec.toml", *asks, "--runs", "100").stdout
    assert "learn = 100" in printed
    assert "so it is not told the accuracies that you believe" in printed


def test_a_target_out_of_reach_is_no_error(call: Call) -> None:
    words = ("--rule", "fixed", "--target-error", "0.001", "--horizon", "5")
    printed = call("plan", *QUICK, *words).stdout
    assert "\nreached\tno\n" in printed
    assert "\nremark\tThe target is out of reach: no n tried, from 1 to 5, has" in printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--crowds", "nowhere.toml"), "nowhere.toml: No such file or directory"),
        (("--crowds", "bad.toml"), "bad.toml is not TOML: "),
        (("--crowds", "below.toml"), "below.toml: accuracy of crowd 'a' is 0.4: below chance"),
        (("--options", "1"), "options is 1: give a whole number from 2 to 1000"),
        (("--options", "two"), "invalid value for '--options'"),
        (("--target-error", "5"), "target_error is 5.0: give a number between 0 and 1"),
        (("--questions", "0"), "questions is 0: give a whole number from 1"),
        (("--runs", "10"), "runs is 10: give a whole number from 100"),
        (("--seed", "-1"), "seed is -1: give a number from 0"),
        (("--horizon", "0"), "horizon is 0: give a whole number from 1"),
        (("--budget", "much"), "budget is 'much': give a number, such as 5"),
        (("--budget", "0.01"), "budget is 0.01: it buys nothing, the cheapest crowd costs 0.04"),
        (("--policy", "virt-ubc"), "policy 'virt-ubc' is not known: did you mean 'virt-ucb'"),
        (("--policy", "best-crowd"), "policy is 'best-crowd', which must be told the truth"),
        (("--policy", "random"), "policy is 'random', which spends a budget as a whole"),
        (("--policy", "knowledge-gradient"), "works on utility, this campaign has options"),
        (("--rule", "fxied"), "stopping 'fxied' is not known: did you mean 'fixed'"),
        (("--rule", "fixed(n=0)"), "n is 0: give a whole number from 1"),
        (("--rule", "fixed(3)"), "'fixed(3)' needs parameters as key=value"),
        (("--rule", "penalty", "--options", "3"), "stopping 'penalty' works on 2 options"),
        (("--out", "spec.toml"), "spec.toml is a file: give another directory"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else None,
)
def test_bad_input_is_one_line_and_leaves_nothing(
    words: tuple[str, ...], message: str, workplace: Path, refusal: Call
) -> None:
    (workplace / "bad.toml").write_text("[[crowds]\n")
    (workplace / "below.toml").write_text('[[crowds]]\nid = "a"\nprice = 1\naccuracy = 0.4\n')
    before = sorted(workplace.rglob("*"))
    out = () if "--out" in words else ("--out", "deep/plan")
    assert message in refusal("plan", *QUICK, *out, *words)
    assert sorted(workplace.rglob("*")) == before


def test_workers_or_crowds_must_be_given(refusal: Call) -> None:
    assert "workers is missing: name a table of workers, or give" in refusal("plan")


def test_help_imports_nothing_heavy() -> None:
    spy = "import atexit, sys\natexit.register(lambda: print('numpy' in sys.modules))"
    ran = subprocess.run(
        helpers.askwise("plan", "--help", first=spy),
        env=helpers.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ran.stdout.splitlines()[-1] == "False"


# The page.


def test_every_option_is_on_the_page() -> None:
    text = PAGE.read_text() + OTHER.read_text()
    command = typer.main.get_command(app).commands["plan"]  # type: ignore[attr-defined]
    for option in command.params:
        assert f"| `{option.opts[0]}" in text, option.opts


def alike(shown: str, printed: str) -> bool:
    """Whether two texts have the same words, and numbers that differ by little or by luck."""
    number = re.compile(r"\d+(?:\.\d+)?")
    words = [re.sub(r"[\s█·]+", " ", number.sub("#", text)).strip() for text in (shown, printed)]
    pairs = zip(number.findall(shown), number.findall(printed), strict=False)
    near = all(math.isclose(float(a), float(b), rel_tol=0.25, abs_tol=0.05) for a, b in pairs)
    return words[0] == words[1] and near


FEWER = ("--runs", "1500")
"""Of 5000, which take their time; the numbers need only be near."""


def test_the_example_prints_what_the_page_says(call: Call) -> None:
    _, (in_pipe, shown) = page.examples(PAGE)
    printed = call(*shlex.split(in_pipe)[1:], *FEWER).stdout
    assert alike(shown, printed), printed


@pytest.mark.slow
def test_the_example_on_a_terminal_prints_what_the_page_says(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    (on_terminal, _), _ = page.examples(PAGE)
    monkeypatch.setattr(output, "for_people", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    printed = call(*shlex.split(on_terminal)[1:], *FEWER).stdout
    tables = re.search(r"```text\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert tables is not None
    assert alike(tables[1].replace("Simulated: 5000", "Simulated: 1500"), printed), printed
