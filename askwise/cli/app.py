"""The command ``askwise``: puts the groups of commands together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from askwise import __version__
from askwise.cli import (
    aggregate,
    ask_tell,
    backup,
    campaigns,
    catalogue,
    lab,
    live_demo,
    output,
    plan,
    replay,
    serve,
    show,
    warm,
)
from askwise.cli.errors import Frame
from askwise.cli.outputs import extra

app = typer.Typer(
    name="askwise",
    cls=Frame,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

PANELS: dict[str, dict[str, Callable[..., None]]] = {
    "Make and change a campaign": {
        "plan": plan.plan,
        "new": campaigns.new,
        "list": campaigns.list_campaigns,
        "add": campaigns.add,
        "leave": campaigns.leave,
        "bid": campaigns.bid,
        "top-up": campaigns.top_up,
        "close": campaigns.close,
        "pause": campaigns.pause,
        "resume": campaigns.resume,
        "stop": campaigns.stop,
    },
    "Ask and tell": {
        "ask": ask_tell.ask,
        "tell": ask_tell.tell,
        "truth": ask_tell.truth,
        "expire": ask_tell.expire,
        "decline": ask_tell.decline,
    },
    "Look at a campaign": {
        "status": show.status,
        "assignments": ask_tell.assignments,
        "answers": show.answers,
        "payments": show.payments,
        "log": show.log,
        "explain": show.explain,
    },
    "Serve": {
        "serve": serve.serve,
        "demo-live": live_demo.demo_live,
        "warm": warm.warm,
        "backup": backup.backup,
        "restore": backup.restore,
    },
    "Recorded answers": {
        "aggregate": aggregate.aggregate,
        "replay": replay.replay,
    },
}
LEARNING = "Policies, rules and experiments"

TAKE_MINUS = ("bid", "tell", "top-up", "truth")
"""An argument of these may begin with a minus sign and is no option then."""


@app.callback(invoke_without_command=True)
def askwise(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", metavar="", help="Print the version.", is_eager=True)
    ] = False,
) -> None:
    """Decide whom to ask, what to pay and when to stop."""
    if version:
        print(f"askwise {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit


def _register() -> None:
    for panel, commands in PANELS.items():
        for name, command in commands.items():
            settings = {"ignore_unknown_options": name in TAKE_MINUS}
            app.command(name, rich_help_panel=panel, context_settings=settings)(command)
    for each in catalogue.CATALOGUES:
        app.add_typer(catalogue.commands_of(each), name=each.command, rich_help_panel=LEARNING)


_register()
app.add_typer(serve.app, name="keys", rich_help_panel="Serve")
app.add_typer(lab.app, name="lab", rich_help_panel=LEARNING)


@app.command(rich_help_panel=LEARNING)
def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where the report goes.")
    ] = Path("demo-out"),
) -> None:
    """Run a small demonstration and write its report."""
    with extra():
        from askwise.lab.demo import run_demo

        run_demo(out, output.console())
