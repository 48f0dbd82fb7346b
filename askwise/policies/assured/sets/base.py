"""What an error function is, and the registry of them."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from askwise.core.errors import InvalidParameter
from askwise.core.registry import Registry, from_label
from askwise.kernels.knapsack.inputs import Array, Numbers
from askwise.policies.assured.sets.codes import OTHER, WEIGHTED
from askwise.policies.assured.sets.inputs import alpha_of, qualities_of, solver_of

MAX_WORK = 1 << 24
"""Elementary operations after which the search for a cheapest set ends: about 50 ms."""


class Target(NamedTuple):
    """An error function, its threshold and how to solve, in plain numbers for kernels.

    ``demand`` is the sum of 2q - 1 that the linear form asks for, ``work`` the most elementary
    operations that a search may take. ``folded``: see ``ErrorFunction``.
    """

    code: int
    alpha: float
    epsilon: float
    ties: float
    solver: int
    demand: float
    work: int
    folded: bool


@dataclass(frozen=True)
class ErrorFunction(ABC):
    """How likely a set of workers gets a task wrong, from the probabilities that each is right.

    A function of your own needs ``probability``: a number that never rises when a quality
    rises (in a fixed set). Give ``slope`` if you know one, and register the class:
    ``@errors.register("mine")``.
    """

    name: ClassVar[str] = ""
    decreasing: ClassVar[bool] = False
    """Whether another worker of quality 1/2 or more never raises the error."""
    folded: ClassVar[bool] = False
    """Whether a worker who is mostly wrong is believed the opposite, so that the error falls as
    their quality does below 1/2."""
    is_of_labels: ClassVar[bool] = True
    """Whether it is the error of a campaign's labels, or at least that. Where it is not, labels are
    assured only if a majority's error is low enough as well."""
    code: ClassVar[int] = OTHER

    @abstractmethod
    def probability(self, qualities: Array) -> float:
        """Error of the set that consists of workers with these qualities; it may be empty."""

    def slope(self, workers: int) -> float | None:
        """Return L with |f(q) - f(q')| <= L max|q - q'|, or None if none is known.

        For all sets of up to this many workers, with qualities from 1/2 to 1.
        """
        return None

    def aggregation(self) -> dict[str, Any] | None:
        """The aggregation whose error it is; None where a majority is meant, however ties go."""
        return None

    def misfit(self, options: int) -> str:
        """Why it says nothing of tasks with this many options; empty if it does."""
        return ""

    def smoothness(self, delta: float, workers: int) -> float | None:
        """h(delta): how much the error changes when no quality changes by more than delta."""
        slope = self.slope(workers)
        return None if slope is None else slope * delta

    def inverse_smoothness(self, gap: float, workers: int) -> float | None:
        """How far all qualities may change while the error changes by no more than ``gap``."""
        slope = self.slope(workers)
        return None if slope is None else gap / slope

    def numbers(self) -> tuple[float, float]:
        """Parameters for kernels: epsilon and what a tie counts."""
        return 1.0, 1.0

    def target(self, alpha: float, solver: str = "auto") -> Target:
        """Put function, threshold and solver into plain numbers for kernels.

        ``code`` is -1 for a user's function, which kernels can't run.
        """
        threshold = alpha_of(alpha)
        if solver == "classes" and self.code == WEIGHTED:
            raise InvalidParameter(
                f"solver is 'classes', which compares too many sets for error {self.name!r}, where "
                "each takes a try of all answers: give 'auto', 'exact' or 'greedy'",
                field="solver",
            )
        epsilon, ties = self.numbers()
        demand = math.log(1.0 / threshold) / epsilon
        how = solver_of(solver)
        return Target(self.code, threshold, epsilon, ties, how, demand, MAX_WORK, self.folded)


errors: Registry[ErrorFunction] = Registry(
    "error function", "askwise.policies.assured.sets", group="askwise.core.accuracy"
)

Spec = str | Mapping[str, Any] | ErrorFunction


def function_of(spec: Spec) -> ErrorFunction:
    """Build an error function from its name, ``name(parameter=value)``, a mapping or itself."""
    return errors.make(from_label(spec) if isinstance(spec, str) else spec)


def error_probability(name: Spec, qualities: Numbers) -> float:
    """How likely a set of workers with these qualities gets a task wrong.

    Parameters
    ----------
    name : str, mapping or ErrorFunction
        As in the registry ``errors``: ``"majority"``, ``"majority(ties=random)"``.
    qualities : array of float
        From 0 to 1: how likely each worker is right. May be empty.

    Examples
    --------
    >>> from askwise.core.accuracy import error_probability
    >>> round(error_probability("majority", [0.8, 0.8, 0.8]), 3)
    0.104
    """
    return float(function_of(name).probability(qualities_of(qualities)))
