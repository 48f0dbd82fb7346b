"""One hierarchy of errors. A message names the field, the value and what would be valid.

A program that has to decide looks at the class and at ``reason``, never at the message.
"""

import difflib
from collections.abc import Iterable
from itertools import islice
from typing import Any, ClassVar

from askwise.core.reasons import REASONS, Reason


def _known(reason: Reason) -> Reason:
    """Refuse a word outside the set: nobody would know what to do about it."""
    if reason not in REASONS:
        raise ValueError(f"reason is {reason!r}: give one of askwise.core.reasons")
    return reason


class AskwiseError(Exception):
    """Base of everything askwise raises on purpose.

    Attributes
    ----------
    code : str
        Stable name of the kind of error, for programs.
    field : str or None
        The input that is at fault.
    reason : str
        Why, in a word of :data:`askwise.core.reasons.Reason`; the class's ``default_reason``
        where nothing finer is known.

    Examples
    --------
    >>> Conflict("the campaign was stopped", reason="campaign_stopped").reason
    'campaign_stopped'
    >>> Conflict("it clashes").reason
    'conflict'
    """

    code: str = "error"
    default_reason: ClassVar[Reason] = "error"

    def __init__(
        self, message: str, *, field: str | None = None, reason: Reason | None = None
    ) -> None:
        super().__init__(message)
        self.field = field
        self.reason: Reason = _known(self.default_reason if reason is None else reason)

    def __init_subclass__(cls, code: Reason | None = None, **options: Any) -> None:
        """``code`` is what the class stands for, as a reason too where nothing finer is known."""
        super().__init_subclass__(**options)
        if code is not None:
            cls.code = cls.default_reason = code
        _known(cls.default_reason)


class InvalidProblem(AskwiseError, code="invalid_problem"):
    """The campaign as described can't be run."""


class InvalidParameter(AskwiseError, code="invalid_parameter"):
    """A parameter of a policy, rule, aggregator, mechanism or experiment is not valid."""


class InvalidAnswer(AskwiseError, code="invalid_answer"):
    """An answer (or a truth) that the campaign can't take."""


class UnknownName(AskwiseError, code="unknown_name"):
    """A name that stands for nothing: a policy, a worker, a task, an assignment, a campaign."""


class UnknownPolicy(UnknownName, code="unknown_policy"):
    """No policy, rule, aggregator, mechanism or experiment is registered under this name.

    Attributes
    ----------
    missing : str or None
        What nothing installed adds: ``"policy 'optimist'"``. None if a package adds it, but fails.
    """

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        reason: Reason | None = None,
        missing: str | None = None,
    ) -> None:
        super().__init__(message, field=field, reason=reason)
        self.missing = missing


class OverBudget(AskwiseError, code="over_budget"):
    """The budget does not allow it."""


class Conflict(AskwiseError, code="conflict"):
    """It clashes with what is already there, or with the state that the campaign is in."""


class PolicyFault(AskwiseError, code="policy_fault"):
    """A policy proposed something illegal; nothing was asked."""


class MechanismFault(AskwiseError, code="mechanism_fault"):
    """A mechanism would pay less than was bid; nothing was settled."""


class TooLarge(AskwiseError, code="too_large"):
    """Beyond the size up to which an exact solution, or a decision in seconds, is affordable."""


class StoreError(AskwiseError, code="store_error"):
    """The store can't be opened, read or written."""


MANY = 1000
"""The most names that are compared; it may be done while others wait."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Build the tail of an "unknown name" message: the nearest names, or all of them."""
    names = sorted(islice(known, MANY + 1))
    if len(names) > MANY or len(name) > MANY:
        return "see the list"
    likely = [each for each in names if not _is_word_inside(name, each)]
    close = difflib.get_close_matches(name, likely, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(repr(each) for each in close) + "?"
    return "known: " + (", ".join(names) or "none")


def _is_word_inside(name: str, other: str) -> bool:
    """Whether another name merely ends with this one, as "context" ends with "text".

    That is another word and no misspelling; "kube" in "bounded-kube" is a word of its own.
    """
    before = other[: -len(name)] if name and other.endswith(name) else ""
    return len(before) > 2 and before[-1].isalpha()
