"""What the checks of stores share."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import wraps
from typing import Any, TypeVar

from askwise.core.events import Event, Kind, PlanRow
from askwise.store.base import Store
from askwise.testing.suite import Suite

MakeStore = Callable[[], Store]
Check = Callable[[MakeStore], None]
T = TypeVar("T")

SOON = 30.0
"""Seconds after which a thread that should have gone on is taken to hang."""


class StoreSuite(Suite[[MakeStore]]):
    """Checks of a fresh store, which is closed after each."""

    def on(self, *campaigns: str) -> Callable[[Callable[[Store], None]], Check]:
        """List a check of a store that has these campaigns."""

        def listed(check: Callable[[Store], None]) -> Check:
            @wraps(check)
            def check_fresh(make_store: MakeStore) -> None:
                with closing(make_store()) as store:
                    for name in campaigns:
                        store.create(name, spec="{}", time=0.0)
                    check(store)

            return self(check_fresh)

        return listed


def elsewhere(call: Callable[..., T], *arguments: object) -> T:
    """Call in another thread, and wait for it."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call, *arguments).result(SOON)


def append(store: Store, name: str, events: list[Event]) -> None:
    """Write events that follow on."""
    with store.write(name) as transaction:
        transaction.append(events, events[0].seq - 1)


def keeps_snapshots(store: Store) -> bool:
    """Whether a store keeps any: it need not."""
    return type(store).save is not Store.save


def sample_events(first: int = 1) -> list[Event]:
    """Make one event of every kind, numbered from ``first`` on, with every field in use."""
    contents: dict[Kind, dict[str, Any]] = {
        Kind.DECIDED: {
            "decision": 1,
            "rows": (PlanRow("w1", "t1", 2, 0.25), PlanRow("w2")),
            "available": ("w1", "w2"),
        },
        Kind.ASKED: {"decision": 1, "price": 50_000, "propensity": 0.1, "expires": 1e9 + 0.1},
        Kind.ANSWER: {
            "assignment": 2,
            "value": 0.1 + 0.2,
            "note": "in doubt",
            "price": 50_000,
            "cost": 60_000,
            "over_ceiling": True,
            "probabilities": {"cat": 0.1 + 0.2, "dog": 0.7},
            "rationale": "It purrs.",
            "reference": "req-1",
        },
        Kind.RENEWED: {"assignment": 2, "expires": 1e9 + 0.2},
        Kind.FLAGGED: {"assignment": 2, "why": "There is no picture."},
        Kind.COMMENTED: {"by": "ann", "text": "Look at the tail."},
        Kind.REVISED: {
            "assignment": 2,
            "value": "dog",
            "probabilities": {"cat": 0.2, "dog": 0.8},
            "rationale": "It barks.",
            "reference": "req-2",
            "by": "ann",
        },
        Kind.WITHDRAWN: {"assignment": 2, "why": "Deleted.", "by": "ann"},
        Kind.LABELLED: {"value": "cat", "by": "ann", "why": "It purrs."},
        Kind.WARNED: {"why": "31 of 60 right."},
        Kind.SUSPENDED: {"note": "gold", "why": "31 of 60 right."},
        Kind.REINSTATED: {"by": "ann"},
        Kind.QUALIFIED: {"why": "9 of 10 right."},
        Kind.FAILED: {"assignment": 2, "why": "refused", "price": 0, "cost": 0},
        Kind.TRUTH: {"value": "naïve 猫 \U0001f600"},
        Kind.CLOSED: {"value": "cat", "outcome": "confident", "confidence": 0.99},
        Kind.ADDED: {"tasks": ({"id": "t3", "context": [0.5, -1e-300], "more": {"a": None}},)},
        Kind.JOINED: {"workers": ({"id": "w3", "price": "0.05", "limit": 3},)},
        Kind.TOPPED_UP: {"price": 10**15},
        Kind.PAID: {"price": 1, "by": "ann", "on": "2026-11-18", "reference": "SEPA 4711"},
        Kind.BONUS: {"price": 1, "by": "ann", "why": "For the hard ones."},
    }
    return [
        Event(kind, seq=seq, time=seq / 3, key=f"key {seq}" if seq % 2 else None, task="t1")
        if kind not in contents
        else Event(kind, seq=seq, time=seq / 3, worker="w1", **contents[kind])
        for seq, kind in enumerate(Kind, first)
    ]
