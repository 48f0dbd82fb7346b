"""How far people agree with one another: what nobody can be asked to exceed."""

from dataclasses import dataclass

import numpy as np

from askwise.auditing.ballots import Ballots, majority
from askwise.auditing.intervals import Interval, share
from askwise.core.json_types import Count, Share
from askwise.core.jsonable import Jsonable


@dataclass(frozen=True, slots=True)
class PeopleCard(Jsonable):
    """The people whose majority counts as the truth.

    Attributes
    ----------
    people : int
        How many people there are, on tasks that a judge was asked about.
    answers : int
        How many answers they gave, one for each person and task.
    tasks : int
        How many tasks have an answer of a person.
    tied : int
        Tasks on which their majority is tied: of k labels each counts 1/k.
    alone : int
        Tasks that one person answered.
    ceiling : Interval or None
        How often a person agrees with the majority of the others of the task, on average over
        tasks with two people or more; of k labels that are tied there each counts 1/k. None if
        there is no such task.
    attainable : float
        The highest accuracy that a judge can reach: below 1 where people are tied, as whatever a
        judge says on such a task counts 1/k at most.
    """

    people: Count
    answers: Count
    tasks: Count
    tied: Count
    alone: Count
    ceiling: Interval | None
    attainable: Share


def people_card(ballots: Ballots) -> PeopleCard:
    """Count people, and leave each out in turn."""
    number = ballots.counts.sum(axis=1)
    several = np.flatnonzero(number[ballots.human_tasks] >= 2)
    tasks, labels = ballots.human_tasks[several], ballots.human_labels[several]
    others = ballots.counts[tasks].astype(np.float64)
    rows = np.arange(len(several))
    others[rows, labels] -= 1.0
    agree = np.bincount(tasks, majority(others)[rows, labels], minlength=len(number))
    here = number >= 2
    return PeopleCard(
        people=len(ballots.human_names),
        answers=len(ballots.human_tasks),
        tasks=int(ballots.known.sum()),
        tied=int(((ballots.truth > 0).sum(axis=1) > 1).sum()),
        alone=int((number == 1).sum()),
        ceiling=share(float((agree[here] / number[here]).sum()), float(here.sum())),
        attainable=float(ballots.truth[ballots.known].max(axis=1).mean()),
    )
