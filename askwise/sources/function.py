"""A function of Python as a source."""

import asyncio
import contextlib
import importlib
import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from askwise.core import plugins
from askwise.core.checks import real
from askwise.core.errors import InvalidParameter
from askwise.core.registry import example
from askwise.sources.base import (
    OPERATIONAL,
    FixedPrice,
    Question,
    Response,
    read_response,
    sources,
)


@sources.register("function")
@dataclass(eq=False)
class Function(FixedPrice):
    """A function that takes a :class:`Question` and returns an answer or a :class:`Response`.

    It may be a coroutine function; others run in threads. One that raises has failed with
    ``error``, one that takes too long with ``timed_out`` (a thread can't be ended: it runs on, and
    what it returns is dropped). Failures cost the full price, as their cost is unknown.

    Parameters
    ----------
    call : str or callable
        ``"module:name"``, or the function itself.
    price : amount of money
        The most that a call costs, and what it costs unless its response says less.
    timeout : float
        Maximum number of seconds for a call.

    Examples
    --------
    >>> import asyncio
    >>> from askwise.core.content import Content
    >>> long = Function(lambda question: "yes" if len(question.payload) > 20 else "no")
    >>> asked = Question(Content("Is it long?", options=["no", "yes"]), "t1", "A short text")
    >>> asyncio.run(long.answer(asked)).value
    'no'
    """

    call: str | Callable[[Question], Any] = field(metadata=example('call = "module:function"'))
    timeout: float = field(default=60.0, metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        super().__post_init__()
        real(self.timeout, "timeout", "seconds above 0", least=1e-3, most=1e6)
        if isinstance(self.call, str):
            module, colon, name = self.call.partition(":")
            if not (module and colon and name):
                raise InvalidParameter(f"call is {self.call!r}: give 'module:name'", field="call")
        elif not callable(self.call):
            raise InvalidParameter(f"call is {self.call!r}: give a function", field="call")

    def check(self) -> None:
        """Refuse a name that stands for no function."""
        self._function()

    async def answer(self, question: Question) -> Response:
        """Call it."""
        price = self.ceiling(question)
        function = self._function()
        try:
            async with asyncio.timeout(self.timeout):
                if _is_async(function):
                    said = await function(question)
                else:
                    said = await _in_thread(function, question)
        except TimeoutError:
            detail = f"no answer after {self.timeout:g} s"
            return Response(failure="timed_out", cost=price, estimated=True, detail=detail)
        except Exception as error:
            detail = plugins.reason(error)
            return Response(failure="error", cost=price, estimated=True, detail=detail)
        return read_response(said, question, price)

    def identity(self) -> dict[str, Any]:
        """A function is told by where it is defined."""
        where = self.call
        if not isinstance(where, str):
            where = f"{where.__module__}:{getattr(where, '__qualname__', type(where).__name__)}"
        return super().identity() | {"call": where}

    def _function(self) -> Callable[[Question], Any]:
        if not isinstance(self.call, str):
            return self.call
        module, _, name = self.call.partition(":")
        try:
            found: Any = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
        except Exception as error:
            missing = isinstance(error, ModuleNotFoundError)
            advice = "; for a file in the current directory, set PYTHONPATH=." if missing else ""
            raise InvalidParameter(
                f"call is {self.call!r}, which can't be loaded ({plugins.reason(error)}){advice}",
                field="call",
            ) from None
        if not callable(found):
            raise InvalidParameter(f"call is {self.call!r}, which is not a function", field="call")
        return found


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004
    )


async def _in_thread(function: Callable[[Question], Any], question: Question) -> Any:
    """Call it in a thread of its own, which keeps nobody from ending: not even one that hangs."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def deliver(deliver_to: Callable[[Any], None], what: Any) -> None:
        if not future.done():
            deliver_to(what)

    def run() -> None:
        try:
            outcome = (future.set_result, function(question))
        except BaseException as error:
            failed = error if isinstance(error, Exception) else RuntimeError(repr(error))
            outcome = (future.set_exception, failed)
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(deliver, *outcome)

    threading.Thread(target=run, daemon=True).start()
    return await future
