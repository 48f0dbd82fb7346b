"""One hierarchy of errors. A message names the field, the value and what would be valid."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice


class AskwiseError(Exception):
    """Base of everything askwise raises on purpose.

    Attributes
    ----------
    code : str
        Stable name of the kind of error, for programs.
    field : str or None
        The input that is at fault.
    """

    code = "error"

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class InvalidProblem(AskwiseError):
    """The campaign as described can't be run."""

    code = "invalid_problem"


class InvalidParameter(AskwiseError):
    """A parameter of a policy, rule, aggregator, mechanism or experiment is not valid."""

    code = "invalid_parameter"


class InvalidAnswer(AskwiseError):
    """An answer (or a truth) that the campaign can't take."""

    code = "invalid_answer"


class UnknownName(AskwiseError):
    """A name that stands for nothing: a policy, a worker, a task, an assignment, a campaign."""

    code = "unknown_name"


class UnknownPolicy(UnknownName):
    """No policy, rule, aggregator, mechanism or experiment is registered under this name."""

    code = "unknown_policy"


class OverBudget(AskwiseError):
    """The budget does not allow it."""

    code = "over_budget"


class Conflict(AskwiseError):
    """It clashes with what is already there, or with the state that the campaign is in."""

    code = "conflict"


class PolicyFault(AskwiseError):
    """A policy proposed something illegal; nothing was asked."""

    code = "policy_fault"


class MechanismFault(AskwiseError):
    """A mechanism would pay less than was bid; nothing was settled."""

    code = "mechanism_fault"


class TooLarge(AskwiseError):
    """Beyond the size up to which an exact solution, or a decision in seconds, is affordable."""

    code = "too_large"


class StoreError(AskwiseError):
    """The store can't be opened, read or written."""

    code = "store_error"


MANY = 1000
"""Names that are compared, at the most; it may be done while others wait."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Build the tail of an "unknown name" message: the nearest names, or all of them."""
    names = sorted(islice(known, MANY + 1))
    if len(names) > MANY or len(name) > MANY:
        return "see the list of those there are"
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(repr(each) for each in close) + "?"
    return "known: " + (", ".join(names) or "none")
