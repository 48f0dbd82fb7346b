"""Runs the campaign of tests/campaign/runner.py on any store, in a process of its own.

usage: python -m tests.store.campaigner URL resume|share
"""

from __future__ import annotations

import sys

from askwise import Campaign
from askwise.core.errors import Conflict
from askwise.store import open_store
from tests.campaign.runner import WORKERS, run


def create(url: str) -> Campaign:
    """Create the campaign, or open it where it was left."""
    store = open_store(url)
    try:
        return Campaign.create(
            workers=WORKERS,
            outcome="utility",
            budget=120,
            policy={"name": "thompson-knapsack", "patience": 2},
            seed=5,
            store=store,
            name="cats",
        )
    except Conflict:
        return Campaign.open(store, "cats")


if __name__ == "__main__":
    made = create(sys.argv[1])
    print("ready", flush=True)
    sys.stdin.readline()
    run(made, alone=sys.argv[2] == "resume")
    print("done", flush=True)
