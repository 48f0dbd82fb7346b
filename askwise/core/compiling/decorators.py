"""Kernels out of functions, and how soon they are compiled."""

from collections.abc import Callable
from typing import Any, TypeVar

from askwise.core.compiling.permission import LONG_PATIENCE, LOOK, PATIENCE, PLAIN

if not PLAIN:
    from askwise.core.compiling.dispatchers import Kernel, cached

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Make a kernel of a module-level function."""
    return compiled(function)


def heavy_kernel(function: Function) -> Function:
    """Make a kernel of a function that, with what it calls, takes a minute to compile.

    In bulk work too it stays plain for longer.
    """
    return compiled(function, patience=LONG_PATIENCE)


def step(function: Function) -> Function:
    """Compile as part of whatever calls it, without counting references.

    For what runs at every step of a simulation: a call that hands over a dozen arrays counts
    references to each of them, which costs ten times the work of a short function. Its caller
    keeps them alive; so a step makes no array, and calls no kernel that returns a new one
    (the compiler refuses the former, the latter would never be freed).
    """
    return compiled(function, forceinline=True, _nrt=False)


def routine(function: Function) -> Function:
    """Compile once for all that call it, as a step without being made part of its callers."""
    return compiled(function, _nrt=False)


def compiled(
    function: Function,
    *,
    eager: bool = False,
    patience: float = PATIENCE,
    look: float = LOOK,
    **options: Any,
) -> Function:
    """Make a kernel: ``eager`` to be compiled at its first call, else once that pays."""
    if PLAIN:
        return function
    # Dividing by zero gives what NumPy's scalars give in a plain run. A division that could
    # raise would also keep the compiler from dropping the counts of references around it.
    options = {"nopython": True, "nogil": True, "error_model": "numpy", "_nrt": True, **options}
    made = cached(Kernel, function, {**options, "no_cfunc_wrapper": True})
    made._eager, made._patience, made._due = eager, patience, 0.0 if eager else look
    return made


def hurry(function: Function) -> Function:
    """Have a kernel looked for, or compiled where that is allowed, at its next call."""
    if not PLAIN:
        function._patience = function._due = 0.0  # type: ignore[attr-defined]
    return function
