"""What a run has done so far, worker by worker."""

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from askwise.core.choices import Done, Wait
from askwise.core.money import from_micro
from askwise.sources import Response


@dataclass
class CallCounts:
    """The calls of one worker in this run.

    Attributes
    ----------
    answered : int
        Calls that brought an answer.
    failed : Counter of str
        Calls that brought none, by why.
    cached : int
        Calls that had been paid for earlier.
    returned : int
        Questions that were given back unasked.
    untaken : int
        Calls that came too late for the campaign to take them.
    micro : int
        What they cost, in millionths.
    """

    answered: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    cached: int = 0
    returned: int = 0
    untaken: int = 0
    micro: int = 0

    def count(self, response: Response) -> None:
        """Take in what came back."""
        self.micro += response.cost
        self.cached += response.cached
        if response.failure is None:
            self.answered += 1
        else:
            self.failed[response.failure] += 1

    @property
    def cost(self) -> Decimal:
        """What they cost."""
        return from_micro(self.micro)


@dataclass(frozen=True)
class RunProgress:
    """A run at one moment.

    Attributes
    ----------
    workers : mapping of a worker's id to CallCounts
        The calls so far.
    in_flight : int
        How many are under way.
    outages : mapping of a worker's id to str
        Why workers can't be asked now; those who can are left out.
    """

    workers: dict[str, CallCounts]
    in_flight: int
    outages: dict[str, str] = field(default_factory=dict)

    @property
    def answered(self) -> int:
        """Answers so far."""
        return sum(each.answered for each in self.workers.values())

    @property
    def failed(self) -> int:
        """Failures so far."""
        return sum(each.failed.total() for each in self.workers.values())

    @property
    def cost(self) -> Decimal:
        """What all calls have cost."""
        return from_micro(sum(each.micro for each in self.workers.values()))

    def to_json(self) -> dict[str, Any]:
        """The run at a glance, as JSON, money as a string."""
        return {
            "answered": self.answered,
            "failed": self.failed,
            "cost": str(self.cost),
            "in_flight": self.in_flight,
            "outages": [{"worker": id, "why": why} for id, why in self.outages.items()],
        }


@dataclass(frozen=True)
class RunResult:
    """How a run ended.

    Attributes
    ----------
    end : Done, Wait or None
        What the campaign said last; None if the run was stopped.
    progress : RunProgress
        The calls.
    """

    end: Done | Wait | None
    progress: RunProgress
