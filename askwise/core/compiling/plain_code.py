"""Kernels as they run without Numba: over the plain functions of all kernels that they call.

So a plain run costs what it costs without Numba: whether to run plain is decided once, where Python
calls, and not for each of a hundred steps.
"""

import types
from collections.abc import Iterator
from typing import Any


class RunsPlain:
    """What has a function that can be run without Numba."""

    py_func: Any
    _plain: Any = None

    def plain_function(self) -> Any:
        """The function over those of the kernels it calls; made when it is first asked for."""
        if self._plain is None:
            made: dict[RunsPlain, Any] = {}
            _over_functions(self, made)
            # Only now, when all are complete: another thread may call them.
            for each, plain in made.items():
                each._plain = plain
        return self._plain


def plain(function: Any) -> Any:
    """A kernel as it is without Numba; anything else as it is."""
    return function.plain_function() if isinstance(function, RunsPlain) else function


def _over_functions(kernel: RunsPlain, made: dict[RunsPlain, Any]) -> Any:
    if kernel._plain is not None:
        return kernel._plain
    if kernel not in made:
        source = kernel.py_func
        # NumPy imports parts of itself when they are first used, by these.
        names: dict[str, Any] = {"__builtins__": source.__builtins__}
        made[kernel] = types.FunctionType(
            source.__code__, names, source.__name__, source.__defaults__, source.__closure__
        )
        used = set(_names_in(source.__code__))
        for name in used & source.__globals__.keys():
            names[name] = _found_under(source.__globals__[name], used, made)
    return made[kernel]


def _found_under(value: Any, used: set[str], made: dict[RunsPlain, Any]) -> Any:
    """What a plain function finds under a name: no kernels, nor modules that have them."""
    if isinstance(value, RunsPlain):
        return _over_functions(value, made)
    if not isinstance(value, types.ModuleType):
        return value
    held = {name: vars(value)[name] for name in used & vars(value).keys()}
    if not any(isinstance(each, RunsPlain) for each in held.values()):
        return value
    return types.SimpleNamespace(
        **{name: _found_under(each, set(), made) for name, each in held.items()}
    )


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)
