"""A service in a thread of this process, for tests that are not about processes."""

from __future__ import annotations

import socket
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
    with serving(make_app(made, opened), taken, timeout_graceful_shutdown=5):
        yield Local(made.address, secret, opened)


@contextmanager
def serving(app: Any, taken: socket.socket, **options: Any) -> Iterator[None]:
    """Serve an application behind a socket, from a thread, until the block ends."""
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="on", **options)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.005)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()
        taken.close()
