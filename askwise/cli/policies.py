"""``askwise policies``: what there is to choose from."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from askwise.cli import output, registered
from askwise.cli.options import AsJson

app = typer.Typer()


@app.callback(invoke_without_command=True)
def list_policies(context: typer.Context, as_json: AsJson = False) -> None:
    """List the policies, or describe one."""
    if not registered.is_listing(context, as_json):
        return
    found = [_describe(name) for name in _registry().names()]
    if as_json:
        output.show_json(found)
        return
    if output.for_people():
        _show_families(found)
        return
    for each in found:
        outcomes = ", ".join(each["outcomes"])
        output.line(each["name"], each["family"], each["paper"] or None, outcomes, each["summary"])


@app.command("show")
def show_policy(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The policy.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Describe a policy: what it does, its parameters, what it needs, where it comes from."""
    found = _describe(name)
    facts = (
        ("policy", found["name"]),
        ("family", found["family"]),
        ("paper", found["paper"] or None),
        ("works on", ", ".join(found["outcomes"])),
        ("needs a budget", found["needs_budget"]),
        ("rule", found["rule"] or None),
    )
    registered.show(context, found, facts, as_json)


def _show_families(found: list[dict[str, Any]]) -> None:
    """Policies below the family that they belong to."""
    from rich.text import Text

    screen = output.console()
    for family in dict.fromkeys(each["family"] for each in found):
        screen.print(Text(family, style="bold"))
        members = [each for each in found if each["family"] == family]
        screen.print(
            output.grid(
                (each["name"], f"{each['summary']} Works on {' and '.join(each['outcomes'])}.")
                for each in members
            )
        )
        screen.print()
    screen.print("askwise policies show NAME tells more.")


def _registry() -> Any:
    return registered.registry_of("askwise.policies", "policies")


def _describe(name: str) -> dict[str, Any]:
    entry = _registry().get(name)
    return registered.describe(
        entry,
        family=registered.family_of(entry),
        needs_budget=entry.needs_budget,
        plans=entry.plans,
        purposes=list(entry.notes),
        rule=entry.rule,
    )
