"""The leases of what is out, soonest first."""

import heapq
import math

import numpy as np

from askwise.ledger import Ledger
from askwise.ledger import columns as c


class Leases:
    """When each assignment that is out is due."""

    def __init__(self) -> None:
        self.heap: list[tuple[float, int, int]] = []
        """(expires, seq, index) of assignments; some are over, or were renewed."""

    def soonest(self, ledger: Ledger) -> float:
        """When the next of what is out is due; infinite if nothing is."""
        leases = self.heap
        while leases and not _holds(ledger, leases[0]):
            heapq.heappop(leases)
        return leases[0][0] if leases else math.inf

    def overdue(self, ledger: Ledger, now: float) -> int | None:
        """The ASKED of what has been overdue longest; None if nothing is."""
        return self.heap[0][1] if self.soonest(ledger) <= now else None

    def take(self, ledger: Ledger, first: int) -> None:
        """Watch the leases of what is out, from assignment ``first`` on."""
        if first == 0:
            self.heap = []
        count = ledger.total(c.ASSIGNMENTS)
        rows = ledger.book.assignments[first:count]
        until = ledger.book.marks[first:count, c.EXPIRES]
        found = np.flatnonzero((rows[:, c.STATUS] == c.OUT) & np.isfinite(until))
        times, seqs = until[found].tolist(), rows[found, c.SEQ].tolist()
        self.heap += zip(times, seqs, (found + first).tolist(), strict=True)
        heapq.heapify(self.heap)

    def add(self, ledger: Ledger, expires: float, seq: int, at: int) -> None:
        """Watch the lease of one assignment, which was handed out or renewed."""
        heapq.heappush(self.heap, (expires, seq, at))
        # What was answered stays until it is due: tidy up when that is most of it.
        if len(self.heap) > 1024 + 2 * ledger.total(c.PENDING):
            self.heap = [lease for lease in self.heap if _holds(ledger, lease)]
            heapq.heapify(self.heap)


def _holds(ledger: Ledger, lease: tuple[float, int, int]) -> bool:
    """Whether a lease is that of something that is out, and was not renewed since."""
    expires, _, at = lease
    rows, marks = ledger.book.assignments, ledger.book.marks
    return bool(rows[at, c.STATUS] == c.OUT and marks[at, c.EXPIRES] == expires)
