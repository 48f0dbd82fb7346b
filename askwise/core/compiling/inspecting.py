"""What can be asked of a kernel: whether it is compiled, what it has cost, what to call."""

from typing import Any, NamedTuple

from askwise.core.compiling.permission import PLAIN

if not PLAIN:
    from askwise.core.compiling.dispatchers import Kernel, Unit, is_cached


class PlainTime(NamedTuple):
    """What a kernel has cost in this process while it was not compiled."""

    seconds: float
    calls: int


def plain_time(function: Any) -> PlainTime:
    """What a kernel has cost so far for want of compiled code; not measured without Numba."""
    return PlainTime(0.0, 0) if PLAIN else PlainTime(function._spent, function._calls)


def ready(function: Any, *args: Any) -> bool:
    """Whether a call with such arguments would run compiled; loads the code if it is cached."""
    return not PLAIN and function.is_ready(args)


def is_kept(kernel: Any) -> bool:
    """Whether the cache on disk has code of a kernel, for whatever types."""
    return not PLAIN and is_cached(kernel)


def unit_of(kernel: Any) -> Any:
    """A kernel as a unit, see :mod:`askwise.core.units`; there are none without Numba."""
    return kernel if PLAIN else kernel.twin(Unit)


def entry_for(kernel: Any, arguments: tuple[Any, ...]) -> Any:
    """What to call with such arguments, over and over; None while a kernel is not compiled.

    Compiled code that is called with anything else reads memory that is not its own.
    """
    return kernel if PLAIN or not isinstance(kernel, Kernel) else kernel.entry_for(arguments)
