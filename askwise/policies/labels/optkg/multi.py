"""One OptKG a context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from askwise.policies.base import policies
from askwise.policies.labels.optkg.policy import OptKG


@policies.register("optkg-multi")
@dataclass(frozen=True)
class OptKGMulti(OptKG):
    """Run one OptKG a context, each on its share of the money.

    The context that had the least money per task, spent and reserved, is next (then the one that
    appeared first): so at any time the money is split in proportion to the contexts' tasks, up
    to one answer. Where nothing can be asked in a context, its share goes to the others by the
    same rule.

    Parameters
    ----------
    positive, negative : float
        Prior of a task: the paper's a and b.
    right, wrong : float
        Prior of a worker in each context: the paper's c and d.
    workers : bool
        False: the simplified model, in which an answer counts the same whoever gives it.

    Assumes that a worker is equally good on all tasks of a context, and needs contexts. Two
    options only.

    Not with many small contexts: what a worker shows in one says nothing about another.

    References
    ----------
    Paper 002, section 5.1: "OptKG (Multi.)".

    Examples
    --------
    >>> from askwise import Campaign, Task, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("ann", 1), Worker("bob", 1)],
    ...     tasks=[Task("t1", "sports"), Task("t2", "sports"), Task("t3", "cooking")],
    ...     options=["no", "yes"],
    ...     budget=3,
    ...     policy="optkg-multi",
    ... )
    >>> [work.task for work in campaign.ask(3)]
    ['t1', 't3', 't2']
    """

    rule: ClassVar[str] = (
        "in the context that had the least money per task, ask the pair of task and worker whose "
        "more telling answer would raise the confidence in the task's answer most"
    )
    multi: ClassVar[bool] = True
