"""What hypothesis tries in a test depends on the test alone."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def tried() -> list[int]:
    found: list[int] = []

    @settings(max_examples=200)
    @given(st.integers(0, 10**9))
    def law(number: int) -> None:
        found.append(number)

    law()
    return found


def test_examples_are_the_same_whatever_is_imported_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tried()
    assert len(set(before)) > 100
    file = tmp_path / "full_of_constants.py"
    file.write_text("".join(f"x{at} = {at}\n" for at in range(10**6, 10**6 + 500)))
    spec = spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, file.stem, module)
    assert tried() == before
