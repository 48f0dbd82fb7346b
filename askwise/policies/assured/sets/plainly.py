"""Kernels' source as plain Python, over an error function that kernels can't compute."""

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

from askwise.core.arrays import Array
from askwise.policies.assured.sets import classes
from askwise.policies.assured.sets.base import ErrorFunction
from askwise.policies.assured.sets.codes import OTHER
from askwise.policies.assured.sets.probability import Goal

MOST_WORK = 1 << 18
"""In place of ``classes.MOST_WORK``: an error takes some 20 microseconds here, all some tenths of a
second."""


def over(module: Any, **names: Any) -> dict[str, Any]:
    """The functions of a module of kernels as plain Python that calls ``names`` instead."""
    space = {**vars(module), **names}
    for name, value in vars(module).items():
        source = getattr(value, "py_func", value)
        ours = isinstance(source, FunctionType) and source.__module__ == module.__name__
        if ours and name not in names:
            space[name] = FunctionType(source.__code__, space, name, source.__defaults__)
    return space


@cache
def finder_by_classes(function: ErrorFunction) -> Callable[..., int]:
    """``find_by_classes`` for an error function, a user's own too.

    All that it rests on is that the error depends on qualities alone and never rises with one.
    """
    if function.code != OTHER:
        return classes.find_by_classes

    def error_by_code(code: int, epsilon: float, ties: float, q: Array) -> float:
        return float(function.probability(q))

    def are_useful(goal: Goal, q: Array) -> Array:
        # Not even of a coin is it known that it is of no use: where ties go to the more frequent
        # option, it makes ties.
        return q >= 0.5

    names = {"error_by_code": error_by_code, "are_useful": are_useful, "MOST_WORK": MOST_WORK}
    return over(classes, **names)["find_by_classes"]
