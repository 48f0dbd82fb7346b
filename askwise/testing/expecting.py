"""What the checks of stores share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from askwise.store.base import Store

MakeStore = Callable[[], Store]
Check = Callable[[MakeStore], None]

SOON = 30.0
"""Seconds after which a thread that should have gone on is taken to hang."""


@contextmanager
def opened(make_store: MakeStore) -> Iterator[Store]:
    """Make a store for the block."""
    store = make_store()
    try:
        yield store
    finally:
        store.close()


def same(found: object, due: object, what: str) -> None:
    """Expect a value."""
    assert found == due, f"{what}: found {found!r}, expected {due!r}"


def refused(kind: type[Exception], call: Callable[..., object], *arguments: object) -> Exception:
    """Expect an error."""
    try:
        call(*arguments)
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was expected")
