"""The description of the API for programs (OpenAPI), made of its routes and their shapes."""

import inspect
import threading
from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter
from starlette.responses import Response

from askwise.core import signatures
from askwise.core.schemas import SchemaMaker
from askwise.core.version import __version__
from askwise.service.api.shapes.creation import NewCampaign
from askwise.service.api.shapes.messages import DATA, message_of
from askwise.service.api.shapes.replies import REF, ErrorShape, name_of
from askwise.service.routing.plans import REQUIRED, Parameter
from askwise.service.routing.routes import Route
from askwise.service.webhooks.records import PING

PUBLIC = ("/healthz", "/readyz")
"""Described addresses that take no key."""

_INFO = {
    "title": "askwise",
    "summary": "Decide whom to ask, what to pay and when to stop.",
    "version": __version__,
}
_KEY = {
    "type": "http",
    "scheme": "bearer",
    "description": "A key, or the token of a worker's link.",
}


class Description:
    """What the routes of an application are; worked out when it is first asked for.

    Attributes
    ----------
    kept : dict
        Replies that are made of it, which never change.
    """

    def __init__(self, routes: Sequence[Route], largest_page: int) -> None:
        self.kept: dict[str, Response] = {}
        self._routes = [route for route in routes if route.group.tag]
        self._largest_page = largest_page
        self._lock = threading.Lock()
        self._made: dict[str, Any] | None = None

    def whole(self) -> dict[str, Any]:
        """The description, as JSON."""
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made

    def _make(self) -> dict[str, Any]:
        taken: dict[str, TypeAdapter[Any]] = {"": TypeAdapter(NewCampaign)}
        for at, route in enumerate(self._routes):
            if route.plan.body is not None:
                taken[str(at)] = TypeAdapter(route.plan.body.model)
        inputs = [(key, "validation", adapter) for key, adapter in taken.items()]
        made, whole = TypeAdapter.json_schemas(inputs, ref_template=REF + "{model}")  # type: ignore[arg-type]
        bodies = {key: schema for (key, _), schema in made.items()}
        replies = SchemaMaker(REF, name_of)
        replies.of(ErrorShape)
        paths: dict[str, dict[str, Any]] = {}
        for at, route in enumerate(self._routes):
            reply = None if route.reply is None else replies.of(route.reply)
            operation = self._operation(route, reply, bodies.get(str(at)))
            paths.setdefault(route.path, {})[route.method.lower()] = operation
        webhooks = {event: _webhook(event, replies.of(message_of(event))) for event in DATA}
        both = set(replies.named) & set(whole["$defs"])
        assert not both, f"requests and replies are both called {both}"
        return {
            "openapi": "3.1.0",
            "info": _INFO,
            "paths": paths,
            "webhooks": webhooks,
            "components": {
                "schemas": {**_plain(whole["$defs"]), **replies.named},
                "securitySchemes": {"key": _KEY},
            },
            "security": [{"key": []}],
        }

    def _operation(
        self, route: Route, reply: dict[str, Any] | None, body: dict[str, Any] | None
    ) -> dict[str, Any]:
        name = route.function.__name__
        said: dict[str, Any] = {
            "tags": [route.group.tag],
            "summary": name.replace("_", " ").capitalize(),
            "description": inspect.getdoc(route.function),
            "operationId": operation_id(name),
        }
        parameters = [self._parameter(each) for each in _in_order(route.plan.parameters)]
        if parameters:
            said["parameters"] = parameters
        if route.request_body is not None:
            said["requestBody"] = route.request_body
        elif body is not None:
            assert route.plan.body is not None
            needed = route.plan.body.default is REQUIRED
            schema = body if needed else {"anyOf": [body, {"type": "null"}], "title": "Body"}
            content = {"application/json": {"schema": schema}}
            said["requestBody"] = {"content": content, **({"required": True} if needed else {})}
        responses = {**route.group.responses, **route.responses}
        first = {"description": "Successful Response"}
        if reply is not None:
            first["content"] = {"application/json": {"schema": reply}}  # type: ignore[assignment]
        responses[route.status] = {**first, **responses.get(route.status, {})}
        said["responses"] = {str(status): responses[status] for status in sorted(responses)}
        if route.path in PUBLIC:
            said["security"] = []
        said["x-caller"] = caller_of(route)
        return said

    def _parameter(self, parameter: Parameter) -> dict[str, Any]:
        schema = parameter.adapter.json_schema(ref_template=REF + "{model}")
        schema["title"] = parameter.name.replace("_", " ").title()
        needed = parameter.default is REQUIRED
        if not needed and parameter.default is not None:
            schema["default"] = parameter.default
        if parameter.place == "query" and parameter.name == "limit":
            schema["maximum"] = self._largest_page
        said = {
            "name": parameter.name,
            "in": parameter.place,
            "required": needed,
            "schema": schema,
        }
        if "description" in schema:
            said["description"] = schema["description"]
        return said


def operation_id(function: str) -> str:
    """What a function is called in the description, where names are written together.

    Examples
    --------
    >>> operation_id("create_campaign")
    'createCampaign'
    """
    first, *rest = function.split("_")
    return first + "".join(each.capitalize() for each in rest)


def _webhook(event: str, message: dict[str, Any]) -> dict[str, Any]:
    """What is posted to a webhook that is told of an event."""
    words = "You asked for a test." if event == PING else (DATA[event].__doc__ or "").split("\n")[0]
    parameters = [
        {
            "name": name,
            "in": "header",
            "required": True,
            "description": meaning,
            "schema": {"type": "string", "pattern": pattern},
        }
        for name, meaning, pattern in (
            (signatures.ID, "The id of the message, the same at every attempt.", "^[!-~]+$"),
            (signatures.TIMESTAMP, "When it is sent, in seconds since 1970.", "^[0-9]+$"),
            (
                signatures.SIGNATURE,
                "A signature of id, time and body, by Standard Webhooks.",
                "^v1,[A-Za-z0-9+/]{43}=$",
            ),
        )
    ]
    operation = {
        "summary": words.rstrip("."),
        "description": words,
        "operationId": operation_id("receive_" + event.replace(".", "_")),
        "parameters": parameters,
        "requestBody": {"required": True, "content": {"application/json": {"schema": message}}},
        "responses": {
            "2XX": {
                "description": "The message was accepted; after any other status it is sent again."
            }
        },
    }
    return {"post": operation}


def caller_of(route: Route) -> str:
    """Who may call a route."""
    # The outermost word counts: others are steps on the way to it.
    for _, provider in sorted(route.plan.providers, key=lambda each: each[0]):
        found = getattr(provider, "caller", None)
        if found is not None:
            return str(found)
    return "anybody"


def _plain(schema: Any) -> Any:
    """A schema that does not call null the default of what may be left out."""
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = schema if schema.get("default", "") is not None else {**schema, "default": _GONE}
    return {name: _plain(each) for name, each in kept.items() if each is not _GONE}


_GONE = object()


def _in_order(parameters: Sequence[Parameter]) -> list[Parameter]:
    places = ("path", "query", "header")
    return sorted(parameters, key=lambda each: places.index(each.place))
