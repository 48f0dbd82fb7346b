"""Leases of what a run has out are renewed, however long a call takes."""

import asyncio
import logging
from collections.abc import Callable, Iterable

from askwise.campaign import Campaign
from askwise.core.errors import AskwiseError, Conflict
from askwise.running.writing import WriteThreads

log = logging.getLogger(__name__)


class LeaseKeeper:
    """Renews the leases of one run.

    Parameters
    ----------
    held : callable
        The ids of what the run has out.
    """

    def __init__(
        self, campaign: Campaign, held: Callable[[], Iterable[str]], threads: WriteThreads
    ) -> None:
        self._campaign = campaign
        self._held = held
        self._threads = threads
        self._lease: float | None = campaign.spec.get("lease")
        self._begun: dict[str, float] = {}
        """When leases began, or were first seen, by the loop's clock."""

    async def keep(self) -> None:
        """Renew leases before half of their time is over, until cancelled."""
        if self._lease is None:
            return
        while True:
            await asyncio.sleep(self._lease / 6)
            now = asyncio.get_running_loop().time()
            self._begun = {id: self._begun.get(id, now) for id in self._held()}
            due = [id for id, begun in self._begun.items() if now - begun >= self._lease / 6]
            await asyncio.gather(*map(self.renew, due))

    async def renew(self, id: str) -> bool:
        """Renew a lease; false if it is over."""
        if self._lease is None:
            return True
        try:
            await self._threads.do(self._campaign.renew, id)
        except Conflict:
            return False  # it was settled, or released, while we were at it
        except AskwiseError as error:
            log.warning("the lease of %s: %s", id, error)
            return False
        self._begun[id] = asyncio.get_running_loop().time()
        return True
