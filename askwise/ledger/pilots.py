"""What the ledger keeps of a pilot beside the arrays."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from askwise.core.events import HANDED_OVER, Event, Kind
from askwise.core.pilot import PILOT


@dataclass
class PilotRecord:
    """The draw of a pilot, and what happened since that no array holds.

    Attributes
    ----------
    draw : dict
        Tasks and workers, as they were put on record.
    over : bool
        Whether the policy has decided with workers of the pilot at hand.
    failures : dict of str to Counter
        Why calls of the pilot failed, by worker.
    """

    draw: dict[str, Any]
    over: bool = False
    failures: dict[str, Counter[str]] = field(default_factory=dict)

    def note(self, event: Event) -> None:
        """Take in an event that follows the draw."""
        # A hand-over is no decision of the policy either.
        decides = event.kind == Kind.DECIDED and event.note not in (PILOT, HANDED_OVER)
        if decides and not self.over:
            here = event.available
            self.over = here is None or not set(here).isdisjoint(self.draw["workers"])
        elif event.kind == Kind.FAILED and self._asks(event.worker, event.task):
            assert event.worker is not None
            self.failures.setdefault(event.worker, Counter())[event.why or ""] += 1

    def _asks(self, worker: str | None, task: str | None) -> bool:
        return worker in self.draw["workers"] and task in self.draw["tasks"]

    def to_json(self) -> dict[str, Any]:
        """As a snapshot keeps it."""
        return {"draw": self.draw, "over": self.over, "failures": dict(self.failures)}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> PilotRecord:
        """Read back what ``to_json`` wrote."""
        failures = {worker: Counter(whys) for worker, whys in raw["failures"].items()}
        return cls(raw["draw"], raw["over"], failures)
