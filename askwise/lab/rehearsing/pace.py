"""Which step of a search is under way, and about how long the rest takes."""

import time
from collections.abc import Callable, Sequence
from statistics import median

from askwise.lab.simulate import Progress, unseen

Doing = Callable[[str], None]
"""Called with what is under way, in words."""

KNOWN_AFTER = 3
"""Campaigns after which it is said how long the rest takes."""

LONG = 120.0
"""Seconds from which on it is said what would take less."""

ALL = "all steps (fewer --runs take less)"
"""What the bar of the whole search is called."""


def unheard(what: str) -> None:
    """Words that nobody wants to hear."""


class SearchPace:
    """Tells of steps and campaigns: which of how many, and how long the rest may take.

    Parameters
    ----------
    tell : callable, optional
        Told ``(what, done, total)``.
    doing : callable, optional
        Told the same in words, and the time left.
    last : sequence of int
        Campaigns of each step that comes after all that will be expected.
    clock : callable
        Seconds that have passed.
    """

    def __init__(
        self,
        tell: Progress = unseen,
        doing: Doing = unheard,
        last: Sequence[int] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tell, self._doing, self._clock = tell, doing, clock
        self._ahead: list[int] = []
        self._last = list(last)
        self._number = 0
        self._whole = 0
        self._took: list[float] = []
        self._since: float | None = None
        self._step = ""

    def expect(self, steps: Sequence[int]) -> None:
        """Count with more steps, each given by its number of campaigns."""
        self._ahead += steps

    def skip(self, steps: int) -> None:
        """Count no longer with the next steps."""
        del self._ahead[:steps]

    def begin(self, what: str, *, expected: bool = True) -> None:
        """Begin the next step, or one that was not expected."""
        self._number += 1
        self._since = None
        if not self._whole:
            self._whole = sum(self._ahead) + sum(self._last)
        if expected and (queue := self._ahead or self._last):
            queue.pop(0)
        most = self._number + len(self._ahead) + len(self._last)
        self._step = f"step {self._number} of at most {most}: {what}"

    def campaign(self, what: str, done: int, total: int) -> None:
        """Hear how many campaigns of a step are done."""
        now = self._clock()
        if self._since is not None:
            self._took.append(now - self._since)
        self._since = now
        left = total - done + sum(self._ahead) + sum(self._last)
        if self._whole > total:
            self._tell(ALL, max(0, self._whole - left), self._whole)
        self._tell(self._step, done, total)
        self._doing(f"{self._step}, campaign {min(done + 1, total)} of {total}; {self._rest(left)}")

    def aside(self, what: str, done: int, total: int) -> None:
        """Hear of work that comes after the search."""
        self._tell(what, done, total)
        self._doing(f"{what}: {done} of {total}")

    def _rest(self, left: int) -> str:
        if len(self._took) < KNOWN_AFTER:
            return "the first campaigns show how long it takes"
        # While the first one runs, kernels are compiled: a mean would go by that.
        seconds = median(self._took) * left
        if seconds < LONG:
            return f"at most about {max(1, round(seconds))} s left"
        return f"at most about {round(seconds / 60)} minutes left (fewer --runs take less)"
