"""askwise decides whom to ask next, about what, when to stop and what to pay.

Names are loaded when first used, so that importing askwise (and ``askwise --help``) is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from askwise.core.version import __version__

_HOMES = {
    "Assignment": "askwise.core.choices",
    "AskwiseError": "askwise.core.errors",
    "Batch": "askwise.core.choices",
    "Campaign": "askwise.campaign",
    "Done": "askwise.core.choices",
    "Event": "askwise.core.events",
    "Problem": "askwise.core.problem",
    "Task": "askwise.core.problem",
    "Wait": "askwise.core.choices",
    "Worker": "askwise.core.problem",
    "label": "askwise.labelling",
}
_PACKAGES = ("aggregation", "core", "lab", "mechanisms", "policies", "stopping", "store", "testing")

__all__ = [
    "AskwiseError",
    "Assignment",
    "Batch",
    "Campaign",
    "Done",
    "Event",
    "Problem",
    "Task",
    "Wait",
    "Worker",
    "__version__",
    "label",
]

if TYPE_CHECKING:
    from askwise.campaign import Campaign
    from askwise.core.choices import Assignment, Batch, Done, Wait
    from askwise.core.errors import AskwiseError
    from askwise.core.events import Event
    from askwise.core.problem import Problem, Task, Worker
    from askwise.labelling import label


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _PACKAGES:
        return importlib.import_module(f"askwise.{name}")
    raise AttributeError(f"module 'askwise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_PACKAGES])
