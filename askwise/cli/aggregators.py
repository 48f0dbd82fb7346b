"""``askwise aggregators``: what the answer is."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from askwise.cli import output, registered
from askwise.cli.options import AsJson
from askwise.cli.stored import leave_compiler_out

app = typer.Typer()


@app.callback(invoke_without_command=True)
def list_aggregators(context: typer.Context, as_json: AsJson = False) -> None:
    """List the aggregators, or describe one."""
    if not registered.is_listing(context, as_json):
        return
    found = [_describe(name) for name in _registry().names()]
    if as_json:
        output.show_json(found)
        return
    output.show_records(
        ("aggregator", "works on", "from", "what it does"),
        (
            (each["name"], ", ".join(each["outcomes"]), each["paper"] or None, each["summary"])
            for each in found
        ),
    )
    if output.for_people():
        output.console().print("\naskwise aggregators show NAME tells more.")


@app.command("show")
def show_aggregator(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The aggregator.", show_default=False)
    ],
    as_json: AsJson = False,
) -> None:
    """Describe an aggregator: what it does and assumes, its parameters."""
    found = _describe(name)
    facts = (
        ("aggregator", found["name"]),
        ("works on", ", ".join(found["outcomes"])),
        ("labels tables", found["labels_tables"]),
        ("uses contexts", found["uses_contexts"]),
        ("from", found["paper"] or None),
    )
    registered.show(context, found, facts, as_json)


def _registry() -> Any:
    leave_compiler_out()
    from askwise.aggregation import aggregation

    return aggregation


def _describe(name: str) -> dict[str, Any]:
    entry = _registry().get(name)
    from askwise.aggregation import LabelAggregator

    tables = issubclass(entry, LabelAggregator)
    return registered.describe(
        entry, labels_tables=tables, uses_contexts=tables and entry.uses_contexts
    )
