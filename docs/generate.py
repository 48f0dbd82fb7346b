"""The pages that follow from the code; ``docs.site`` puts them beside those that are kept.

One page per policy, stopping rule, aggregator, mechanism and experiment, from the
registries; the reference of the API, the commands and the JSON; the changelog. The pages are not
kept in the repository.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from askwise.aggregation import aggregation
from askwise.core.docstrings import doc_of
from askwise.figures import Row, source_of
from askwise.lab.experiment import Experiment, experiments
from askwise.lab.report import TableCell, tables_of
from askwise.lab.results import Results
from askwise.mechanisms import mechanisms
from askwise.policies import policies
from askwise.stopping import stopping
from docs.blocks import ROOT
from docs.docstrings import markdown, table
from docs.entries import (
    aggregator_index,
    aggregator_page,
    default_of,
    mechanism_index,
    mechanism_page,
    ours,
    papers_in,
    policy_index,
    policy_page,
    rule_index,
    rule_page,
)
from docs.references import api_page, cli_page, json_page


def generate(root: Path) -> None:
    """Write all pages below ``root``, which holds a copy of the hand-written ones."""
    for name, text in _pages(root):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.strip() + "\n", encoding="utf-8")


def _pages(root: Path) -> Iterator[tuple[str, str]]:
    yield "policies/index.md", policy_index()
    for policy in ours(policies):
        yield f"policies/{policy.name}.md", policy_page(policy)
    yield "rules/index.md", rule_index()
    for rule in ours(stopping):
        yield f"rules/{rule.name}.md", rule_page(rule)
    yield "aggregators/index.md", aggregator_index()
    for aggregator in ours(aggregation):
        yield f"aggregators/{aggregator.name}.md", aggregator_page(aggregator)
    yield "mechanisms/index.md", mechanism_index()
    for mechanism in ours(mechanisms):
        yield f"mechanisms/{mechanism.name}.md", mechanism_page(mechanism)
    yield "reproductions/index.md", reproduction_index(root)
    for experiment in ours(experiments):
        yield f"reproductions/{experiment.name}.md", reproduction_page(experiment, root)
    yield "reference/api.md", api_page()
    yield "reference/cli.md", cli_page()
    yield "reference/json.md", json_page(root / "reference")
    yield "reference/index.md", reference_index()
    # It is kept above the documentation.
    yield "changelog.md", _read(ROOT / "CHANGELOG.md").replace("](docs/", "](")


def reference_index() -> str:
    """What the reference has."""
    return """# Reference

Written from the code.

- [Policies](../policies/index.md): whom to ask next.
- [Stopping rules](../rules/index.md): when a task has enough answers.
- [Aggregators](../aggregators/index.md): what the answer is.
- [Mechanisms](../mechanisms/index.md): what workers are paid.
- [Commands](cli.md): what `askwise COMMAND --help` says.
- [API](api.md): public names, signatures and docstrings.
- [JSON](json.md): what commands and the service write, as JSON Schema.
- [Changelog](../changelog.md): what a user would notice.
"""


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def reproduction_index(root: Path) -> str:
    """All experiments in one table."""
    rows = [
        (
            f"[{entry.title}]({entry.name}.md)",
            entry.reproduces,
            str(entry.reps),
            f"`askwise lab run {entry.name}`",
            "yes" if _kept(entry, root, ".json").is_file() else "no",
        )
        for entry in ours(experiments)
    ]
    head = ("experiment", "reproduces", "replications", "command", "results here")
    return "\n\n".join(
        [
            "# Reproductions",
            "Each experiment runs with one command and writes its figures, its numbers and a "
            "report. The same seed gives the same numbers, whatever the number of processes: "
            "`make reproduce NAME=bounded-table1` runs one again and compares every row with the "
            "results that are kept here. "
            "[How to run and change them](../how-to/lab.md).",
            table(head, rows, "<<><<"),
            papers_in(*(entry.reproduces for entry in ours(experiments))),
        ]
    )


def reproduction_page(entry: type[Experiment], root: Path) -> str:
    """An experiment: its question, command, figure, numbers, parameters and differences."""
    results = _results(entry, root)
    experiment = _as_run(entry, results)
    parts = [f"# {entry.title}", entry.summary]
    beyond = entry.reproduces.startswith("beyond")
    if entry.reproduces:
        parts.append(f"{'Goes' if beyond else '*Reproduces:*'} {entry.reproduces}.")
    parts += ["## Run it", f"```console\n$ askwise lab run {entry.name}\n```"]
    parts.append(
        f"{entry.reps} replications per point unless `--reps` says otherwise; the files go to "
        f"`lab-out/{entry.name}/`."
    )
    drawing = _kept(entry, root, ".svg")
    if drawing.is_file():
        caption = entry.figures[0].caption
        parts += ["## Figure", f"![{caption}](../assets/reproductions/{drawing.name})", caption]
    parts += ["## Results", *_numbers(experiment, results)]
    found = "What the results say" if beyond else "What differs from the paper"
    parts += [f"## {found}", _differences(experiment, results)]
    parts += ["## Parameters", _settings(entry)]
    return "\n\n".join(parts)


def _kept(entry: type[Experiment], root: Path, ending: str) -> Path:
    return root / "assets" / "reproductions" / f"{entry.name}{ending}"


def _results(entry: type[Experiment], root: Path) -> Results | None:
    file = _kept(entry, root, ".json")
    return Results.read_json(file) if file.is_file() else None


def _as_run(entry: type[Experiment], results: Results | None) -> Experiment:
    """The experiment with the parameters behind the kept results."""
    if results is None:
        return entry()
    lists = {key: tuple(v) if isinstance(v, list) else v for key, v in results.params.items()}
    return entry(**lists)


def _numbers(experiment: Experiment, results: Results | None) -> Iterator[str]:
    paper = list(experiment.paper_rows())
    if results is None:
        why = f" {experiment.not_kept}" if experiment.not_kept else ""
        yield f"No results are kept here: the command above makes them.{why}"
        if paper:
            yield f"The values of {source_of(paper)}:"
            yield from _tables(experiment, (), paper)
        return
    yield (
        f"Mean and 95% interval over {results.reps} replications, seed {results.seed}"
        + _made(results)
        + "."
        + (f" In italics the value of {source_of(paper)}, where there is one." if paper else "")
    )
    yield from _tables(experiment, results.rows, paper)


def _made(results: Results) -> str:
    if not results.made:
        return ""
    version = f"askwise {results.made['version']}"
    if "sources" in results.made:
        version += f", sources {results.made['sources']}"
    return f" ({version}, {results.made['seconds']} s)"


def _tables(experiment: Experiment, rows: Sequence[Row], paper: Sequence[Row]) -> Iterator[str]:
    """What the figures show and what the paper prints; the rest is in results.json."""
    shown = {figure.metric for figure in experiment.figures} | {row.metric for row in paper}
    # A share worked out from a paper's figures has no more digits than they have.
    paper = [
        replace(row, mean=float(f"{row.mean:.3g}")) if row.ci_low == row.ci_high else row
        for row in paper
    ]
    # Without results of our own the paper's rows lay the table out.
    for each in tables_of(rows or paper, paper):
        if each.metric not in shown:
            continue
        title = each.metric.replace("_", " ") + (f", {each.panel}" if each.panel else "")
        lines = [
            (f"`{line.name}{line.parameters}`", *(_value(cell, bool(rows)) for cell in line.cells))
            for line in each.lines
        ]
        yield f"**{title}**, by {experiment.x_label(each.metric)}"
        yield table(("", *each.columns), lines, "<" + ">" * len(each.columns))


def _value(cell: TableCell | None, measured: bool) -> str:
    if cell is None:
        return ""
    mine = f"{cell.mean} {cell.interval}" if measured and cell.mean else ""
    theirs = f"*{cell.paper}*" if cell.paper else ""
    # A number and its interval stay on one line.
    return "<br>".join(part.replace(" ", "\u00a0") for part in (mine, theirs) if part)


def _differences(experiment: Experiment, results: Results | None) -> str:
    if results is None:
        return "The report that the command writes says where the numbers differ, and why."
    return "\n".join(f"- {each}" for each in experiment.differences(results.rows))


def _settings(entry: type[Experiment]) -> str:
    """Parameters with what the docstrings of the class and its bases say of them."""
    said: dict[str, str] = {}
    for base in reversed(entry.__mro__):
        for line in doc_of(base).entries.get("Parameters", ()):
            first, *others = (name.strip() for name in line.names.split(","))
            said |= {first: line.text, **dict.fromkeys(others, f"See `{first}`.")}
    rows = [
        (f"`{field.name}`", default_of(field), markdown(said.get(field.name, "")))
        for field in dataclasses.fields(entry)
    ]
    return "Set one with `--set name=value`.\n\n" + table(("name", "default", "meaning"), rows)
