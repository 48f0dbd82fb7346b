"""What the ledger keeps of money that was given apart from calls, beside the arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from askwise.core.events import Event, Kind

GIVING = frozenset((Kind.BONUS, Kind.PAID))
"""Events by which a worker is given money apart from what a call is settled at."""


@dataclass
class MoneyGiven:
    """The bonuses and payouts of a log, by worker.

    Attributes
    ----------
    bonuses, payouts : dict of int to list of int
        The events that are bonuses and payouts.
    last_paid : dict of int to str
        The last day on which each was paid.
    """

    bonuses: dict[int, list[int]] = field(default_factory=dict)
    payouts: dict[int, list[int]] = field(default_factory=dict)
    last_paid: dict[int, str] = field(default_factory=dict)

    def note(self, event: Event, worker: int) -> None:
        """Take in a bonus or a payout."""
        if event.kind == Kind.BONUS:
            self.bonuses.setdefault(worker, []).append(event.seq)
        else:
            self.payouts.setdefault(worker, []).append(event.seq)
            self.last_paid[worker] = max(event.on or "", self.last_paid.get(worker, ""))

    def to_json(self) -> dict[str, Any]:
        """As JSON, which has no part in what happens later."""
        return {
            "bonuses": [[at, list(seqs)] for at, seqs in self.bonuses.items()],
            "payouts": [[at, list(seqs)] for at, seqs in self.payouts.items()],
            "last_paid": list(self.last_paid.items()),
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> MoneyGiven:
        """Read back what ``to_json`` wrote."""
        return cls(dict(raw["bonuses"]), dict(raw["payouts"]), dict(raw["last_paid"]))
