"""``askwise rules``: when a task has been asked often enough."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from askwise.cli import output, registered
from askwise.cli.options import AsJson
from askwise.cli.stored import leave_compiler_out

app = typer.Typer()


@app.callback(invoke_without_command=True)
def list_rules(context: typer.Context, as_json: AsJson = False) -> None:
    """List the stopping rules, or describe one."""
    if not registered.is_listing(context, as_json):
        return
    found = [_describe(name) for name in _registry().names()]
    if as_json:
        output.show_json(found)
        return
    output.show_records(
        ("rule", "promise", "paper", "what it does"),
        (
            (
                each["name"],
                "guarantees" if each["guarantees"] else "trades",
                each["paper"] or None,
                each["summary"],
            )
            for each in found
        ),
    )
    if output.for_people():
        output.console().print("\naskwise rules show NAME tells more.")


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
    leave_compiler_out()
    from askwise.stopping import stopping

    return stopping


def _describe(name: str) -> dict[str, Any]:
    entry = _registry().get(name)
    return registered.describe(
        entry,
        guarantees=entry.guarantees,
        promise=entry.promise,
        most_options=entry.most_options,
        dial=entry.dial,
    )
