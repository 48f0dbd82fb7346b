"""Loops that would have to be compiled, run as plain Python: compiling one takes seconds."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from askwise.campaign import folding
from askwise.campaign.views import timeline
from askwise.ledger import stretches


def uncompiled(template: Callable[..., Any], label: str, *, live: bool, **names: Any) -> Any:
    """Bind the loop without compiling it: a policy's loop takes seconds to compile."""
    return types.FunctionType(template.__code__, {**template.__globals__, **names})


@pytest.fixture
def plain_loops(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let loops run that are used only where they are compiled."""
    for module in (folding, stretches, timeline):
        monkeypatch.setattr(module, "bind", uncompiled)
        monkeypatch.setattr(module, "ready", lambda *_: True)
    monkeypatch.setattr(folding, "_loops", {})
    monkeypatch.setattr(folding, "_loaded", set())
    made = (stretches._kernels, timeline._loop)
    for each in made:
        each.cache_clear()
    yield
    for each in made:
        each.cache_clear()
