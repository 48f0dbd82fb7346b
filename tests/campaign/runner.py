"""Runs a campaign in a process of its own, and says what was committed.

usage: python -m tests.campaign.runner URL resume|share|revise

``resume`` answers what is out, then asks and answers one by one to the end: wherever it is
killed, the next one goes on. ``share`` answers only what it was handed itself. ``revise`` is
``resume``, and changes or withdraws some answers after the next one was given.
"""

from __future__ import annotations

import sys
import time

from askwise import Campaign, Worker
from askwise.core.choices import Batch, Done
from askwise.core.errors import Conflict
from askwise.core.events import Kind
from askwise.store import open_store

WORKERS = [Worker("a", 2, limit=30), Worker("b", 3), Worker("c", "1.5", limit=9)]


def value_of(assignment: str) -> float:
    """The answer to an assignment: a function of its number alone."""
    return int(assignment.rpartition(":")[2]) * 7919 % 101 / 100


def create(url: str, name: str = "cats") -> Campaign:
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
            name=name,
        )
    except Conflict:
        return Campaign.open(store, name)


def change_some(campaign: Campaign) -> None:
    """Change every third answer, and withdraw every seventh, unless that is done."""
    log = campaign.log()
    changed = {event.assignment for event in log if event.kind in (Kind.REVISED, Kind.WITHDRAWN)}
    given = [event.assignment for event in log if event.kind == Kind.ANSWER]
    for number, asked in enumerate(given[:-1], 1):
        id = f"{campaign.name}:{asked}"
        if number % 3 == 0 and asked not in changed:
            campaign.revise(id, 1.0 - value_of(id))
            print(f"revised {id}", flush=True)
        elif number % 7 == 0 and asked not in changed:
            campaign.withdraw(id, "It was deleted.")
            print(f"withdrawn {id}", flush=True)


def run(campaign: Campaign, *, alone: bool, revises: bool = False) -> None:
    while True:
        if alone:
            for each in campaign.assignments():
                campaign.tell(each.id, value_of(each.id))
                print(f"told {each.id}", flush=True)
        if revises:
            change_some(campaign)
        choice = campaign.ask()
        if isinstance(choice, Done):
            return
        if isinstance(choice, Batch):
            for each in choice:
                print(f"asked {each.id}", flush=True)
                campaign.tell(each.id, value_of(each.id))
                print(f"told {each.id}", flush=True)
        else:
            time.sleep(0.005)  # the other process has something out


if __name__ == "__main__":
    made = create(sys.argv[1])
    print("ready", flush=True)
    sys.stdin.readline()
    run(made, alone=sys.argv[2] != "share", revises=sys.argv[2] == "revise")
    print("done", flush=True)
