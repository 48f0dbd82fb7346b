"""What an aggregator is, and the registry of aggregators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from askwise.core.draws import Draw
from askwise.core.ledger import Ledger
from askwise.core.problem import Problem
from askwise.core.registry import Registry


@dataclass(frozen=True)
class Aggregator(ABC):
    """Answer and confidence of a task, from its answers and a policy's beliefs where it has any."""

    name: ClassVar[str] = ""
    outcomes: ClassVar[tuple[str, ...]] = ("options",)

    @abstractmethod
    def label(
        self, problem: Problem, ledger: Ledger, task: int, draw: Draw, beliefs: Any = None
    ) -> tuple[float | None, float | None]:
        """Answer of a task (an option's index, or a utility) and confidence; None if unknown."""


aggregation: Registry[Aggregator] = Registry("aggregation", "askwise.aggregation")
"""All aggregators by name."""
