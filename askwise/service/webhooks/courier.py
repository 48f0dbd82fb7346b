"""The background work for webhooks: one thread that looks, a few that send."""

import logging
import random
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from askwise.core.errors import AskwiseError
from askwise.service.open_campaigns import OpenCampaigns
from askwise.service.webhooks.outbox import HookWatcher
from askwise.service.webhooks.posting import Network
from askwise.service.webhooks.records import LANE, Lane, Webhook
from askwise.service.webhooks.sending import Sender
from askwise.service.webhooks.webhooks import Webhooks

log = logging.getLogger("askwise.service")

PAUSE = 1.0
"""Seconds between looks."""

PAUSE_FACTOR = 10.0
"""A look is followed by a pause of this many times its length, if that is longer: however many
campaigns there are, looking at them takes a small part of a processor.
"""

SENDERS = 8
"""Hooks that are sent to at a time, in one process."""

CLEAN_EVERY = 3600.0
"""Seconds between removals of what ended hooks have left."""


class Courier:
    """Looks for what is to be told and has it sent, while the application lives."""

    def __init__(self, campaigns: OpenCampaigns, hooks: Webhooks, network: Network) -> None:
        self._hooks = hooks
        self._watcher = HookWatcher(campaigns, hooks)
        self._sender = Sender(hooks, network)
        self._busy: set[str] = set()
        self._ending = threading.Event()
        self._tidied = 0.0
        self._senders = ThreadPoolExecutor(SENDERS, thread_name_prefix="hooks-sender")
        self._thread = threading.Thread(target=self._keep_going, name="hooks", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """End, once the attempts under way have."""
        self._ending.set()
        self._hooks.changed.set()
        if self._thread.is_alive():
            self._thread.join()
        self._senders.shutdown(wait=True, cancel_futures=True)

    def tick(self) -> None:
        """Look once, and start to send what is due."""
        hooks = self._hooks.active()
        if hooks:
            self._watcher.look(hooks)
            self._dispatch(hooks)
        if time.monotonic() >= self._tidied + CLEAN_EVERY:
            self._tidied = time.monotonic()
            self._hooks.forget_ended()

    def _dispatch(self, hooks: Sequence[Webhook]) -> None:
        lanes = {record.id: record.body for record in self._hooks.store.records(LANE)}
        for hook in hooks:
            free = Lane.read(lanes.get(hook.id)).free(self._hooks.clock())
            if free and hook.id not in self._busy and self._hooks.due(hook.id, limit=1):
                self._busy.add(hook.id)
                sent = self._senders.submit(self._sender.run, hook, self._ending)
                sent.add_done_callback(partial(self._sent, hook))

    def _sent(self, hook: Webhook, sent: Future[bool]) -> None:
        self._busy.discard(hook.id)
        if sent.cancelled():
            return
        error = sent.exception()
        if isinstance(error, AskwiseError):
            log.warning("hooks", extra={"fields": {"hook": hook.id, "message": str(error)}})
        elif error is not None:
            log.error("hooks", exc_info=error)
        elif sent.result():
            self._hooks.changed.set()

    def _keep_going(self) -> None:
        while not self._ending.is_set():
            begun = time.monotonic()
            self._hooks.changed.clear()
            try:
                self.tick()
            except AskwiseError as error:
                log.warning("hooks", extra={"fields": {"message": str(error)}})
            except Exception:
                log.exception("hooks")
            took = time.monotonic() - begun
            # Not in step with other processes, which would look at the same at the same time.
            self._hooks.changed.wait(max(PAUSE, PAUSE_FACTOR * took) * random.uniform(0.8, 1.2))
