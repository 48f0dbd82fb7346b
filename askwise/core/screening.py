"""How a campaign keeps its workers good: the terms on which gold questions are put to them.

A gold question is a question about a task whose truth was told.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, get_args

from askwise.core.checks import between, flag, real, whole
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.fields import refuse_unknown
from askwise.core.problem import Problem, Worker

QUALIFICATION: Final = "qualification"
"""The note of decisions that put gold questions to somebody before ordinary work."""

MIXED_IN: Final = "gold"
"""The note of decisions that put a gold question in the place of an ordinary one."""

GOLD_NOTES = (QUALIFICATION, MIXED_IN)

ScreenedKind = Literal["person", "model"]

FEWEST_QUESTIONS = 5
"""A qualification of fewer questions shows nothing."""

MOST_QUESTIONS = 1_000

FEWEST_ANSWERS = 10
"""Nobody is warned or suspended on fewer gold answers, whatever their interval."""


@dataclass(frozen=True, slots=True)
class ScreeningTerms:
    """When gold questions are put to workers, and what follows from their answers.

    Parameters
    ----------
    qualify : int
        How many gold questions a new worker answers before ordinary work; 0 for none.
    pass_share : float
        The share of them that must be right.
    paid : bool
        Whether the answers of the qualification are paid like others.
    rate : float
        The share of a worker's later questions that are gold, in place of ordinary ones.
    warn_below : float, optional
        Warn a worker once their accuracy on gold questions is below this line beyond doubt.
    pause_below : float, optional
        Suspend a worker once it is below this line beyond doubt.
    kinds : sequence of str
        Who is screened: ``person``, ``model`` or both. Workers without a kind count as persons;
        trusted workers and crowds are never screened.

    Examples
    --------
    >>> ScreeningTerms(qualify=10, pass_share=0.75).needed
    8
    """

    qualify: int = 10
    pass_share: float = 0.7
    paid: bool = True
    rate: float = 0.1
    warn_below: float | None = 0.8
    pause_below: float | None = 0.7
    kinds: tuple[ScreenedKind, ...] = ("person",)

    def __post_init__(self) -> None:
        try:
            self._check()
        except InvalidParameter as wrong:
            raise InvalidProblem(str(wrong), field=wrong.field) from None

    def _check(self) -> None:
        if self.qualify != 0 or isinstance(self.qualify, bool):
            field, least = "screening.qualify", FEWEST_QUESTIONS
            try:
                whole(self.qualify, field, least=least, most=MOST_QUESTIONS)
            except InvalidParameter as wrong:
                raise InvalidParameter(f"{wrong}, or 0 for none", field=field) from None
        real(self.pass_share, "screening.pass_share", "a number from 0 to 1", least=0, most=1)
        flag(self.paid, "screening.paid")
        real(self.rate, "screening.rate", "a number from 0 to 0.5", least=0, most=0.5)
        for name in ("warn_below", "pause_below"):
            if getattr(self, name) is not None:
                between(getattr(self, name), f"screening.{name}", 0, 1)
        if self.warn_below is not None and self.pause_below is not None:
            real(
                self.pause_below,
                "screening.pause_below",
                f"a number up to warn_below ({self.warn_below:g}): a warning comes first",
                most=self.warn_below,
            )
        known = get_args(ScreenedKind)
        if not self.kinds or not set(self.kinds) <= set(known):
            raise InvalidParameter(
                f"screening.kinds is {list(self.kinds)!r}: give one or both of {', '.join(known)}",
                field="screening.kinds",
            )
        if not self.qualify and not self.rate:
            raise InvalidParameter(
                "screening.qualify and screening.rate are both 0: no gold question would be "
                "asked; give one of them, or leave screening out",
                field="screening.rate",
            )

    @property
    def needed(self) -> int:
        """How many answers of the qualification must be right."""
        return math.ceil(self.pass_share * self.qualify - 1e-9)

    def screens(self, worker: Worker) -> bool:
        """Whether gold questions are put to a worker."""
        return not worker.trusted and (worker.kind or "person") in self.kinds

    def to_json(self) -> dict[str, Any]:
        """As JSON. A line that is not drawn is null: left out, it would be the default."""
        raw = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**raw, "kinds": list(self.kinds)}


def read_screening(raw: ScreeningTerms | Mapping[str, Any] | bool | None) -> ScreeningTerms | None:
    """Take terms, a mapping of their fields, or ``True`` for the usual ones."""
    if raw is None or raw is False or isinstance(raw, ScreeningTerms):
        return raw or None
    if raw is True:
        return ScreeningTerms()
    if not isinstance(raw, Mapping):
        raise InvalidProblem(
            f"screening is {raw!r}: give true, or a mapping like {{'qualify': 10, 'rate': 0.1}}",
            field="screening",
        )
    known = [field.name for field in fields(ScreeningTerms)]
    refuse_unknown(raw, known, "screening", under="screening")
    given = dict(raw)
    if "kinds" in given:
        who = given["kinds"]
        single = isinstance(who, str) or not isinstance(who, Iterable)
        given["kinds"] = (who,) if single else tuple(who)
    return ScreeningTerms(**given)


def check_screened(terms: ScreeningTerms, problem: Problem) -> None:
    """Refuse screening where no answer could be right or wrong."""
    if not problem.options:
        raise InvalidProblem(
            "screening is given in a utility campaign: gold questions have one true option; leave "
            "screening out",
            field="screening",
        )
