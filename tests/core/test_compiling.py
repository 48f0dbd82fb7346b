"""When kernels are compiled, and the cache of what was."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from askwise.core.compiling import code_cache
from tests.cli.helpers import environment

pytestmark = pytest.mark.compiled

KERNEL = """
from askwise.core.compiling import kernel

@kernel
def added(x):
    return x + {}
"""

OVER_A_MODULE = """
import theirs
from askwise.core.compiling import kernel

@kernel
def twice(x):
    return 2 * theirs.added(x)
"""

LOOP = """
from askwise.core.compiling import bind

def added(x):
    raise NotImplementedError

def loop(x):
    return added(x)

import theirs
print(bind(loop, "test", added=theirs.added)(1))
"""


def run(folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "loop.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")},
    )
    return done.stdout.strip()


def test_a_loop_over_a_kernel_of_others_is_compiled_anew_when_their_file_changes(
    tmp_path: Path,
) -> None:
    (tmp_path / "loop.py").write_text(LOOP)
    (tmp_path / "theirs.py").write_text(KERNEL.format(1))
    assert [run(tmp_path), run(tmp_path)] == ["2", "2"]
    (tmp_path / "theirs.py").write_text(KERNEL.format(20))
    assert run(tmp_path) == "21"


LAZY = """
import threading
from numba.core import event
from askwise.core import compiling
from askwise.core.compiling import bind, kernel

def body(x):
    return added(x) + 1

@kernel
def added(x):
    return x + 1

@kernel
def outer(x):
    return added(x) * 2

def compiled(function):
    with event.install_recorder("numba:compile") as seen:
        assert function(3) == 8
    return [each.data["dispatcher"].__name__ for _, each in seen.buffer if each.is_start]

compiling.hurry(outer)
"""


def lazy(folder: Path, rest: str) -> subprocess.CompletedProcess[str]:
    """Run a program on two small kernels, which have no patience left."""
    path = folder / "lazy.py"
    if not path.exists():
        path.write_text(LAZY)
    done = subprocess.run(
        [sys.executable, "-c", f"from lazy import *\n{rest}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=environment(ASKWISE_JIT=None, NUMBA_CACHE_DIR=str(folder / "cache")),
    )
    assert done.returncode == 0, done.stderr
    return done


def test_a_call_compiles_only_where_that_is_allowed_and_then_everybody_has_it(
    tmp_path: Path,
) -> None:
    ask = "print(compiled(outer), len(outer.overloads))"
    assert lazy(tmp_path, ask).stdout == "[] 0\n"
    allow = f"with compiling.allowed(): {ask}"
    assert lazy(tmp_path, allow).stdout == "['outer', 'added'] 1\n"
    assert lazy(tmp_path, ask).stdout == "[] 1\n"


def test_even_where_it_is_allowed_a_kernel_stays_plain_until_compiling_pays(tmp_path: Path) -> None:
    patient = "outer._patience = 2.0\nwith compiling.allowed(): print(compiled(outer))\n"
    assert lazy(tmp_path, patient).stdout == "[]\n"
    spent = patient.replace("with", "outer._spent = 2.1\nwith")
    assert lazy(tmp_path, spent).stdout == "['outer', 'added']\n"
    forced = "outer._due = 2.0\nwith compiling.forced(): print(compiled(outer), outer._calls)"
    assert lazy(tmp_path, forced).stdout == "[] 0\n"


def test_a_kernel_that_other_compiled_code_has_is_compiled_at_the_next_look(tmp_path: Path) -> None:
    live = "added._due = 0.0; added(3); print(len(added.overloads))"
    in_bulk = f"with compiling.allowed(): {live}"
    compile_outer = "with compiling.allowed(): outer(3)\n"
    for program, due in (
        (in_bulk, "0\n"),
        (compile_outer + in_bulk, "1\n"),
        (compile_outer + live, "0\n"),
    ):
        folder = tmp_path / str(len(program))
        folder.mkdir()
        assert lazy(folder, program).stdout == due, program


def test_what_another_process_compiles_meanwhile_is_found_later(tmp_path: Path) -> None:
    program = """
import subprocess, sys
assert compiled(outer) == [] and not outer.overloads
other = "from lazy import *\\nwith compiling.forced(): outer(3)"
subprocess.run([sys.executable, "-c", other], check=True)
assert compiled(outer) == [] and not outer.overloads, "it looks at every call"
outer._spent = outer._due
assert compiled(outer) == []
print(len(outer.overloads))
"""
    assert lazy(tmp_path, program).stdout == "1\n"


def test_a_live_call_does_not_wait_while_another_thread_compiles(tmp_path: Path) -> None:
    lazy(tmp_path, "with compiling.forced(): outer(3)")
    program = """
begun, go_on = threading.Event(), threading.Event()

def wait(what, begins):
    if begins:
        begun.set()
        assert go_on.wait(60)

def compile_another():
    with compiling.watched(wait), compiling.forced("another"):
        bind(body, "another", added=added)(1.5)

other = threading.Thread(target=compile_another)
other.start()
assert begun.wait(60)
assert outer(3) == 8 and not outer.overloads
go_on.set()
other.join()
outer._spent = outer._due
assert outer(3) == 8
print(len(outer.overloads))
"""
    assert lazy(tmp_path, program).stdout == "1\n"


def test_a_plain_run_goes_through_no_kernel_that_it_calls(tmp_path: Path) -> None:
    program = "outer._due = 9.0; outer(3); print(outer._calls, added._calls)"
    assert lazy(tmp_path, program).stdout == "1 0\n"


def test_a_kernel_may_call_another_through_its_module(tmp_path: Path) -> None:
    (tmp_path / "theirs.py").write_text(KERNEL.format(20))
    (tmp_path / "ours.py").write_text(OVER_A_MODULE)
    plain = "import ours; print(ours.twice(3), ours.theirs.added._calls)"
    assert lazy(tmp_path, plain).stdout == "46 0\n"
    forced = "import ours\nwith compiling.forced(): print(ours.twice(3), len(ours.twice.overloads))"
    assert lazy(tmp_path, forced).stdout == "46 1\n"


def test_in_a_plain_run_numpy_can_import_what_it_has_not_used_before(tmp_path: Path) -> None:
    program = "import numpy as np; values = np.arange(3); added._due = 9.0; outer._due = 9.0"
    (tmp_path / "lazy.py").write_text(LAZY.replace("return x + 1", "return x.min() + x.sum()"))
    assert lazy(tmp_path, f"{program}; print(outer(values))").stdout == "6\n"


CONSTANTS = """
@kernel
def over_constants(x):
    return added(-1) + added(x) + added(2)
"""


def test_a_kernel_is_compiled_once_for_all_constants_it_is_called_with(tmp_path: Path) -> None:
    (tmp_path / "lazy.py").write_text(LAZY + CONSTANTS)
    program = """
with event.install_recorder("numba:compile") as seen, compiling.forced():
    print(over_constants(3), added(3))
print([each.data["dispatcher"].__name__ for _, each in seen.buffer if each.is_start])
"""
    # The second time as it is called from Python: inside compiled code it has no entry for that.
    once = "7 4\n['over_constants', 'added', 'added']\n"
    assert lazy(tmp_path, program).stdout == once
    assert lazy(tmp_path, program).stdout == "7 4\n[]\n"


def test_who_watches_is_told_of_what_is_really_compiled_and_for_whom(tmp_path: Path) -> None:
    program = """
def tell(what, begins):
    print(what, begins)

with compiling.watched(tell):
    with compiling.allowed("sums"):
        outer(3)
    bind(body, "test")(1.5)
"""
    first = "sums True\nsums False\nbody_test True\nbody_test False\n"
    assert lazy(tmp_path, program).stdout == first
    assert lazy(tmp_path, program).stdout == ""


def test_in_a_pipe_a_command_says_on_stderr_that_it_compiles(tmp_path: Path) -> None:
    program = """
from askwise.cli.progress import progress

with progress() as tell, compiling.allowed("bounded-kube"):
    tell("simulating", 0, 10)
    outer(3), outer(3.5)
"""
    done = lazy(tmp_path, program)
    assert (done.stdout, done.stderr) == ("", "compiling bounded-kube, kernel 1\n")
    assert lazy(tmp_path, program).stderr == ""


def test_a_cache_that_can_not_be_written_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "image"))
    built = Path(code_cache.cache_directory())
    assert tmp_path in built.parents
    (built / "of_core").mkdir()
    (built / "of_core" / "one.nbc").write_bytes(b"code")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for _ in range(2):
        found = Path(code_cache.cache_directory())
        assert built not in (found, *found.parents)
        assert (found / "of_core" / "one.nbc").read_bytes() == b"code"
    assert [path.name for path in found.parent.iterdir()] == [built.name]
