"""Commands that write to a stored campaign: opened, changed, and what was done said."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from inspect import Parameter
from typing import TYPE_CHECKING, Any

from askwise.cli import output
from askwise.cli.opening import open_campaign, open_campaign_of
from askwise.cli.options import DEFAULT_STORE, AsJson, Key, Name, StoreUrl

if TYPE_CHECKING:
    from askwise.campaign import Campaign

_BEFORE = (Parameter("name", Parameter.POSITIONAL_OR_KEYWORD, annotation=Name),)
_AFTER = tuple(
    Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=kind)
    for name, default, kind in (
        ("key", None, Key),
        ("store", DEFAULT_STORE, StoreUrl),
        ("as_json", False, AsJson),
    )
)


def change(write: Callable[..., str]) -> Callable[..., None]:
    """Make a command of a function that takes a campaign, a key and what else it asks for.

    The command takes the campaign's name, unless the function asks for an assignment, whose id
    names it; then what the function asks for, ``--key``, ``--store`` and ``--json``. It says
    what the function returns: the status as JSON, a line for people, nothing in a pipe.
    """
    signature = inspect.signature(write, locals={"Campaign": Any}, eval_str=True)
    own = tuple(signature.parameters.values())[2:]
    of_assignment = bool(own) and own[0].name == "assignment"
    parameters = (*(() if of_assignment else _BEFORE), *own, *_AFTER)

    def command(key: str | None, store: str, as_json: bool, **given: Any) -> None:
        campaign: Campaign
        if of_assignment:
            campaign = open_campaign_of(store, given["assignment"])
        else:
            campaign = open_campaign(store, given.pop("name"))
        done = write(campaign, key, **given)
        if as_json:
            output.show_json(campaign.status().to_json())
        elif output.for_people():
            print(done)

    command.__name__, command.__doc__ = write.__name__, write.__doc__
    # What Typer reads.
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return command
