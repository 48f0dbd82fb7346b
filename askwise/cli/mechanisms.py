"""``askwise mechanisms``: what to pay."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from askwise.cli import output, registered
from askwise.cli.options import AsJson
from askwise.cli.stored import leave_compiler_out

app = typer.Typer()


@app.callback(invoke_without_command=True)
def list_mechanisms(context: typer.Context, as_json: AsJson = False) -> None:
    """List the mechanisms, or describe one."""
    if not registered.is_listing(context, as_json):
        return
    found = [_describe(name) for name in _registry().names()]
    if as_json:
        output.show_json(found)
        return
    output.show_records(
        ("mechanism", "bids", "truthful", "what it does"),
        (
            (
                each["name"],
                "sealed" if each["bidding"] else "none",
                "promised" if each["truthful"] else "no",
                each["summary"],
            )
            for each in found
        ),
    )
    if output.for_people():
        output.console().print("\naskwise mechanisms show NAME tells more.")


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
    leave_compiler_out()
    from askwise.mechanisms import mechanisms

    return mechanisms


def _describe(name: str) -> dict[str, Any]:
    entry = _registry().get(name)
    return registered.describe(
        entry,
        bidding=entry.bidding,
        truthful=entry.truthful,
        promise=entry.promise,
        goes_with=entry.goes_with,
    )
