"""A service in a thread of this process, for tests that are not about processes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn

from askwise.service import server as running
from askwise.service.app import make_app
from askwise.service.auth.identity import Identities
from askwise.service.settings import Settings
from askwise.store import Store, open_store


@dataclass
class Local:
    """Where it is, the owner's key, and the store below."""

    address: str
    key: str
    store: Store


@contextmanager
def in_thread(store: str = "memory", **settings: Any) -> Iterator[Local]:
    """Serve from a thread until the block ends."""
    opened = open_store(store)
    taken = running.listen("127.0.0.1", 0)
    made = running.with_address(Settings(store=store, **settings), taken)
    secret = Identities(opened).first_owner()
    assert secret is not None
    config = uvicorn.Config(
        make_app(made, opened), log_config=None, access_log=False, lifespan="on",
        timeout_graceful_shutdown=5,
    )  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.005)
    try:
        yield Local(made.address, secret, opened)
    finally:
        server.should_exit = True
        thread.join()
        taken.close()
