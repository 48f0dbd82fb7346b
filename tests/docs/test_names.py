"""Pages name only what there is: policies, experiments, commands, events, files."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.aggregation import aggregation
from askwise.campaign.choosing import AUTO
from askwise.campaign.forgetting import forget_worker
from askwise.core.events import Kind
from askwise.lab.experiment import experiments
from askwise.mechanisms import mechanisms
from askwise.policies import policies
from askwise.policies.assured.sets import errors
from askwise.stopping import stopping
from docs.blocks import DOCS, ROOT, commands_of
from docs.entries import ours

PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]
PAGES += sorted((DOCS / "how-to").glob("*.md"))
PAGES = [page for page in PAGES if page.name != "changelog.md"]

REGISTRIES = (policies, stopping, aggregation, mechanisms, errors, experiments)
OTHER_WORDS = {
    *("successive-rejects", "hoeffding-races", "lab-out", "demo-out", "as-given"),
    *("webhook-id", "webhook-timestamp", "webhook-signature"),
}
"""Values of parameters, folders and headers that look like names of policies."""

MADE_UP = {
    "fair-pay", "optimist", "few-workers", "clear-majority", "second-opinion", "worst-pair",
    "second-vote", "tip",
}  # fmt: skip
"""Examples of what readers write themselves."""


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def registered() -> set[str]:
    return {AUTO, *(name for registry in REGISTRIES for name in registry.names())}


def table_under(page: str, heading: str) -> list[list[str]]:
    """The body rows of the tables below a heading, their cells without backticks."""
    part = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    tables = re.findall(r"(?:^\|.*\n)+", part, re.M)
    assert tables
    rows = [line.strip("| ").split(" |") for table in tables for line in table.splitlines()[2:]]
    return [[cell.strip().replace("`", "") for cell in row] for row in rows]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_looks_like_a_registered_name_is_one(page: Path) -> None:
    found = set(re.findall(r"`([a-z]+(?:-[a-z0-9]+)+)(?:\([^`]*\))?`", text_of(page)))
    commands = {word for words in commands_of(text_of(page)) for word in words}
    assert found <= registered() | OTHER_WORDS | MADE_UP | commands


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_policy_or_rule_in_code_exists(page: Path) -> None:
    kinds = (
        ("policy", policies),
        ("stopping", stopping),
        ("aggregation", aggregation),
        ("mechanism", mechanisms),
    )
    for word, registry in kinds:
        quoted = word + r"""["']?\s*[=:]\s*(?:\{\s*["']?name["']?\s*[=:]\s*)?["']([\w-]+)["']"""
        for name in re.findall(quoted, text_of(page)):
            assert name in {AUTO, *registry.names()} | MADE_UP


@cache
def tree() -> Any:
    import typer

    from askwise.cli.app import app

    return typer.main.get_command(app)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_command_exists_with_its_options_and_names(page: Path) -> None:
    for words in commands_of(text_of(page)):
        command, rest = tree(), words[1:]
        if rest[0].isupper():
            continue
        while rest and rest[0] in getattr(command, "commands", {}):
            command, rest = command.commands[rest[0]], rest[1:]
        assert not (rest and hasattr(command, "commands") and rest[0][0] != "-"), words
        options = {option for each in command.params for option in each.opts} | {"--help", "-h"}
        assert {word for word in rest if re.match("--?[a-z]", word)} <= options, words
        shown = ("lab", "policies", "rules", "aggregators", "mechanisms")
        named = [["lab", "run"], *([each, "show"] for each in shown)]
        if words[1:3] in named and rest:
            assert rest[0].isupper() or rest[0] in registered() | MADE_UP, words


@cache
def sources() -> set[str]:
    """Every file of ours in Python, and every end of its path: pages leave out what is clear."""
    tops = ("askwise", "benchmarks", "docs", "scripts", "tests")
    paths = (path.relative_to(ROOT) for top in tops for path in (ROOT / top).rglob("*.py"))
    return {Path(*path.parts[at:]).as_posix() for path in paths for at in range(len(path.parts))}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_file_that_a_page_names_is_there(page: Path) -> None:
    assert set(re.findall(r"`([\w./-]+\.py)`", text_of(page))) <= sources()


def test_the_page_on_the_papers_lists_every_experiment() -> None:
    commands = {row[1] for row in table_under(text_of(DOCS / "papers.md"), "Experiments")}
    assert commands == {f"askwise lab run {entry.name}" for entry in ours(experiments)}


def test_the_readme_is_short() -> None:
    assert len(text_of(ROOT / "README.md").splitlines()) <= 200


@pytest.mark.parametrize("page", [ROOT / "README.md"], ids=lambda page: page.name)
def test_links_lead_to_files_of_the_repository(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", text_of(page)):
        assert "://" not in target
        assert (page.parent / target).is_file(), target


def eventful_log() -> list[dict[str, Any]]:
    """The log of a campaign in which everything happens that can."""
    campaign = Campaign.create(
        workers=[Worker(name, 1) for name in ("ann", "bob", "cleo")],
        tasks=["one", "two"],
        options=["no", "yes"],
        budget=9,
        policy="uniform",
        stopping={"name": "fixed", "n": 1},
        lease=60,
        name="all",
    )
    first, second, third = campaign.ask(limit=3)
    campaign.tell(first.id, "yes", key="a key")
    changed: dict[str, Any] = {"probabilities": {"no": 1.0}, "rationale": "No.", "reference": "r"}
    campaign.revise(first.id, "no", **changed, by="ann")
    campaign.withdraw(first.id, "Deleted.", by="ann")
    campaign.renew(second.id)
    campaign.expire(second.id)
    campaign.flag(third.id, "There is no picture.")
    campaign.comment("two", "Odd.", by="ann")
    campaign.truth("two", "no")
    campaign.set_label("two", "no", by="ann", why="A fox.")
    campaign.add(tasks=["three"], workers=[Worker("dev", 1)])
    campaign.leave("dev")
    campaign.top_up(1)
    campaign.pause()
    campaign.resume()
    campaign.close("three")
    campaign.bonus("ann", 1, "For the hard ones.", by="bo")
    campaign.pay("ann", by="bo", reference="SEPA 4711")
    campaign.stop()
    campaign.retitle("All")
    campaign.archive()
    campaign.unarchive()
    forget_worker(campaign.store, "all", "bob", 0.0)
    thompson = Campaign.create(
        workers=[Worker("ann", 1), Worker("bob", 1)], outcome="utility", policy="thompson-knapsack"
    )
    thompson.ask(workers=["ann"])
    auction = Campaign.create(
        workers=[Worker("ann", 1), Worker("bob", 1)],
        tasks=["one"],
        options=["no", "yes"],
        policy={"name": "ccb-s", "solver": "exact"},
        mechanism={"name": "self-resampling", "c_max": 5},
    )
    auction.bid("ann", 2)
    auction.ask()
    certified = Campaign.create(
        workers=[Worker("ann", 1), Worker("vet", 1, trusted=True)],
        tasks=["one", "two"],
        options=["no", "yes"],
        budget=10,
        policy="random-pairs",
        certify={"error": 0.1, "confidence": 0.5, "by": ["vet"]},
    )
    while batch := certified.ask():
        certified.tell(batch[0].id, "yes")
    calls = Campaign.create(
        workers=[Worker("ann", 1)], tasks=["one", "two"], options=["no", "yes"], policy="uniform"
    )
    told, failed = calls.ask(limit=2)
    said: dict[str, Any] = {"cost": 2, "probabilities": {"no": 1}, "rationale": "No."}
    calls.tell(told.id, "no", **said, reference="a")
    calls.fail(failed.id, "refused", 2, "b")
    screened = Campaign.create(
        workers=[Worker("ann", 1)],
        tasks=[f"t{at}" for at in range(80)],
        options=["no", "yes"],
        policy="random-pairs",
        screening={"qualify": 5, "rate": 0.5, "warn_below": 0.9, "pause_below": 0.6},
        seed=1,
    )
    for at in range(40):
        screened.truth(f"t{at}", "yes")
    while batch := screened.ask():
        screened.tell(batch[0].id, "yes" if screened.status().answers < 5 else "no")
    screened.reinstate("ann", by="bob", why="An illness.")
    logs = (campaign.log(), thompson.log(), auction.log(), certified.log(), calls.log())
    logs += (screened.log(),)
    return [event.to_json() for log in logs for event in log]


def test_the_table_of_events_has_every_kind_and_every_field() -> None:
    rows = table_under(text_of(DOCS / "concepts.md"), "Events")
    fields = {row[0]: set(row[2].split(", ")) if len(row) > 2 else set() for row in rows}
    seen: dict[str, set[str]] = {}
    for event in eventful_log():
        kind = event["kind"]
        seen.setdefault(kind, set()).update(set(event) - {"kind", "seq", "time", "key"})
    assert set(fields) == set(seen) == {kind.name for kind in Kind}
    for kind, found in seen.items():
        assert found <= fields[kind], kind
    # Set only in a utility campaign without tasks, or by a rule that gives it: not all at once.
    written = set().union(*seen.values())
    assert set().union(*fields.values()) - {""} == written
