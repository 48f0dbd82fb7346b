"""What a run has done so far, worker by worker."""

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal

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
    """A run at one moment: the calls so far, and how many are under way."""

    workers: dict[str, CallCounts]
    in_flight: int

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
