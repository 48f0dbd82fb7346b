"""What is sent to a service, apart from how: requests, and what they come to.

A verb of the client is a generator: it yields requests, gets their replies and returns its result.
The same verb so serves a program that waits for a reply and one that does other things meanwhile.
"""

import hashlib
import inspect
import json
import re
import uuid
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass, field
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, get_args, overload
from urllib.parse import quote

from askwise.core.errors import InvalidProblem

PAGE = 1000
"""Entries that are asked for at a time."""

_PLAIN_KEY = re.compile(r"[!-~]{1,150}")


@dataclass(frozen=True, slots=True)
class ServiceRequest:
    """One request; it may be sent again until it is answered, and happens once.

    Attributes
    ----------
    method, path : str
        What to do, and where.
    query : mapping
        What follows the path.
    headers : mapping
        Beside those of every request.
    content : bytes or None
        The body.
    longer : float
        Seconds that the reply may take beyond the usual.
    as_file : bool
        Whether the reply is a file rather than JSON.
    """

    method: str
    path: str
    query: dict[str, str | int] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes | None = None
    longer: float = 0.0
    as_file: bool = False


P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Steps = Generator[ServiceRequest, Any, T]
"""Requests, one after another, and the result that they lead to."""


class InTurn:
    """What waits for the replies to its requests."""


class Awaited:
    """What has its requests awaited."""


class Verb(Protocol[P, T_co]):
    """A verb, as a method of something that waits or of something that is awaited."""

    @overload
    def __get__(self, instance: None, owner: object) -> Callable[Concatenate[Any, P], Any]: ...
    @overload
    def __get__(self, instance: InTurn, owner: object = None) -> Callable[P, T_co]: ...
    @overload
    def __get__(
        self, instance: Awaited, owner: object = None
    ) -> Callable[P, Coroutine[Any, Any, T_co]]: ...


def verb(steps: Callable[Concatenate[Any, P], Steps[T]]) -> Verb[P, T]:
    """Make a method of requests: its transport runs them, and that is the result or is awaited."""

    def method(self: Any, *args: P.args, **kwargs: P.kwargs) -> Any:
        return self._transport.run(steps(self, *args, **kwargs))

    update_wrapper(method, steps)
    del method.__wrapped__  # type: ignore[attr-defined]
    signature = inspect.signature(steps)
    result = _result_of(signature.return_annotation)
    method.__annotations__ = {**steps.__annotations__, "return": result}
    method.__signature__ = signature.replace(return_annotation=result)  # type: ignore[attr-defined]
    return cast("Verb[P, T]", method)


def _result_of(annotation: Any) -> Any:
    """What requests lead to, as ``Steps[...]`` says."""
    if isinstance(annotation, str):
        return annotation.removeprefix("Steps[").removesuffix("]")
    result = get_args(annotation)[2]
    return None if result is type(None) else result


def read(path: str, **query: str | int | None) -> Steps[Any]:
    """GET."""
    given = {name: value for name, value in query.items() if value is not None}
    return (yield ServiceRequest("GET", path, given))


def pages(path: str, **query: str | int | None) -> Steps[list[Any]]:
    """GET a list, page by page."""
    found: list[Any] = []
    after: str | None = None
    while True:
        page = yield from read(path, limit=PAGE, after=after, **query)
        found += page["items"]
        after = page["next"]
        if after is None:
            return found


def download(path: str) -> Steps[bytes]:
    """GET a file."""
    return (yield ServiceRequest("GET", path, as_file=True))


def write(
    path: str, body: Any = None, *, key: str | None = None, longer: float = 0.0
) -> Steps[Any]:
    """Do a write, once, however often it has to be sent.

    ``longer`` are seconds that the reply may take beyond the usual.
    """
    if body is None:
        return (yield ServiceRequest("POST", path, headers=_once(key)))
    text = _as_json(body)
    return (yield from write_text(path, text, "application/json", key=key, longer=longer))


def write_text(
    path: str, text: str, media: str, *, key: str | None = None, longer: float = 0.0
) -> Steps[Any]:
    """Do a write whose body is a text."""
    headers = {"Content-Type": media, **_once(key)}
    return (
        yield ServiceRequest("POST", path, headers=headers, content=text.encode(), longer=longer)
    )


def delete(path: str, id: str, *, key: str | None = None) -> Steps[Any]:
    """End what has this id."""
    return (yield ServiceRequest("DELETE", f"{path}/{quote(id, safe='')}", headers=_once(key)))


def _as_json(body: Any) -> str:
    try:
        return json.dumps(body, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidProblem(
            f"the request can't be written as JSON ({error}): payloads and parameters must be "
            "plain JSON values",
            field="payload",
        ) from None


def _once(key: str | None) -> dict[str, str]:
    """The Idempotency-Key of a write: the caller's, if headers can hold it."""
    if key is None:
        return {"Idempotency-Key": uuid.uuid4().hex}
    if not isinstance(key, str) or not 0 < len(key) <= 200:
        raise InvalidProblem(f"key is {key!r}: give 1 to 200 characters", field="key")
    if not _PLAIN_KEY.fullmatch(key):
        key = "sha256-" + hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()
    return {"Idempotency-Key": key}
