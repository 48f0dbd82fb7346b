"""Arguments and options that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

DEFAULT_STORE = "sqlite:///askwise.sqlite"

StoreUrl = Annotated[
    str,
    typer.Option(
        "--store",
        envvar="ASKWISE_STORE",
        metavar="URL",
        help="Where campaigns are kept: sqlite:///FILE or postgresql://...",
    ),
]
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The campaign's name.", show_default=False)
]
AssignmentId = Annotated[
    str,
    typer.Argument(
        metavar="ASSIGNMENT",
        help="The assignment's id, as ask gave it: NAME:12.",
        show_default=False,
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="KEY",
        help="A name for this write of your own: a retry with the same key changes nothing.",
        show_default=False,
    ),
]
AsJson = Annotated[
    bool,
    # A flag takes no value: without this, its help would say <bool>.
    typer.Option("--json", metavar="", help="Print JSON, for programs."),
]
