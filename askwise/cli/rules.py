"""``askwise rules``: when a task has been asked often enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from askwise.cli import registered
from askwise.cli.options import AsJson

app = typer.Typer()

COLUMNS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "rule": lambda each: each["name"],
    "promise": lambda each: "guarantees" if each["guarantees"] else "trades",
    "paper": lambda each: each["paper"] or None,
    "what it does": lambda each: each["summary"],
}


@app.callback(invoke_without_command=True)
def list_rules(context: typer.Context, as_json: AsJson = False) -> None:
    """List the stopping rules, or describe one."""
    if registered.is_listing(context, as_json):
        found = [_describe(name) for name in _registry().names()]
        registered.show_all("rules", found, COLUMNS, as_json)


@app.command("show")
def show_rule(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The rule.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Describe a stopping rule: what it does and promises, its parameters, what it needs."""
    found = _describe(name)
    most = found["most_options"]
    facts = (
        ("rule", found["name"]),
        ("guarantees", found["guarantees"]),
        ("promise", found["promise"] or None),
        ("paper", found["paper"] or None),
        ("works on", ", ".join(found["outcomes"])),
        ("options", "any number" if most is None else f"up to {most}"),
        ("dial", found["dial"] or None),
    )
    registered.show(context, found, facts, as_json)


def _registry() -> Any:
    return registered.registry_of("askwise.stopping", "stopping")


def _describe(name: str) -> dict[str, Any]:
    entry = _registry().get(name)
    return registered.describe(
        entry,
        guarantees=entry.guarantees,
        promise=entry.promise,
        most_options=entry.most_options,
        dial=entry.dial,
    )
