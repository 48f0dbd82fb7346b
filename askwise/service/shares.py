"""How campaigns share the threads in which requests wait: a slow one leaves some for the others."""

import asyncio
from collections import Counter, deque

CAMPAIGN_PATHS = frozenset({"campaigns", "dashboard", "work"})
"""What a path begins with whose second part names a campaign."""


def campaign_in(path: str) -> str:
    """Name the campaign that a path is about; empty if it is about none.

    Examples
    --------
    >>> campaign_in("/campaigns/cats/ask")
    'cats'
    >>> campaign_in("/assignments/cats:17/answer")
    'cats'
    >>> campaign_in("/keys")
    ''
    """
    first, _, rest = path.removeprefix("/").partition("/")
    named = rest.partition("/")[0]
    if first == "assignments":
        return named.rpartition(":")[0]
    return named if first in CAMPAIGN_PATHS else ""


class Shares:
    """Places for requests: those about one campaign may hold as many as are free.

    So one campaign alone gets half of the places, a second one half of the rest, and so on: any
    number of requests may wait for a slow campaign, and there is a place for those of the others.
    A request that finds none waits for its turn without a thread.

    Parameters
    ----------
    places : int
        How many there are.
    """

    def __init__(self, places: int) -> None:
        self.free = places
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    async def take(self, name: str) -> None:
        """Wait for a place."""
        if name not in self._waiting and self._held[name] < self.free:
            self._grant(name)
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue = self._waiting.setdefault(name, deque())
        queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give_back(name)  # it was granted meanwhile
            else:
                queue.remove(turn)
                self._forget(name)
            raise

    def give_back(self, name: str) -> None:
        """Let another have a place."""
        self.free += 1
        self._held[name] -= 1
        if not self._held[name]:
            del self._held[name]
        if not self._waiting:
            return
        # Those who hold fewest first: a campaign that waits long does not go before the others.
        for each in sorted(self._waiting, key=lambda other: self._held[other]):
            queue = self._waiting[each]
            while queue and self._held[each] < self.free:
                self._grant(each)
                queue.popleft().set_result(None)
            self._forget(each)

    def _grant(self, name: str) -> None:
        self.free -= 1
        self._held[name] += 1

    def _forget(self, name: str) -> None:
        if name in self._waiting and not self._waiting[name]:
            del self._waiting[name]


class Place:
    """The place of one request, taken once and given back once."""

    def __init__(self, shares: Shares, name: str) -> None:
        self._shares = shares
        self._name = name
        self._is_held = False

    async def take(self) -> None:
        """Wait for it, unless it is held already."""
        if not self._is_held:
            await self._shares.take(self._name)
            self._is_held = True

    def give_back(self) -> None:
        """Give it back, if it is held."""
        if self._is_held:
            self._is_held = False
            self._shares.give_back(self._name)
