"""Code of kernels that is only ever linked into the kernels that call them.

Numba optimises a function on its own, turns it into machine code, and does both once more as part
of every function that calls it: a kernel at the end of ten calls is optimised eleven times. Of a
kernel that only compiled code calls, nobody runs the code that it has on its own. So it is kept as
LLVM's intermediate code; what Python or a loop calls is optimised once, with all that it calls.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding as llvm
from numba.core import caching, compiler
from numba.core.codegen import JITCodeLibrary


class _NoMachineCode:
    """Stands for what manages machine code: there is none."""

    def set_env(self, name: str, environment: Any) -> None:
        """Leave it to the code that this is linked into."""


class LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Intermediate code of a function and of what it calls."""

    @property
    def codegen(self) -> Any:
        """What manages its machine code."""
        return _NoMachineCode()

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no function to point to."""
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """Name, kind and intermediate code: what the cache keeps."""
        return self.name, "linked", self._get_module_for_linking().as_bitcode()

    @classmethod
    def _unserialize(cls, codegen: Any, state: tuple[str, str, bytes]) -> LinkedLibrary:
        name, _, code = state
        made = cls(codegen, name)
        made._final_module = llvm.parse_bitcode(code)
        made._finalize_final_module()
        return made


class LinkedCompiler(compiler.Compiler):  # type: ignore[misc]
    """Compiles a function into a library of intermediate code."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function."""
        self.state.library = LinkedLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


class _LinkedResults(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """Writes and reads such libraries, and all that Numba keeps beside them."""

    def rebuild(self, target_context: Any, payload: tuple[Any, ...]) -> Any:
        """Make a result of the compiler of what the cache has kept."""
        code, described, environment, signature, is_object, lifted, text, init, envs = payload
        for each in init:
            each()
        library = LinkedLibrary._unserialize(target_context.codegen(), code)
        return compiler.CompileResult(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            environment=environment,
            entry_point=target_context.get_executable(library, described, environment),
            fndesc=described,
            type_annotation=text,
            signature=signature,
            objectmode=is_object,
            lifted=lifted,
            typing_error=None,
            call_helper=None,
            metadata=None,
            reload_init=init,
            referenced_envs=envs,
        )


class LinkedCache(caching.FunctionCache):  # type: ignore[misc]
    """The cache on disk of functions that are only linked."""

    _impl_class = _LinkedResults
