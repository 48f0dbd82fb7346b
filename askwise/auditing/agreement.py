"""Whether a judge agrees with people at least as often as is asked, with confidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from askwise.auditing.ballots import FAILED, Ballots, Sources, read_ballots
from askwise.core.arrays import Array
from askwise.core.checks import between
from askwise.core.errors import InvalidParameter, nearest
from askwise.core.json_types import Count, Share
from askwise.core.jsonable import Jsonable
from askwise.core.scoring import TIE

CONFIDENCE = 0.95

MOST = 1_000_000
"""Tasks up to which it is worked out how many are needed."""

STEP = 1000
"""Numbers of tasks that are tried together at first; then twice as many each time."""


@dataclass(frozen=True, slots=True)
class JudgeAgreement(Jsonable):
    """How often a judge says what most people say, and whether that is shown to be enough.

    Attributes
    ----------
    judge : str
        The name of the judge.
    tasks : int
        Tasks with a verdict of theirs and an answer of a person.
    agreed : int
        Tasks on which all of their verdicts are what most people say. Where people are tied it
        counts as no agreement: an exact interval counts whole tasks, and a tie shows none.
    tied : int
        Those of the tasks on which people are tied.
    failures : int
        Their verdicts without a label on tasks that people answered; they are no part of it.
    at_least : float
        The share that is asked for.
    confidence : float
        How sure it has to be.
    low : float
        The lower end of the exact one-sided interval of the share, by Clopper and Pearson.
    holds : bool
        Whether that end reaches what is asked for.
    more : int or None
        How many more tasks would show it if the judge goes on as so far; 0 if it holds, None if no
        number would, or none up to a million.
    """

    judge: str
    tasks: Count
    agreed: Count
    tied: Count
    failures: Count
    at_least: Share
    confidence: Share
    low: Share
    holds: bool
    more: Count | None

    def sentence(self) -> str:
        """Say it in words."""
        if not self.tasks:
            return (
                f"{self.judge} has no verdict on a task that people answered, so nothing shows "
                f"that it agrees on {self.at_least:.1%} or more."
            )
        noun = "task" if self.tasks == 1 else "tasks"
        verdicts = "verdict that" if self.failures == 1 else "verdicts that"
        failed = f" (without {self.failures:,} {verdicts} failed)" if self.failures else ""
        found = (
            f"{self.judge} agrees with people on {self.agreed / self.tasks:.1%} of {self.tasks:,} "
            f"{noun}{failed}, and with {self.confidence:.0%} confidence on at least "
            f"{_rounded_down(self.low)}"
        )
        return f"{found}: {self.at_least:.1%} is {self._outcome()}.{self._about_ties()}"

    def _outcome(self) -> str:
        if self.holds:
            return "reached"
        if self.more is not None:
            rest = f"with the same share, about {self.more:,} more tasks would show it"
        elif self.agreed < self.at_least * self.tasks:
            rest = "it agrees less often than that, so more tasks would not show it"
        else:
            rest = f"it is so close to that that {MOST:,} tasks would not show it"
        return f"not reached; {rest}"

    def _about_ties(self) -> str:
        """Why this share is smaller than the accuracy of the report card."""
        if not self.tied:
            return ""
        tied = "1 task counts" if self.tied == 1 else f"{self.tied:,} tasks count"
        return (
            f" {tied} as disagreement because people are tied there; the accuracy in the report "
            "gives each of k tied labels 1/k."
        )


def agreements(
    verdicts: Mapping[str, Any],
    humans: Mapping[str, Any],
    *,
    at_least: float,
    judge: str | None = None,
    confidence: float = CONFIDENCE,
    sources: Sources = Sources(),  # noqa: B008 - a tuple of words
) -> tuple[JudgeAgreement, ...]:
    """Hold judges against people: does each agree with them at least this often?

    The claim "every judge does" needs no correction for their number: it is made only if each of
    them passes.

    Parameters
    ----------
    verdicts, humans : mappings of columns, or data frames
        As :func:`~askwise.auditing.check` takes them.
    at_least : float
        The share of tasks on which a judge has to agree with most people, between 0 and 1.
    judge : str, optional
        The one who is held to it; every judge by default.
    confidence : float
        With which the share has to be reached.

    Examples
    --------
    >>> said = {"task": range(60), "worker": ["gpt"] * 60, "label": ["yes"] * 60}
    >>> told = {"task": range(60), "worker": ["ann"] * 60, "label": ["yes"] * 57 + ["no"] * 3}
    >>> found = agreements(said, told, at_least=0.9)[0]
    >>> found.agreed, round(found.low, 3), found.holds, found.more
    (57, 0.876, False, 56)
    """
    between(at_least, "at_least", 0.0, 1.0)
    between(confidence, "confidence", 0.5, 1.0)
    ballots = read_ballots(verdicts, humans, sources, None)
    if judge is not None and judge not in ballots.judge_names:
        raise InvalidParameter(
            f"judge is {judge!r}, who is not in {sources.verdicts}: "
            f"{nearest(judge, ballots.judge_names)}",
            field="judge",
        )
    wanted = ballots.judge_names if judge is None else (judge,)
    return tuple(_agreement(ballots, name, at_least, confidence) for name in wanted)


def held(found: Sequence[JudgeAgreement]) -> bool:
    """Whether every judge agrees often enough."""
    return all(each.holds for each in found)


def lower_end(agreed: int, tasks: int, confidence: float = CONFIDENCE) -> float:
    """The lower end of the exact one-sided interval of a share.

    Examples
    --------
    Of 59 tasks all agree: the share is .95 or more, as .95 ** 59 is below .05.

    >>> lower_end(58, 58) < 0.95 < lower_end(59, 59)
    True
    """
    if agreed == 0:
        return 0.0
    return float(scipy.special.betaincinv(agreed, tasks - agreed + 1, 1.0 - confidence))


def _agreement(ballots: Ballots, name: str, at_least: float, confidence: float) -> JudgeAgreement:
    judge = ballots.judge_names.index(name)
    seen, shares = ballots.dense(judge)
    here = ballots.known[seen]
    right = (shares[here] * ballots.truth[seen[here]]).sum(axis=1)
    tasks, agreed = len(right), int((right > 1.0 - TIE).sum())
    tied = int(((ballots.truth[seen[here]] > 0).sum(axis=1) > 1).sum())
    failed = (ballots.judges == judge) & (ballots.labels == FAILED)
    failures = int((failed & ballots.known[ballots.tasks]).sum())
    low = lower_end(agreed, tasks, confidence) if tasks else 0.0
    holds = low >= at_least
    more = 0 if holds else _more(agreed, tasks, at_least, confidence)
    return JudgeAgreement(
        *(name, tasks, agreed, tied, failures, at_least, confidence, low, holds, more),
    )


def _more(agreed: int, tasks: int, at_least: float, confidence: float) -> int | None:
    """How many more tasks would do, of which the same share agrees, rounded down."""
    if agreed <= at_least * tasks:
        return None
    first, step = tasks + 1, STEP
    while first <= MOST:
        sizes = np.arange(first, min(first + step, MOST + 1))
        enough = _shown(sizes * agreed // tasks, sizes, at_least, confidence)
        if enough.any():
            return int(sizes[enough.argmax()]) - tasks
        first, step = first + step, 2 * step
    return None


def _shown(agreed: Array, tasks: Array, at_least: float, confidence: float) -> Array:
    """Whether this many would agree with a probability of at most 1 - confidence if fewer did."""
    return (agreed > 0) & (
        scipy.special.betainc(np.maximum(agreed, 1), tasks - agreed + 1, at_least)
        <= 1.0 - confidence
    )


def _rounded_down(share: float) -> str:
    """A share in per cent that is not more than it is."""
    return f"{int(share * 1000) / 10:.1f}%"
