"""A commit that another thread makes, while the work of the writes that follow is done."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from askwise.campaign.requests import Request, Work


@dataclass(eq=False)
class WriteGroup:
    """Requests that share a transaction."""

    requests: list[Request] = field(default_factory=list)
    work: Work | None = None
    """What they write, once that is worked out."""
    before: int = 0
    """The end of the log that it follows."""
    told: bool = False
    """Whether those who wait for it were told."""


@dataclass(eq=False)
class Commit:
    """The append of a group in a thread of its own; who waits for it is told by that thread."""

    group: WriteGroup
    append: Callable[[WriteGroup], None]
    tell: Callable[[WriteGroup], None]
    error: BaseException | None = None
    _ended: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Append, and tell of it unless it failed."""
        try:
            self.append(self.group)
        except BaseException as error:
            self.error = error
        self.group.told = self.error is None
        # First, as the next one may begin at once.
        self._ended.set()
        if self.group.told:
            self.tell(self.group)

    def ended(self, within: float | None = 0.0) -> bool:
        """Whether it has ended, after these seconds at the latest; None waits until it has."""
        return self._ended.wait(within)
