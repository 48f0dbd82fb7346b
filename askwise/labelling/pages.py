"""Pages for people, served by the process that labels: a link for each of them."""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from askwise.core.errors import InvalidParameter

PATIENCE = 15.0
"""Seconds that the server may take to start, and to end."""


@dataclass(frozen=True, slots=True)
class PeoplePages:
    """Where people answer, and where their work is watched.

    Attributes
    ----------
    links : mapping of a person to their link
        Anyone with the link answers as that person.
    dashboard : str
        The campaign's page.
    owner : str or None
        The key that opens the dashboard; None if the store has had an owner before.
    """

    links: dict[str, str]
    dashboard: str
    owner: str | None


@contextmanager
def people_pages(
    store: str, campaign: str, people: Sequence[str], *, host: str = "127.0.0.1", port: int = 8000
) -> Iterator[PeoplePages]:
    """Serve the pages of a campaign's people for as long as the block lasts.

    Parameters
    ----------
    store : str
        The url of a store that connections can share: not one in memory.
    campaign : str
        The campaign's name.
    people : sequence of str
        Who gets a link.
    host, port : str, int
        Where to listen; port 0 takes a free one.

    Raises
    ------
    InvalidParameter
        The store is in memory, or the port is taken.
    """
    import uvicorn

    from askwise.service import server
    from askwise.service.app import make_app
    from askwise.service.auth.identity import Identities
    from askwise.service.settings import Settings
    from askwise.store import open_store

    if store == "memory":
        raise InvalidParameter(
            "store is 'memory': people answer on pages that need a store in a file, such as sqlite:///labels.sqlite",
            field="store",
        )
    taken = server.listen(host, port)
    settings = server.with_address(Settings(store=store), taken)
    opened = open_store(store)
    identities = Identities(opened)
    owner = identities.first_owner()
    links = {}
    for each in people:
        secret, _ = identities.issue("worker", each, campaign=campaign, worker=each)
        links[each] = f"{settings.address}/join/{secret}"
    config = uvicorn.Config(
        make_app(settings, opened),
        log_config=None,
        access_log=False,
        lifespan="on",
        http="askwise.service.middleware.slow_clients:Protocol",
        server_header=False,
        timeout_graceful_shutdown=5,
    )
    serving = uvicorn.Server(config)
    thread = threading.Thread(
        target=serving.run, kwargs={"sockets": [taken]}, name="pages", daemon=True
    )
    with _no_word_of_requests():
        thread.start()
        try:
            _wait_for(serving, thread)
            yield PeoplePages(links, f"{settings.address}/dashboard/{campaign}", owner)
        finally:
            serving.should_exit = True
            thread.join(PATIENCE)


@contextmanager
def _no_word_of_requests() -> Iterator[None]:
    """Requests are no news to somebody who watches labels come in."""
    log = logging.getLogger("askwise.service")
    before = log.level
    log.setLevel(logging.WARNING)
    try:
        yield
    finally:
        log.setLevel(before)


def _wait_for(serving: object, thread: threading.Thread) -> None:
    until = time.monotonic() + PATIENCE
    while not getattr(serving, "started", False):
        if not thread.is_alive() or time.monotonic() > until:
            raise InvalidParameter(
                "the pages for people can't be served: see the warnings above", field="port"
            )
        time.sleep(0.02)
