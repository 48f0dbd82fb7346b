"""Sending deliveries: a lane a hook, so that a slow or dead receiver holds up nobody else."""

import logging
import random
import secrets
from collections.abc import Callable
from dataclasses import replace
from threading import Event

from askwise.core import signatures
from askwise.core.errors import AskwiseError
from askwise.core.version import __version__
from askwise.service import metrics
from askwise.service.webhooks import records as r
from askwise.service.webhooks.posting import Network, PostResult
from askwise.service.webhooks.webhooks import Webhooks
from askwise.store import Change

log = logging.getLogger("askwise.service")

BACKOFF = (5.0, 30.0, 120.0, 600.0, 3600.0, 3 * 3600.0, 5 * 3600.0, 7 * 3600.0, 8 * 3600.0)
"""Seconds between attempts, each drawn a fifth longer or shorter; then a delivery is given up."""

LONGEST = 86400.0
"""Seconds after which no further attempt follows one that failed."""

LEASE = 60.0
"""Seconds for which a lane is its sender's without a sign of life: several attempts' worth."""

TURN, LONGEST_TURN = 50, 10.0
"""Attempts in a row for one hook, and after how many seconds others have their turn anyway."""

TOGETHER, AT_ONCE = 20, 0.5
"""Accepted deliveries are noted this many at a time, or after this many seconds: a commit for
each would take the disk from the campaigns. After a crash, what was not noted is sent again.
"""

CLOSED_FIRST, CLOSED_MOST = 5.0, 600.0
"""Seconds for which a lane closes when its receiver is down: doubled each time, up to the most."""


class Sender:
    """Sends what is due.

    Parameters
    ----------
    spread : callable
        Draws a factor for the time to the next attempt, so that many do not come at once.
    """

    def __init__(
        self,
        hooks: Webhooks,
        network: Network,
        spread: Callable[[], float] = lambda: random.uniform(0.8, 1.2),
    ) -> None:
        self._hooks = hooks
        self._store = hooks.store
        self._network = network
        self._spread = spread

    def run(self, hook: r.Webhook, ending: Event) -> bool:
        """Send what is due to a hook, one at a time and first attempts in order.

        Returns
        -------
        bool
            Whether more may be due that can be sent now.
        """
        kept = self._store.record(r.LANE, hook.id)
        body = None if kept is None else kept.body
        lane, now = r.Lane.read(body), self._hooks.clock()
        if not lane.free(now):
            return False
        held = replace(lane, holder=secrets.token_hex(8), until=now + LEASE)
        if not self._store.change([r.unchanged(hook), Change(r.LANE, hook.id, body, held.body)]):
            return False
        due = self._hooks.due(hook.id, TURN)
        lane, notes, noted, end = held, [], now, now + LONGEST_TURN
        for delivery in due:
            if ending.is_set() or lane.closed > now or now >= end:
                break
            outcome = self._post(hook, delivery)
            now = self._hooks.clock()
            lane = _after(lane, outcome, now)
            notes += r.transition(delivery, self._outcome(delivery, outcome, now))
            if not outcome.taken or len(notes) >= 2 * TOGETHER or now - noted >= AT_ONCE:
                if not self._store.change([Change(r.LANE, hook.id, held.body, lane.body), *notes]):
                    return False
                held, notes, noted = lane, [], now
        free = replace(lane, holder="", until=0.0)
        if not self._store.change([Change(r.LANE, hook.id, held.body, free.body), *notes]):
            return False
        self._hooks.prune(hook.id)
        more = len(due) == TURN or now >= end
        return more and free.free(self._hooks.clock())

    def _post(self, hook: r.Webhook, delivery: r.Delivery) -> PostResult:
        body, at = delivery.body.encode(), int(self._hooks.clock())
        try:
            secret = self._hooks.secret_of(hook)
            headers = {
                "Content-Type": "application/json",
                "User-Agent": f"askwise/{__version__}",
                signatures.ID: delivery.id,
                signatures.TIMESTAMP: str(at),
                signatures.SIGNATURE: signatures.sign(secret, delivery.id, at, body),
            }
            return self._network.post(hook.url, body, headers)
        except AskwiseError as error:
            return PostResult(None, str(error))

    def _outcome(self, delivery: r.Delivery, outcome: PostResult, now: float) -> r.Delivery:
        """The delivery after an attempt."""
        attempts = delivery.attempts + 1
        due: float | None = None
        state: r.DeliveryState
        if outcome.taken:
            state = "delivered"
        elif attempts > len(BACKOFF) or now - delivery.since >= LONGEST:
            state = "given_up"
        else:
            state, due = "waiting", now + BACKOFF[attempts - 1] * self._spread()
        result = "failed" if state == "waiting" else state
        metrics.DELIVERIES.labels(result).inc()
        fields = {
            "hook": delivery.hook, "delivery": delivery.id, "told": delivery.event,
            "attempt": attempts, "result": result, "status": outcome.status,
        }  # fmt: skip
        log.info("hook", extra={"fields": fields})
        tried = replace(delivery, tried=now, status=outcome.status, said=outcome.said)
        return replace(tried, attempts=attempts, state=state, due=due)


def _after(lane: r.Lane, outcome: PostResult, now: float) -> r.Lane:
    """The lane after an attempt: it closes if the receiver is down, for longer each time."""
    if not outcome.down:
        return replace(lane, until=now + LEASE, failures=0, closed=0.0)
    pause = min(CLOSED_MOST, CLOSED_FIRST * 2.0 ** min(lane.failures, 10))
    return replace(lane, until=now + LEASE, failures=lane.failures + 1, closed=now + pause)
