"""Commands where a package with a policy is broken, or was installed and is no more."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from askwise.policies import policies
from tests.cli.helpers import UTILITY
from tests.distributions import POLICY, install

Run = Callable[..., CompletedProcess[str]]

WARNING = (
    "warning: policy 'broken' of package foo 1.2 could not be loaded: "
    "ModuleNotFoundError: No module named 'bar'; it is left out\n"
)


@pytest.fixture
def site(workplace: Path) -> Path:
    """A folder with a package whose policy can't be loaded; the policy of another works."""
    folder = workplace / "site"
    install(folder, "foo", "1.2", {"broken": "foo:Own"}, modules={"foo": "import bar"})
    install(folder, "good", "1.0", {"works": "good:Own"}, modules={"good": POLICY})
    return folder


@pytest.fixture
def run(program: Run, site: Path, workplace: Path) -> Run:
    """Run askwise where that folder is installed."""
    (workplace / "shop.toml").write_text(UTILITY)
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH", "")]))

    def with_site(*words: str, **changes: Any) -> CompletedProcess[str]:
        return program(*words, **{"PYTHONPATH": path, **changes})

    return with_site


@pytest.mark.parametrize(
    "more", [(), pytest.param((("ask", "shop"), ("list",)), marks=pytest.mark.slow)]
)
def test_what_does_not_use_a_broken_plug_in_works_and_says_so_in_a_line(
    run: Run, more: tuple[tuple[str, ...], ...]
) -> None:
    for words in (("new", "shop.toml"), *more):
        done = run(*words)
        assert (done.returncode, done.stderr) == (0, WARNING), words


def test_a_broken_plug_in_is_left_out_of_the_list_and_others_are_in_it(run: Run) -> None:
    listed = run("policies")
    assert (listed.returncode, listed.stderr) == (0, WARNING)
    names = [line.split("\t")[0] for line in listed.stdout.splitlines()]
    assert names == sorted([*policies.names(), "works"])


def test_a_policy_whose_parameter_must_be_given_or_is_made_anew_is_listed(
    program: Run, workplace: Path
) -> None:
    source = POLICY.replace("import dataclass", "import dataclass, field")
    source += "    size: int\n    weights: list = field(default_factory=list)\n"
    install(workplace / "site", "odd", "1.0", {"odd": "odd:Own"}, modules={"odd": source})
    path = os.pathsep.join([str(workplace / "site"), os.environ.get("PYTHONPATH", "")])
    done = program("policies", "show", "odd", "--json", PYTHONPATH=path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["parameters"] == {"size": None, "weights": []}


def test_a_command_that_needs_no_policy_says_nothing(run: Run) -> None:
    assert run("--version").stderr == ""


def test_a_campaign_that_uses_a_broken_plug_in_is_told_whose_it_is_and_why(
    run: Run, workplace: Path
) -> None:
    (workplace / "own.toml").write_text(UTILITY.replace('"uniform"', '"broken"'))
    done = run("new", "own.toml")
    assert (done.returncode, done.stdout) == (2, "")
    warning, error = done.stderr.splitlines()
    assert f"{warning}\n" == WARNING
    assert error == (
        "error: policy 'broken' of package foo 1.2 could not be loaded: "
        "ModuleNotFoundError: No module named 'bar'"
    )
    done = run("policies", "show", "broken", "--json")
    told = json.loads(done.stderr.splitlines()[-1])["error"]
    assert (told["code"], told["field"]) == ("unknown_policy", "policy")


def test_a_campaign_whose_package_is_gone_names_what_is_missing_and_hides_no_other(
    run: Run, program: Run, call: Callable[..., Any], workplace: Path
) -> None:
    (workplace / "own.toml").write_text(
        UTILITY.replace('"shop"', '"own"').replace('"uniform"', '"works"')
    )
    assert run("new", "own.toml").returncode == 0
    call("new", "shop.toml")
    missing = (
        "policy 'works' is missing: the campaign needs the package that adds it; "
        "install that package here"
    )
    done = program("status", "own")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {missing}\n")
    listed = call("list")
    assert listed.stderr == ""
    own, shop = (line.split("\t") for line in listed.stdout.splitlines())
    assert own[:3] == ["own", "unreadable", missing]
    assert shop[:3] == ["shop", "running", "uniform"]
    assert run("status", "own").returncode == 0
