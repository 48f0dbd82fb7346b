"""Kernels as Numba has them: compiled when that pays, and otherwise run as plain functions."""

import gc
import time
from pathlib import Path
from typing import Any

import numba
from numba.core import config, event, sigutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.extending import typeof_impl

from askwise.core.compiling.code_cache import kept_in
from askwise.core.compiling.linked_code import LinkedCache, LinkedCompiler
from askwise.core.compiling.permission import AT_ONCE, LOOK, WHEN_IT_PAYS, mode, tell_watchers
from askwise.core.compiling.plain_code import RunsPlain
from askwise.core.compiling.renaming import renamed


class Compilations(event.Listener):  # type: ignore[misc]
    """Told by Numba, under its lock, of every compilation; those of callees are nested."""

    depth = 0

    collects = False
    """Whether garbage was collected before."""

    def on_start(self, event: Any) -> None:
        """Tell that one begins."""
        self.depth += 1
        if self.depth == 1:
            # A compiler makes a great many objects, which are garbage only in the end.
            self.collects = gc.isenabled()
            gc.disable()
        self._tell(event, True)

    def on_end(self, event: Any) -> None:
        """Tell that one has ended."""
        self._tell(event, False)
        if self.depth == 1 and self.collects:
            gc.enable()
        self.depth -= 1

    def _tell(self, event: Any, begins: bool) -> None:
        kernel = event.data["dispatcher"]
        if self.depth == 1 and isinstance(kernel, Kernel | Unit):
            tell_watchers(kernel.__name__, begins)


_compilations = Compilations()
event.register("numba:compile", _compilations)


def is_cached(compiled: Any) -> bool:
    """Whether the cache on disk has code of a kernel, for whatever types."""
    source, place = Path(compiled.py_func.__code__.co_filename).stem, compiled.stats.cache_path
    files = f"{source}.{compiled.py_func.__qualname__}-*.nbi"
    return place is not None and any(Path(place).glob(files))


class Inside(CPUDispatcher):  # type: ignore[misc]
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


class Unit(CPUDispatcher):  # type: ignore[misc]
    """A kernel as compiled code calls it by its address."""

    def was_compiled(self) -> bool:
        """Whether there is code of it, or the cache may have some, for whatever types."""
        return bool(self.overloads) or is_cached(self)


class Kernel(RunsPlain, CPUDispatcher):  # type: ignore[misc]
    """A function that runs plain until there is compiled code for it, or compiling pays."""

    _eager = False
    """Whether every call may compile."""
    _patience = 0.0
    _due = 0.0
    """Seconds of plain work from which on compiled code is looked for."""
    _spent = 0.0
    _calls = 0
    _twins: dict[type, Any]

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        # When to look again for code that the cache did not have, in seconds of plain work.
        self._missed: dict[Any, float] = {}
        self._twins = {}

    def __call__(self, *args: Any) -> Any:
        if self._spent < self._due and mode.level != AT_ONCE:
            return self._run_plain(*args)
        if not self.overloads and not self._may_compile(args) and not is_cached(self):
            self._due = self._again()
            return self._run_plain(*args)
        return super().__call__(*args)

    def _run_plain(self, *args: Any) -> Any:
        function = self._plain or self.plain_function()
        begun = time.perf_counter()
        try:
            return function(*args)
        finally:
            self._spent += time.perf_counter() - begun
            self._calls += 1

    def _compile_for_args(self, *args: Any, **named: Any) -> Any:
        """Say what is to be called: Numba asks that of types that it has no code for."""
        if self._may_compile(args):
            return super()._compile_for_args(*args, **named)
        kinds = types_of(args)
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
        if WHEN_IT_PAYS <= mode.level < AT_ONCE and self._spent < self._patience:
            again = min(again, self._patience)
        return again

    def _may_compile(self, args: tuple[Any, ...]) -> bool:
        if self._eager or mode.level == AT_ONCE:
            return True
        return mode.level >= WHEN_IT_PAYS and (
            self._spent >= self._patience or self._is_linked_somewhere(args)
        )

    def _is_linked_somewhere(self, args: tuple[Any, ...]) -> bool:
        """Whether other compiled code has it, and what it calls: then little is left to do.

        Not while somebody compiles: one would wait for that.
        """
        inside = self._twins.get(Inside)
        if inside is None or not inside.overloads or _compilations.depth:
            return False
        return types_of(args) in inside.overloads

    def _load(self, kinds: tuple[Any, ...]) -> Any:
        """Take code out of the cache, as Numba does before it compiles; None if it has none."""
        # While somebody compiles, Numba's lock is held for as long as that takes. To find out that
        # nothing is there takes no lock, and not the third of a second in which Numba prepares
        # itself.
        if _compilations.depth or not is_cached(self):
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
            name = f"{self.py_func.__qualname__}.{kind.__name__.lower()}"
            twin = renamed(self.py_func, self.py_func.__globals__, qualname=name)
            options = {**self.targetoptions, "no_cpython_wrapper": True}
            self._twins[kind] = cached(kind, twin, options)
        return self._twins[kind]

    def is_ready(self, args: tuple[Any, ...]) -> bool:
        """Whether a call with such arguments would run compiled; loads cached code."""
        return self._may_compile(args) or self._load(types_of(args)) is not None

    def entry_for(self, args: tuple[Any, ...]) -> Any:
        """What to call with such arguments; None while there is no code for any."""
        if not self.overloads:
            return None
        found = self.overloads.get(types_of(args))
        return self if found is None else found.entry_point


@typeof_impl.register(Kernel)  # type: ignore[untyped-decorator]
def _type_inside(kernel: Kernel, context: Any) -> Any:
    return numba.types.Dispatcher(kernel.twin(Inside))


def types_of(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The types of arguments, as Numba tells overloads apart."""
    return tuple(numba.typeof(each) for each in args)


def cached(kind: type, function: Any, options: dict[str, Any]) -> Any:
    """Make a dispatcher whose code is kept on disk."""
    before = config.CACHE_DIR
    # The locator is chosen while decorating; other users of Numba keep their own setting.
    config.CACHE_DIR = kept_in()
    try:
        made = kind(py_func=function, targetoptions=options)
        made.enable_caching()
        return made
    finally:
        config.CACHE_DIR = before
