"""Campaigns out of a store, and commands that change them.

They are opened without paying for the compiler where it would not pay.
"""

from __future__ import annotations

import getpass
import inspect
import os
from collections.abc import Callable
from inspect import Parameter
from typing import TYPE_CHECKING, Any

from askwise.cli import output
from askwise.cli.options import DEFAULT_STORE, AsJson, Key, Name, StoreUrl
from askwise.core.errors import StoreError, UnknownName

if TYPE_CHECKING:
    from askwise.campaign import Campaign
    from askwise.store import Store

LONG = 5_000
"""From this many events on, folding in plain Python costs more than importing Numba and loading
what ``askwise warm`` compiled."""

_BEFORE = (Parameter("name", Parameter.POSITIONAL_OR_KEYWORD, annotation=Name),)
_AFTER = tuple(
    Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=kind)
    for name, default, kind in (
        ("key", None, Key),
        ("store", DEFAULT_STORE, StoreUrl),
        ("as_json", False, AsJson),
    )
)


def leave_compiler_out() -> None:
    """Run kernels as plain Python; to be called before anything imports them."""
    os.environ.setdefault("ASKWISE_JIT", "0")


def open_store(url: str) -> Store:
    """Open a store that outlasts the command."""
    from askwise import store

    if url == "memory":
        valid = "'sqlite:///FILE' or 'postgresql://...'"
        message = f"store is 'memory', which is gone when the command ends: give {valid}"
        raise StoreError(message, field="store", reason="store_unusable")
    return store.open_store(url)


def open_campaign(url: str, name: str) -> Campaign:
    """Open a stored campaign."""
    store = open_store(url)
    if not is_long(store, name):
        leave_compiler_out()
    from askwise.campaign import Campaign

    return Campaign.open(store, name)


def is_long(store: Store, name: str) -> bool:
    """Whether the campaign's log is so long that compiled kernels pay."""
    return bool(store.read(name, LONG - 1, LONG))


def open_campaign_of(url: str, assignment: str) -> Campaign:
    """Open the campaign that an assignment's id names."""
    name, colon, number = assignment.rpartition(":")
    if not colon or not name or not number.isdecimal():
        raise UnknownName(
            f"assignment is {assignment!r}: ids look like NAME:12 (campaign and number)",
            field="assignment",
            reason="unknown_assignment",
        )
    return open_campaign(url, name)


def signed(by: str | None) -> str:
    """Who does something by hand: the name that is given, or that of the user of this machine."""
    return getpass.getuser() if by is None else by


def change(write: Callable[..., str]) -> Callable[..., None]:
    """Make a command of a function that takes a campaign, a key and what else it asks for.

    The command takes the campaign's name, unless the function asks for an assignment, whose id
    names it; then what the function asks for, ``--key``, ``--store`` and ``--json``. It says
    what the function returns: the status as JSON, a line for people, nothing in a pipe.
    """
    return _command(write, write, _parameters(write)[2:])


def verb(said: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of a declaration: what the campaign's method of its name takes.

    Like ``change``; it says ``said``, in which stand what was given and the campaign's ``name``.
    """

    def declare(declared: Callable[..., None]) -> Callable[..., None]:
        own = _parameters(declared)

        def write(campaign: Campaign, key: str | None, **given: str) -> str:
            getattr(campaign, declared.__name__)(*(given[each.name] for each in own), key)
            return said.format(name=campaign.name, **given)

        return _command(declared, write, own)

    return declare


def _parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    signature = inspect.signature(function, locals={"Campaign": Any}, eval_str=True)
    return tuple(signature.parameters.values())


def _command(
    named: Callable[..., Any], write: Callable[..., str], own: tuple[Parameter, ...]
) -> Callable[..., None]:
    of_assignment = bool(own) and own[0].name == "assignment"
    parameters = (*(() if of_assignment else _BEFORE), *own, *_AFTER)

    def command(key: str | None, store: str, as_json: bool, **given: Any) -> None:
        if of_assignment:
            campaign = open_campaign_of(store, given["assignment"])
        else:
            campaign = open_campaign(store, given.pop("name"))
        done = write(campaign, key, **given)
        if as_json:
            output.show_json(campaign.status().to_json())
        elif output.for_people():
            print(done)

    command.__name__, command.__doc__ = named.__name__, named.__doc__
    # What Typer reads.
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command
