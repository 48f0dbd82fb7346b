"""The generated pages: made from the registries."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import askwise
from askwise.aggregation import aggregation
from askwise.lab.experiment import experiments, with_settings
from askwise.lab.results import Results
from askwise.mechanisms import mechanisms
from askwise.policies import policies
from askwise.stopping import stopping
from docs.blocks import DOCS
from docs.entries import ours
from docs.generate import generate, reproduction_page
from docs.references import api_page, cli_page
from docs.site import gather

PLACES: Any = {
    "policies": policies,
    "rules": stopping,
    "aggregators": aggregation,
    "mechanisms": mechanisms,
    "reproductions": experiments,
}
"""Folders with a page for each entry of a registry."""


@pytest.fixture(scope="module")
def site_sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of the site, kept and generated."""
    folder = tmp_path_factory.mktemp("docs") / "docs"
    gather(folder)
    return folder


def test_everything_registered_has_a_page(site_sources: Path) -> None:
    for place, registry in PLACES.items():
        made = {path.stem for path in (site_sources / place).glob("*.md")}
        assert made == {entry.name for entry in ours(registry)} | {"index"}


def test_a_policys_page_has_all_parts(site_sources: Path) -> None:
    page = (site_sources / "policies" / "thompson-knapsack.md").read_text(encoding="utf-8")
    assert "| `discount` | float | `1.0` |" in page
    for title in ("Parameters", "What it assumes and needs", "When not to use it", "Example"):
        assert f"## {title}\n" in page
    assert "`askwise lab run bounded-drift`" in page


def test_a_policys_page_names_experiments_in_which_it_has_a_rule(site_sources: Path) -> None:
    page = (site_sources / "policies" / "b-kube.md").read_text(encoding="utf-8")
    assert "`askwise lab run limited-labels`" in page


def test_every_policy_is_in_the_index_below_its_family(site_sources: Path) -> None:
    index = (site_sources / "policies" / "index.md").read_text(encoding="utf-8")
    for policy in ours(policies):
        family = policy.__module__.split(".")[2].capitalize()
        below = index.partition(f"\n## {family}\n")[2].partition("\n## ")[0]
        assert f"| [`{policy.name}`]({policy.name}.md) |" in below


@pytest.mark.parametrize("rule", ours(stopping), ids=lambda rule: rule.name)
def test_a_rules_page_begins_with_its_promise_and_has_all_parts(
    rule: Any, site_sources: Path
) -> None:
    page = (site_sources / "rules" / f"{rule.name}.md").read_text(encoding="utf-8")
    word = "Guarantees" if rule.guarantees else "Trades"
    assert page.startswith(f"# {rule.name}\n\n**{word}** ")
    for title in ("Parameters", "What it assumes and needs", "When not to use it", "Example"):
        assert f"\n## {title}\n\n" in page
    assert f"| trades error for cost by | `{rule.dial}` |" in page
    # What is said of a parameter elsewhere is repeated here.
    assert "As in" not in page
    assert "| `horizon` | int, optional | none | Maximum number of answers per question" in page


@pytest.mark.parametrize("entry", ours(aggregation), ids=lambda entry: entry.name)
def test_an_aggregators_page_has_all_parts_and_is_in_the_index(
    entry: Any, site_sources: Path
) -> None:
    page = (site_sources / "aggregators" / f"{entry.name}.md").read_text(encoding="utf-8")
    for title in ("Parameters", "What it assumes and needs", "When not to use it", "Example"):
        assert f"\n## {title}\n\n" in page
    assert f"| answers it works on | {' or '.join(entry.outcomes)} |" in page
    index = (site_sources / "aggregators" / "index.md").read_text(encoding="utf-8")
    assert f"| [`{entry.name}`]({entry.name}.md) |" in index


def test_a_policys_page_says_whose_the_answers_are(site_sources: Path) -> None:
    for name, whose in (("hem", "its own"), ("random-pairs", "left to the aggregation")):
        page = (site_sources / "policies" / f"{name}.md").read_text(encoding="utf-8")
        assert f"| the answers are | {whose} |" in page
        assert "Paper 002 is H. Zhang, " in page


def test_the_index_of_rules_says_which_guarantee_an_error(site_sources: Path) -> None:
    index = (site_sources / "rules" / "index.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in index.splitlines() if line.startswith("| [`")]
    assert {row[0].split("`")[1]: row[2] for row in rows} == {
        rule.name: "**guarantees**" if rule.guarantees else "trades" for rule in ours(stopping)
    }
    assert rows[0][2] == "**guarantees**"
    assert rows[0][5] == "beyond paper 004 |"


def made_up(name: str, settings: dict[str, str], extra: int) -> Results:
    """Results of a run that did not take place: the numbers are drawn."""
    experiment: Any = with_settings(name, settings)
    rng = np.random.default_rng(1)
    rows = []
    for cell in experiment.cells():
        samples = rng.random((20, 2 * (1 + len(experiment.policies)) + extra)) + 1.0
        rows += experiment.rows(cell, samples, 0)
    return Results(name, 0, 20, vars(experiment), tuple(rows))


@pytest.mark.parametrize(
    ("name", "extra"),
    [("bounded-table1", 0), ("bounded-small-budgets", 1), ("bounded-correlation", 1)],
)
def test_kept_results_come_into_the_page(name: str, extra: int, tmp_path: Path) -> None:
    kept = tmp_path / "assets" / "reproductions"
    made_up(name, {"policies": "uniform,random"}, extra).write_json(kept / f"{name}.json")
    (kept / f"{name}.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    generate(tmp_path)
    page = (tmp_path / "reproductions" / f"{name}.md").read_text(encoding="utf-8")
    assert f"](../assets/reproductions/{name}.svg)" in page
    assert "20 replications, seed 0" in page
    assert "\n- " in page.split("## What differs from the paper")[1]
    assert "No results are kept here" not in page


def test_a_page_without_results_says_why_there_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiments.get("judges"), "not_kept", "A run takes a week.")
    page = reproduction_page(experiments.get("judges"), tmp_path)
    assert "No results are kept here: the command above makes them. A run takes a week." in page


def test_the_papers_figures_stand_beside_ours(tmp_path: Path) -> None:
    generate(tmp_path)
    page = tmp_path / "reproductions" / "bounded-table1.md"
    assert "*59.88\u00a0±\u00a00.35*" in page.read_text(encoding="utf-8")
    made_up("bounded-table1", {"policies": "uniform"}, 0).write_json(
        tmp_path / "assets" / "reproductions" / "bounded-table1.json"
    )
    generate(tmp_path)
    assert re.search(
        r"\| `uniform` \| [\d.]+\s\[[^]]+\]<br>\*24.91", page.read_text(encoding="utf-8")
    )


def test_a_value_that_no_paper_prints_is_not_called_the_papers(tmp_path: Path) -> None:
    entry = experiments.get("survey-guarantee")
    assert "\n\nThe values of the target:\n\n" in reproduction_page(entry, tmp_path)
    kept = reproduction_page(entry, DOCS)
    assert "In italics the value of the target, where there is one." in kept


def test_every_public_name_is_in_the_reference() -> None:
    page = api_page()
    for name in askwise.__all__:
        assert name.startswith("_") or name in page, name
    for method in ("ask", "tell", "truth", "expire", "decline", "add", "leave", "top_up", "pause"):
        assert f"#### Campaign.{method}\n" in page


def test_every_command_is_in_the_reference() -> None:
    page = cli_page()
    for command in ("ask", "tell", "status", "log", "explain", "lab run"):
        assert f"## askwise {command}\n" in page
    for command in ("plan", "aggregate", "check", "replay"):
        assert f"## askwise {command}\n" in page
    for command in ("policies", "rules", "aggregators", "mechanisms"):
        assert f"## askwise {command}\n" in page
        assert f"## askwise {command} show\n" in page
    assert "`--scheduler ADDRESS`" in page


def test_every_schema_is_in_the_reference(site_sources: Path) -> None:
    page = (site_sources / "reference" / "json.md").read_text(encoding="utf-8")
    for schema in (DOCS / "reference").glob("*.schema.json"):
        assert f"({schema.name})" in page
