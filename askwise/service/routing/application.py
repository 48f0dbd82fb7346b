"""The application that a server runs: finds the route of a request and sends its reply."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from starlette.datastructures import State
from starlette.responses import Response
from starlette.routing import Mount, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from askwise.service.errors import not_allowed, nothing_here
from askwise.service.incoming_request import IncomingRequest
from askwise.service.middleware.requests import RequestMiddleware
from askwise.service.routing.routes import Route, RouteTable
from askwise.service.threads import Threads

STATIC = "/static"
"""Where the files of pages are."""


class Application:
    """Routes, the files of pages, and what every request passes on its way to them.

    Parameters
    ----------
    service : object
        What routes work with.
    static : ASGI application
        Serves the files.
    threads : Threads
        Where functions run that can't be waited for.
    life : callable
        An asynchronous context manager that is open while the application runs.
    """

    def __init__(
        self,
        routes: Sequence[Route],
        service: Any,
        *,
        static: ASGIApp,
        middleware: RequestMiddleware,
        threads: Threads,
        life: Callable[[Any], AbstractAsyncContextManager[None]],
    ) -> None:
        self.state = State()
        self.service = service
        self.routes: list[Route | Mount] = [*routes, Mount(STATIC, static)]
        self._table = RouteTable(routes)
        self._static = static
        self._middleware = middleware
        self._threads = threads
        self._life = Router(lifespan=life)

    def openapi(self) -> dict[str, Any]:
        """The description of the API."""
        return self.state.description.whole()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["app"] = self
            await self._middleware.pass_on(scope, receive, send, self.respond)
        else:
            await self._life(scope, receive, send)

    async def respond(self, request: IncomingRequest) -> Response | ASGIApp:
        """Answer a request that was let in."""
        scope = request.scope
        path, method = scope["path"], scope["method"]
        found = self._table.find(method, path)
        if found is None:
            if path.startswith(f"{STATIC}/"):
                scope["root_path"] = scope.get("root_path", "") + STATIC
                return self._static
            allowed = self._table.methods(path)
            raise not_allowed(method, allowed) if allowed else nothing_here()
        route, scope["path_params"] = found
        scope["route"] = route
        return await route.answer(request, self._threads)
