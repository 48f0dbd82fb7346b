"""Wheel and source distribution: what is in them, and that they work where nothing else is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import askwise
from tests.paths import ROOT

PYTHONS = ("3.11", "3.12", "3.13")
"""Versions that are tried where they are at hand."""

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_version_is_in_one_place_and_the_citation_has_it() -> None:
    assert PROJECT["dynamic"] == ["version"]
    assert "version" not in PROJECT
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == askwise.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(askwise.__version__)} - ", changes, re.M)


def test_the_extra_all_has_every_extra_for_users() -> None:
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    named = set(re.findall(r"\[(.*)\]", everything)[0].split(","))
    # Ray has no wheels for all Pythons; docs and dev are for developers.
    assert named == set(extras) - {"all", "docs", "dev", "ray"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of both distributions, built from the files that git knows."""
    folder = tmp_path_factory.mktemp("built")
    source = folder / "source"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(source)], check=True)
    for name in subprocess.check_output(
        ["git", "diff", "--name-only", "HEAD"], cwd=ROOT, text=True
    ).split():
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, source / name)
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(source)],
        check=True,
        capture_output=True,
    )
    return folder


@pytest.mark.slow
def test_both_hold_the_package_and_its_files_and_no_tests(built: Path) -> None:
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as opened:
        held = set(opened.namelist())
    tracked = subprocess.check_output(["git", "ls-files", "askwise"], cwd=ROOT, text=True).split()
    assert set(tracked) <= held
    assert all(name.startswith(("askwise/", "askwise-")) for name in held)
    with tarfile.open(sdist) as opened:
        inside = {name.partition("/")[2] for name in opened.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", *tracked} <= inside


ALONE = """
import tempfile
from askwise import Campaign, Worker
store = "sqlite:///" + tempfile.mkdtemp() + "/c.sqlite"
campaign = Campaign.create(
    workers=[Worker("ann", 1), Worker("bob", 1)], tasks=["a", "b"], options=["no", "yes"],
    budget=4, name="alone", store=store,
)
while batch := Campaign.open(store, "alone").ask(2):
    for each in batch:
        campaign.tell(each.id, "yes")
print([answer.value for answer in campaign.answers()], campaign.status().spent)
"""

NEEDS = {
    "serve": "service",
    "mcp": "mcp",
    "demo": "lab",
    "demo market": "lab",
    "lab run bounded-table1 --reps 2": "lab",
    "list --store postgresql://127.0.0.1/x": "postgres",
    "aggregate labels.parquet": "tables",
    "aggregate labels.csv --backend dask": "dask",
    "label items.csv --question q --options yes,no --judges judges.toml --budget 1 --yes": "judges",
}
"""Commands that take an extra."""


def interpreter(version: str) -> str | None:
    """A Python of this version: on the path, or among those that pyenv keeps."""
    kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for program in (shutil.which(f"python{version}"), *map(str, kept)):
        if program and not subprocess.run([program, "--version"], capture_output=True).returncode:
            return program
    return None


@pytest.mark.slow
@pytest.mark.parametrize("version", PYTHONS)
def test_alone_it_runs_a_campaign_and_names_the_extra_of_what_is_missing(
    built: Path, tmp_path: Path, version: str
) -> None:
    found = interpreter(version)
    if found is None:
        pytest.skip(f"Python {version} is not at hand")
    subprocess.run([found, "-m", "venv", str(tmp_path / "env")], check=True)
    programs = tmp_path / "env" / "bin"
    (wheel,) = built.glob("*.whl")
    install = [str(programs / "python"), "-m", "pip", "install", "--quiet", str(wheel)]
    done = subprocess.run(install, capture_output=True, text=True)
    if done.returncode and "No matching distribution" in done.stderr:
        pytest.skip(f"not all requirements are to be had for Python {version}")
    assert done.returncode == 0, done.stderr
    environment = {"PATH": os.environ["PATH"], "ASKWISE_JIT": "0", "ASKWISE_KEY": "x"}
    ran = subprocess.run(
        [str(programs / "python"), "-c", ALONE],
        capture_output=True, text=True, cwd=tmp_path, env=environment,
    )  # fmt: skip
    assert ran.stdout == "['yes', 'yes'] 4\n", ran.stderr
    (tmp_path / "labels.csv").write_text("task,worker,label\na,x,1\nb,x,0\n")
    (tmp_path / "items.csv").write_text("id,text\n1,hello\n")
    (tmp_path / "judges.toml").write_text(
        '[[judge]]\nid = "a"\nmodel = "m"\nurl = "http://127.0.0.1:9/v1"\n'
    )
    for words, extra in NEEDS.items():
        refused = subprocess.run(
            [str(programs / "askwise"), *words.split()],
            capture_output=True, text=True, cwd=tmp_path, env=environment,
        )  # fmt: skip
        assert refused.returncode == 2, words
        assert f"pip install 'askwise[{extra}]'" in refused.stderr, (words, refused.stderr)
