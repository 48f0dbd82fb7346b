"""Campaigns out of a store, opened without paying for the compiler where it would not pay."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from askwise.core.errors import StoreError, UnknownName

if TYPE_CHECKING:
    from askwise.campaign import Campaign
    from askwise.store import Store

LONG = 5_000
"""From so many events on, folding them in plain Python costs more than importing Numba and loading
what ``askwise warm`` compiled."""


def leave_compiler_out() -> None:
    """Run kernels as plain Python; to be called before anything imports them."""
    os.environ.setdefault("ASKWISE_JIT", "0")


def open_store(url: str) -> Store:
    """Open a store that outlasts the command."""
    from askwise import store

    if url == "memory":
        raise StoreError(
            "store is 'memory', which ends with the command: give 'sqlite:///FILE' or "
            "'postgresql://...'",
            field="store",
            reason="store_unusable",
        )
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
