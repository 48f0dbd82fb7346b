"""How a policy turns prices into work: what a mechanism has to know before it promises anything."""

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from askwise.core.json_types import Count, Positive, Quantity, Share
from askwise.core.jsonable import Jsonable


@dataclass(frozen=True)
class Allocation:
    """The rule by which a set of workers is chosen for each task, as far as bids are concerned.

    Parameters
    ----------
    exploration : "none", "fixed" or "adaptive"
        Whether tasks are spent on learning, and if so, whether how many depends on answers (and
        so possibly on bids) or was fixed beforehand.
    explores_all : bool
        Whether everybody is asked while it explores, whatever they bid.
    minimiser : "exact", "classes" or "greedy"
        How the set is found: the cheapest (of equally cheap ones always the same), the cheapest
        of a range that no bid has a bearing on, or by GA.
    monotone : bool
        Whether it is proved that a lower bid never gives a worker fewer tasks, whatever the
        answers and the bids of others.
    """

    exploration: Literal["none", "fixed", "adaptive"]
    explores_all: bool
    minimiser: Literal["exact", "classes", "greedy"]
    monotone: bool


class Assurance(NamedTuple):
    """What a task's answer is worth, at the lower bounds of the qualities of those who answered.

    ``error`` is by the policy's error function, ``majority`` by the exact error of the majority;
    ``outcome`` is ``assured``, ``everyone_asked`` (not assured by the bounds: it rests on the
    assumption that all workers together reach the target), ``target_not_reachable``,
    ``not_assured``, or ``open`` while answers are out; ``assurance_failed`` where the bounds would
    assure it, but audits have shown that answers are wrong more often than they say.
    """

    outcome: str
    error: float
    majority: float


@dataclass(frozen=True, slots=True)
class Watch(Jsonable):
    """What audits say of answers that are assured.

    Attributes
    ----------
    state : "holds" or "failed"
        ``holds``, or ``failed`` after the first alarm.
    statement : str
        The same in words.
    drawn : int
        Tasks that chance chose to be audited, so far.
    due : int
        Those of them whose truth is waited for.
    missing : int
        Those of them that were closed without a truth.
    judged : int
        Audited answers that the present watch counts.
    wrong : float
        How many of these were wrong; a tie counts half.
    allowed : float
        How many of these the bounds allow to be wrong, on average.
    alarms : int
        How often more were wrong than the bounds allow.
    since : int or None
        How many tasks had been begun at the first alarm; None before one.
    widened : float
        What is added to every bound on an error since then.
    """

    state: Literal["holds", "failed"]
    statement: str
    drawn: Count
    due: Count
    missing: Count
    judged: Count
    wrong: Quantity
    allowed: Quantity
    alarms: Count
    since: Positive | None
    widened: Share


class FixedWorkers:
    """A policy whose workers are those of the start: nobody joins later."""


class TakesBids(FixedWorkers, metaclass=ABCMeta):
    """A policy for which a mechanism may be proved truthful."""

    @abstractmethod
    def allocation(self) -> Allocation | None:
        """How bids decide who works; None if nothing is proved with these parameters."""


class SetsCriticalBids(TakesBids):
    """A policy that can say up to which bid a worker would have been chosen."""

    @abstractmethod
    def critical_bids(
        self, problem: Any, state: Any, ledger: Any, members: Sequence[int]
    ) -> list[float]:
        """For each of a chosen set the highest bid (micro-units) at which they were still in it."""
