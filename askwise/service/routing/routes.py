"""Routes, in groups, and the table in which an address finds its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from starlette.responses import Response

from askwise.core.errors import AskwiseError
from askwise.service.errors import RequestRefused, no_key, reply_to
from askwise.service.incoming_request import IncomingRequest
from askwise.service.routing.bodies import not_this, read_json
from askwise.service.routing.plans import ArgumentPlan, plan_of
from askwise.service.threads import Threads

Handler = TypeVar("Handler", bound=Callable[..., Any])
Told = Callable[[IncomingRequest, AskwiseError], Response]
"""What a caller is told of an error."""


def as_json(request: IncomingRequest, error: AskwiseError) -> Response:
    """Tell of an error in the one shape."""
    return reply_to(error)


@dataclass
class Route:
    """One method of one address: the function that answers, and what is said of it."""

    method: str
    path: str
    function: Callable[..., Any]
    group: RouteGroup
    status: int = 200
    reply: Any = None
    """The shape of what it replies."""
    responses: dict[int, dict[str, Any]] = field(default_factory=dict)
    request_body: dict[str, Any] | None = None
    """The description of a body that the function reads itself."""
    plan: ArgumentPlan = field(init=False)

    def __post_init__(self) -> None:
        self.plan, self._values = plan_of(self.function, self.path)
        self._waits = inspect.iscoroutinefunction(self.function)

    @property
    def methods(self) -> frozenset[str]:
        """The methods it answers."""
        return frozenset({self.method, "HEAD"} if self.method == "GET" else {self.method})

    async def answer(self, request: IncomingRequest, threads: Threads) -> Response:
        """Answer a request: in the event loop if the function can be waited for, else in a thread.

        What is wrong is told as the group tells it.
        """
        try:
            parsed = None if self.plan.body is None else await _sent(request)
            values = self._values(request, parsed)
            if self.plan.waits:
                values = await values
            if self._waits:
                reply: Response = await self.function(*values)
            else:
                reply = await threads.run(self.function, *values)
        except AskwiseError as error:
            return self.group.tell(request, error)
        except Instead as instead:
            return instead.reply
        return reply


class Instead(Exception):
    """Another reply than the one that was asked for, such as the way to sign in."""

    def __init__(self, reply: Response) -> None:
        super().__init__(reply)
        self.reply = reply


async def _sent(request: IncomingRequest) -> Any:
    """What a body of JSON holds; None without one."""
    if request.identity is None:
        # Before the body is read: strangers send none.
        raise no_key()
    if request.given.get(b"content-length") == b"0":
        return None
    body = await request.body()
    if not body:
        return None
    if request.media_type != "application/json":
        raise not_this(request.media_type, "application/json")
    try:
        return read_json(body)
    except ValueError as error:
        message = f"the body can't be read as JSON: {error}"
        raise RequestRefused("bad_request", message) from None


@dataclass
class RouteGroup:
    """Routes that have something in common.

    Parameters
    ----------
    tag : str
        What the description of the API calls them; those without one are not described.
    prefix : str
        What their paths begin with.
    responses : dict
        What any of them may reply besides, by status.
    tell : callable
        How errors are told.
    """

    tag: str = ""
    prefix: str = ""
    responses: dict[int, dict[str, Any]] = field(default_factory=dict)
    tell: Told = as_json
    routes: list[Route] = field(default_factory=list)

    def get(self, path: str, **said: Any) -> Callable[[Handler], Handler]:
        """Let the function that follows answer GET."""
        return self._adding("GET", path, said)

    def post(self, path: str, **said: Any) -> Callable[[Handler], Handler]:
        """Let the function that follows answer POST."""
        return self._adding("POST", path, said)

    def delete(self, path: str, **said: Any) -> Callable[[Handler], Handler]:
        """Let the function that follows answer DELETE."""
        return self._adding("DELETE", path, said)

    def _adding(self, method: str, path: str, said: dict[str, Any]) -> Callable[[Handler], Handler]:
        def add(function: Handler) -> Handler:
            self.routes.append(Route(method, self.prefix + path, function, self, **said))
            return function

        return add


class _Node:
    """What may follow a beginning of a path."""

    __slots__ = ("any", "named", "routes")

    def __init__(self) -> None:
        self.named: dict[str, _Node] = {}
        self.any: _Node | None = None
        self.routes: dict[str, tuple[Route, tuple[str, ...]]] = {}


class RouteTable:
    """Finds the route of an address: part by part, a part that is written out before any other.

    Examples
    --------
    >>> group = RouteGroup()
    >>> @group.get("/cats/{name}")
    ... def cat(name: str) -> Response: ...
    >>> @group.get("/cats/-")
    ... def none() -> Response: ...
    >>> table = RouteTable(group.routes)
    >>> [table.find("GET", path)[1] for path in ("/cats/tom", "/cats/-")]
    [{'name': 'tom'}, {}]
    >>> table.find("GET", "/dogs"), table.methods("/cats/tom")
    (None, ['GET', 'HEAD'])
    """

    def __init__(self, routes: Iterable[Route]) -> None:
        self._root = _Node()
        for route in routes:
            node, names = self._root, []
            for part in route.path.split("/")[1:]:
                if part.startswith("{"):
                    names.append(part[1:-1])
                    node.any = node.any or _Node()
                    node = node.any
                else:
                    node = node.named.setdefault(part, _Node())
            node.routes.setdefault(route.method, (route, tuple(names)))

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]] | None:
        """The route, and what its path names."""
        node = self._root
        named: list[str] = []
        for part in path.split("/")[1:]:
            literal = node.named.get(part)
            if literal is None:
                named.append(part)
                literal = node.any if part else None
                if literal is None:
                    break
            node = literal
        else:
            if method in node.routes:
                route, names = node.routes[method]
                return route, dict(zip(names, named, strict=True))
        # A part that is written out led astray: look at the other ways.
        for node, values in self._ends(path):
            found = node.routes.get(method)
            if found is not None:
                return found[0], dict(zip(found[1], values, strict=True))
        return None

    def methods(self, path: str) -> list[str]:
        """The methods that an address takes; none if there is nothing."""
        taken = {method for node, _ in self._ends(path) for method in node.routes}
        order = [each for each in ("GET", "POST", "PUT", "PATCH", "DELETE") if each in taken]
        return [each for name in order for each in ([name, "HEAD"] if name == "GET" else [name])]

    def _ends(self, path: str) -> Iterator[tuple[_Node, list[str]]]:
        """Where a path may lead, the most literal first."""
        parts = path.split("/")[1:]
        waiting: list[tuple[_Node, int, list[str]]] = [(self._root, 0, [])]
        while waiting:
            node, at, values = waiting.pop()
            if at == len(parts):
                yield node, values
                continue
            part = parts[at]
            if node.any is not None and part:
                waiting.append((node.any, at + 1, [*values, part]))
            literal = node.named.get(part)
            if literal is not None:
                waiting.append((literal, at + 1, values))
