"""Write the pages that follow from the code: ``python -m docs.generate``.

One page a policy and one an experiment, from the registries; the reference of the API, the
commands and the JSON; the changelog. The pages are not kept in the repository.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from askwise.aggregation import aggregation
from askwise.core.registry import Registry, from_label
from askwise.lab.experiment import Experiment, experiments
from askwise.lab.report import Cell, tables_of
from askwise.lab.results import Results, Row
from askwise.mechanisms import mechanisms
from askwise.policies import Policy, policies
from askwise.stopping import stopping
from docs.docstrings import Docstring, body, doc_of, example, markdown, table
from docs.references import api_page, cli_page, json_page

HERE = Path(__file__).resolve().parent
PAPERS = {
    "003": (
        "Paper 003 is L. Tran-Thanh, S. Stein, A. Rogers, N. R. Jennings, *Efficient crowdsourcing "
        "of unknown experts using bounded multi-armed bandits*, Artificial Intelligence 214 (2014)."
    ),
}
MARK = "<!-- Written by `python -m docs.generate`: change the code, not this page. -->\n\n"


def ours(registry: Registry[Any]) -> list[Any]:
    """The entries that come with askwise, by name; plug-ins have documentation of their own."""
    found = [registry.get(name) for name in registry.names()]
    return [entry for entry in found if entry.__module__.startswith("askwise.")]


def generate(root: Path = HERE) -> list[Path]:
    """Write all pages below ``root`` (which holds the hand-written ones); returns them."""
    for folder in ("policies", "reproductions"):
        shutil.rmtree(root / folder, ignore_errors=True)
    written = []
    for name, text in _pages(root):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(MARK + text.strip() + "\n", encoding="utf-8")
        written.append(path)
    return written


def _pages(root: Path) -> Iterator[tuple[str, str]]:
    yield "policies/index.md", policy_index()
    for policy in ours(policies):
        yield f"policies/{policy.name}.md", policy_page(policy)
    yield "reproductions/index.md", reproduction_index(root)
    for experiment in ours(experiments):
        yield f"reproductions/{experiment.name}.md", reproduction_page(experiment, root)
    yield "reference/api.md", api_page()
    yield "reference/cli.md", cli_page()
    yield "reference/json.md", json_page(root / "reference")
    yield "changelog.md", (HERE.parent / "CHANGELOG.md").read_text(encoding="utf-8")


# Policies.


def policy_index() -> str:
    """All policies in one table, and what goes with them."""
    rows = [
        (
            f"[`{policy.name}`]({policy.name}.md)",
            markdown(doc_of(policy).sentence),
            " or ".join(policy.outcomes),
            "yes" if policy.needs_budget else "no",
            "a plan" if policy.plans else "those available",
            _origin(policy),
        )
        for policy in ours(policies)
    ]
    head = ("policy", "what it does", "answers", "needs a budget", "decides on", "from")
    parts = ["# Policies", "A policy decides whom to ask next.", table(head, rows)]
    parts.append(
        "*A plan* covers everyone who has joined; `ask(workers=...)` then restricts only what is "
        "handed out. *Those available*: each decision is made among the workers on offer."
    )
    for title, words, registry in (
        ("Stopping rules", "A rule closes a task.", stopping),
        ("Aggregators", "An aggregator says what the answer to a task is so far.", aggregation),
        ("Mechanisms", "A mechanism says what workers are paid.", mechanisms),
    ):
        parts += [f"## {title}", words]
        for entry in ours(registry):
            parts += [f"### `{entry.name}`", body(doc_of(entry))]
            if getattr(entry, "promise", ""):
                parts.append(f"*What it promises:* {entry.promise}")
    return "\n\n".join(parts)


def policy_page(policy: type[Policy]) -> str:
    """A policy's docstring, its capabilities and the experiments it takes part in."""
    read = doc_of(policy)
    needs, unfit = read.beginning("Assumes"), read.beginning("Not ")
    parts = [f"# {policy.name}", markdown(read.sentence)]
    parts += [markdown(each) for each in read.prose if each not in (needs, unfit)]
    parts += ["## Parameters", _parameters(policy, read)]
    parts += ["## What it assumes and needs", markdown(needs)]
    parts += ["## When not to use it", markdown(unfit)]
    parts += ["## Capabilities", _capabilities(policy)]
    parts += ["## Example", example(read.sections["Examples"])]
    parts += ["## Where it comes from", markdown(read.sections["References"])]
    parts.append(PAPERS.get(policy.paper, ""))
    parts += ["## Experiments", _experiments_with(policy)]
    return "\n\n".join(parts)


def _parameters(policy: type[Policy], read: Docstring) -> str:
    """Type and meaning from the docstring, the default from the class."""
    said = {entry.names: entry for entry in read.entries.get("Parameters", ())}
    rows = []
    for field in dataclasses.fields(policy):
        entry = said[field.name]
        rows.append((f"`{field.name}`", markdown(entry.kind), _default(field), entry.text))
    if not rows:
        return "None."
    return table(("name", "type", "default", "meaning"), [(*r[:3], markdown(r[3])) for r in rows])


def _default(field: dataclasses.Field[Any]) -> str:
    value = field.default
    if isinstance(value, tuple):
        return ", ".join(f"`{each}`" for each in value) or "none"
    return f"`{value}`" if value != "" else "none"


def _capabilities(policy: type[Policy]) -> str:
    facts = [
        ("answers it works on", " or ".join(policy.outcomes)),
        ("needs a budget", "yes" if policy.needs_budget else "no"),
        ("decides on", "a plan for all who joined" if policy.plans else "those available"),
        ("a decision is for", ", ".join(each for each in policy.notes if each != "none")),
        ("the rule in words", policy.rule),
    ]
    return table(("what", "this policy"), facts)


def _origin(policy: type[Policy]) -> str:
    beyond = doc_of(policy).sections.get("References", "").startswith("Beyond")
    return f"beyond paper {policy.paper}" if beyond else f"paper {policy.paper}"


def _experiments_with(policy: type[Policy]) -> str:
    rows = [
        (
            f"[{entry.title}](../reproductions/{entry.name}.md)",
            f"`askwise lab run {entry.name}`",
        )
        for entry in ours(experiments)
        if policy.name in _policies_in(entry)
    ]
    return table(("experiment", "command"), rows) if rows else "None of ours."


def _policies_in(entry: type[Experiment]) -> set[str]:
    labels = [from_label(label) for label in getattr(entry(), "policies", ())]
    return {label if isinstance(label, str) else str(label["name"]) for label in labels}


# Reproductions.


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
            "report. The same seed gives the same numbers, whatever the number of processes. "
            "[How to run and change them](../how-to/lab.md).",
            table(head, rows, "<<><<"),
            *PAPERS.values(),
        ]
    )


def reproduction_page(entry: type[Experiment], root: Path) -> str:
    """An experiment: its question, command, figure, numbers, parameters and differences."""
    results = _results(entry, root)
    experiment = _as_run(entry, results)
    parts = [f"# {entry.title}", entry.summary]
    if entry.reproduces:
        parts.append(f"*Reproduces:* {entry.reproduces}.")
    parts += ["## Run it", f"```console\n$ askwise lab run {entry.name}\n```"]
    parts.append(
        f"{entry.reps} replications a point unless `--reps` says otherwise; the files go to "
        f"`lab-out/{entry.name}/`."
    )
    drawing = _kept(entry, root, ".svg")
    if drawing.is_file():
        caption = entry.figures[0].caption
        parts += ["## Figure", f"![{caption}](../assets/reproductions/{drawing.name})", caption]
    parts += ["## Results", *_numbers(experiment, results)]
    parts += ["## What differs from the paper", _differences(experiment, results)]
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
        yield "No results are kept here: the command above makes them."
        if paper:
            yield "What the paper reports:"
            yield from _tables(experiment, (), paper)
        return
    yield (
        f"Mean and 95% interval over {results.reps} replications, seed {results.seed}."
        + (" In italics what the paper reports." if paper else "")
    )
    yield from _tables(experiment, results.rows, paper)


def _tables(experiment: Experiment, rows: Sequence[Row], paper: Sequence[Row]) -> Iterator[str]:
    """What the figures show and what the paper prints; the rest is in results.json."""
    shown = {figure.metric for figure in experiment.figures} | {row.metric for row in paper}
    x_label = experiment.figures[0].x_label
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
        yield f"**{title}**, by {x_label}"
        yield table(("", *each.columns), lines, "<" + ">" * len(each.columns))


def _value(cell: Cell | None, measured: bool) -> str:
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
        (f"`{field.name}`", _default(field), markdown(said.get(field.name, "")))
        for field in dataclasses.fields(entry)
    ]
    return "Set one with `--set name=value`.\n\n" + table(("name", "default", "meaning"), rows)


if __name__ == "__main__":
    print(f"{len(generate())} pages written to {HERE}")
