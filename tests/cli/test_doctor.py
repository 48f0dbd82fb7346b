"""askwise doctor: what it finds, what it advises, and what it leaves as it is."""

from __future__ import annotations

import importlib.util
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from jsonschema import Draft202012Validator

from askwise.cli import checkups
from askwise.store.migrations import latest
from tests.cli.helpers import content, on_terminal
from tests.paths import ROOT
from tests.schemas import schema

JUDGES = """
[defaults]
base_url = "http://127.0.0.1:9/v1"
key_env = "MY_JUDGE_KEY"

[[judge]]
id = "mini"
model = "mini"
price = 0
"""

Found = dict[tuple[str, str], dict[str, Any]]


@pytest.fixture
def examine(call_json: Callable[..., Any]) -> Callable[..., Found]:
    """Run it with --json; gives the findings by area and name."""

    def run(*words: str, code: int = 0) -> Found:
        raw = call_json("doctor", *words, code=code)
        Draft202012Validator(schema("doctor")).validate(raw)
        assert raw["well"] == (code == 0)
        return {(each["area"], each["name"]): each for each in raw["findings"]}

    return run


def store_in(found: Found) -> dict[str, Any]:
    (only,) = (each for (area, _), each in found.items() if area == "store")
    return only


def test_a_fresh_installation_is_well_and_stays_as_it_is(
    examine: Callable[..., Found], workplace: Path
) -> None:
    found = examine()
    assert found["version", "numpy"]["state"] == "ok"
    assert store_in(found)["state"] == "absent"
    assert list(workplace.iterdir()) == []


def test_the_store_is_looked_at_and_not_changed(
    examine: Callable[..., Found], cats: str, workplace: Path
) -> None:
    before = content(workplace / "askwise.sqlite")
    detail = store_in(examine())["detail"]
    assert detail == f"schema {latest('sqlite')}, 1 campaign, can be written"
    assert content(workplace / "askwise.sqlite") == before


def test_an_older_schema_is_told_and_left(
    examine: Callable[..., Found], cats: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("askwise.store.pending_steps", lambda url: ["0009_next"])
    monkeypatch.setattr("askwise.store.open_store", lambda url: pytest.fail("it is opened"))
    assert "0009_next" in store_in(examine())["detail"]


@pytest.mark.parametrize(
    "url", ["sqlite:////nowhere/at/all.sqlite", "sqlite:///broken.sqlite", "cupboard:///x"]
)
def test_a_store_that_can_not_be_used_is_a_problem(
    url: str, examine: Callable[..., Found], workplace: Path
) -> None:
    (workplace / "broken.sqlite").write_text("no database at all" * 100)
    found = store_in(examine("--store", url, code=1))
    assert found["state"] == "problem"
    assert found["detail"]
    assert found["advice"]


def test_a_full_disk_is_a_problem(
    examine: Callable[..., Found], cats: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage(NamedTuple):
        free: int

    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(5 * 2**20))
    assert store_in(examine(code=1))["advice"] == "free some space on that disk"


def test_a_password_is_not_told(call: Callable[..., Any]) -> None:
    url = "postgresql://ann:s3cret@127.0.0.1:1/askwise"
    assert "s3cret" not in call("doctor", "--store", url, code=1).output


def test_an_extra_that_is_not_installed_comes_with_the_line_that_installs_it(
    examine: Callable[..., Found], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "sklearn" else real(name)
    )
    found = examine()["extra", "uci"]
    assert found["state"] == "absent"
    assert "sklearn" in found["detail"]
    assert found["advice"] == "pip install 'askwise[uci]'"


def test_every_extra_for_users_is_looked_at() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = set(declared["optional-dependencies"]) - {"all", "dev", "docs"}
    assert set(checkups.SERVES) == extras


def test_a_key_that_judges_need_and_that_is_not_set_is_a_problem(
    examine: Callable[..., Found], workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MY_JUDGE_KEY", raising=False)
    (workplace / "judges.toml").write_text(JUDGES)
    found = examine(code=1)["key", "MY_JUDGE_KEY"]
    assert (found["state"], found["advice"]) == ("problem", "export MY_JUDGE_KEY=...")


def test_keys_that_are_set_are_told_by_name_alone(
    call: Callable[..., Any],
    examine: Callable[..., Found],
    workplace: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_JUDGE_KEY", "sk-very-secret")
    monkeypatch.setenv("ASKWISE_KEY", "also-secret")
    (workplace / "judges.toml").write_text(JUDGES)
    found = examine()
    assert found["key", "MY_JUDGE_KEY"]["state"] == "ok"
    assert found["key", "ASKWISE_KEY"]["state"] == "ok"
    assert found["key", "judges.toml"]["detail"] == "judges: mini"
    for shown in (call("doctor").output, call("doctor", "--json").output):
        assert "secret" not in shown


@pytest.mark.parametrize("wrong", ["key_env = 'sk-the-key-itself'", "key_env = ["])
def test_judges_that_can_not_be_read_are_a_problem_and_tell_no_key(
    wrong: str, examine: Callable[..., Found], call: Callable[..., Any], workplace: Path
) -> None:
    (workplace / "judges.toml").write_text(JUDGES.replace('key_env = "MY_JUDGE_KEY"', wrong))
    assert examine(code=1)["key", "judges.toml"]["state"] == "problem"
    assert "itself" not in call("doctor", code=1).output


def test_on_a_terminal_problems_come_last(workplace: Path) -> None:
    (workplace / "judges.toml").write_text(JUDGES.replace("MY_JUDGE_KEY", "NO_SUCH_KEY_HERE"))
    code, shown = on_terminal("doctor")
    assert code == 1
    assert shown.splitlines()[-1] == "key NO_SUCH_KEY_HERE: export NO_SUCH_KEY_HERE=..."


@pytest.mark.compiled
@pytest.mark.xdist_group("round-robin")
def test_what_was_compiled_is_found() -> None:
    from tests.cli.test_warm import warm

    assert warm("round-robin").returncode == 0
    from askwise.core.compiling import is_kept
    from askwise.policies import KernelPolicy, policies

    entry = policies.get("round-robin")
    assert issubclass(entry, KernelPolicy)
    assert is_kept(entry.kernels.choose)
