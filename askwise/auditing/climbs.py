"""Which task to audit next, and what has been shown so far: from set to larger set.

The sets are tested from the smallest to the largest; a set is certified once those before it are
and its own audits keep within their limits. Only audits that are a beginning of the drawn order,
with the tasks of other sets left out, count for a set. So a user who chooses what to audit next,
and when to stop, can't choose what the audits find: a wrong certificate needs the first false set
to keep within its limits, and whether it does was settled by the draw.
"""

from bisect import bisect_right
from itertools import islice
from typing import NamedTuple

import numpy as np

from askwise.auditing.draws import AuditDraw
from askwise.auditing.limits import limit_at_once, limits
from askwise.core.arrays import Array
from askwise.core.json_types import Count


class AuditedSet(NamedTuple):
    """What audits show of one of the nested sets.

    Attributes
    ----------
    size : int
        How many of the surest labels it holds.
    allowed : int
        The most wrong labels with which the statement about it is true.
    audited : int
        Audits that count for it.
    wrong : int
        How many of these audits found a wrong label.
    certified : bool
        Whether the statement may be made.
    """

    size: Count
    allowed: Count
    audited: Count
    wrong: Count
    certified: bool


class Climb:
    """The audits of a draw, as far as they are known.

    A place is that of a task in the drawn order.

    Attributes
    ----------
    wrong : dict of int to bool
        Whether the label at each audited place is wrong.
    certified : int
        How many of the sets are certified.
    """

    def __init__(self, drawn: AuditDraw) -> None:
        self.drawn = drawn
        self.wrong: dict[int, bool] = {}
        self.certified = 0
        self._paths: dict[int, list[int]] = {}
        self._limits: dict[int, Array] = {}
        self._heard = self._errors = 0
        self._refuting: set[int] = set()
        """Places whose labels are known to be wrong."""
        self._found = [0] * len(drawn.sizes)
        """How many of them each set holds."""
        self._rise()

    @property
    def size(self) -> int:
        """How many of the surest labels are certified."""
        return self.drawn.sizes[self.certified - 1] if self.certified else 0

    @property
    def left(self) -> int:
        """How many audits may still be made."""
        return max(0, self.drawn.audits - len(self.wrong))

    def path(self, at: int) -> list[int]:
        """The places of a set's tasks in the drawn order, as many as may count."""
        if at not in self._paths:
            drawn = self.drawn
            inside = (drawn.ranks < drawn.sizes[at]).nonzero()[0]
            counted = inside < drawn.audits if drawn.at_once else slice(drawn.audits)
            self._paths[at] = inside[counted].tolist()
        return self._paths[at]

    def limits(self, at: int) -> Array:
        """The most wrong audits with which a set is certified, by the audits that count for it."""
        if at not in self._limits:
            drawn, size = self.drawn, self.drawn.sizes[at]
            set_at = size, drawn.too_many(size)
            if drawn.at_once:
                last = len(self.path(at))
                found = np.full(last + 1, -1)
                found[last] = limit_at_once(*set_at, last, drawn.doubt)
            else:
                found = limits(*set_at, drawn.audits, drawn.doubt)
            self._limits[at] = found
        return self._limits[at]

    def hear(self, place: int, wrong: bool) -> None:
        """Take an audit in."""
        self.wrong[place] = wrong
        self._rise()
        if wrong:
            self.refute(place)

    def refute(self, place: int) -> None:
        """Take in that a label is wrong, whether or not that counts as an audit.

        Sets in which more labels are known to be wrong than the statement allows are not certified,
        however lucky their audits were.
        """
        sizes = self.drawn.sizes
        if place not in self._refuting:
            self._refuting.add(place)
            for at in range(bisect_right(sizes, int(self.drawn.ranks[place])), len(sizes)):
                self._found[at] += 1
        if self._refuted(self.certified - 1):
            self.certified = next(at for at in range(len(sizes)) if self._refuted(at))

    def counted(self, at: int) -> tuple[int, int]:
        """How many audits count for a set, and how many of them are wrong."""
        heard = errors = 0
        for place in self.path(at):
            if place not in self.wrong:
                break
            heard += 1
            errors += self.wrong[place]
        return heard, errors

    def wanted(self, most: int | None = 1) -> list[int]:
        """The places to audit next, at most this many; none if nothing more can be certified.

        No more than certify the next set if none finds an error: others might not be needed.
        """
        sure = self.fewest_more()
        if not sure:
            return []
        path = self.path(self.certified)
        found = (place for place in path[self._heard :] if place not in self.wrong)
        return list(islice(found, sure if most is None else min(most, sure)))

    def _refuted(self, at: int) -> bool:
        """Whether more labels of a set are known to be wrong than the statement allows."""
        return at >= 0 and self._found[at] >= self.drawn.too_many(self.drawn.sizes[at])

    def hopeful(self) -> bool:
        """Whether the next set is certified if all audits that may still be made find no error."""
        return self.fewest_more() > 0

    def fewest_more(self) -> int:
        """How many more audits certify the next set if none finds an error; 0 if none can."""
        if self.certified == len(self.drawn.sizes) or self._refuted(self.certified):
            return 0
        path, allowed = self.path(self.certified), self.limits(self.certified)
        count, errors = 0, self._errors
        for t in range(self._heard, len(path)):
            errors += self.wrong.get(path[t], False)
            count += path[t] not in self.wrong
            if count > self.left:
                return 0
            if errors <= allowed[t + 1]:
                return count
        return 0

    def _rise(self) -> None:
        while self.certified < len(self.drawn.sizes):
            size = self.drawn.sizes[self.certified]
            if self._refuted(self.certified):
                return
            if size >= self.drawn.too_many(size) and not self._touches():
                return
            self.certified += 1
            self._heard = self._errors = 0

    def _touches(self) -> bool:
        """Go on with the set at hand as far as audits are known."""
        path, allowed = self.path(self.certified), self.limits(self.certified)
        while self._heard < len(path) and path[self._heard] in self.wrong:
            self._errors += self.wrong[path[self._heard]]
            self._heard += 1
            if self._errors <= allowed[self._heard]:
                return True
        return False
