"""What Numba does not promise and we use is there: a new version fails here, and by name.

``pyproject.toml`` bounds Numba above because of these. Who raises the bound runs this file first.
"""

from __future__ import annotations

import ast
import importlib
from typing import Any

import pytest

from tests.paths import ROOT

pytestmark = pytest.mark.compiled

CORE = ROOT / "askwise" / "core"

PRIVATE: dict[str, tuple[str, ...]] = {
    "numba.core.caching": (
        *("CompileResultCacheImpl.rebuild", "FunctionCache._impl_class"),
        "FunctionCache.load_overload",
    ),
    "numba.core.cgutils": (
        *("alloca_once", "false_bit", "gep_inbounds", "if_unlikely", "unpack_tuple"),
    ),
    "numba.core.codegen": (
        *("JITCodeLibrary._ensure_finalized", "JITCodeLibrary._finalize_dynamic_globals"),
        *("JITCodeLibrary._finalize_final_module", "JITCodeLibrary._get_module_for_linking"),
        *("JITCodeLibrary._optimize_final_module", "JITCodeLibrary._unserialize"),
        *("JITCodeLibrary.codegen", "JITCodeLibrary.get_pointer_to_function"),
        "JITCodeLibrary.serialize_using_object_code",
    ),
    "numba.core.compiler": ("Compiler.compile_extra", "CompileResult"),
    "numba.core.compiler_lock": ("global_compiler_lock",),
    "numba.core.config": ("CACHE_DIR",),
    "numba.core.cpu": ("CPUContext.nrt",),
    "numba.core.event": ("Listener.on_end", "Listener.on_start", "register"),
    "numba.core.imputils": ("impl_ret_borrowed",),
    "numba.core.registry": (
        *("CPUDispatcher._compile_for_args", "CPUDispatcher.add_overload"),
        *("CPUDispatcher.compile", "CPUDispatcher.enable_caching", "CPUDispatcher.stats"),
    ),
    "numba.core.sigutils": ("normalize_signature",),
    "numba.core.typing.templates": ("AttributeTemplate",),
    "llvmlite.binding": ("parse_bitcode",),
    "llvmlite.ir": ("FunctionType", "LiteralStructType"),
}
"""By module, what is imported, called or overridden."""


NAMES = [(module, name) for module, wanted in PRIVATE.items() for name in wanted]


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_what_is_used_of_numba_is_where_it_was(module: str, name: str) -> None:
    found: Any = importlib.import_module(module)
    for each in name.split("."):
        assert hasattr(found, each), f"{module} has no {name}: see {CORE}"
        found = getattr(found, each)


def imported() -> set[str]:
    """The modules of Numba's inside, and of LLVM, that the core imports from."""
    found = set()
    for path in CORE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                if node.module in ("numba.core", "llvmlite"):
                    found |= {f"{node.module}.{each.name}" for each in node.names}
                elif node.module.startswith(("numba.core.", "llvmlite.")):
                    found.add(node.module)
    return found


def test_every_module_of_numbas_inside_that_is_imported_is_listed() -> None:
    assert imported() <= set(PRIVATE)


def test_a_compiled_function_has_what_is_read_of_it() -> None:
    import numba

    @numba.njit  # type: ignore[untyped-decorator]
    def double(number: int) -> int:
        return 2 * number

    double(1)
    (kinds,) = double.overloads
    assert kinds == (numba.types.int64,)
    found = double.overloads[kinds]
    for owner, wanted in (
        (double, "_cache py_func stats targetctx"),
        (double.targetctx, "call_conv codegen get_executable insert_user_function"),
        (double.targetctx.call_conv, "call_function get_function_type return_status_propagate"),
        (found, "entry_point fndesc library _reduce"),
        (found.fndesc, "llvm_func_name"),
        (found.library, "_final_module _finalized get_pointer_to_function"),
    ):
        for name in wanted.split():
            assert hasattr(owner, name), f"{type(owner).__name__} has no {name}"
    # What the cache writes of a result, which `linked_code` takes apart again.
    assert len(found._reduce()) == 9


def test_compiling_is_an_event_that_names_the_function() -> None:
    import numba
    from numba.core import event

    heard = []

    class Hearing(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            heard.append(event.data["dispatcher"])

        def on_end(self, event: Any) -> None:
            pass

    @numba.njit  # type: ignore[untyped-decorator]
    def treble(number: int) -> int:
        return 3 * number

    with event.install_listener("numba:compile", Hearing()):
        treble(1)
    assert heard == [treble]


def test_the_options_that_are_not_promised_are_taken() -> None:
    import numba

    def add(number: int) -> int:
        return number + 1

    options: dict[str, Any] = {"nopython": True, "nogil": True, "error_model": "numpy"}
    options |= {"_nrt": False, "forceinline": True}
    for more in ("no_cfunc_wrapper", "no_cpython_wrapper"):
        assert numba.jit(**options, **{more: True})(add).targetoptions[more]
