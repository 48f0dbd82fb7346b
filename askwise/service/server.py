"""Starting the service: one process, or several behind one socket."""

import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace

from askwise.core.errors import InvalidParameter
from askwise.service import logs, signals
from askwise.service.garbage import search_less_for_garbage
from askwise.service.settings import Settings
from askwise.store import Store

_LOOK = 0.01
"""Seconds between looks whether the service listens."""


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
    listening: Callable[[], None] = lambda: None,
) -> None:
    """Serve until told to stop (SIGINT, SIGTERM); told twice, it stops at once.

    Requests in progress may end first, for as long as ``signals.FOR_REQUESTS`` says. What has not
    committed by ``signals.GRACE`` is lost as a whole, and nobody was told that it was done.

    Parameters
    ----------
    store : Store
        The open store; closed when it ends, or before further processes open it themselves.
    processes : int
        How many serve; all but a store in memory allow several.
    proxies : str
        Addresses (comma-separated) whose word on where a request comes from is taken.
    logging_level : str
        The least level that is logged.
    listening : callable
        Called once when requests are taken.
    """
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    logs.configure(logging_level)
    threading.Thread(target=_tell_of, args=(taken, listening), daemon=True).start()
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
            search_less_for_garbage()
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
            timeout_graceful_shutdown=signals.FOR_REQUESTS,
        )
        if processes > 1:
            taken.set_inheritable(True)
            supervisor = Multiprocess(config, sockets=[taken])
            signals.end_in_time(
                lambda: signals.end_all(supervisor),
                signals.GRACE + 1.0,
                again=lambda *_: signals.end_all(supervisor),
            )
            supervisor.run()
            return
        signals.own_process()
        # The server ends gracefully and then lets the signal through: nothing is left to do.
        signal.signal(signal.SIGTERM, signals.end_quietly)
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[taken])


def _tell_of(taken: socket.socket, listening: Callable[[], None]) -> None:
    """Wait until somebody listens at a socket, in this process or in one that shares it."""
    try:
        while not taken.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            time.sleep(_LOOK)
    except OSError:
        return  # closed before: the service has ended
    listening()


def with_address(settings: Settings, taken: socket.socket) -> Settings:
    """Fill in the address that links begin with, if none is given."""
    return settings if settings.address else replace(settings, address=address_of(taken))
