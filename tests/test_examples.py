"""What a test tries depends on the test alone: hypothesis' examples, and seeds that are drawn."""

from __future__ import annotations

import random
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise import Campaign, Worker
from askwise.testing.sessions import spec_of_campaign


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


def test_a_campaign_without_a_seed_draws_the_same_each_time() -> None:
    fields: dict[str, Any] = {"workers": [Worker("ann", 1)], "outcome": "utility", "budget": 9}
    one, other = (Campaign.create(**fields, policy="uniform") for _ in range(2))
    drawn = random.Random("tests/test_examples.py")
    assert [spec_of_campaign(each).seed for each in (one, other)] == [
        drawn.getrandbits(63),
        drawn.getrandbits(63),
    ]
