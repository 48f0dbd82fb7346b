"""A request as routes see it."""

from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope

from askwise.service.auth.identity import Identity
from askwise.service.shares import Place


class IncomingRequest(Request):
    """A request whose caller is known, if they showed a key, and whose headers were looked at.

    Attributes
    ----------
    identity : Identity or None
        Who calls.
    place : Place
        Its place among those at work.
    given : dict
        The headers by name; of those that come twice the last.
    """

    def __init__(self, scope: Scope, receive: Receive, place: Place) -> None:
        super().__init__(scope, receive)
        self.identity: Identity | None = None
        self.place = place
        self.given: dict[bytes, bytes] = dict(scope["headers"])

    async def gone(self) -> None:
        """Wait until the caller has gone away; only after the body was read."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def body(self) -> bytes:
        """The whole body."""
        if not hasattr(self, "_body"):
            self._body = await self._read()
        return self._body

    async def _read(self) -> bytes:
        pieces = []
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            pieces.append(message.get("body", b""))
            if not message.get("more_body", False):
                return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def header(self, name: str) -> str | None:
        """A header."""
        found = self.given.get(name.lower().encode())
        return None if found is None else found.decode("latin-1")

    @property
    def media_type(self) -> str:
        """What the request says that its body is, without parameters."""
        said = self.header("content-type") or ""
        return said.partition(";")[0].strip().lower()
