"""Label Studio calls when something has changed, and what it says is looked up.

Nothing is taken from the body but the number of a task, so a call that is forged, repeated or out
of order makes askwise look, and no more.
"""

import hmac
import json
import logging
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from askwise.core.errors import InvalidParameter

log = logging.getLogger(__name__)

LARGEST = 10_000_000
"""Bytes of a body that is read; of a larger one only that it came is noted."""

PATIENCE = 10.0
"""Seconds for a caller to say what it has to."""

ACTIONS = (
    *("ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_DELETED"),
    *("TASKS_DELETED",),
)
"""What Label Studio is asked to call about."""


class ChangeSignal:
    """What was heard since somebody last looked."""

    def __init__(self) -> None:
        self._given = threading.Event()
        self._lock = threading.Lock()
        self._places: set[int] = set()
        self._all = False

    def note(self, place: int | None) -> None:
        """Note that a task has changed; None: it is unknown which."""
        with self._lock:
            if place is None:
                self._all = True
            else:
                self._places.add(place)
        self._given.set()

    def wake(self) -> None:
        """End a wait, though nothing has changed."""
        self._given.set()

    def wait(self, seconds: float) -> bool:
        """Wait for a signal; false if none came."""
        return self._given.wait(seconds)

    def heard(self) -> set[int] | None:
        """The tasks that have changed, once; None: look at all."""
        with self._lock:
            self._given.clear()
            places, self._places = self._places, set()
            everything, self._all = self._all, False
        return None if everything else places


class Receiver:
    """Listens for Label Studio's webhooks.

    Parameters
    ----------
    address : (str, int)
        Host and port to listen on; port 0 takes a free one.
    header, secret : str
        The header that a call must have, and what it must say.
    signal : ChangeSignal
        Given by every call that has it.
    """

    def __init__(
        self, address: tuple[str, int], header: str, secret: str, signal: ChangeSignal
    ) -> None:
        try:
            self._server = ThreadingHTTPServer(address, _handler(header, secret, signal))
        except OSError as error:
            raise InvalidParameter(
                f"webhook.listen is {address[0]}:{address[1]}, where askwise can't listen: "
                f"{error.strerror}",
                field="webhook.listen",
            ) from None
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(header: str, secret: str, signal: ChangeSignal) -> type[BaseHTTPRequestHandler]:
    expected = secret.encode()

    class Handler(BaseHTTPRequestHandler):
        timeout = PATIENCE
        server_version, sys_version = "askwise", ""

        def do_POST(self) -> None:
            given = self.headers.get(header, "").encode("latin-1", "replace")
            if not hmac.compare_digest(given, expected):
                self._reply(401)
                return
            try:
                length = int(self.headers.get("Content-Length", ""))
            except ValueError:
                self._reply(411)
                return
            if not 0 <= length <= LARGEST:
                signal.note(None)
                self._reply(413)
                return
            signal.note(place_in(self.rfile.read(length)))
            self._reply(204)

        def _reply(self, status: int) -> None:
            self.close_connection = True
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *values: Any) -> None:
            log.debug(format, *values)

    return Handler


def place_in(body: bytes) -> int | None:
    """The number of the task that a call is about; None if it does not say.

    Examples
    --------
    >>> place_in(b'{"action": "ANNOTATION_CREATED", "task": {"id": 7}}')
    7
    >>> place_in(b'{"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 3}]}') is None
    True
    """
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return None
    task = said.get("task") if isinstance(said, Mapping) else None
    id = task.get("id") if isinstance(task, Mapping) else None
    return id if isinstance(id, int) and not isinstance(id, bool) and id > 0 else None
