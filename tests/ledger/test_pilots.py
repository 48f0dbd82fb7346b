"""A pilot is over when the policy decides, and by nothing else."""

from __future__ import annotations

import pytest

from askwise.core.events import HANDED_OVER, Event, Kind
from askwise.core.pilot import PILOT
from askwise.ledger.pilots import PilotRecord


@pytest.mark.parametrize(
    ("note", "available", "over"),
    [
        (PILOT, ("ann",), False),
        (HANDED_OVER, ("ann",), False),
        (HANDED_OVER, None, False),
        ("drawn", ("ann",), True),
        ("drawn", None, True),
        ("drawn", ("ben",), False),
    ],
)
def test_a_pilot_is_over_once_the_policy_decides_with_its_workers_at_hand(
    note: str, available: tuple[str, ...] | None, over: bool
) -> None:
    record = PilotRecord({"tasks": ["t1"], "workers": ["ann"]})
    record.note(Event(Kind.DECIDED, note=note, available=available))
    assert record.over is over
