"""Numba, set up in one place: no call compiles by surprise, and what is compiled is kept on disk.

Kernels are plain functions with explicit loops that give the same result, to the last bit,
compiled or not. Called from Python they run compiled if the cache on disk has them, and as they
are if not: a live campaign never waits for the compiler. Work in bulk says so with :func:`allowed`,
and its kernels are compiled once that pays, the lab's loops too; a whole experiment
(:func:`in_bulk`) compiles its loops at once.
``ASKWISE_JIT=1`` compiles at once everywhere, in a live campaign too; ``ASKWISE_JIT=0`` (or
Numba's own ``NUMBA_DISABLE_JIT=1``) never does, and then Numba is not even imported.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
import threading
import time
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from askwise.core.code_cache import PACKAGE, cache_directory

Function = TypeVar("Function", bound=Callable[..., Any])

Watcher = Callable[[str, bool], None]
"""Called with what is compiled, and whether it begins (or has ended)."""

PLAIN = os.environ.get("ASKWISE_JIT") == "0" or os.environ.get("NUMBA_DISABLE_JIT") == "1"

NEVER, WHEN_IT_PAYS, IN_BULK, AT_ONCE = range(4)
"""Whether calls from Python may start the compiler."""

LOOK = 0.1
"""Seconds of plain work after which a kernel is looked for in the cache: about what loading it
costs."""

PATIENCE, LONG_PATIENCE = 2.0, 60.0
"""Seconds of plain work after which compiling pays: of most kernels, and of heavy ones."""

LOOP_PATIENCE = 10.0
"""The same of a loop of the lab: about what a policy's kernels take to compile."""


class _Mode(threading.local):
    """What the calls of this thread may do."""

    level = AT_ONCE if os.environ.get("ASKWISE_JIT") == "1" else NEVER
    what = ""


_mode = _Mode()
_watchers: list[Watcher] = []


def allowed(what: str = "") -> Any:
    """Let this thread compile kernels, each once that pays: for work in bulk, never for live calls.

    Parameters
    ----------
    what : str
        What it is for, as those who watch are told; the name of a policy, say.

    Returns
    -------
    A context manager, which decorates functions too.
    """
    return _at_least(WHEN_IT_PAYS, what)


def in_bulk(what: str = "") -> Any:
    """For so much work that the lab's loops are compiled at their first call; see `allowed`."""
    return _at_least(IN_BULK, what)


def is_bulk() -> bool:
    """Whether this thread's loops are to be compiled at once."""
    return _mode.level >= IN_BULK


def forced(what: str = "") -> Any:
    """Let this thread compile every kernel that it calls, at the first call; see `allowed`."""
    return _at_least(AT_ONCE, what)


@contextmanager
def _at_least(level: int, what: str) -> Iterator[None]:
    before = _mode.level, _mode.what
    _mode.level, _mode.what = max(level, _mode.level), what or _mode.what
    try:
        yield
    finally:
        _mode.level, _mode.what = before


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Have somebody told when the compiler starts (not when code is loaded from disk) and ends."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


class PlainTime(NamedTuple):
    """What a kernel has cost in this process while it was not compiled."""

    seconds: float
    calls: int


if PLAIN:

    def _plain(function: Any) -> Any:
        return function

    def unit_of(kernel: Any) -> Any:
        """There are none without Numba."""
        return kernel

    def entry_for(kernel: Any, arguments: tuple[Any, ...]) -> Any:
        """A function itself: there is nothing to look up."""
        return kernel

    def kept_in() -> str:
        """Nowhere: nothing is compiled."""
        return ""

    def is_kept(kernel: Any) -> bool:
        """Nothing is compiled."""
        return False

else:
    import numba
    from numba.core import config as _numba_config
    from numba.core import event as _numba_event
    from numba.core import sigutils
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import CPUDispatcher
    from numba.extending import typeof_impl

    from askwise.core.linked_code import LinkedCache, LinkedCompiler

    _CACHE = os.environ.get("NUMBA_CACHE_DIR") or cache_directory()

    class _Compilations(_numba_event.Listener):  # type: ignore[misc]
        """Told by Numba, under its lock, of every compilation; those of callees are nested."""

        depth = 0

        collects = False
        """Whether garbage was collected before."""

        def on_start(self, event: Any) -> None:
            self.depth += 1
            if self.depth == 1:
                # A compiler makes a great many objects, which are garbage only in the end.
                self.collects = gc.isenabled()
                gc.disable()
            self._tell(event, True)

        def on_end(self, event: Any) -> None:
            self._tell(event, False)
            if self.depth == 1 and self.collects:
                gc.enable()
            self.depth -= 1

        def _tell(self, event: Any, begins: bool) -> None:
            kernel = event.data["dispatcher"]
            if self.depth == 1 and isinstance(kernel, _Kernel | _Unit):
                for watcher in tuple(_watchers):
                    watcher(_mode.what or kernel.__name__, begins)

    _compilations = _Compilations()
    _numba_event.register("numba:compile", _compilations)

    def _names_in(code: types.CodeType) -> Iterator[str]:
        yield from code.co_names
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                yield from _names_in(constant)

    def _without_numba(kernel: _Kernel, made: dict[_Kernel, Any]) -> Any:
        """The function of a kernel over those of the kernels it calls, instead of over these.

        So a plain run costs what it costs without Numba: whether to run plain is decided once,
        where Python calls, and not for each of a hundred steps.
        """
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
                names[name] = _over_plain(source.__globals__[name], used, made)
        return made[kernel]

    def _over_plain(value: Any, used: set[str], made: dict[_Kernel, Any]) -> Any:
        """What a plain function finds under a name: no kernels, nor modules that have them."""
        if isinstance(value, _Kernel):
            return _without_numba(value, made)
        if not isinstance(value, types.ModuleType):
            return value
        held = {name: vars(value)[name] for name in used & vars(value).keys()}
        if not any(isinstance(each, _Kernel) for each in held.values()):
            return value
        plain = {name: _over_plain(each, set(), made) for name, each in held.items()}
        return types.SimpleNamespace(**plain)

    def _plain(function: Any) -> Any:
        """A kernel as it is without Numba; anything else as it is."""
        if not isinstance(function, _Kernel):
            return function
        made: dict[_Kernel, Any] = {}
        found = _without_numba(function, made)
        # Only now, when all are complete: another thread may call them.
        for each, plain in made.items():
            each._plain = plain
        return found

    def _is_cached(compiled: Any) -> bool:
        place, name = compiled.stats.cache_path, compiled.py_func.__qualname__
        return place is not None and any(Path(place).glob(f"*.{name}-*.nbi"))

    class _Inside(CPUDispatcher):  # type: ignore[misc]
        """A kernel as other compiled code calls it: linked into that, and never called on its own.

        An entry for Python, which unpacks a dozen arrays, would take longer to compile than most
        kernels.
        """

        def __init__(self, py_func: Any, targetoptions: dict[str, Any]) -> None:
            super().__init__(py_func, {}, targetoptions, LinkedCompiler)

        def enable_caching(self) -> None:
            """Keep what is compiled on disk."""
            self._cache = LinkedCache(self.py_func)

        def compile(self, sig: Any) -> Any:
            """Compile for the types of constants, and not once more for each constant."""
            kinds, _ = sigutils.normalize_signature(sig)
            return super().compile(tuple(numba.types.unliteral(each) for each in kinds))

    class _Unit(CPUDispatcher):  # type: ignore[misc]
        """A kernel as compiled code calls it by its address."""

        def was_compiled(self) -> bool:
            """Whether there is code of it, or the cache may have some, for whatever types."""
            return bool(self.overloads) or _is_cached(self)

    class _Kernel(CPUDispatcher):  # type: ignore[misc]
        """A function that runs plain until there is compiled code for it, or compiling pays."""

        _eager = False
        """Whether every call may compile."""
        _patience = 0.0
        _due = 0.0
        """Seconds of plain work from which on compiled code is looked for."""
        _spent = 0.0
        _calls = 0
        _plain: Any = None
        _twins: dict[type, Any]

        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, **named)
            # When to look again for code that the cache did not have, in seconds of plain work.
            self._missed: dict[Any, float] = {}
            self._twins = {}

        def __call__(self, *args: Any) -> Any:
            if self._spent < self._due and _mode.level != AT_ONCE:
                return self._run_plain(*args)
            if not self.overloads and not self._may_compile() and not self._was_compiled():
                self._due = self._again()
                return self._run_plain(*args)
            return super().__call__(*args)

        def _run_plain(self, *args: Any) -> Any:
            function = self._plain or _plain(self)
            begun = time.perf_counter()
            try:
                return function(*args)
            finally:
                self._spent += time.perf_counter() - begun
                self._calls += 1

        def _compile_for_args(self, *args: Any, **named: Any) -> Any:
            """Say what is to be called: Numba asks that of types that it has no code for."""
            if self._may_compile():
                return super()._compile_for_args(*args, **named)
            kinds = tuple(numba.typeof(each) for each in args)
            if self._spent >= self._missed.get(kinds, 0.0):
                found = self._load(kinds)
                if found is not None:
                    return found
                self._missed[kinds] = self._again()
                if not self.overloads:
                    self._due = self._missed[kinds]
            return self._run_plain

        def _again(self) -> float:
            """When to look again for code that is not there: somebody may compile it meanwhile."""
            again = max(LOOK, 2.0 * self._spent)
            if _mode.level in (WHEN_IT_PAYS, IN_BULK) and self._spent < self._patience:
                again = min(again, self._patience)
            return again

        def _may_compile(self) -> bool:
            return (
                self._eager
                or _mode.level == AT_ONCE
                or (_mode.level >= WHEN_IT_PAYS and self._spent >= self._patience)
            )

        def _load(self, kinds: tuple[Any, ...]) -> Any:
            """Take code out of the cache, as Numba does before it compiles; None if it has none."""
            # While somebody compiles, Numba's lock is held for as long as that takes. To find out
            # that nothing is there takes no lock, and not the third of a second in which Numba
            # prepares itself.
            if _compilations.depth or not self._was_compiled():
                return None
            with global_compiler_lock:
                found = self.overloads.get(kinds)
                if found is None:
                    found = self._cache.load_overload(kinds, self.targetctx)
                    if found is None:
                        return None
                    self.targetctx.insert_user_function(
                        found.entry_point, found.fndesc, [found.library]
                    )
                    self.add_overload(found)
                return found.entry_point

        def twin(self, kind: type) -> Any:
            """The same function for compiled code; made when it is first called there."""
            if kind not in self._twins:
                # Of another name, as the cache would take one for the other.
                name = f"{self.py_func.__qualname__}.{kind.__name__[1:].lower()}"
                renamed = _renamed(self.py_func, self.py_func.__globals__, qualname=name)
                options = {**self.targetoptions, "no_cpython_wrapper": True}
                self._twins[kind] = _cached(kind, renamed, options)
            return self._twins[kind]

        def is_ready(self, args: tuple[Any, ...]) -> bool:
            kinds = tuple(numba.typeof(each) for each in args)
            return self._may_compile() or self._load(kinds) is not None

        def _was_compiled(self) -> bool:
            """Whether the cache may have code of this kernel, for whatever types."""
            return _is_cached(self)

    @typeof_impl.register(_Kernel)  # type: ignore[untyped-decorator]
    def _kind_inside(kernel: _Kernel, context: Any) -> Any:
        return numba.types.Dispatcher(kernel.twin(_Inside))

    def unit_of(kernel: Any) -> Any:
        """A kernel as a unit; see :mod:`askwise.core.units`."""
        return kernel.twin(_Unit)

    def entry_for(kernel: Any, arguments: tuple[Any, ...]) -> Any:
        """What to call with such arguments, over and over; None while a kernel is not compiled.

        Compiled code that is called with anything else reads memory that is not its own.
        """
        if not isinstance(kernel, _Kernel):
            return kernel
        if not kernel.overloads:
            return None
        found = kernel.overloads.get(tuple(numba.typeof(each) for each in arguments))
        return kernel if found is None else found.entry_point

    def kept_in() -> str:
        """The directory in which compiled code is kept."""
        return _CACHE

    def is_kept(kernel: Any) -> bool:
        """Whether the cache on disk has code of a kernel, for whatever types."""
        source = Path(kernel.py_func.__code__.co_filename).stem
        place, name = kernel.stats.cache_path, kernel.py_func.__qualname__
        return place is not None and any(Path(place).glob(f"{source}.{name}-*.nbi"))

    def _cached(kind: type, function: Any, options: dict[str, Any]) -> Any:
        before = _numba_config.CACHE_DIR
        # The locator is chosen while decorating; other users of Numba keep their own setting.
        _numba_config.CACHE_DIR = _CACHE
        try:
            made = kind(py_func=function, targetoptions=options)
            made.enable_caching()
            return made
        finally:
            _numba_config.CACHE_DIR = before


def _compile(
    function: Function,
    *,
    eager: bool = False,
    patience: float = PATIENCE,
    look: float = LOOK,
    **options: Any,
) -> Function:
    if PLAIN:
        return function
    # Dividing by zero gives what NumPy's scalars give in a plain run. A division that could
    # raise would also keep the compiler from dropping the counts of references around it.
    options = {"nopython": True, "nogil": True, "error_model": "numpy", "_nrt": True, **options}
    made = _cached(_Kernel, function, {**options, "no_cfunc_wrapper": True})
    made._eager, made._patience, made._due = eager, patience, 0.0 if eager else look
    return made


def ready(function: Any, *args: Any) -> bool:
    """Whether a call with such arguments would run compiled; loads the code if it is cached."""
    return not PLAIN and function.is_ready(args)


def hurry(function: Function) -> Function:
    """Have a kernel looked for, or compiled where that is allowed, at its next call."""
    if not PLAIN:
        function._patience = function._due = 0.0  # type: ignore[attr-defined]
    return function


def plain_time(function: Any) -> PlainTime:
    """What a kernel has cost so far for want of compiled code; not measured without Numba."""
    return PlainTime(0.0, 0) if PLAIN else PlainTime(function._spent, function._calls)


def kernel(function: Function) -> Function:
    """Make a kernel of a module-level function."""
    return _compile(function)


def heavy_kernel(function: Function) -> Function:
    """Make a kernel of a function that, with what it calls, takes a minute to compile.

    In bulk work too it stays plain for longer.
    """
    return _compile(function, patience=LONG_PATIENCE)


def step(function: Function) -> Function:
    """Compile as part of whatever calls it, without counting references.

    For what runs at every step of a simulation: a call that hands over a dozen arrays counts
    references to each of them, which costs ten times the work of a short function. Its caller
    keeps them alive; so a step makes no array, and calls no kernel that returns a new one
    (the compiler refuses the former, the latter would never be freed).
    """
    return _compile(function, forceinline=True, _nrt=False)


def routine(function: Function) -> Function:
    """Compile once for all that call it, as a step without being made part of its callers."""
    return _compile(function, _nrt=False)


def _digest_of_others(kernels: Iterable[Any]) -> str:
    """Digest of the files of kernels from outside; ours are in the cache directory's name."""
    digest = hashlib.sha256()
    found = False
    for each in kernels:
        path = Path(getattr(each, "py_func", each).__code__.co_filename)
        if path.is_file() and PACKAGE not in path.resolve().parents:
            found = True
            digest.update(path.read_bytes())
    return f"_{digest.hexdigest()[:12]}" if found else ""


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
    bound = _rebuilt(template, name, names)
    return step(bound) if inline else _compile(bound, eager=not live, look=0.0)


def in_plain_python(template: Function, **names: Any) -> Function:
    """``template`` with its global names replaced by ``names``, as a function that never compiles:
    what it calls runs without Numba, whatever that costs.
    """
    source = getattr(template, "py_func", template)
    plain = {name: _plain(value) for name, value in {**source.__globals__, **names}.items()}
    return _rebuilt(template, source.__name__, plain)


def _rebuilt(template: Function, name: str, names: dict[str, Any]) -> Function:
    source = getattr(template, "py_func", template)
    return _renamed(source, {**source.__globals__, **names}, name)


def _renamed(source: Any, names: dict[str, Any], name: str = "", qualname: str = "") -> Any:
    made = types.FunctionType(
        source.__code__, names, name or source.__name__, source.__defaults__, source.__closure__
    )
    made.__qualname__ = qualname or made.__name__
    made.__module__ = source.__module__
    return made
