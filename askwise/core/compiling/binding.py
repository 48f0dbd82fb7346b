"""Loops over kernels: one template, bound to the kernels that it is to call."""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from askwise.core.compiling.code_cache import PACKAGE
from askwise.core.compiling.decorators import Function, compiled, step
from askwise.core.compiling.plain_code import plain
from askwise.core.compiling.renaming import renamed


def bind(
    template: Function, label: str, *, inline: bool = False, live: bool = False, **names: Any
) -> Function:
    """Compile ``template`` with its global names replaced by ``names``.

    A function passed as an argument or closed over would miss Numba's disk cache; a
    module-level name hits it. So the loop is rebuilt over a namespace of its own, under a
    name of its own (the cache's file name), for each set of kernels it is bound to. With
    ``inline`` it is a step; with ``live`` it runs compiled if the cache has it and plain if not,
    from the first call on; else the first call compiles it.
    """
    label += _digest_of_others(names.values())
    name = f"{template.__name__}_{re.sub('[^a-z0-9]', '_', label.lower())}"
    source = _source_of(template)
    bound = renamed(source, {**source.__globals__, **names}, name)
    return step(bound) if inline else compiled(bound, eager=not live, look=0.0)


def in_plain_python(template: Function, **names: Any) -> Function:
    """``template`` with its global names replaced by ``names``, as a function that never compiles:
    what it calls runs without Numba, whatever that costs.
    """
    source = _source_of(template)
    found = {**source.__globals__, **names}
    return renamed(source, {name: plain(value) for name, value in found.items()})


def _source_of(function: Any) -> Any:
    """The Python function of a kernel."""
    return getattr(function, "py_func", function)


def _digest_of_others(kernels: Iterable[Any]) -> str:
    """Digest of the files of kernels from outside; ours are in the cache directory's name."""
    digest = hashlib.sha256()
    found = False
    for each in kernels:
        path = Path(_source_of(each).__code__.co_filename)
        if path.is_file() and PACKAGE not in path.resolve().parents:
            found = True
            digest.update(path.read_bytes())
    return f"_{digest.hexdigest()[:12]}" if found else ""
