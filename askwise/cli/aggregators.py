"""``askwise aggregators``: what the answer is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from askwise.cli import registered
from askwise.cli.options import AsJson

app = typer.Typer()

COLUMNS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "aggregator": lambda each: each["name"],
    "works on": lambda each: ", ".join(each["outcomes"]),
    "from": lambda each: each["paper"] or None,
    "what it does": lambda each: each["summary"],
}


@app.callback(invoke_without_command=True)
def list_aggregators(context: typer.Context, as_json: AsJson = False) -> None:
    """List the aggregators, or describe one."""
    if registered.is_listing(context, as_json):
        found = [_describe(name) for name in _registry().names()]
        registered.show_all("aggregators", found, COLUMNS, as_json)


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
    return registered.registry_of("askwise.aggregation", "aggregation")


def _describe(name: str) -> dict[str, Any]:
    entry = _registry().get(name)
    from askwise.aggregation import LabelAggregator

    tables = issubclass(entry, LabelAggregator)
    return registered.describe(
        entry, labels_tables=tables, uses_contexts=tables and entry.uses_contexts
    )
