"""What the ledger keeps of workers' gold questions, and of what followed from their answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from askwise.core.events import Event, Kind
from askwise.core.screening import QUALIFICATION


@dataclass
class Standing:
    """The gold questions of one worker, and where they stand.

    Attributes
    ----------
    qualifying : list of int
        The ASKEDs of the gold questions that were put to them to qualify, by ``seq``.
    mixed_in : list of int
        Those of the gold questions that came in the place of ordinary ones.
    since : int
        The event after which answers count: a suspension that gold questions brought about, once
        it is lifted, begins a new count.
    qualified : bool
        Whether they have qualified.
    warned : int
        The event by which they were warned since then; 0: they were not.
    suspended : int
        The event by which they were suspended; 0: they are not.
    note : str or None
        What they were suspended for; None where somebody decided so.
    """

    qualifying: list[int] = field(default_factory=list)
    mixed_in: list[int] = field(default_factory=list)
    since: int = 0
    qualified: bool = False
    warned: int = 0
    suspended: int = 0
    note: str | None = None

    @property
    def gold(self) -> list[int]:
        """All gold questions that count, oldest first: nobody qualifies after ordinary work."""
        return [seq for seq in (*self.qualifying, *self.mixed_in) if seq > self.since]


class Standings:
    """Where all workers stand whom such an event is about, by their index."""

    def __init__(self) -> None:
        self.workers: dict[int, Standing] = {}

    def of(self, worker: int) -> Standing:
        """Where a worker stands; as everybody does in the beginning, if nothing has happened."""
        return self.workers.get(worker, Standing())

    def asked(self, event: Event, workers: list[int]) -> None:
        """Take in a decision that puts gold questions to workers; the ASKEDs follow directly."""
        for seq, worker in enumerate(workers, event.seq + 1):
            own = self.workers.setdefault(worker, Standing())
            (own.qualifying if event.note == QUALIFICATION else own.mixed_in).append(seq)

    def note(self, event: Event, worker: int) -> None:
        """Take in an event that says where a worker stands."""
        own = self.workers.setdefault(worker, Standing())
        if event.kind == Kind.QUALIFIED:
            own.qualified = True
        elif event.kind == Kind.WARNED:
            own.warned = event.seq
        elif event.kind == Kind.SUSPENDED:
            own.suspended, own.note = event.seq, event.note
        elif event.kind == Kind.REINSTATED:
            own.suspended = 0
            if own.note is not None:
                # Those answers were looked at when it was lifted, and are to count no more.
                own.since, own.warned, own.qualified = event.seq, 0, True
            own.note = None

    def suspended(self) -> list[int]:
        """The workers who are suspended."""
        return [at for at, own in self.workers.items() if own.suspended]

    def qualified(self) -> list[int]:
        """The workers who have qualified."""
        return [at for at, own in self.workers.items() if own.qualified]

    def to_json(self) -> list[Any]:
        """As a snapshot keeps it."""
        return [[at, asdict(own)] for at, own in self.workers.items()]

    @classmethod
    def from_json(cls, raw: list[Any]) -> Standings:
        """Read back what ``to_json`` wrote."""
        made = cls()
        made.workers = {at: Standing(**own) for at, own in raw}
        return made
