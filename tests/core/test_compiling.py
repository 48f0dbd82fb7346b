"""The cache of compiled loops and kernels that are not ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.compiled

KERNEL = """
from askwise.core.compiling import kernel

@kernel
def added(x):
    return x + {}
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
