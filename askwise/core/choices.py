"""What an ask comes to: a batch of assignments, something to wait for, or the end.

All three are sequences of assignments, so ``while batch := campaign.ask():`` and
``for each in campaign.ask(5):`` need no look at the type; ``Wait`` and ``Done`` are empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Literal, overload

from askwise.core.json_types import AssignmentId, Chance, Id, JsonLimits
from askwise.core.jsonable import Jsonable
from askwise.core.money import from_micro, to_micro

WaitFor = Literal["truth", "answers", "workers", "resume"]
DoneWhy = Literal[
    "budget",
    "limits",
    "tasks",
    "target",
    "agreement",
    "certified",
    "hopeless",
    "worthless",
    "stopped",
]


WHY_DONE: dict[str, str] = {
    "budget": "the budget is used up",
    "limits": "every worker has reached their limit",
    "tasks": "no task is left to ask about",
    "target": "the target is reached",
    "agreement": "sure enough by agreement alone",
    "certified": "the labels are certified, as far as the audits allow",
    "hopeless": "no audits that are left could certify any label",
    "worthless": "no further answer is believed to be worth its price",
    "stopped": "it was stopped",
}
"""Why nothing more is asked, in words, by the word of ``Done``."""


@dataclass(frozen=True, slots=True)
class Assignment(Jsonable):
    """One question put to one worker, at a price that is reserved.

    ``payload`` is the task's: what the worker is shown. It comes with the assignment so that nobody
    has to look it up, and is not part of it: two assignments that differ in nothing else are equal,
    and ``to_json`` leaves it to the task.

    Attributes
    ----------
    id : str
        The campaign and a number; ``tell`` takes it.
    task : str or None
        The task; None where units of work are bought.
    worker : str
        The worker who is asked.
    price : Decimal
        The most that the answer costs; it is reserved until the answer comes.
    propensity : float or None
        The probability of this choice; None where it has no closed form.
    expires : float or None
        When the lease ends, in seconds since 1970; None without a lease.
    payload : Any
        What the worker is shown.
    """

    id: AssignmentId
    task: Id | None
    worker: Id
    price: Decimal
    propensity: Chance | None
    expires: float | None
    payload: Any = field(default=None, compare=False, repr=False)

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Assignment:
        """Read back what ``to_json`` wrote, and the payload where a service has added it."""
        return cls(
            id=raw["id"],
            task=raw["task"],
            worker=raw["worker"],
            price=from_micro(to_micro(raw["price"], "price")),
            propensity=raw.get("propensity"),
            expires=raw["expires"],
            payload=raw.get("payload"),
        )


class _Choice(Sequence[Assignment]):
    """A sequence of assignments; one that hands nothing out is false, and a loop over it ends."""

    __slots__ = ()

    def _handed_out(self) -> tuple[Assignment, ...]:
        return ()

    def __len__(self) -> int:
        return len(self._handed_out())

    @overload
    def __getitem__(self, index: int) -> Assignment: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Assignment, ...]: ...
    def __getitem__(self, index: int | slice) -> Assignment | tuple[Assignment, ...]:
        if not self and not isinstance(index, slice):
            raise IndexError(f"{self!r} holds no assignments")
        return self._handed_out()[index]

    def __iter__(self) -> Iterator[Assignment]:
        return iter(self._handed_out())


@dataclass(frozen=True, slots=True)
class Wait(_Choice):
    """Nothing to ask now; something must come first.

    Attributes
    ----------
    status : "wait"
        Says that it is this of the three, in JSON.
    what : WaitFor
        What must come first. ``truth``: the truth of a task; ``answers``: answers to open
        assignments; ``workers``: other workers than those available; ``resume``: the campaign is
        paused.
    """

    what: WaitFor

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {"status": "wait", "what": self.what}

    @classmethod
    def json_fields(cls) -> dict[str, Any]:
        """The type of each property of the JSON."""
        return {"status": Literal["wait"], "what": WaitFor}


@dataclass(frozen=True, slots=True)
class Done(_Choice):
    """Nothing more to ask, unless tasks, workers or money are added.

    Attributes
    ----------
    status : "done"
        Says that it is this of the three, in JSON.
    why : DoneWhy
        ``budget``: the money left buys nothing; ``limits``: everybody was asked as often as
        allowed; ``tasks``: no task is left; ``target``: every task is as sure as wanted;
        ``agreement``: the same by agreement alone, which is not a probability, because no truths
        were told; ``certified``: labels were, as far as audits could show; ``hopeless``: no audits
        that are left could certify any; ``worthless``: nobody who could be asked is believed to be
        worth more than the utility's zero, or than what a miss costs; ``stopped``: for good.
    """

    why: DoneWhy

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {"status": "done", "why": self.why}

    @classmethod
    def json_fields(cls) -> dict[str, Any]:
        """The type of each property of the JSON."""
        return {"status": Literal["done"], "why": DoneWhy}


@dataclass(frozen=True, slots=True)
class Batch(_Choice):
    """The assignments that an ask hands out: never empty.

    Attributes
    ----------
    status : "batch"
        Says that it is this of the three, in JSON.
    assignments : tuple of Assignment
        The assignments, in the order in which they were decided.
    """

    assignments: tuple[Assignment, ...]

    def __post_init__(self) -> None:
        # An empty one would pass for Wait or Done, and nobody could tell which.
        if not self.assignments:
            raise ValueError("a Batch holds at least one assignment")

    def _handed_out(self) -> tuple[Assignment, ...]:
        return self.assignments

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {"status": "batch", "assignments": [each.to_json() for each in self.assignments]}

    @classmethod
    def json_fields(cls) -> dict[str, Any]:
        """The type of each property of the JSON."""
        several = Annotated[tuple[Assignment, ...], JsonLimits(minItems=1)]
        return {"status": Literal["batch"], "assignments": several}


def read_choice(raw: dict[str, Any]) -> Batch | Wait | Done:
    """Read back what ``to_json`` of any of the three wrote.

    Examples
    --------
    >>> read_choice(Wait("answers").to_json())
    Wait(what='answers')
    """
    if raw["status"] == "wait":
        return Wait(raw["what"])
    if raw["status"] == "done":
        return Done(raw["why"])
    return Batch(tuple(Assignment.from_json(each) for each in raw["assignments"]))
