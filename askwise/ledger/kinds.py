"""The kinds of events as plain numbers, for kernels: ``from askwise.ledger import kinds as k``."""

from typing import TYPE_CHECKING

from askwise.core.events import Kind

# Not one by one: a new kind is a line in ``events`` alone.
globals().update({kind.name: int(kind) for kind in Kind})

if TYPE_CHECKING:

    def __getattr__(name: str) -> int: ...
