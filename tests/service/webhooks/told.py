"""What hooks were told, and where their deliveries stand."""

from __future__ import annotations

from typing import Any

from askwise import Campaign
from askwise.core.events import Kind
from tests.clock import Clock
from tests.service.webhooks.bench import Bench

URL = "http://127.0.0.1:9/"


def look(bench: Bench, clock: Clock) -> None:
    """Look, with time enough since the last look for the end to be looked for."""
    clock.pass_by(5)
    bench.watcher.look()


def told(bench: Bench, hook: str) -> list[tuple[str, int]]:
    made = reversed(bench.hooks.deliveries(hook))
    return [(each.event, each.payload["seq"]) for each in made]


def messages(bench: Bench, hook: str) -> list[dict[str, Any]]:
    return [each.payload for each in reversed(bench.hooks.deliveries(hook))]


def seqs(campaign: Campaign, kind: Kind) -> list[int]:
    return [event.seq for event in campaign.log() if event.kind == kind]


def states(bench: Bench, hook: str) -> list[str]:
    """Of a hook's deliveries, oldest first."""
    return [each.state for each in reversed(bench.hooks.deliveries(hook))]
