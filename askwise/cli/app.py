"""The command ``askwise``: puts the groups of commands together."""

from collections.abc import Callable
from typing import Annotated

import typer

from askwise import __version__
from askwise.cli import (
    archive,
    ask_tell,
    campaigns,
    catalogue,
    lab,
    payments,
    prolific,
    serve,
    show,
    workers,
)
from askwise.cli.aggregate import aggregate
from askwise.cli.backup import backup, restore
from askwise.cli.certify import certify
from askwise.cli.check import check
from askwise.cli.demo import demo, demo_live
from askwise.cli.doctor import doctor
from askwise.cli.errors import Frame
from askwise.cli.examples import examples
from askwise.cli.export import export
from askwise.cli.helping import explain
from askwise.cli.init import init
from askwise.cli.label import label
from askwise.cli.label_studio import label_studio
from askwise.cli.mcp import mcp
from askwise.cli.new import new
from askwise.cli.pilot import pilot
from askwise.cli.plan import plan
from askwise.cli.replay import replay
from askwise.cli.results import agreement, judges, results, worker
from askwise.cli.scores import scores
from askwise.cli.warm import warm

app = typer.Typer(
    name="askwise",
    cls=Frame,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ELSEWHERE = "Label Studio and Prolific"
SERVING = "Serve, and keep it working"
LEARNING = "Policies, rules and experiments"

PANELS: dict[str, tuple[Callable[..., None], ...]] = {
    "Start here": (demo, label, init, doctor),
    "Plan and create a campaign": (plan, new),
    "Ask and tell": (
        *(ask_tell.ask, ask_tell.tell, ask_tell.revise, ask_tell.withdraw, ask_tell.fail),
        *(ask_tell.truth, ask_tell.set_label),
        *(ask_tell.expire, ask_tell.renew, ask_tell.decline, ask_tell.flag, ask_tell.comment),
    ),
    "Look at a campaign": (
        *(campaigns.list_campaigns, show.status, results, ask_tell.assignments, show.answers),
        *(agreement, workers.workers, worker, judges, show.certificate, pilot, show.log),
        *(show.explain, export),
    ),
    "Change a campaign": (
        *(campaigns.add, campaigns.leave, campaigns.bid, campaigns.top_up, campaigns.close),
        *(campaigns.pause, campaigns.resume, workers.suspend, workers.reinstate, campaigns.stop),
        *(archive.retitle, archive.remove),
    ),
    "Put a campaign away": (archive.archive, archive.unarchive, archive.delete, archive.forget),
    "Pay workers": (payments.payments, payments.payouts, payments.pay, payments.bonus),
    "Recorded answers": (scores, aggregate, check, certify, replay),
    ELSEWHERE: (label_studio,),
    SERVING: (serve.serve, mcp, demo_live, warm, backup, restore),
}
"""Commands by the heading that help shows them below, named as their functions."""

TAKE_MINUS = ("bid", "bonus", "set-label", "tell", "top-up", "truth")
"""An argument of these may begin with a minus sign and is no option then."""


@examples(
    "askwise demo",
    'askwise new reviews.csv --question "Is it good?" --options yes,no --people ann,ben',
    "askwise doctor",
    run=False,
)
@app.callback(invoke_without_command=True)
def askwise(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True)
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
        for command in commands:
            name = command.__name__.removesuffix("_campaigns").replace("_", "-")
            settings = {"ignore_unknown_options": name in TAKE_MINUS}
            app.command(name, rich_help_panel=panel, context_settings=settings)(command)
    for each in catalogue.CATALOGUES:
        app.add_typer(catalogue.commands_of(each), name=each.command, rich_help_panel=LEARNING)


_register()
app.add_typer(serve.app, name="keys", rich_help_panel=SERVING)
app.add_typer(prolific.app, name="prolific", rich_help_panel=ELSEWHERE)
app.add_typer(lab.app, name="lab", rich_help_panel=LEARNING)
explain(app)
