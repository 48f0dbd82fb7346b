"""Starting the service: one process, or several behind one socket."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any

from askwise.core.errors import InvalidParameter
from askwise.service import logs
from askwise.service.settings import Settings
from askwise.store import Store

if TYPE_CHECKING:
    from uvicorn.supervisors import Multiprocess

log = logging.getLogger("askwise.service")

GRACE = 20
"""Seconds after which the service has ended, once it is told to stop, whatever is in progress."""

FOR_REQUESTS = 15
"""Seconds of these that requests in progress have to end; the rest is for snapshots."""

_SIGNALS = (signal.SIGTERM, signal.SIGINT)

Handler = signal.Handlers | Callable[[int, FrameType | None], Any]


def listen(host: str, port: int) -> socket.socket:
    """Take the port that the service listens at; 0 takes a free one."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        taken = socket.socket(family)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((host, port))
    except (OSError, OverflowError) as error:
        raise InvalidParameter(
            f"can't listen at {host} port {port}: {error}; give another --host or --port",
            field="port",
        ) from None
    return taken


def address_of(taken: socket.socket) -> str:
    """What a browser on this machine calls a socket."""
    host, port = taken.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"


def run(
    settings: Settings,
    store: Store,
    taken: socket.socket,
    *,
    processes: int,
    proxies: str,
    logging_level: str = "info",
) -> None:
    """Serve until told to stop (SIGINT, SIGTERM); told twice, it stops at once.

    Requests in progress may end first, for as long as ``FOR_REQUESTS`` says. What has not committed
    by ``GRACE`` is lost as a whole, and nobody was told that it was done.

    Parameters
    ----------
    store : Store
        The open store; closed when it ends, or before further processes open it themselves.
    processes : int
        How many serve; all but a store in memory allow several.
    proxies : str
        Addresses (comma-separated) whose word on where a request comes from is taken.
    """
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    logs.configure(logging_level)
    with ExitStack() as stack:
        if processes > 1:
            # Before anything imports the metrics: their processes add up through files here.
            shared = stack.enter_context(tempfile.TemporaryDirectory(prefix="askwise-metrics-"))
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = shared
            settings.publish()
            store.close()
            application: object = "askwise.service.app:from_environment"
        else:
            from askwise.service.app import make_app

            application = make_app(settings, store)
        config = uvicorn.Config(
            application,  # type: ignore[arg-type]
            factory=processes > 1,
            workers=processes,
            log_config=None,
            access_log=False,
            lifespan="on",
            http="askwise.service.middleware.slow_clients:Protocol",
            server_header=False,
            proxy_headers=bool(proxies),
            forwarded_allow_ips=proxies or None,
            timeout_graceful_shutdown=FOR_REQUESTS,
        )
        if processes > 1:
            taken.set_inheritable(True)
            supervisor = Multiprocess(config, sockets=[taken])
            _end_in_time(
                lambda: _end_all(supervisor), GRACE + 1.0, again=lambda *_: _end_all(supervisor)
            )
            supervisor.run()
            return
        own_process()
        # The server ends gracefully and then lets the signal through: nothing is left to do.
        signal.signal(signal.SIGTERM, _exit)
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[taken])


_serves = False
"""Whether this process is there to serve, and for nothing else."""


def own_process() -> None:
    """Note that this process does nothing but serve."""
    global _serves
    _serves = True


def heed_signals() -> None:
    """Let the first signal to stop also set the time by which the process has ended.

    A decision or a store that does not answer may hold threads for longer. Called once the server
    has its own handlers in place, which still do their part.
    """
    if not _serves:
        return
    if multiprocessing.parent_process() is None:
        _end_in_time(lambda: os._exit(1), GRACE, again=signal.SIG_DFL)
        return
    # Whoever stops a group of processes tells each, and then the parent tells its children: what
    # they hear twice is one stop. At a second one the parent ends them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_in_time(lambda: os._exit(1), GRACE, again=signal.SIG_IGN)


def _end_in_time(end: Callable[[], None], grace: float, again: Handler) -> None:
    """Call ``end`` so many seconds after the first signal to stop; ``again`` is for the second."""
    before = {each: signal.getsignal(each) for each in _SIGNALS}

    def stop(number: int, frame: FrameType | None) -> None:
        for each in _SIGNALS:
            signal.signal(each, again)
        last = threading.Timer(grace, _give_up, [end])
        last.daemon = True
        last.start()
        first = before[signal.Signals(number)]
        if callable(first):
            first(number, frame)

    for each, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(each, stop)


def _give_up(end: Callable[[], None]) -> None:
    log.warning("ended with work in progress, which is lost; nothing of it was written")
    end()


def _end_all(supervisor: Multiprocess) -> None:
    """End all processes of a service at once."""
    for each in supervisor.processes:
        each.process.kill()
    os._exit(1)


def _exit(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sys.exit(0)


def end_with_parent() -> None:
    """Let this process stop, as if told to, once the one that started it is gone.

    It would serve on otherwise, and keep the port from the next service.
    """
    parent = multiprocessing.parent_process()

    def wait() -> None:
        assert parent is not None
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    if parent is not None:
        threading.Thread(target=wait, name="parent", daemon=True).start()


def with_address(settings: Settings, taken: socket.socket) -> Settings:
    """Fill in the address that links begin with, if none is given."""
    return settings if settings.address else replace(settings, address=address_of(taken))
