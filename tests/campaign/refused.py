"""A campaign to try bad input on."""

from __future__ import annotations

from typing import Any

from askwise import Worker


def raw(**changes: Any) -> dict[str, Any]:
    return {
        "workers": [Worker("a", 2), Worker("b", 3)],
        "outcome": "utility",
        "budget": 20,
        "policy": "thompson-knapsack",
        "seed": 1,
        "name": "cats",
        **changes,
    }


NAN = float("nan")
