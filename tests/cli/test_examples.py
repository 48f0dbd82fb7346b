"""Every command has examples that can be run, and with --json prints JSON and nothing else."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from askwise import Campaign
from askwise.cli import progress
from askwise.cli.examples import examples_of
from askwise.cli.helping import GROUPS, examples_in
from tests.auditing.tables import noisy
from tests.cli.helpers import COMMANDS, in_this_process

EXPORTS = Path(__file__).parent.parent / "data" / "evaluations" / "exports"

NO_JSON = {"", "demo", "demo-live", "init", "keys", "lab", "mcp", "prolific", "serve"}
"""They ask questions, tell a story, serve until Ctrl-C, or are only a heading of others."""

SLOW = {"plan"}

ENDS = {"ask": {0, 3, 4}, "doctor": {0, 1}}
"""Exit codes that are no failure, of commands that have several."""

ANIMALS = """
name = "{name}"
budget = "5"
options = ["cat", "dog"]
policy = "uniform"
stopping = {{ name = "fixed", n = 2 }}
lease = 3600
seed = 1
workers = [{{id = "ann", price = "0.05"}}, {{id = "ben", price = "0.1"}}, {{id = "eve", price = 1}}]
tasks = ["photo-1", "photo-2", "photo-3", "photo-4"]
"""

AUCTION = """
name = "auction"
options = ["no", "yes"]
tasks = ["photo-1", "photo-2"]
mechanism = {name = "clarke", c_max = "20"}
workers = [{id = "ann", price = 3}, {id = "bob", price = 5}, {id = "dan", price = 8}]
policy = {name = "ccb-fixed", qualities = [0.8, 0.8, 0.8], alpha = 0.3, solver = "exact"}
"""

PANEL = """
name = "panel"
options = ["cat", "dog"]
policy = "random-pairs"
budget = 10
pilot = 5
tasks = ["t1", "t2", "t3", "t4", "t5", "t6"]
workers = [
    {id = "large", price = 0.05, kind = "model"},
    {id = "small", price = 0.02, kind = "model"},
]
"""


def tree(command: Any = COMMANDS, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command by its words, groups and the root too."""
    yield " ".join(path), command
    for name, each in getattr(command, "commands", {}).items():
        yield from tree(each, (*path, name))


TREE = dict(tree())
GIVEN = {path: given for path, each in TREE.items() if (given := examples_of(each.callback))}
"""The examples of commands, and of groups that have some of their own."""


def named_in(words: list[str]) -> tuple[str, list[str]]:
    """The command that words name, and what follows it."""
    path, rest = "", words
    while rest and f"{path} {rest[0]}".strip() in TREE:
        path, rest = f"{path} {rest[0]}".strip(), rest[1:]
    return path, rest


def has_json(path: str) -> bool:
    return any("--json" in each.opts for each in TREE[path].params)


@pytest.mark.parametrize("path", TREE)
def test_examples_are_in_the_help_and_their_words_are_taken(path: str) -> None:
    shown = examples_in(TREE[path].epilog)
    assert shown
    assert path not in GIVEN or shown == list(GIVEN[path].lines)
    for example in shown:
        program, *words = shlex.split(example)
        assert program == "askwise"
        named, rest = named_in(words)
        # A group shows what its commands do.
        assert named == path or hasattr(TREE[path], "commands")
        TREE[named].make_context(named, list(rest))


@pytest.mark.parametrize("words", ["--help", "keys --help", "keys list -h", "ask -h"])
def test_no_help_says_that_a_switch_takes_a_value(words: str) -> None:
    assert "bool" not in in_this_process(*words.split()).stdout


def test_what_stands_below_a_heading_of_its_own_is_an_option_of_the_command() -> None:
    for path, groups in GROUPS.items():
        options = {each.name for each in TREE[path].params if each.param_type_name == "option"}
        named = [name for names in groups.values() for name in names]
        assert len(named) == len(set(named))
        assert set(named) <= options
        panels = {each.name: each.rich_help_panel for each in TREE[path].params}
        assert all(panels[name] == panel for panel, names in groups.items() for name in names)


# What the examples name.


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the campaigns and files that examples name."""
    place = tmp_path_factory.mktemp("examples")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.delenv("ASKWISE_STORE", raising=False)
        patch.setenv("ASKWISE_JIT", "")
        _write_files(place)
        _make_campaigns(place)
    return place


def _write_files(place: Path) -> None:
    for name, text in {
        "cats.toml": ANIMALS.format(name="cats"),
        "more.toml": '[[workers]]\nid = "zoe"\nprice = "0.2"\n',
        "reviews.csv": "id,review\nr1,Lovely light\nr2,It broke after a week\n",
        "workers.csv": "id,price,accuracy\nann,0.4,0.98\nbob,0.2,0.97\ncy,0.2,0.97\n",
        "crowds.toml": '[[crowds]]\nid = "a"\nprice = 1\naccuracy = 0.9\n',
    }.items():
        (place / name).write_text(text)
    shutil.copy(EXPORTS / "promptfoo.json", place)
    verdicts, people = noisy(1, {"large": 0.9, "small": 0.8}, tasks=40)
    for name, table in {"verdicts.csv": verdicts, "humans.csv": people}.items():
        rows = [",".join(each) for each in zip(*table.values(), strict=True)]
        (place / name).write_text("\n".join([",".join(table), *rows]) + "\n")
    votes = [f"t{task},{who},{task % 2}" for task in range(12) for who in ("ann", "bob", "cy")]
    (place / "labels.csv").write_text("\n".join(["task,worker,label", *votes]) + "\n")
    gold = [f"t{task},{task % 2}" for task in range(12)]
    (place / "gold.csv").write_text("\n".join(["task,label", *gold]) + "\n")
    scored = [f"t{task},{task % 2},{0.5 + task / 40}" for task in range(12)]
    (place / "labelled.csv").write_text("\n".join(["task,label,score", *scored]) + "\n")


def _make_campaigns(place: Path) -> None:
    for name in ("cats", "dogs", "mice", "birds", "fish"):
        (place / "spec.toml").write_text(ANIMALS.format(name=name))
        _done("new", "spec.toml")
    for name, text in {"auction": AUCTION, "panel": PANEL}.items():
        (place / f"{name}.toml").write_text(text)
        _done("new", f"{name}.toml")
    cats = Campaign.open("sqlite:///askwise.sqlite", "cats")
    asked = cats.ask(limit=3)
    assert [each.id for each in asked] == ["cats:2", "cats:3", "cats:4"]
    for each in asked[1:]:
        cats.tell(each.id, "cat")
    assert asked[1].worker == "ben"
    _done("pause", "mice")
    _done("suspend", "mice", "ben")
    _done("stop", "birds")
    _done("archive", "fish")
    about = ("--question", "Spam?", "--options", "spam,ham", "--people", "ann,eve")
    money = ("--price", "0.1", "--budget", "9", "--target-error", "0.3", "--certify", "0.9")
    _done("new", "reviews.csv", "--name", "mails", *about, *money, "--by", "eve")
    _done("backup", "backup.jsonl.gz")
    _done("certify", "labelled.csv", "--draw", "10", "--error", "0.3", "--out", "drawn.csv")
    drawn = in_this_process("certify", "labelled.csv", "--draw-file", "drawn.csv", "--json")
    first = json.loads(drawn.stdout)["next"][0]
    (place / "audits.csv").write_text(f"task,label\n{first},1\n")
    (place / "archive").mkdir()


def _done(*words: str) -> None:
    done = in_this_process(*words)
    assert done.exit_code == 0, (words, done.output)


def runnable() -> Iterator[Any]:
    for path, given in GIVEN.items():
        for number, example in enumerate(given.lines if given.run else ()):
            marks = [pytest.mark.slow] if path in SLOW else []
            yield pytest.param(example, id=f"{path} {number}", marks=marks)


@pytest.mark.parametrize("example", list(runnable()))
def test_an_example_runs_and_prints_json_if_asked_to(
    example: str, prepared: Path, workplace: Path
) -> None:
    shutil.copytree(prepared, workplace, dirs_exist_ok=True)
    words = shlex.split(example)[1:]
    path, _ = named_in(words)
    if path == "keys revoke":
        made = in_this_process(*shlex.split("keys new owner me --json"))
        words[-1] = json.loads(made.stdout)["id"]
    if has_json(path) and "--json" not in words:
        words.append("--json")
    done = in_this_process(*words)
    assert done.exit_code in ENDS.get(path, {0}), done.output
    if has_json(path):
        for text in done.stdout.splitlines() if path == "log" else [done.stdout]:
            json.loads(text)


LONG = (
    *("archive", "backup", "check", "export", "forget", "replay", "restore"),
    *("aggregate", pytest.param("plan", marks=pytest.mark.slow)),
)
"""What may take long. Of lab run, label, warm and demo other tests look at what they say."""


@pytest.mark.parametrize("path", LONG)
def test_what_may_take_long_says_in_a_pipe_what_it_is_doing(
    path: str, prepared: Path, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(prepared, workplace, dirs_exist_ok=True)
    said: list[str] = []

    @contextmanager
    def speaker(every: float, *more: object) -> Iterator[Callable[[str], None]]:
        yield said.append

    monkeypatch.setattr(progress, "_speaker", speaker)
    words = shlex.split(GIVEN[path].lines[-1])[1:]
    _done(*words)
    assert said
    said.clear()
    # Once more, on files as they were: with --json not a word.
    shutil.rmtree(workplace)
    shutil.copytree(prepared, workplace)
    monkeypatch.chdir(workplace)
    _done(*words, "--json")
    assert said == []


@pytest.mark.parametrize("path", sorted(TREE.keys() - NO_JSON))
def test_every_other_command_takes_json_and_tells_errors_in_it(
    path: str, call: Callable[..., Any]
) -> None:
    assert has_json(path)
    failed = call(*path.split(), "--json", "--no-such-option", "x", "y", "z", "w", code=2)
    assert failed.stdout == ""
    assert json.loads(failed.stderr)["error"].keys() == {"code", "reason", "message", "field"}
