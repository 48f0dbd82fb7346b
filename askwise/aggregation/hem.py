"""Hierarchical EM with context sharing, on answers that are all there."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from askwise.aggregation.answers import Answers
from askwise.aggregation.base import Iterative, Partitioned, aggregation
from askwise.aggregation.fitted import Fitted
from askwise.aggregation.parts import Parts, Split, Tally, TaskPart
from askwise.aggregation.steps import fitted_softly, sized, work_of
from askwise.core.compiling import Function
from askwise.kernels import Array, hem
from askwise.kernels.grouping import numbered


@aggregation.register("hem")
@dataclass(frozen=True)
class HemAggregator(Iterative, Partitioned):
    """Learn who is right about what by EM with partially pooled accuracies.

    A worker's accuracy is that of the crowd until their own answers say otherwise. Their accuracy
    in a context leans on that in the others, their accuracy on a class deviates from both as far as
    answers demand. Only answers that something else judges count: another answer to the task, or
    its truth. So the only answer to a task is never contradicted. The page on how ``hem`` works
    derives the model.

    Parameters
    ----------
    max_iterations : int
        Maximum number of EM rounds. With contexts EM runs twice, for at most this many rounds each
        time.
    tolerance : float
        It stops when no probability changes by more than this.
    temper : float, optional
        How dependent answers are on each other; see :class:`LabelAggregator`. 0 treats them as
        independent.

    Assumes that answers are independent given the truth, and that most workers are right more
    often than not in most contexts. Give the ``contexts`` of tasks if there are any.

    Not for workers who agree on wrong answers: give some truths, which overrule the workers.

    References
    ----------
    The model of A. Dawid, A. Skene, *Maximum likelihood estimation of observer error-rates using
    the EM algorithm*, 1979, with pooled accuracies; the policy ``hem`` asks by the same beliefs.

    Examples
    --------
    >>> from askwise.aggregation import aggregation
    >>> table = {
    ...     "task": ["t1"] * 3 + ["t2"] * 3 + ["t3"] * 3,
    ...     "worker": ["ann", "bob", "cleo"] * 3,
    ...     "label": ["a", "a", "b", "b", "b", "a", "a", "a", "a"],
    ... }
    >>> aggregation.make("hem").fit_predict(table).tolist()
    ['a', 'b', 'a']
    """

    max_iterations: int = hem.FULL_ROUNDS
    tolerance: float = hem.SETTLED
    paper: ClassVar[str] = "ours"
    uses_contexts: ClassVar[bool] = True

    def solve_in(self, answers: Answers, split: Split) -> Fitted:
        """Run EM from the votes."""
        skill, worker, place = skills_of(answers)
        contexts, classes = int(answers.contexts.max()) + 1, answers.classes
        parts = split(answers, skill)
        beliefs = hem.new_beliefs(len(worker), answers.crowd, classes, contexts, 0)
        beliefs = beliefs._replace(worker=worker, place=place)
        here = np.zeros(len(worker))
        (gave,), _ = parts.run(begin, worker)
        (said, told, by_context, overlap), _ = parts.run(count_classes, worker, gave, contexts)
        hem.set_shares(beliefs, said, told, by_context, overlap)
        rounds, moved = 0, 0.0
        for stage in range(2 if contexts > 1 else 1):
            hem.set_lent(beliefs.crowd, stage, contexts, float(overlap[2]), len(worker))
            for _ in range(self.max_iterations):
                rounds += 1
                _learn(parts, beliefs, here)
                _, moved = parts.run(judge, beliefs, here)
                if moved < self.tolerance:
                    break
        return fitted_softly(
            answers, parts.table(), iterations=rounds, converged=moved < self.tolerance
        )


def begin(part: TaskPart, table: Array, worker: Array) -> Tally:
    """Write posteriors by the votes; returns how many answers each worker gave."""
    gave = np.zeros(part.answers.crowd)
    _sized(hem.begin, part)(_by_skill(part), table)
    _sized(hem.count_given, part)(_by_skill(part), worker, False, gave)
    return Tally((gave,))


def count_classes(part: TaskPart, table: Array, worker: Array, gave: Array, contexts: int) -> Tally:
    """What answers and truths say of how common classes are, see ``hem.count_said``."""
    by_class = np.zeros((2, contexts, part.answers.classes))
    found = by_class[0], by_class[1], np.zeros((contexts, 2)), np.zeros(3)
    _sized(hem.count_said, part)(_by_skill(part), worker, False, gave, *found)
    return Tally(found)


def count_skills(part: TaskPart, table: Array, worker: Array, place: Array) -> Tally:
    """M-step: count answers; returns a table of counts, and what beliefs take as it is."""
    classes = table.shape[1]
    made = hem.new_beliefs(len(worker), part.answers.crowd, classes, 1, 0)
    made = made._replace(worker=worker, place=place, posterior=table)
    counts = np.zeros((len(worker) if classes <= hem.MANY else 0, classes, classes))
    _sized(hem.count_skills, part)(_by_skill(part), made, counts)
    return Tally((counts, made.crowd[: hem.JUDGED + 1], *(getattr(made, name) for name in COUNTED)))


def count_due(part: TaskPart, table: Array, beliefs: hem.SkillBeliefs, here: Array) -> Tally:
    """What would be right at the accuracies in contexts, where there are many classes."""
    due = np.zeros_like(beliefs.due)
    made = beliefs._replace(due=due, posterior=table)
    _sized(hem.sum_due, part)(_by_skill(part), made, here)
    return Tally((due,))


def judge(part: TaskPart, table: Array, beliefs: hem.SkillBeliefs, here: Array) -> Tally:
    """E-step: write the posteriors; returns by how much one has changed at most."""
    classes = table.shape[1]
    foretold = np.zeros((len(here) if classes <= hem.MANY else 0, classes, classes))
    held, logs = beliefs._replace(posterior=table), np.zeros(classes)
    return Tally((), _sized(hem.judge_tasks, part)(_by_skill(part), held, foretold, here, logs))


COUNTED = ("shown", "totals", "right", "seen", "wrong", "alone", "errors")
"""Those of the beliefs that are sums over answers."""


def _learn(parts: Parts, beliefs: hem.SkillBeliefs, here: Array) -> None:
    """M-step: bring beliefs and the accuracies of skills up to date with the posteriors."""
    (counts, crowd, *sums), _ = parts.run(count_skills, beliefs.worker, beliefs.place)
    for name, found in zip(COUNTED, sums, strict=True):
        np.copyto(getattr(beliefs, name), found)
    beliefs.crowd[: len(crowd)] = crowd
    beliefs.due[:] = 0.0
    sized(hem.rate_skills, counts.size)(beliefs, counts, here)
    if len(counts) == 0:
        (due,), _ = parts.run(count_due, beliefs, here)
        np.copyto(beliefs.due, due)


def skills_of(answers: Answers) -> tuple[Array, Array, Array]:
    """The skill of each answer; worker and context of each skill."""
    if not answers.contexts.any():
        return answers.workers, np.arange(answers.crowd), np.zeros(answers.crowd, np.int64)
    places = np.repeat(answers.contexts, answers.per_task)

    def pairs(here: slice) -> Array:
        return places[here].astype(np.int64) * answers.crowd + answers.workers[here]

    contexts = int(answers.contexts.max()) + 1
    skill, known = numbered(pairs, len(places), contexts * answers.crowd)
    return skill, known % answers.crowd, known // answers.crowd


def _by_skill(part: TaskPart) -> hem.SkillAnswers:
    given = part.answers
    skill, labels = part.codes, given.labels
    return hem.SkillAnswers(
        given.starts, skill, labels, given.weights, given.contexts, given.truths
    )


def _sized(function: Function, part: TaskPart) -> Function:
    return sized(function, work_of(part.answers))
