"""``askwise mechanisms``: what to pay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from askwise.cli import registered
from askwise.cli.options import AsJson

app = typer.Typer()

COLUMNS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "mechanism": lambda each: each["name"],
    "bids": lambda each: "sealed" if each["bidding"] else "none",
    "truthful": lambda each: "promised" if each["truthful"] else "no",
    "what it does": lambda each: each["summary"],
}


@app.callback(invoke_without_command=True)
def list_mechanisms(context: typer.Context, as_json: AsJson = False) -> None:
    """List the mechanisms, or describe one."""
    if registered.is_listing(context, as_json):
        found = [_describe(name) for name in _registry().names()]
        registered.show_all("mechanisms", found, COLUMNS, as_json)


@app.command("show")
def show_mechanism(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The mechanism.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Describe a mechanism: what it pays and promises, with which policies, its parameters."""
    found = _describe(name)
    facts = (
        ("mechanism", found["name"]),
        ("takes bids", found["bidding"]),
        ("promise", found["promise"]),
        ("goes with", found["goes_with"]),
        ("works on", ", ".join(found["outcomes"])),
        ("from", found["paper"] or None),
    )
    registered.show(context, found, facts, as_json)


def _registry() -> Any:
    return registered.registry_of("askwise.mechanisms", "mechanisms")


def _describe(name: str) -> dict[str, Any]:
    entry = _registry().get(name)
    return registered.describe(
        entry,
        bidding=entry.bidding,
        truthful=entry.truthful,
        promise=entry.promise,
        goes_with=entry.goes_with,
    )
