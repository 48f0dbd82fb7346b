"""How the arguments of a route's function are had from a request: worked out once, when the
route is made.

An argument is the request itself; or comes from its path, its query or a header; or is the body; or
is provided by another function, whose own arguments are had in the same way. ``Annotated`` says
which: ``Annotated[T, Provided(function)]``, ``Annotated[T, FromHeader("Name"), Field(...)]``. What
the path names comes from it, a model is the body, and the rest is of the query.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, TypeAdapter, ValidationError

from askwise.service.errors import bad_shape
from askwise.service.incoming_request import IncomingRequest

REQUIRED: Any = object()
"""The default of an argument that has none."""


@dataclass(frozen=True)
class Provided:
    """Marks an argument that a function provides, once a request."""

    function: Callable[..., Any]


@dataclass(frozen=True)
class FromHeader:
    """Marks an argument that is a header."""

    name: str


@dataclass(frozen=True)
class Parameter:
    """An argument that a request has in its path, query or headers."""

    place: str
    name: str
    adapter: TypeAdapter[Any]
    default: Any = REQUIRED

    def read(self, request: IncomingRequest) -> Any:
        """The value that a request gives; refuses one that is not of its shape."""
        found: str | None
        if self.place == "path":
            found = request.scope["path_params"][self.name]
        elif self.place == "header":
            found = request.header(self.name)
        else:
            found = request.query_params.get(self.name)
        if found is None:
            if self.default is REQUIRED:
                raise bad_shape({"type": "missing", "loc": (self.place, self.name), "msg": ""})
            return self.default
        try:
            return self.adapter.validator.validate_python(found)
        except ValidationError as error:
            raise bad_shape(error.errors(include_url=False)[0], self.place, self.name) from None


@dataclass(frozen=True)
class BodyArgument:
    """The argument that is the body."""

    model: type[BaseModel]
    default: Any = REQUIRED

    def read(self, parsed: Any) -> Any:
        """What was sent, in its shape; None if nothing was."""
        if parsed is None:
            if self.default is REQUIRED:
                raise bad_shape({"type": "missing", "loc": ("body",), "msg": ""})
            return self.default
        try:
            return self.model.__pydantic_validator__.validate_python(parsed, from_attributes=True)
        except ValidationError as error:
            raise bad_shape(error.errors(include_url=False)[0], "body") from None


@dataclass
class ArgumentPlan:
    """The arguments of one function, in the order in which they are worked out.

    What others provide comes first, so that who may not call is refused for that.
    """

    parameters: list[Parameter] = field(default_factory=list)
    body: BodyArgument | None = None
    providers: list[tuple[int, Callable[..., Any]]] = field(default_factory=list)
    """The functions that provide something, and how deep they are below the route's own."""
    lines: list[str] = field(default_factory=list)
    """The steps, in Python."""
    used: dict[str, Any] = field(default_factory=dict)
    """What the steps name."""
    waits: bool = False
    """Whether some of them have to be waited for."""
    places: dict[Callable[..., Any], str] = field(default_factory=dict)
    """Where the values of providers are."""

    def add(self, function: Callable[..., Any], arguments: str, waits: bool = False) -> str:
        """Add a call of a function; returns the name of its value."""
        at = len(self.lines)
        self.waits |= waits
        self.used[f"call_{at}"] = function
        self.lines.append(f"value_{at} = {'await ' * waits}call_{at}({arguments})")
        return f"value_{at}"

    def compiled(self, arguments: Sequence[str]) -> Values:
        """One function that works out all arguments for a request and its body."""
        lines = [*self.lines, f"return ({', '.join(arguments)}{',' * bool(arguments)})"]
        head = f"{'async ' * self.waits}def values(request, parsed):\n"
        exec(head + "".join(f"    {line}\n" for line in lines), self.used)
        return self.used["values"]


Values = Callable[[IncomingRequest, Any], Any]
"""Works out the arguments of a route's function from a request and its body; where a plan waits,
that is to be waited for.
"""


def plan_of(function: Callable[..., Any], path: str) -> tuple[ArgumentPlan, Values]:
    """Work out how to call a function that answers requests to ``path``."""
    plan = ArgumentPlan()
    return plan, plan.compiled(_arguments(plan, function, path, 0))


def _arguments(
    plan: ArgumentPlan, function: Callable[..., Any], path: str, depth: int
) -> list[str]:
    hints = get_type_hints(function, include_extras=True)
    wanted = inspect.signature(function).parameters
    places: dict[str, str] = {}
    for name in sorted(wanted, key=lambda name: _provider(hints[name]) is None):
        default = wanted[name].default
        default = REQUIRED if default is inspect.Parameter.empty else default
        places[name] = _argument(plan, name, hints[name], default, path, depth)
    return [places[name] for name in wanted]


def _argument(plan: ArgumentPlan, name: str, kind: Any, default: Any, path: str, depth: int) -> str:
    provider = _provider(kind)
    if provider is not None:
        return _provide(plan, provider, path, depth + 1)
    if isinstance(kind, type) and issubclass(IncomingRequest, kind):
        return "request"
    model = _model(kind)
    if model is not None:
        plan.body = BodyArgument(model, default)
        return plan.add(plan.body.read, "parsed")
    header = next((each.name for each in _marks(kind) if isinstance(each, FromHeader)), None)
    place = "path" if f"{{{name}}}" in path else "query"
    parameter = Parameter("header" if header else place, header or name, TypeAdapter(kind), default)
    plan.parameters.append(parameter)
    return plan.add(parameter.read, "request")


def _provide(plan: ArgumentPlan, provider: Callable[..., Any], path: str, depth: int) -> str:
    if provider not in plan.places:
        arguments = ", ".join(_arguments(plan, provider, path, depth))
        plan.providers.append((depth, provider))
        waits = inspect.iscoroutinefunction(provider)
        plan.places[provider] = plan.add(provider, arguments, waits)
    return plan.places[provider]


def _marks(kind: Any) -> tuple[Any, ...]:
    return kind.__metadata__ if get_origin(kind) is Annotated else ()


def _provider(kind: Any) -> Callable[..., Any] | None:
    return next((each.function for each in _marks(kind) if isinstance(each, Provided)), None)


def _model(kind: Any) -> type[BaseModel] | None:
    """The model of a body, which may be left out."""
    for each in (kind, *get_args(kind)):
        if isinstance(each, type) and issubclass(each, BaseModel):
            return each
    return None
