"""Who said what of which task, as numbers: verdicts of judges beside the answers of people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidProblem
from askwise.core.names import coded, ordered
from askwise.core.scoring import TIE

COLUMNS = ("task", "worker", "label")

FAILED = -1
"""The code of a verdict that has no label."""


class Sources(NamedTuple):
    """What messages call the two tables."""

    verdicts: str = "verdicts"
    humans: str = "humans"


class Ballot(NamedTuple):
    """What one judge says of tasks: the share of their verdicts that names a label.

    Attributes
    ----------
    tasks, labels : arrays of int
        Codes; a pair is there once.
    shares : array
        Of the verdicts on the task; those of a task sum to 1.
    """

    tasks: Array
    labels: Array
    shares: Array


@dataclass(frozen=True, eq=False)
class Ballots:
    """Verdicts and answers in common codes.

    Attributes
    ----------
    task_names, judge_names, human_names, label_names : tuples of str
        What the codes stand for. Tasks are those that a judge was asked about.
    tasks, judges, labels, orders : arrays of int
        One entry for each verdict; a label of -1 is a failure. Without orders these are all 0.
    order_names : tuple of str
        Empty without orders.
    human_tasks, humans, human_labels : arrays of int
        One entry for each answer of a person, one per person and task.
    repeated_answers, elsewhere : int
        Answers left out: further ones of a person to a task; those to tasks without a verdict.
    sources : Sources
        What messages call the tables.
    """

    task_names: tuple[str, ...]
    judge_names: tuple[str, ...]
    human_names: tuple[str, ...]
    label_names: tuple[str, ...]
    tasks: Array
    judges: Array
    labels: Array
    orders: Array
    human_tasks: Array
    humans: Array
    human_labels: Array
    order_names: tuple[str, ...] = ()
    repeated_answers: int = 0
    elsewhere: int = 0
    sources: Sources = field(default_factory=Sources)

    @cached_property
    def counts(self) -> Array:
        """How many people gave each label to each task."""
        shape = len(self.task_names), len(self.label_names)
        cells = self.human_tasks * shape[1] + self.human_labels
        return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)

    @cached_property
    def truth(self) -> Array:
        """The majority of people, tasks x labels: of k tied labels each has 1/k; else 0."""
        return majority(self.counts.astype(np.float64))

    @cached_property
    def known(self) -> Array:
        """Which tasks a person answered."""
        return self.counts.sum(axis=1) > 0

    @cached_property
    def ballots(self) -> tuple[Ballot, ...]:
        """What each judge says of the tasks of which they gave a verdict."""
        return tuple(self._ballot(at) for at in range(len(self.judge_names)))

    def _ballot(self, judge: int) -> Ballot:
        mine = (self.judges == judge) & (self.labels != FAILED)
        options = len(self.label_names)
        cells, times = np.unique(self.tasks[mine] * options + self.labels[mine], return_counts=True)
        tasks, labels = cells // options, cells % options
        given = np.bincount(tasks, times, minlength=len(self.task_names))
        return Ballot(tasks, labels, times / given[tasks])

    def dense(self, judge: int) -> tuple[Array, Array]:
        """The tasks that a judge gave a verdict on, and the share of each label there."""
        ballot = self.ballots[judge]
        tasks, rows = np.unique(ballot.tasks, return_inverse=True)
        shares = np.zeros((len(tasks), len(self.label_names)))
        shares[rows, ballot.labels] = ballot.shares
        return tasks, shares

    @cached_property
    def right(self) -> tuple[Array, Array]:
        """How right judges are, tasks x judges, and where that is known."""
        shape = len(self.task_names), len(self.judge_names)
        right, known = np.zeros(shape), np.zeros(shape, bool)
        for at, ballot in enumerate(self.ballots):
            hits = ballot.shares * self.truth[ballot.tasks, ballot.labels]
            right[:, at] = np.bincount(ballot.tasks, hits, minlength=shape[0])
            known[ballot.tasks, at] = True
        known &= self.known[:, None]
        return np.where(known, right, 0.0), known

    @cached_property
    def asked(self) -> Array:
        """How often each judge was asked about each task, failures included."""
        shape = len(self.task_names), len(self.judge_names)
        cells = self.tasks * shape[1] + self.judges
        return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)

    @cached_property
    def votes(self) -> Array:
        """One vote per judge and task, tasks x labels."""
        found = np.zeros((len(self.task_names), len(self.label_names)))
        for ballot in self.ballots:
            found[ballot.tasks, ballot.labels] += ballot.shares
        return found


def majority(votes: Array) -> Array:
    """The label with most votes in each row as 1, of k tied ones 1/k each; 0 without a vote.

    Examples
    --------
    >>> import numpy as np
    >>> majority(np.array([[2.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])).tolist()
    [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]
    """
    top = votes.max(axis=1, keepdims=True)
    best = (votes > top - TIE) & (top > 0)
    return best / np.maximum(best.sum(axis=1, keepdims=True), 1)


def read_ballots(
    verdicts: Mapping[str, Any], humans: Mapping[str, Any], sources: Sources, order: str | None
) -> Ballots:
    """Put two tables into common codes; refuses what can't be measured."""
    said = _columns(verdicts, sources.verdicts, order)
    told = _columns(humans, sources.humans, None)
    for row, label in enumerate(told["label"]):
        if not label:
            raise InvalidProblem(
                f"{sources.humans}: answer {row + 1}, of {told['worker'][row]!r} to task "
                f"{told['task'][row]!r}, has no label: fill it in or take the row out",
                field="label",
            )
    _refuse_both(said["worker"], told["worker"], sources)
    tasks, task_names = coded(said["task"])
    judges, judge_names = coded(said["worker"])
    place = {name: at for at, name in enumerate(task_names)}
    shared = [row for row, task in enumerate(told["task"]) if task in place]
    if not shared:
        raise InvalidProblem(
            f"{sources.humans} has no task in common with {sources.verdicts}: it begins with "
            f"{told['task'][0]!r}, the other with {said['task'][0]!r}; judges are measured on "
            "tasks that people answered too",
            field="task",
        )
    human_tasks = np.array([place[told["task"][row]] for row in shared])
    humans_coded, human_names = coded([told["worker"][row] for row in shared])
    answers = [told["label"][row] for row in shared]
    label_names = ordered({*said["label"], *answers} - {""})
    _refuse_strangers(said["label"], told["label"], sources)
    code = {name: at for at, name in enumerate(label_names)} | {"": FAILED}
    pairs = human_tasks.astype(np.int64) * len(human_names) + humans_coded
    firsts = np.sort(np.unique(pairs, return_index=True)[1])
    orders, order_names = _orders(said, order, sources)
    return Ballots(
        *(task_names, judge_names, human_names, label_names),
        *(tasks.astype(np.int64), judges.astype(np.int64)),
        np.array([code[label] for label in said["label"]]),
        *(orders, human_tasks[firsts], humans_coded[firsts].astype(np.int64)),
        np.array([code[label] for label in answers])[firsts],
        order_names,
        repeated_answers=len(pairs) - len(firsts),
        elsewhere=len(told["task"]) - len(shared),
        sources=sources,
    )


def _columns(table: Mapping[str, Any], source: str, order: str | None) -> dict[str, list[str]]:
    wanted = (*COLUMNS, *([] if order is None else [order]))
    for name in wanted:
        if name not in table:
            raise InvalidProblem(
                f"{source} has no column {name!r}: it needs {', '.join(wanted)}", field=name
            )
    found = {name: [_text(value) for value in table[name]] for name in wanted}
    if len({len(column) for column in found.values()}) > 1:
        raise InvalidProblem(
            f"{source}: columns differ in length; give one value a row", field="task"
        )
    if not found["task"]:
        raise InvalidProblem(f"{source} has no rows: give at least one", field="task")
    for name in wanted:
        if name != "label" and "" in found[name]:
            row = found[name].index("") + 1
            raise InvalidProblem(
                f"{source}: {name} is empty in row {row}; fill it in or take the row out",
                field=name,
            )
    if not any(found["label"]):
        raise InvalidProblem(f"{source}: every label is empty; give labels", field="label")
    return found


def _text(value: Any) -> str:
    """A cell as text; what is missing is empty."""
    # A data frame has several words for it, one of which can't even be compared.
    missing = value is None or type(value).__name__ in ("NAType", "NaTType")
    return "" if missing or value != value else str(value).strip()


def _refuse_both(judges: Sequence[str], humans: Sequence[str], sources: Sources) -> None:
    both = ordered(set(judges) & set(humans))
    if both:
        more = f" (and {len(both) - 1} more)" if len(both) > 1 else ""
        raise InvalidProblem(
            f"worker {both[0]!r}{more} is in {sources.verdicts} and in {sources.humans}: nobody is "
            "measured against themselves; take them out of one of the two, or rename one",
            field="worker",
        )


def _refuse_strangers(said: Sequence[str], told: Sequence[str], sources: Sources) -> None:
    if set(said) & set(told):
        return
    first, other = ordered(set(told))[0], ordered(set(said) - {""})[0]
    raise InvalidProblem(
        f"{sources.humans} has no label in common with {sources.verdicts}: it has {first!r}, the "
        f"other has {other!r}; write the same label in the same way",
        field="label",
    )


def _orders(
    said: Mapping[str, list[str]], order: str | None, sources: Sources
) -> tuple[Array, tuple[str, ...]]:
    if order is None:
        return np.zeros(len(said["task"]), np.int64), ()
    codes, names = coded(said[order])
    if len(names) < 2:
        raise InvalidProblem(
            f"{sources.verdicts}: column {order!r} has the one value {names[0]!r}: give a column "
            "with two orders or more, or leave the order out",
            field="order",
        )
    return codes.astype(np.int64), names
