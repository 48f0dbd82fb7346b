"""How many tasks ended how, and how sure of them one is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from askwise.campaign.views.answers import Answer
from askwise.core.jsonable import Jsonable
from askwise.core.labels import RestsOn
from askwise.ledger.entries import REMOVED

BINS = 10
"""Of confidence, from 0 to 1."""

_ORDER = (
    *("labelled", "confident", "assured", "sure_enough", "everyone_asked", "not_assured"),
    *("low_confidence", "assurance_failed", "target_not_reachable", "over_budget", "closed"),
    "open",
)


@dataclass(frozen=True, slots=True)
class OutcomeCount(Jsonable):
    """The tasks of one outcome: all, those nobody has answered, the rest by confidence.

    ``unknown`` counts answered tasks without a confidence; ``rests_on`` says how many confidences
    are ``agreement``, ``calibrated`` and ``truth``.
    """

    outcome: str
    tasks: int
    unanswered: int
    unknown: int
    bins: tuple[int, ...]
    rests_on: dict[RestsOn, int]


@dataclass(frozen=True, slots=True)
class Outcomes(Jsonable):
    """Tasks by outcome and confidence. A bin holds its lower edge, and the last also its upper."""

    edges: tuple[float, ...]
    counts: tuple[OutcomeCount, ...]

    @property
    def rests_on(self) -> list[RestsOn]:
        """What confidences rest on: every word that is true of at least one task."""
        words: tuple[RestsOn, ...] = get_args(RestsOn)
        return [word for word in words if any(each.rests_on[word] for each in self.counts)]


def outcomes(answers: Sequence[Answer]) -> Outcomes:
    """Count tasks by outcome and confidence; none where units of work are bought.

    Examples
    --------
    >>> found = outcomes(
    ...     [Answer("a", "yes", 0.95, "confident", 5), Answer("b", None, None, "open", 0)]
    ... )
    >>> [(each.outcome, each.tasks, each.unanswered, each.bins[9]) for each in found.counts]
    [('confident', 1, 0, 1), ('open', 1, 1, 0)]
    """
    edges = np.arange(BINS + 1) / BINS
    groups: dict[str, list[Answer]] = {}
    for answer in answers:
        if answer.task is not None and answer.outcome != REMOVED:
            groups.setdefault(answer.outcome, []).append(answer)
    counts = []
    for outcome in sorted(groups, key=_place):
        group = groups[outcome]
        known = [each.confidence for each in group if each.count and each.confidence is not None]
        bases = [each.rests_on for each in group if each.count]
        places = np.clip(np.searchsorted(edges, known, side="right") - 1, 0, BINS - 1)
        unanswered = sum(each.count == 0 for each in group)
        counts.append(
            OutcomeCount(
                outcome=outcome,
                tasks=len(group),
                unanswered=unanswered,
                unknown=len(group) - unanswered - len(known),
                bins=tuple(np.bincount(places, minlength=BINS).tolist()),
                rests_on={word: bases.count(word) for word in get_args(RestsOn)},
            )
        )
    return Outcomes(tuple(edges.tolist()), tuple(counts))


def _place(outcome: str) -> tuple[int, str]:
    """Settled tasks first, open ones last, words of others' rules before these."""
    return (_ORDER.index(outcome) if outcome in _ORDER else len(_ORDER) - 2, outcome)
