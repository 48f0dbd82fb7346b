"""What a stopping rule is, and the registry of rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from askwise.core.draws import Draw
from askwise.core.events import Fact
from askwise.core.ledger import Ledger
from askwise.core.problem import Problem
from askwise.core.registry import Registry


class Verdict(NamedTuple):
    """A task is finished: its option (None in a utility campaign), how sure, and why.

    ``outcome`` is ``confident``, ``low_confidence`` (the horizon came first) or ``over_budget``.
    """

    option: int | None
    outcome: str
    confidence: float | None = None


@dataclass(frozen=True)
class StoppingRule(ABC):
    """When a task has been asked often enough. Independent of the policy.

    Has state of its own, written only by ``absorb``; ``verdict`` reads. Verdicts are taken
    after each answer; folding a log applies the CLOSED it finds and never asks the rule.
    """

    name: ClassVar[str] = ""
    outcomes: ClassVar[tuple[str, ...]] = ("utility", "options")
    promise: ClassVar[str] = ""
    """Whether it guarantees an error or only trades it, and what it assumes."""
    version: ClassVar[int] = 1

    def start(self, problem: Problem, ledger: Ledger) -> Any:
        """State before anything has happened: a NamedTuple of arrays, or () for none."""
        return ()

    def absorb(self, problem: Problem, state: Any, ledger: Ledger, fact: Fact, draw: Draw) -> None:
        """Learn from a fact that the ledger has already taken in."""
        return None

    @abstractmethod
    def verdict(
        self,
        problem: Problem,
        state: Any,
        ledger: Ledger,
        task: int,
        draw: Draw,
        beliefs: Any = None,
    ) -> Verdict | None:
        """Whether a task is finished, and with which option."""


stopping: Registry[StoppingRule] = Registry("stopping", "askwise.stopping")
"""All stopping rules by name."""
