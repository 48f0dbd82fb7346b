"""What only some policies can do or need: mixins that the campaign finds by ``isinstance``.

A policy lists those that apply after its base, ``class Mine(KernelPolicy, Explains)``.
Those without a method only say something about it. See also ``TakesBids`` and ``SetsCriticalBids``
in :mod:`askwise.core.allocation`.
"""

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from askwise.core.allocation import Assurance, Watch
from askwise.core.errors import TooLarge
from askwise.core.labels import Label
from askwise.core.problem import Problem
from askwise.kernels import Array, Draw
from askwise.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Score:
    """What a policy thought of one worker when it decided; ``index`` is what it ranks by."""

    worker: str
    index: float | None
    details: dict[str, float]


class Explains:
    """Says how it decides."""

    rule: ClassVar[str] = ""
    """The rule in words."""

    def scores(
        self, problem: Problem, state: Any, ledger: Ledger, draw: Draw, available: Array
    ) -> list[Score]:
        """What it thinks of each worker; nothing where it has no numbers for them."""
        return []


class LabelsItself(metaclass=ABCMeta):
    """Says itself what the answers are, by what it believes of workers."""

    @abstractmethod
    def labels(
        self, problem: Problem, state: Any, ledger: Ledger, tasks: Sequence[int], draw: Draw
    ) -> list[Label]:
        """Answer (an option's index) of each task, its confidence and what that rests on."""


GoldFor = Literal["side", "calibration", "audit"]
"""What truths are wanted for: ``side`` where answers alone can't tell who is right in a context,
``calibration`` to turn agreement into a probability, ``audit`` to learn how good workers and their
answers are from tasks that chance chose.
"""


@dataclass(frozen=True, slots=True)
class GoldRequest:
    """Tasks whose truth is wanted, and what for.

    With ``calibration`` (:func:`askwise.policies.drawn_at_random`) and ``audit`` they are drawn at
    random: other tasks in their place would not do. ``context`` is None where all contexts are
    meant, or tasks have none. ``count`` is how many truths are still wanted, by default as many as
    there are tasks; there may be more of them than tasks listed.
    """

    context: str | None
    tasks: list[str]
    why: GoldFor
    count: int | None = None


class SuggestsGold(metaclass=ABCMeta):
    """Knows which truths would tell it what answers alone can't."""

    @abstractmethod
    def needs_gold(
        self, problem: Problem, state: Any, ledger: Ledger, draw: Draw
    ) -> list[GoldRequest]:
        """The truths that are wanted now; ``draw`` is the same at every reading of a campaign."""


class Assures(metaclass=ABCMeta):
    """Keeps bounds on qualities, and so on the error of an answer."""

    @abstractmethod
    def assurances(
        self, problem: Problem, state: Any, ledger: Ledger, tasks: Sequence[int]
    ) -> list[Assurance]:
        """How sure each task's answer is by the bounds."""

    def watch(self, state: Any, ledger: Ledger) -> Watch | None:
        """What audits say of its assurances; None where it keeps no watch on them."""
        return None


class VotesBy(metaclass=ABCMeta):
    """Says what it says of labels that one aggregation names."""

    @abstractmethod
    def aggregation(self) -> dict[str, Any] | None:
        """The aggregation that a campaign has to have, and has by default; None for any."""


class BoundsCost(metaclass=ABCMeta):
    """Comes to a set for all further tasks, and knows how far it is from the cheapest."""

    @abstractmethod
    def gap(self, state: Any, ledger: Ledger) -> float | None:
        """By what share the cheapest set may cost less; None without a set, or if unknown."""


class Settles(metaclass=ABCMeta):
    """Asks no more about a task that is as sure as wanted, though no rule closes it.

    Where such a policy says ``Done("target")`` or ``Done("agreement")`` before every task is
    settled, the campaign says ``Done("tasks")`` instead.
    """

    @abstractmethod
    def settled(self, problem: Problem, state: Any, ledger: Ledger) -> Array:
        """Whether each task is as sure as wanted, a cell per task; quick also with many tasks."""


class LimitsSize(metaclass=ABCMeta):
    """Takes longer than a few seconds for one decision, without the compiler, at some size."""

    name: ClassVar[str]

    @abstractmethod
    def check_size(self, options: int, workers: int) -> None:
        """Refuse (TooLarge) such a size, of a new campaign or of one that workers join.

        ``workers`` counts those who left as well. Campaigns that are there already open whatever
        their size.
        """

    def refuse_size(self, what: str, value: int, limit: int, field: str, remedy: str) -> None:
        """Raise TooLarge if ``value``, which is ``what`` a decision's time grows with, exceeds
        ``limit``.
        """
        if value > limit:
            raise TooLarge(
                f"{what} is {value:,}: up to {limit:,}, policy {self.name!r} decides within "
                f"seconds; {remedy}",
                field=field,
            )


class Cautions(metaclass=ABCMeta):
    """Knows campaigns in which it may disappoint."""

    @abstractmethod
    def cautions(self, problem: Problem) -> list[str]:
        """What who creates a campaign should know of it, in sentences; logged as warnings."""


class PlansForAll:
    """Decides on a plan for all who joined: ``ask(workers=)`` restricts only the handing out."""


class AsksCrowds:
    """Its workers are crowds: unless a campaign says otherwise, they are asked about the same task
    again and again.
    """


class KnowsTruth:
    """Must be told how good everybody is: a benchmark for the lab, where that is known."""


class NeedsStopping:
    """Stays on a task until a stopping rule closes it: without one it hardly gets beyond the first
    tasks.
    """


class AwaitsTruth:
    """Learns from the truth of tasks, and may answer ``Wait("truth")``."""

    def awaited(self, state: Any, ledger: Ledger) -> list[int]:
        """The tasks whose truth it waits for; none if that of any task with answers will do."""
        return []


class TakesPilot:
    """Learns from answers to questions that it did not choose.

    A pilot may come before its first decision, and questions of the pilot between later ones.
    """
