"""Numba, set up in one place: kernels are compiled when it pays, and cached on disk.

Kernels are plain functions with explicit loops that give the same result, to the last bit,
compiled or not. Called from Python they run as they are until that has cost about as much as
compiling would; the lab's loops compile at once. ``ASKWISE_JIT=1`` always compiles,
``ASKWISE_JIT=0`` (or Numba's own ``NUMBA_DISABLE_JIT=1``) never does, and then Numba is not
even imported.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_PACKAGE = Path(__file__).resolve().parent.parent
_WITH_KERNELS = ("core", "policies", "stopping", "aggregation", "lab")

PLAIN = os.environ.get("ASKWISE_JIT") == "0" or os.environ.get("NUMBA_DISABLE_JIT") == "1"


def _sources_digest() -> str:
    digest = hashlib.sha256()
    for room in _WITH_KERNELS:
        for path in sorted((_PACKAGE / room).rglob("*.py")):
            source = path.read_bytes()
            # Most of the lab has none, and what its kernels use is in the other rooms.
            if room != "lab" or b"compiling" in source:
                digest.update(path.relative_to(_PACKAGE).as_posix().encode())
                digest.update(source)
    return digest.hexdigest()[:16]


def _cache_directory() -> str:
    """Keyed by our sources: Numba does not notice when a callee in another module changes."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    directory = home / "askwise" / "kernels" / _sources_digest()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        writable = os.access(directory, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        directory = Path(tempfile.gettempdir()) / f"askwise-kernels-{os.getuid()}" / directory.name
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    return str(directory)


if PLAIN:

    def _compile(
        function: Function, *, at_once: bool = False, patience: float = 0.0, **options: Any
    ) -> Function:
        return function

else:
    import numba
    from numba.core import config as _numba_config
    from numba.core.registry import CPUDispatcher

    _CACHE = os.environ.get("NUMBA_CACHE_DIR") or _cache_directory()
    _NO_PATIENCE = os.environ.get("ASKWISE_JIT") == "1"

    class _WhenItPays(CPUDispatcher):  # type: ignore[misc]
        """A compiled function that stays plain Python for its first seconds of work."""

        _spent = 0.0
        _patience = 0.0

        def __call__(self, *args: Any) -> Any:
            if self._spent >= self._patience:
                return super().__call__(*args)
            begun = time.perf_counter()
            try:
                return self.py_func(*args)
            finally:
                self._spent += time.perf_counter() - begun

    def _compile(
        function: Function, *, at_once: bool = False, patience: float = 2.0, **options: Any
    ) -> Function:
        # Dividing by zero gives what NumPy's scalars give in a plain run. A division that could
        # raise would also keep the compiler from dropping the counts of references around it.
        options = {"nopython": True, "error_model": "numpy", "_nrt": True, **options}
        before = _numba_config.CACHE_DIR
        # The locator is chosen while decorating; other users of Numba keep their own setting.
        _numba_config.CACHE_DIR = _CACHE
        try:
            if at_once:
                return numba.jit(cache=True, **options)(function)
            made = _WhenItPays(py_func=function, targetoptions=options)
            made._patience = 0.0 if _NO_PATIENCE else patience
            made.enable_caching()
            return made
        finally:
            _numba_config.CACHE_DIR = before


def kernel(function: Function) -> Function:
    """Make a kernel of a module-level function."""
    return _compile(function)


def heavy_kernel(function: Function) -> Function:
    """Make a kernel of a function that, with what it calls, takes a minute to compile.

    Called from Python it stays plain for longer: a campaign of a few decisions never waits.
    """
    return _compile(function, patience=60.0)


def step(function: Function) -> Function:
    """Compile as part of whatever calls it, without counting references.

    For what runs at every step of a simulation: a call that hands over a dozen arrays counts
    references to each of them, which costs ten times the work of a short function. Its caller
    keeps them alive; so a step makes no array, and calls no kernel that returns a new one
    (the compiler refuses the former, the latter would never be freed).
    """
    return _compile(function, forceinline=True, _nrt=False)


def _digest_of_others(kernels: Iterable[Any]) -> str:
    """Digest of the files of kernels from outside; ours are in the cache directory's name."""
    digest = hashlib.sha256()
    found = False
    for each in kernels:
        path = Path(getattr(each, "py_func", each).__code__.co_filename)
        if path.is_file() and _PACKAGE not in path.resolve().parents:
            found = True
            digest.update(path.read_bytes())
    return f"_{digest.hexdigest()[:12]}" if found else ""


def bind(template: Function, label: str, *, inline: bool = False, **names: Any) -> Function:
    """Compile ``template`` with its global names replaced by ``names``.

    A function passed as an argument or closed over would miss Numba's disk cache; a
    module-level name hits it. So the loop is rebuilt over a namespace of its own, under a
    name of its own (the cache's file name), for each set of kernels it is bound to. With
    ``inline`` it is a step; else it is compiled at once.
    """
    source = getattr(template, "py_func", template)
    label += _digest_of_others(names.values())
    bound = types.FunctionType(
        source.__code__,
        {**source.__globals__, **names},
        f"{source.__name__}_{re.sub('[^a-z0-9]', '_', label.lower())}",
        source.__defaults__,
    )
    bound.__qualname__ = bound.__name__
    bound.__module__ = source.__module__
    return step(bound) if inline else _compile(bound, at_once=True)  # type: ignore[return-value]
