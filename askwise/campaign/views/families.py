"""Workers of one family: whether they say the same more often than others do."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated

import numpy as np

from askwise.auditing.ballots import FAILED, Ballots
from askwise.auditing.intervals import Interval, paired
from askwise.core.arrays import Array
from askwise.core.json_types import Id, JsonLimits, Positive, Share
from askwise.core.jsonable import Jsonable
from askwise.core.problem import Worker


@dataclass(frozen=True, slots=True)
class FamilyAgreement(Jsonable):
    """How far workers of one family agree, beside how far they agree with others.

    Attributes
    ----------
    family : str
        The family.
    workers : tuple of str
        The workers of the family who are compared.
    within : float
        The share of pairs of answers to one task, both of the family, that agree, on average over
        tasks.
    across : float
        The same of pairs of one answer of the family and one of another worker.
    excess : Interval
        ``within`` minus ``across``.
    tasks : int
        How many tasks have pairs of both kinds.
    suspicious : bool
        Whether the interval of ``excess`` is above 0: they seem to say the same for the same
        reasons, and so count for less than as many others.
    """

    family: str
    workers: Annotated[tuple[Id, ...], JsonLimits(minItems=2)]
    within: Share
    across: Share
    excess: Interval
    tasks: Positive
    suspicious: bool


def families_of(workers: Iterable[Worker]) -> dict[str, str]:
    """The families of those who have one, by worker."""
    return {worker.id: worker.family for worker in workers if worker.family is not None}


def family_agreements(ballots: Ballots, families: dict[str, str]) -> list[FamilyAgreement]:
    """Families with two workers or more, beside workers who are not of them."""
    size = len(ballots.judge_names)
    said = np.full((len(ballots.task_names), size), FAILED)
    for at, ballot in enumerate(ballots.ballots):
        said[ballot.tasks, at] = ballot.labels
    found = []
    for family in dict.fromkeys(families.values()):
        own = [families.get(name) == family for name in ballots.judge_names]
        pairs = list(combinations(range(size), 2))
        within, here = _agreeing(said, [pair for pair in pairs if own[pair[0]] and own[pair[1]]])
        across, there = _agreeing(said, [pair for pair in pairs if own[pair[0]] != own[pair[1]]])
        both = here & there
        if not both.any():
            continue
        excess = paired(within[both] - across[both])
        found.append(
            FamilyAgreement(
                family,
                tuple(name for name, mine in zip(ballots.judge_names, own, strict=True) if mine),
                float(within[both].mean()),
                float(across[both].mean()),
                excess,
                int(both.sum()),
                excess.low > 0,
            )
        )
    return found


def _agreeing(said: Array, pairs: list[tuple[int, int]]) -> tuple[Array, Array]:
    """The share of pairs that agree on each task, and where there is such a pair."""
    agree, count = np.zeros(len(said)), np.zeros(len(said))
    for one, other in pairs:
        here = (said[:, one] != FAILED) & (said[:, other] != FAILED)
        count += here
        agree += here & (said[:, one] == said[:, other])
    return agree / np.maximum(count, 1), count > 0
