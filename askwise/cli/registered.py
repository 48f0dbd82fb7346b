"""What the commands on policies, rules, aggregators and mechanisms share: entries described."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import typer

from askwise.cli import output
from askwise.cli.stored import leave_compiler_out


def is_listing(context: typer.Context, as_json: bool) -> bool:
    """Whether a group was called without a command, and so has to list its entries."""
    # Asked for before or after `show`, JSON is JSON.
    context.obj = as_json
    return context.invoked_subcommand is None


def registry_of(package: str, name: str) -> Any:
    """Load a registry; describing its entries takes no compiler."""
    leave_compiler_out()
    return getattr(import_module(package), name)


def show_all(
    command: str,
    found: Sequence[dict[str, Any]],
    columns: Mapping[str, Callable[[dict[str, Any]], Any]],
    as_json: bool,
) -> None:
    """List what was found, as JSON or a line each, and say which command tells more."""
    if as_json:
        output.show_json(found)
        return
    output.show_records(
        tuple(columns), (tuple(cell(each) for cell in columns.values()) for each in found)
    )
    if output.for_people():
        output.console().print(f"\naskwise {command} show NAME tells more.")


def describe(entry: Any, **facts: Any) -> dict[str, Any]:
    """What can be said of a registered class: what all have, and facts of its kind."""
    description = inspect.getdoc(entry) or ""
    # Not of an instance: a parameter that must be given has None for a default and takes none.
    defaults = {field.name: field.default for field in dataclasses.fields(entry)}
    return {
        "name": entry.name,
        "paper": entry.paper,
        "summary": " ".join(description.split("\n\n")[0].replace("``", "").split()),
        "outcomes": list(entry.outcomes),
        **facts,
        # As the constructor takes them: an entry's own before those that its base adds.
        "parameters": {name: defaults[name] for name in inspect.signature(entry).parameters},
        "description": description,
    }


def show(
    context: typer.Context,
    found: dict[str, Any],
    facts: Iterable[tuple[str, Any]],
    as_json: bool,
) -> None:
    """Print what was found as JSON; or facts, the parameters and the description."""
    if as_json or context.obj:
        output.show_json(found)
        return
    parameters = ", ".join(f"{name}={value}" for name, value in found["parameters"].items())
    facts = [*facts, ("parameters", parameters or None)]
    if not output.for_people():
        for fact in facts:
            output.line(*fact)
        print(f"\n{found['description']}")
        return
    screen = output.console()
    screen.print(output.grid(facts))
    screen.print()
    screen.print(found["description"])


def family_of(entry: type) -> str:
    """The family of a policy: the package it is in, or the distribution that adds it."""
    parts = entry.__module__.split(".")
    ours = parts[:2] == ["askwise", "policies"]
    return parts[2] if ours else parts[0]
