"""What a mechanism is, and the registry of mechanisms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from askwise.core.ledger import Ledger
from askwise.core.problem import Problem
from askwise.core.registry import Registry


class Owed(NamedTuple):
    """What a worker is owed so far: answers, money paid, money still reserved, and why."""

    worker: str
    answers: int
    paid: int
    reserved: int
    why: str


@dataclass(frozen=True)
class Mechanism(ABC):
    """What to pay for the work that was done."""

    name: ClassVar[str] = ""

    @abstractmethod
    def settle(self, problem: Problem, ledger: Ledger, beliefs: Any = None) -> list[Owed]:
        """What each worker is owed, in the order in which they joined."""


mechanisms: Registry[Mechanism] = Registry("mechanism", "askwise.mechanisms")
"""All mechanisms by name."""
