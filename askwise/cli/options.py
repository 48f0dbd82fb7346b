"""Arguments and options: how a command declares them, and those that several commands take."""

import os
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from askwise.core.errors import InvalidParameter

DEFAULT_STORE = "sqlite:///askwise.sqlite"


Completion = Callable[[str], list[str]]
"""What the shell may put in place of what is typed so far."""


def argument(metavar: str, help: str, completion: Completion | None = None) -> Any:
    """An argument that must be given."""
    return typer.Argument(metavar=metavar, help=help, show_default=False, autocompletion=completion)


def option(
    default: Any, metavar: str, help: str, *names: str, completion: Completion | None = None
) -> Any:
    """An option and its default (``...``: it must be given), named as its parameter by itself."""
    shown = default not in (None, "", ...)
    return typer.Option(
        default,
        *names,
        metavar=metavar,
        help=help,
        show_default=shown,
        autocompletion=completion,
    )


def switch(name: str, help: str) -> Any:
    """An option that is on or off."""
    return typer.Option(False, name, help=help)


StoreUrl = Annotated[
    str,
    typer.Option(
        "--store",
        envvar="ASKWISE_STORE",
        metavar="URL",
        help="Where campaigns are kept: sqlite:///FILE or postgresql://...",
    ),
]
Name = Annotated[str, argument("NAME", "The campaign's name.")]
AssignmentId = Annotated[
    str, argument("ASSIGNMENT", "The assignment's id, as ask gave it: NAME:12.")
]
Key = Annotated[
    str | None,
    typer.Option(
        metavar="KEY",
        help="Unique name of this write: a retry with the same key changes nothing.",
    ),
]
Reference = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="Such as a model's request id, in up to 500 characters."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Seed = Annotated[int, typer.Option(metavar="S", help="Random seed.")]
Port = Annotated[int, typer.Option(metavar="PORT", help="Port to listen on; 0 takes a free one.")]


def settings_of(given: Sequence[str] | None) -> dict[str, str]:
    """Read what ``--set KEY=VALUE`` says."""
    chosen = {}
    for each in given or ():
        key, equals, value = each.partition("=")
        if not equals or not key.strip():
            raise InvalidParameter(f"set is {each!r}: give KEY=VALUE", field="set")
        chosen[key.strip()] = value
    return chosen


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
